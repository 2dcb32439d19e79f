package local

import "fmt"

//go:generate go run ./internal/genunsupported

// errUnsupported says that the host lacks a part of Nakama, and which.
func errUnsupported(name string) error { return fmt.Errorf("not in the local host: %s", name) }
