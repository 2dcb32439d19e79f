package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
)

// journal is a database's file: a line for a snapshot, then one for every change since. A line is the CRC-32 of its
// JSON in hexadecimal, a blank and the JSON. A change is handed to the system in one write before it is answered. That
// outlives the process; nothing is synced, so the machine may lose the last moments when it dies.
type journal struct {
	path string
	lock *os.File // nil if there is none
	file *os.File // nil once closed
	size int64    // bytes of the file that are whole
	most int64    // bytes that the file may have before it is compacted
	late error    // of a compaction that nobody has heard of
}

// spare is how much a file may grow in any case before it is compacted, in bytes.
const spare = 1 << 20

var errClosed = errors.New("the database is closed")

// append adds a change. If it fails the file is as before.
func (j *journal) append(c *change) error {
	if j.file == nil {
		return errClosed
	}
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("saving a change: %w", err)
	}
	line := checked(text)
	if _, err := j.file.Write(line); err != nil {
		err = fmt.Errorf("the state file %s cannot be written: %w", j.path, cause(err))
		if cut := j.file.Truncate(j.size); cut != nil { // a later change must not follow half a line
			_ = j.file.Close() // the error is the other one
			j.file = nil
			return errors.Join(err, cut)
		}
		return err
	}
	j.size += int64(len(line))
	return nil
}

func (j *journal) compactIfGrown(all func() ([]byte, error)) {
	if j.size <= j.most {
		return
	}
	if err := j.compact(all); err != nil {
		j.late = err
		j.most = 2*j.size + spare // the changes are safe where they are: there is no hurry
	}
}

// compact puts a new file in the place of the old one, all of it or nothing.
func (j *journal) compact(all func() ([]byte, error)) error {
	text, err := all()
	if err != nil {
		return fmt.Errorf("saving the state file: %w", err)
	}
	line := checked(text)
	next := j.path + ".new" // left behind by a killed process, it is overwritten by the next one
	if err := os.WriteFile(next, line, 0o600); err != nil {
		_ = os.Remove(next) // best effort: the error is already reported
		return fmt.Errorf("the state file %s cannot be written: %w", j.path, cause(err))
	}
	if j.file != nil {
		_ = j.file.Close() // all of it is in the new file, and not every system replaces an open one
		j.file = nil
	}
	replaced := os.Rename(next, j.path)
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	if err := errors.Join(replaced, err); err != nil {
		j.file = file // nil if there is none
		return fmt.Errorf("saving the state file: %w", err)
	}
	j.file, j.size, j.late = file, int64(len(line)), nil
	j.most = 2*j.size + spare
	return nil
}

func (j *journal) close(all func() ([]byte, error)) error {
	defer j.release()
	if j.file == nil {
		return j.late
	}
	err := j.compact(all)
	if j.file != nil {
		_ = j.file.Close() // everything was written before
		j.file = nil
	}
	return err
}

// release lets others have the file.
func (j *journal) release() {
	if j.lock != nil {
		unlockFile(j.lock)
		j.lock = nil
	}
}

// cause is an error without the path that os has added.
func cause(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// remedy is what is said of a damaged file. The host does not mend it: what was lost is nothing that it could know.
const remedy = "put back a copy from before the damage, or move the file away to begin with an empty one"

// load reads the file, if there is one. Half a line at its end is what a killed process had not answered yet.
func (d *Database) load(path string) error {
	raw, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the state file: %w", err)
	}
	rest, err := d.loadSnapshot(raw)
	for err == nil {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return nil
		}
		c := &change{}
		if err = parseLine(line, c); err == nil {
			d.applyLocked(c)
			rest = after
		}
	}
	return fmt.Errorf("the state file %s is damaged at byte %d: %w; %s", path, len(raw)-len(rest), err, remedy)
}

// loadSnapshot reads what a file begins with and returns what follows, or if there is an error, where it is.
func (d *Database) loadSnapshot(raw []byte) (rest []byte, err error) {
	var all snapshot
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		rest, err = parseUnchecked(raw, &all)
	} else {
		var line []byte
		line, rest, _ = bytes.Cut(raw, []byte("\n"))
		if err = parseLine(line, &all); err != nil {
			rest, err = raw, fmt.Errorf("%w (if it was changed on purpose, take its checksum away, up to the first brace)", err)
		}
	}
	if err == nil {
		d.restore(all)
	}
	return rest, err
}

// parseUnchecked reads a snapshot without a checksum, which earlier versions wrote, on one line or several.
func parseUnchecked(raw []byte, all *snapshot) (rest []byte, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(all); err != nil {
		at := len(raw)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = int(syntax.Offset)
		}
		return raw[at:], err
	}
	return bytes.TrimPrefix(raw[decoder.InputOffset():], []byte("\n")), nil
}

// checked makes a line of JSON.
func checked(text []byte) []byte {
	return fmt.Appendf(make([]byte, 0, len(text)+10), "%08x %s\n", crc32.ChecksumIEEE(text), text)
}

func parseLine(line []byte, into any) error {
	sum, text, ok := bytes.Cut(line, []byte(" "))
	if !ok || string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) {
		return errors.New("a line whose checksum is wrong")
	}
	return json.Unmarshal(text, into)
}
