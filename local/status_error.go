package local

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/heroiclabs/nakama-common/runtime"
)

// code is a gRPC status code.
type code int

const (
	codeOK                 code = 0
	codeCanceled           code = 1
	codeInvalidArgument    code = 3
	codeDeadlineExceeded   code = 4
	codeNotFound           code = 5
	codeAlreadyExists      code = 6
	codePermissionDenied   code = 7
	codeResourceExhausted  code = 8
	codeFailedPrecondition code = 9
	codeAborted            code = 10
	codeOutOfRange         code = 11
	codeUnimplemented      code = 12
	codeInternal           code = 13
	codeUnavailable        code = 14
	codeUnauthenticated    code = 16
	codeEnd                code = 17 // the first number that is no code
)

// httpStatus maps a code as the gRPC gateway does.
func (c code) httpStatus() int {
	switch c {
	case codeOK:
		return http.StatusOK
	case codeCanceled:
		return 499
	case codeInvalidArgument, codeFailedPrecondition, codeOutOfRange:
		return http.StatusBadRequest
	case codeDeadlineExceeded:
		return http.StatusGatewayTimeout
	case codeNotFound:
		return http.StatusNotFound
	case codeAlreadyExists, codeAborted:
		return http.StatusConflict
	case codePermissionDenied:
		return http.StatusForbidden
	case codeUnauthenticated:
		return http.StatusUnauthorized
	case codeResourceExhausted:
		return http.StatusTooManyRequests
	case codeUnimplemented:
		return http.StatusNotImplemented
	case codeUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// statusError is an error with the code that the client gets.
type statusError struct {
	code    code
	message string
}

func (e *statusError) Error() string { return e.message }

// names are the codes' names in gRPC's texts.
var names = map[code]string{
	codeInvalidArgument: "InvalidArgument", codeNotFound: "NotFound", codeAlreadyExists: "AlreadyExists",
	codePermissionDenied: "PermissionDenied", codeInternal: "Internal", codeUnauthenticated: "Unauthenticated",
}

// asGRPC rewrites a status error as a module sees it, where Nakama hands out gRPC's own errors.
func asGRPC(err error) error {
	if s, ok := err.(*statusError); ok {
		return fmt.Errorf("rpc error: code = %s desc = %s", names[s.code], s.message)
	}
	return err
}

func fail(c code, message string) error { return &statusError{c, message} }

// asStatus returns the code and text that a client gets for any error: unknown ones are internal.
func asStatus(err error) *statusError {
	var s *statusError
	if errors.As(err, &s) {
		return s
	}
	return &statusError{codeInternal, err.Error()}
}

// hookError returns the code of a module's error and the error that it meant. Only a runtime.Error carries one, even if it is
// wrapped; a code that does not exist is internal, and so is every other error.
func hookError(err error) (code, error) {
	var r *runtime.Error
	if !errors.As(err, &r) {
		return codeInternal, err
	}
	if c := code(r.Code); c > codeOK && c < codeEnd {
		return c, r
	}
	return codeInternal, r
}
