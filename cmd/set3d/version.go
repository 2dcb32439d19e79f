package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"set3d/client"
)

// version says what this program was built from, and what it speaks.
func version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Sprintf("(unknown), protocol version %d", client.ProtocolVersion)
	}
	return describe(build)
}

func describe(build *debug.BuildInfo) string {
	parts := []string{build.Main.Version}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	if parts[0] == "" {
		parts[0] = "(devel)"
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text := "revision " + revision[:min(12, len(revision))]
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
		parts = append(parts, text, settings["vcs.time"])
	}
	parts = append(parts, build.GoVersion, settings["GOOS"]+"/"+settings["GOARCH"], fmt.Sprintf("protocol version %d", client.ProtocolVersion))
	return strings.Join(parts, ", ")
}
