package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDatabaseOfAnOldFile: the file was once a snapshot alone, indented and without a line's end.
func TestDatabaseOfAnOldFile(t *testing.T) {
	s := open(t, write(t, []byte(`{
 "Users": [
  {"ID": "8a6a1cc4-0b1c-4f0f-8b6a-111111111111", "Username": "ann", "Devices": ["device-of-ann"]}
 ],
 "Objects": [
  {"Collection": "c", "Key": "k", "User": "00000000-0000-0000-0000-000000000000", "Value": "{\"n\": 1}", "Version": "v"}
 ],
 "Boards": null,
 "Friends": {}
}`)))
	s.write(t, "l", `{}`)
	s = left(t, s.journal.path)
	require.Equal(t, `k{"n": 1},l{}`, s.values(t))
	u, created, err := s.authenticateDevice(context.Background(), "device-of-ann", "", true)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, "ann", u.Username)
}

// TestDatabaseWithoutAChecksum: the snapshot had none once, nor has one that was edited; the next file has one again.
func TestDatabaseWithoutAChecksum(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	s.write(t, "k", `{"score":10}`)
	require.NoError(t, s.Close())
	s = open(t, file)
	s.write(t, "l", `{}`)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{8} \{.*\n[0-9a-f]{8} \{.*\n$`, string(raw))
	edited := strings.Replace(string(raw), `\"score\": 10`, `\"score\": 90`, 1)
	require.NotEqual(t, string(raw), edited)

	other := write(t, []byte(edited))
	for range 2 {
		_, err = OpenDatabase(other)
		require.EqualError(t, err, "the state file "+other+" is damaged at byte 0: a line whose checksum is wrong "+
			"(if it was changed on purpose, take its checksum away, up to the first brace); "+
			"put back a copy from before the damage, or move the file away to begin with an empty one")
		kept, err := os.ReadFile(other)
		require.NoError(t, err)
		require.Equal(t, edited, string(kept), "a damaged file is left as it is")
	}

	_, plain, _ := strings.Cut(edited, " ")
	s = open(t, write(t, []byte(plain)))
	require.Equal(t, `k{"score": 90},l{}`, s.values(t))
	raw, err = os.ReadFile(s.journal.path)
	require.NoError(t, err)
	_, err = OpenDatabase(write(t, []byte(strings.Replace(string(raw), `\"score\": 90`, `\"score\": 91`, 1))))
	require.ErrorContains(t, err, "checksum is wrong")
}

// TestDatabaseOfNoFormat: what is no state file at all is refused and not overwritten.
func TestDatabaseOfNoFormat(t *testing.T) {
	for _, content := range []string{"", "\n", "{", "{}}\n", "[]\n", "12345678 {}\n", "a letter to somebody\n"} {
		file := write(t, []byte(content))
		_, err := OpenDatabase(file)
		require.ErrorContains(t, err, "the state file "+file+" is damaged at byte ", "%q", content)
		require.ErrorContains(t, err, "; "+remedy)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, content, string(kept))
	}
}

// TestDatabaseCutOff: a file may end anywhere in its last change, which is then lost alone; any other damage is found.
func TestDatabaseCutOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	s := open(t, file)
	for i := range 3 {
		s.write(t, fmt.Sprint(i), `{}`)
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(raw), "\n")
	require.Len(t, lines, 5, "a snapshot, three changes and the end")
	last := len(raw) - len(lines[3])
	for cut := last; cut < len(raw); cut++ {
		s := open(t, write(t, raw[:cut]))
		require.Equal(t, "0{},1{}", s.values(t), "cut at %d", cut)
		s.write(t, "z", `{}`)
		require.Equal(t, "0{},1{},z{}", left(t, s.journal.path).values(t))
	}
	for i := range raw[:last] {
		damaged := append([]byte(nil), raw...)
		damaged[i] ^= 1
		other := write(t, damaged)
		_, err := OpenDatabase(other)
		require.ErrorContains(t, err, "the state file "+other+" is damaged at byte ", "byte %d", i)
	}
	damaged := append([]byte(nil), raw...)
	damaged[last-3] ^= 1
	_, err = OpenDatabase(write(t, damaged))
	require.ErrorContains(t, err, fmt.Sprintf("damaged at byte %d: a line whose checksum is wrong", last-len(lines[2])))
}
