package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What the client itself can fail with.
var (
	ErrClosed       = errors.New("the socket is closed")
	ErrOverrun      = errors.New("the match's messages were not read fast enough")
	ErrNoRoute      = errors.New("the server could not be reached")
	ErrUnreadable   = errors.New("the server's answer could not be read")
	ErrNotConnected = errors.New("the match has no socket")
)

// Error is what the server answered to a request, an RPC or a join: a stable reason where it has one, and the rest as it
// came.
type Error struct {
	// Reason is the name of a wire.Reason without its prefix, "TABLE_FULL". Empty when Nakama itself refused.
	Reason string
	// Args say more about the reason; their keys belong to it.
	Args map[string]any
	// Code is a gRPC code after an HTTP call, and an rtapi.Error_Code on a socket.
	Code int
	// Message is the text of the answer.
	Message string
	// Foreign is true of an answer that is not Nakama's: something else answers, a proxy or another server.
	Foreign bool
}

// Error names the reason and its arguments, or gives the server's text.
func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the server refused: %s (code %d)", e.Message, e.Code)
	}
	var args strings.Builder
	for _, key := range slices.Sorted(maps.Keys(e.Args)) {
		fmt.Fprintf(&args, " %s=%v", key, e.Args[key])
	}
	return "the server refused: " + e.Reason + args.String()
}

// ReasonOf is the stable reason of an error that the server answered, or "".
func ReasonOf(err error) string {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return ""
}

// newError reads {"reason":…,"args":…} from the message if it is there.
func newError(code int, message string) *Error {
	e := &Error{Code: code, Message: message}
	var body struct {
		Reason string         `json:"reason"`
		Args   map[string]any `json:"args"`
	}
	if json.Unmarshal([]byte(message), &body) == nil {
		e.Reason, e.Args = body.Reason, body.Args
	}
	return e
}
