package proto_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	wire "set3d/proto/set3d/v1"
)

var update = flag.Bool("update", false, "rewrite the bytes in docs/protocol.md from the JSON above them")

const docPath = "../docs/protocol.md"

// An example in the document is a fenced block "json NAME" with a message as JSON, and after it one "hex NAME" with its bytes.
type example struct {
	message   string
	json, hex string
	line      int // of the first block
	hexLine   int // index of the first line inside the second block
	hexEnd    int // and of the line after the last
}

// TestExamples holds the two forms of every example against each other.
func TestExamples(t *testing.T) {
	lines := docLines(t)
	examples := findExamples(t, lines)
	for i := len(examples) - 1; i >= 0; i-- { // from the end: an update moves what follows
		e := examples[i]
		message := newMessage(t, e.message)
		if err := protojson.Unmarshal([]byte(e.json), message); err != nil {
			t.Errorf("%s:%d: the JSON is no %s: %v", docPath, e.line, e.message, err)
			continue
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
		if err != nil {
			t.Fatalf("%s:%d: %v", docPath, e.line, err)
		}
		if *update {
			lines = slices.Replace(lines, e.hexLine, e.hexEnd, hexLines(raw)...)
			continue
		}
		checkBytes(t, e, message, raw)
	}
	if *update {
		if err := os.WriteFile(docPath, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkBytes(t *testing.T, e example, fromJSON proto.Message, want []byte) {
	t.Helper()
	text := strings.Join(strings.Fields(e.hex), "")
	if text == "(none)" {
		text = ""
	}
	got, err := hex.DecodeString(text)
	if err != nil {
		t.Errorf("%s:%d: the bytes are not hexadecimal: %v", docPath, e.hexLine, err)
		return
	}
	decoded := newMessage(t, e.message)
	if err := proto.Unmarshal(got, decoded); err != nil {
		t.Errorf("%s:%d: the bytes are no %s: %v", docPath, e.hexLine, e.message, err)
		return
	}
	if !proto.Equal(decoded, fromJSON) {
		t.Errorf("%s:%d: the bytes mean\n%s\nand the JSON above says\n%s\nrun: go test ./proto -update",
			docPath, e.hexLine, protojson.Format(decoded), protojson.Format(fromJSON))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:%d: the bytes are %x, the encoder writes %x", docPath, e.hexLine, got, want)
	}
}

// TestEverythingHasAnExample asks for an example of each message that has an op code, and of each kind of event.
func TestEverythingHasAnExample(t *testing.T) {
	examples := findExamples(t, docLines(t))
	shown := map[string]bool{}
	for _, e := range examples {
		shown[e.message] = true
		message := newMessage(t, e.message)
		if err := protojson.Unmarshal([]byte(e.json), message); err != nil || e.message != "Update" {
			continue
		}
		raw, _ := proto.Marshal(message)
		var u wire.Update
		if err := proto.Unmarshal(raw, &u); err != nil {
			t.Fatal(err)
		}
		for _, event := range u.Events {
			m := event.ProtoReflect()
			kind := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
			shown[string(kind.Message().Name())] = true
		}
	}
	for _, name := range messagesWithOpCodes() {
		if !shown[name] {
			t.Errorf("%s has no example of %s", docPath, name)
		}
	}
	kinds := (&wire.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	for i := range kinds.Len() {
		if name := string(kinds.Get(i).Message().Name()); !shown[name] {
			t.Errorf("%s has no example of an Update with %s", docPath, name)
		}
	}
}

// messagesWithOpCodes are the op codes whose message exists; those of the lobby have none yet.
func messagesWithOpCodes() []string {
	var names []string
	values := wire.OpCode(0).Descriptor().Values()
	for i := range values.Len() {
		var name strings.Builder
		for _, word := range strings.Split(strings.TrimPrefix(string(values.Get(i).Name()), "OP_CODE_"), "_") {
			name.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
		if wire.File_set3d_v1_wire_proto.Messages().ByName(protoreflect.Name(name.String())) != nil {
			names = append(names, name.String())
		}
	}
	return names
}

// TestOpCodeTable wants each op code in a table row: | `CLAIM_SET` | 1 | …
func TestOpCodeTable(t *testing.T) {
	checkTable(t, wire.OpCode(0).Descriptor(), "OP_CODE_", regexp.MustCompile("^\\| `([A-Z_]+)` \\| (\\d+) \\| .*\\S.* \\|$"))
}

// TestReasonTable wants each reason in a table row with a text for players: | 9 | `NOT_ON_BOARD` | text | …
func TestReasonTable(t *testing.T) {
	checkTable(t, wire.Reason(0).Descriptor(), "REASON_", regexp.MustCompile("^\\| (\\d+) \\| `([A-Z_]+)` \\| [^|]*\\S[^|]* \\| [^|]*\\S[^|]* \\|$"))
}

// checkTable compares the rows that have a name and a number, in either order, with an enum.
func checkTable(t *testing.T, enum protoreflect.EnumDescriptor, prefix string, row *regexp.Regexp) {
	t.Helper()
	found := map[string]string{}
	for _, line := range docLines(t) {
		cells := row.FindStringSubmatch(line)
		if cells == nil {
			continue
		}
		name, number := cells[1], cells[2]
		if name[0] >= '0' && name[0] <= '9' {
			name, number = number, name
		}
		if _, twice := found[name]; twice {
			t.Errorf("%s has %s twice", docPath, name)
		}
		found[name] = number
	}
	values := enum.Values()
	for i := range values.Len() {
		v := values.Get(i)
		name := strings.TrimPrefix(string(v.Name()), prefix)
		if v.Number() == 0 {
			continue
		}
		if number, ok := found[name]; !ok || number != fmt.Sprint(v.Number()) {
			t.Errorf("%s: row of %s says %q, it is %d", docPath, name, number, v.Number())
		}
		delete(found, name)
	}
	for name := range found {
		t.Errorf("%s: there is no %s%s", docPath, prefix, name)
	}
}

// TestEnumValues checks every `NAME = number` of the document.
func TestEnumValues(t *testing.T) {
	numbers := map[string]string{}
	enums := wire.File_set3d_v1_wire_proto.Enums()
	for i := range enums.Len() {
		for values, j := enums.Get(i).Values(), 0; j < values.Len(); j++ {
			numbers[string(values.Get(j).Name())] = fmt.Sprint(values.Get(j).Number())
		}
	}
	mention := regexp.MustCompile("`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+) = (\\d+)`")
	mentions := mention.FindAllStringSubmatch(strings.Join(docLines(t), "\n"), -1)
	if len(mentions) == 0 {
		t.Errorf("%s names no enum value", docPath)
	}
	for _, m := range mentions {
		if number, ok := numbers[m[1]]; !ok || number != m[2] {
			t.Errorf("%s says %s = %s, it is %q", docPath, m[1], m[2], number)
		}
	}
}

func docLines(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(raw), "\n")
}

var fence = regexp.MustCompile("^```(json|hex) ([A-Z]\\w*)$")

func findExamples(t *testing.T, lines []string) []example {
	t.Helper()
	var found []example
	var open *example
	for i := 0; i < len(lines); i++ {
		start := fence.FindStringSubmatch(lines[i])
		if start == nil {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		body := strings.Join(lines[i+1:end], "\n")
		switch {
		case start[1] == "json" && open == nil:
			open = &example{message: start[2], json: body, line: i + 1}
		case start[1] == "hex" && open != nil && open.message == start[2]:
			open.hex, open.hexLine, open.hexEnd = body, i+1, end
			found = append(found, *open)
			open = nil
		default:
			t.Fatalf("%s:%d: %q does not follow its other half", docPath, i+1, lines[i])
		}
		i = end
	}
	if open != nil || len(found) == 0 {
		t.Fatalf("%s: examples without bytes, or none at all", docPath)
	}
	return found
}

func newMessage(t *testing.T, name string) proto.Message {
	t.Helper()
	descriptor := wire.File_set3d_v1_wire_proto.Messages().ByName(protoreflect.Name(name))
	if descriptor == nil {
		t.Fatalf("%s: there is no message %s", docPath, name)
	}
	return dynamicpb.NewMessage(descriptor)
}

// hexLines writes 32 bytes a line.
func hexLines(raw []byte) []string {
	if len(raw) == 0 {
		return []string{"(none)"}
	}
	var lines []string
	for part := range slices.Chunk(raw, 32) {
		lines = append(lines, fmt.Sprintf("% x", part))
	}
	return lines
}
