package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"set3d/client"
	wire "set3d/proto/set3d/v1"
)

// The ids of the document's examples.
const (
	docResult = "WEG34IMFOKQA6WPYZ6GOACOM4I"
	docUser   = "216559ec-2f72-4a69-91be-9c98730c99a4"
)

// TestResultExamples sends the document's requests about what is left of a match. The answers have the fields of the document, of the same kinds.
func TestResultExamples(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.New(client.Config{URL: serve(t), ServerKey: "defaultkey"})
	require.NoError(t, err)
	user, resultID := rankedMatch(ctx, t, c)
	var got client.GotResult
	require.Eventually(t, func() bool {
		got, err = c.GetResult(ctx, user, resultID)
		return err == nil && got.Status == "final"
	}, 20*time.Second, 200*time.Millisecond)
	other := slices.IndexFunc(got.Result.Players, func(p client.PlayerResult) bool { return p.UserID != user.ID })
	ids := strings.NewReplacer(docResult, resultID, docUser, user.ID, `"seat": 0`, fmt.Sprintf(`"seat": %d`, other))
	for _, rpc := range []string{
		"get_result", "match_history", "player_stats", "get_record", "report_player", "export_my_data", "delete_my_data",
	} {
		answer, err := c.RPC(ctx, user, rpc, ids.Replace(example(t, rpc+".request")))
		require.NoError(t, err, rpc)
		assert.Equal(t, shape(parse(t, example(t, rpc+".answer"))), shape(parse(t, answer)), "%s is answered %s", rpc, answer)
	}
}

// rankedMatch plays one that ends because a player forfeits. It returns the other and the result's id.
func rankedMatch(ctx context.Context, t *testing.T, c *client.Client) (*client.User, string) {
	t.Helper()
	var users []*client.User
	var matches []*client.Match
	var sockets []*client.Socket
	for range 2 {
		user, err := c.AuthenticateDevice(ctx, client.RandomID(), "")
		require.NoError(t, err)
		socket, err := c.OpenSocket(ctx, user, client.FormatProtobuf)
		require.NoError(t, err)
		t.Cleanup(func() { _ = socket.Close() })
		_, err = socket.AddTicket(ctx, client.Ticket{Preset: "fast", Min: 2, Max: 2})
		require.NoError(t, err)
		users, sockets = append(users, user), append(sockets, socket)
	}
	matchID, err := sockets[0].AwaitMatch(ctx)
	require.NoError(t, err)
	for _, socket := range sockets {
		match, err := socket.Join(ctx, matchID, client.JoinOptions{})
		require.NoError(t, err)
		matches = append(matches, match)
	}
	mine, err := c.MyMatches(ctx, users[0])
	require.NoError(t, err)
	require.Len(t, mine.Matches, 1)
	require.NoError(t, matches[1].Send(wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{}))
	return users[0], mine.Matches[0].TableID
}

// shape is what a value of JSON is made of: the names of fields, and the kinds of the values. A list is the kinds that are in it.
func shape(value any) any {
	switch v := value.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name, field := range v {
			if name != "forfeited" { // there if it is true
				fields[name] = shape(field)
			}
		}
		return fields
	case []any:
		var kinds []string
		for _, element := range v {
			text, _ := json.Marshal(shape(element))
			kinds = append(kinds, string(text))
		}
		slices.Sort(kinds)
		return slices.Compact(kinds)
	default:
		return fmt.Sprintf("%T", v)
	}
}
