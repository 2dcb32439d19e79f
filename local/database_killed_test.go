package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The writer is the process that TestDatabaseKilled kills.
const writerFile = "SET3D_TEST_WRITER_FILE"

// TestDatabaseWriter is no test but the body of the writer. Each of its threads counts, in one transaction a step, and
// says which step was answered.
func TestDatabaseWriter(t *testing.T) {
	file := os.Getenv(writerFile)
	if file == "" {
		t.Skip("only for TestDatabaseKilled")
	}
	s := open(t, file)
	for thread := range 3 {
		go func() {
			for n := 1; ; n++ {
				if err := writerStep(s, thread, n); err != nil {
					panic(err)
				}
				fmt.Printf("done %d %d\n", thread, n)
			}
		}()
	}
	time.Sleep(time.Minute) // the parent may have died
}

// writerStep makes a user, then counts from n-1 to n with two writes and a delete, then sets a score.
func writerStep(s *store, thread, n int) error {
	ctx := context.Background()
	u, _, err := s.authenticateDevice(ctx, fmt.Sprintf("device-%d-%d", thread, n), "", true)
	if err != nil {
		return err
	}
	key := func(n int) objectKey { return objectKey{"c", fmt.Sprintf("%d-%d", thread, n), systemUser} }
	err = s.update(ctx, opMulti, func(t *tx) error {
		_, err := t.writeObjects(true, []objectWrite{
			{key: objectKey{"count", fmt.Sprint(thread), systemUser}, value: fmt.Sprintf(`{"n":%d,"x":"%s"}`, n, strings.Repeat("x", 20_000))},
			{key: key(n), value: `{}`, version: "*"},
		})
		return errors.Join(err, t.deleteObjects(true, []objectDelete{{key: key(n - 1)}}))
	})
	if err != nil {
		return err
	}
	if err := s.createBoard(ctx, board{ID: "b", Operator: "set"}); err != nil {
		return err
	}
	_, err = s.writeRecord(ctx, recordWrite{board: "b", owner: u.ID, score: int64(n)}, true)
	return err
}

// TestDatabaseKilled: a process that is killed while it writes loses nothing that it has answered.
func TestDatabaseKilled(t *testing.T) {
	t.Parallel()
	for range 5 {
		file := filepath.Join(t.TempDir(), "state.json")
		answered := killWriter(t, file, 50+rand.IntN(300))
		s := open(t, file)
		scores := len(s.boards["b"].Records)
		users := len(s.users) - 1
		sum := 0
		for thread, n := range answered {
			count := s.objects[objectKey{"count", fmt.Sprint(thread), systemUser}]
			require.NotNil(t, count)
			var at int
			_, err := fmt.Sscanf(count.Value, `{"n": %d,`, &at)
			require.NoError(t, err)
			require.Contains(t, []int{n, n + 1}, at, "thread %d", thread)
			require.NotNil(t, s.objects[objectKey{"c", fmt.Sprintf("%d-%d", thread, at), systemUser}])
			sum += n
		}
		require.Len(t, s.objects, 6, "three counts and what was written with them")
		require.GreaterOrEqual(t, users, sum)
		require.LessOrEqual(t, users, sum+3)
		require.GreaterOrEqual(t, scores, sum)
		require.LessOrEqual(t, scores, users)
	}
}

// killWriter kills a writer after so many answers, and returns each thread's last answered step.
func killWriter(t *testing.T, file string, answers int) (last [3]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestDatabaseWriter$")
	cmd.Env = append(os.Environ(), writerFile+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if n == answers {
			require.NoError(t, cmd.Process.Kill())
		}
		var thread, step int
		if _, err := fmt.Sscanf(lines.Text(), "done %d %d", &thread, &step); err == nil {
			last[thread] = step
		}
	}
	require.Error(t, cmd.Wait(), "killed")
	require.NoError(t, ctx.Err())
	return last
}
