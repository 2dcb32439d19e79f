package match

import (
	"encoding/json"
	"time"

	"github.com/heroiclabs/nakama-common/runtime"

	wire "set3d/proto/set3d/v1"
)

// The gRPC codes of RPC errors, which decide the HTTP status. Over a socket only the message arrives. Never 16: SDKs
// take that for an expired session.
const (
	codeInvalidArgument    = 3
	codeNotFound           = 5
	codePermissionDenied   = 7
	codeResourceExhausted  = 8
	codeFailedPrecondition = 9
	codeInternal           = 13
	codeUnavailable        = 14
)

// internalError is what a client hears of anything that went wrong in the server.
const internalError = `{"reason":"INTERNAL","args":{}}`

// args say what was wrong with a request.
type args map[string]any

// rejection is a reason with its arguments as text: SDKs keep nothing else of an error.
func rejection(reason wire.Reason, a args) string {
	if a == nil {
		a = args{}
	}
	text, err := json.Marshal(struct {
		Reason string `json:"reason"`
		Args   args   `json:"args"`
	}{reasonName(reason), a})
	if err != nil {
		return internalError // cannot be: the arguments are strings, numbers and lists of them
	}
	return string(text)
}

// reject is an RPC's error.
func reject(reason wire.Reason, a args) error {
	return runtime.NewError(rejection(reason, a), codeOf(reason))
}

// reasonIn is the name of the reason in an error of ours.
func reasonIn(err error) string {
	var body struct{ Reason string }
	if json.Unmarshal([]byte(err.Error()), &body) != nil || wire.Reason_value["REASON_"+body.Reason] == 0 {
		return reasonName(wire.Reason_REASON_INTERNAL)
	}
	return body.Reason
}

// tooMany is the refusal of a user who has to wait.
func tooMany(wait time.Duration) error {
	return reject(wire.Reason_REASON_TOO_MANY_REQUESTS, waitArgs(wait))
}

func waitArgs(wait time.Duration) args { return args{"retry_after_ms": wait.Milliseconds() + 1} }

func codeOf(reason wire.Reason) int {
	switch reason {
	case wire.Reason_REASON_UNKNOWN_CODE, wire.Reason_REASON_UNKNOWN_MATCH, wire.Reason_REASON_UNKNOWN_RESULT, wire.Reason_REASON_RECORD_GONE:
		return codeNotFound
	case wire.Reason_REASON_NO_USER, wire.Reason_REASON_OPERATOR_ONLY, wire.Reason_REASON_SERVER_OWNED, wire.Reason_REASON_API_DISABLED:
		return codePermissionDenied
	case wire.Reason_REASON_TOO_MANY_MATCHES, wire.Reason_REASON_TOO_MANY_REQUESTS:
		return codeResourceExhausted
	case wire.Reason_REASON_UNSUPPORTED_VERSION, wire.Reason_REASON_CLIENT_TOO_OLD, wire.Reason_REASON_MATCH_OVER,
		wire.Reason_REASON_NOT_SETTLED:
		return codeFailedPrecondition
	case wire.Reason_REASON_SHUTTING_DOWN, wire.Reason_REASON_STORAGE_UNAVAILABLE, wire.Reason_REASON_BUSY:
		return codeUnavailable
	case wire.Reason_REASON_INTERNAL:
		return codeInternal
	default:
		return codeInvalidArgument
	}
}
