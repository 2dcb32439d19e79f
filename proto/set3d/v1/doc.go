// Package wire is the protocol between the server and its clients, version 1: Go types generated from wire.proto, which
// explains every message and field. docs/protocol.md tells how a client uses them.
package wire
