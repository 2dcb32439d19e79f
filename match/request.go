package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	wire "set3d/proto/set3d/v1"
)

// requestMax is how long an RPC's JSON may be. An honest one has less than 1 KB.
const requestMax = 8 * 1024

// request is a JSON object, read strictly: names in their exact case, each once, none unknown. Each of its fields is taken
// once, and done says whether any was left. The first error sticks; a null is as good as absent.
type request struct {
	path   string // of a nested object, with its dot: "rules."
	order  []string
	fields map[string]json.RawMessage
	err    error
}

// readRequest reads a whole payload. Nothing at all counts as an empty object.
func readRequest(payload string) *request {
	if len(payload) > requestMax {
		return &request{err: reject(wire.Reason_REASON_REQUEST_TOO_LARGE, args{"allowed": requestMax})}
	}
	if payload == "" {
		return &request{}
	}
	var whole json.RawMessage
	var bad *json.SyntaxError
	if err := json.Unmarshal([]byte(payload), &whole); errors.As(err, &bad) {
		r := &request{}
		r.malformed(fmt.Sprintf("at byte %d: %v", bad.Offset, bad))
		return r
	}
	return readObject("", whole)
}

// readObject reads JSON that is known to be well-formed.
func readObject(path string, raw []byte) *request {
	r := &request{path: path, fields: map[string]json.RawMessage{}}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		r.malformed("an object is expected")
		return r
	}
	for decoder.More() && r.err == nil {
		r.readField(decoder)
	}
	return r
}

func (r *request) readField(decoder *json.Decoder) {
	token, err := decoder.Token()
	name, ok := token.(string)
	if err != nil || !ok {
		r.malformed("a field name is expected")
		return
	}
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		r.malformed(err.Error())
		return
	}
	if _, twice := r.fields[name]; twice {
		r.malformed("the field " + strconv.Quote(r.path+shorten(name)) + " is there twice")
		return
	}
	r.order = append(r.order, name)
	if string(value) == "null" {
		value = nil
	}
	r.fields[name] = value
}

// take removes a field. ok is false if it is absent or null, or if something was wrong before.
func (r *request) take(name string) (raw json.RawMessage, ok bool) {
	raw = r.fields[name]
	delete(r.fields, name)
	return raw, raw != nil && r.err == nil
}

// text takes a string of at most limit characters. PostgreSQL takes no NUL in a text, and says so as if it had
// failed: nobody else has to look for it.
func (r *request) text(name string, limit int) (string, bool) {
	raw, ok := r.take(name)
	if !ok {
		return "", false
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		r.wrongType(name, "a string")
		return "", false
	}
	if n := utf8.RuneCountInString(s); n > limit {
		r.outOfRange(name, fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d characters", limit))
		return "", false
	}
	if strings.ContainsRune(s, 0) {
		r.outOfRange(name, shorten(s), "text without NUL characters")
		return "", false
	}
	return s, true
}

// number takes an integer from lowest to highest.
func (r *request) number(name string, lowest, highest int64) (int64, bool) {
	raw, ok := r.take(name)
	if !ok {
		return 0, false
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		r.wrongType(name, "an integer")
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case err == nil && n >= lowest && n <= highest:
		return n, true
	case err != nil && bytes.ContainsAny(raw, ".eE"):
		r.wrongType(name, "an integer")
	default:
		r.outOfRange(name, shorten(string(raw)), fmt.Sprintf("%d to %d", lowest, highest))
	}
	return 0, false
}

// object takes a nested object.
func (r *request) object(name string) (*request, bool) {
	raw, ok := r.take(name)
	if !ok {
		return nil, false
	}
	if raw[0] != '{' {
		r.wrongType(name, "an object")
		return nil, false
	}
	return readObject(r.path+name+".", raw), true
}

// numbers takes a list of integers.
func (r *request) numbers(name string, most int) ([]int64, bool) {
	raw, ok := r.take(name)
	if !ok {
		return nil, false
	}
	var list []int64
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		r.wrongType(name, "a list of integers")
		return nil, false
	}
	if len(list) > most {
		r.outOfRange(name, entries(len(list)), "at most "+entries(most))
		return nil, false
	}
	return list, true
}

// texts takes a list of short strings.
func (r *request) texts(name string, most int) ([]string, bool) {
	raw, ok := r.take(name)
	if !ok {
		return nil, false
	}
	var list []string
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		r.wrongType(name, "a list of strings")
		return nil, false
	}
	if len(list) > most {
		r.outOfRange(name, entries(len(list)), "at most "+entries(most))
		return nil, false
	}
	return list, true
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// flag takes a truth value.
func (r *request) flag(name string) (value, ok bool) {
	raw, ok := r.take(name)
	if !ok {
		return false, false
	}
	if json.Unmarshal(raw, &value) != nil {
		r.wrongType(name, "true or false")
		return false, false
	}
	return value, true
}

// again is the request as it was before its fields were taken. It is for what may have to be read more than once.
func (r *request) again() *request {
	return &request{path: r.path, order: r.order, fields: maps.Clone(r.fields), err: r.err}
}

// done returns the first error, or that a field is unknown: the first of them in the request's order.
func (r *request) done() error {
	if r.err != nil {
		return r.err
	}
	for _, name := range r.order {
		if _, left := r.fields[name]; left {
			return reject(wire.Reason_REASON_UNKNOWN_FIELD, args{"field": r.path + shorten(name)})
		}
	}
	return nil
}

func (r *request) fail(reason wire.Reason, a args) {
	if r.err == nil {
		r.err = reject(reason, a)
	}
}

func (r *request) malformed(detail string) {
	r.fail(wire.Reason_REASON_MALFORMED_REQUEST, args{"detail": shorten(detail)})
}

func (r *request) wrongType(name, expected string) {
	r.fail(wire.Reason_REASON_WRONG_TYPE, args{"field": r.path + name, "expected": expected})
}

func (r *request) outOfRange(name, value, allowed string) {
	r.fail(wire.Reason_REASON_OUT_OF_RANGE, args{"field": r.path + name, "value": value, "allowed": allowed})
}

// shorten keeps what a client sent from filling logs and errors.
func shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
