package deploy_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// styles are ways to write the five queues, with %d for each, that are the same to Nakama.
func styles() map[string]string {
	block := "match:\n  signal_queue_size: %d\n  call_queue_size: %d\n  input_queue_size: %d\n  join_attempt_queue_size: %d\nsocket:\n  outgoing_queue_size: %d\n"
	flow := "{match: {signal_queue_size: %d, call_queue_size: %d, input_queue_size: %d, join_attempt_queue_size: %d}, socket: {outgoing_queue_size: %d}}"
	return map[string]string{
		"block":          block,
		"CRLF":           strings.ReplaceAll(block, "\n", "\r\n"),
		"byte order":     "\ufeff" + block,
		"one blank":      strings.ReplaceAll(block, "  ", " "),
		"eight blanks":   strings.ReplaceAll(block, "  ", "        "),
		"comments":       "# match:\n" + strings.ReplaceAll(block, "\n", " # why: {\n   # signal_queue_size: 1\n\n"),
		"quoted keys":    "\"match\":\n  'signal_queue_size': %d\n  \"call_queue_size\" : %d\n  input_queue_size:    %d\n  join_attempt_queue_size: %d\n'socket' :\n  outgoing_queue_size:\t%d\n",
		"document":       "%%YAML 1.1\n---\n" + block + "...\n---\nmatch: {signal_queue_size: 1}\n",
		"flow":           flow,
		"flow values":    "match: {signal_queue_size: %d, call_queue_size: %d, 'input_queue_size': %d, \"join_attempt_queue_size\":%d}\nsocket: { outgoing_queue_size: %d }\n",
		"flow on lines":  strings.NewReplacer("{", "{ # begins }\r\n  ", ",", ",\r\n  ").Replace(flow),
		"JSON":           `{"match":{"signal_queue_size":%d,"call_queue_size":%d,"input_queue_size":%d,"join_attempt_queue_size":%d},"socket":{"outgoing_queue_size":%d}}`,
		"decoys":         "runtime:\n  env:\n  - 'match: {'\n  - \"#\"\n  path: |\n    match:\n      signal_queue_size: 1\n    open: {\nname: \"a } # b\"\nother: {match: {signal_queue_size: 1}, list: [match: {call_queue_size: 1}]}\nlist:\n- socket: 1\n  match:\n    signal_queue_size: 1\n" + block + "later:\n  match:\n    signal_queue_size: 1\n",
		"value below":    strings.ReplaceAll(block, "match:", "match: # below\n\n"),
		"other siblings": strings.ReplaceAll(block, "match:\n", "match:\n  empty:\n  deep:\n    signal_queue_size: 1\n  list: [1, 2]\n"),
	}
}

// TestEntrypointReadsYAMLAsNakamaDoes: each style is one that Nakama's parser takes, and in each the entrypoint finds the one queue
// that is too small.
func TestEntrypointReadsYAMLAsNakamaDoes(t *testing.T) {
	queues := []string{"match.signal_queue_size", "match.call_queue_size", "match.input_queue_size", "match.join_attempt_queue_size", "socket.outgoing_queue_size"}
	for style, text := range styles() {
		for small := -1; small < len(queues); small++ {
			var sizes []any
			want := map[string]int{}
			for i, queue := range queues {
				size := shipped()[queue].(int)
				if i == small {
					size--
				}
				want[queue], sizes = size, append(sizes, size)
			}
			config := fmt.Sprintf(text, sizes...)
			var parsed map[string]any
			if err := yaml.Unmarshal([]byte(config), &parsed); err != nil {
				t.Fatalf("%s: %v", style, err)
			}
			got := map[string]any{}
			flatten("", parsed, got)
			for queue, size := range want {
				if got[queue] != size {
					t.Fatalf("%s: Nakama reads %s as %v, want %d", style, queue, got[queue], size)
				}
			}
			file := filepath.Join(t.TempDir(), "local.yml")
			write(t, file, config)
			r := entrypoint(t, with(ownSecrets(), "NAKAMA_CONFIG="+file), "check")
			complaint := ""
			if small >= 0 {
				queue := queues[small]
				complaint = fmt.Sprintf("%s is %s, it must be %d or more", queue, strconv.Itoa(want[queue]), want[queue]+1)
			}
			if ok := small < 0; (r.exit == 0) != ok || !strings.Contains(r.output, complaint) || strings.Count(r.output, "queue_size") > 1 {
				t.Errorf("%s, %s: exit code %d, it says %q", style, complaint, r.exit, r.output)
			}
		}
	}
}
