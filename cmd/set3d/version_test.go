package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	p := execute(t, "--version")
	require.Equal(t, exitOK, p.code)
	require.Regexp(t, `^set3d \S+, .*go1\.\S+, \w+/\w+, protocol version 1\n$`, p.stdout)
	require.Equal(t, "v1.2.0, revision 0123456789ab with changes, 2026-11-30T04:00:00Z, go1.26.5, linux/arm64, protocol version 1", describe(&debug.BuildInfo{
		GoVersion: "go1.26.5", Main: debug.Module{Version: "v1.2.0"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}, {Key: "vcs.time", Value: "2026-11-30T04:00:00Z"},
			{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"},
		},
	}))
}
