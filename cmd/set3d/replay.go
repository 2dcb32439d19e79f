package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
)

type replayFlags struct {
	server     serverFlags
	device     string
	httpKey    string
	out        string
	commitment string
}

func newReplayCommand() *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE|RESULT_ID",
		Short: "Show a match that is over, from its record, and verify it",
		Long: `replay makes a match again from its record and shows it: every claim with its time and its verdict, the deals, the scores, the
end. Then it verifies

  - the record: it is whole, and gives what the match gave, verdict by verdict;
  - the deal: the deck is that of the key to which the server had committed itself before the first card. The result names the
    commitment; whoever has kept the one that was shown when the match started gives it with --commitment;
  - the result: every number in it is what follows from the record. Ratings, names and dates do not.

FILE is the answer of the RPC get_record, as it is, or the bare record out of it: then there is no result to compare.

With a RESULT_ID the record is asked for at a server: as one of its players, with the player's --device id, or as the operator, with
--http-key. play prints both ids at the end of a match.

The cards: ` + legend + `
` + exitCodesHelp,
		Example: `  set3d replay match.json
  set3d replay WEG34IMFOKQA6WPYZ6GOACOM4I --http-key defaulthttpkey --out match.json
  set3d replay WEG34IMFOKQA6WPYZ6GOACOM4I --device 6f1d4b0c2a97e85013bd4f6a7c21e09d --url https://set.example.org --key KEY`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return replay(cmd, args[0], flags) },
	}
	f := cmd.Flags()
	flags.server.addServer(cmd)
	f.StringVar(&flags.device, "device", "", "the device id of a player of the match, to ask as that player")
	f.StringVar(&flags.httpKey, "http-key", "", "the server's runtime HTTP key, to ask as its operator")
	f.StringVar(&flags.commitment, "commitment", "", "what the server showed when the match started: MatchStarted.commitment, in hexadecimal digits or base64")
	f.StringVar(&flags.out, "out", "", "also save the server's answer in this file")
	return cmd
}

func replay(cmd *cobra.Command, what string, flags replayFlags) error {
	seen, err := readCommitment(flags.commitment)
	if err != nil {
		return err
	}
	data, err := flags.read(cmd.Context(), what)
	if err != nil {
		return err
	}
	saved, err := readSaved(data)
	if err != nil {
		return exit(exitWrong, "%s: %w", what, err)
	}
	saved.seen = seen
	return verify(newPen(cmd.OutOrStdout()), saved)
}

// readCommitment takes hexadecimal digits, or base64 as protobuf's JSON has it, and gives hexadecimal digits; "" stays.
func readCommitment(text string) (string, error) {
	bare := strings.TrimRight(text, "=")
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
		if digest, err := decode(bare); err == nil && len(digest) == sha256.Size {
			return hex.EncodeToString(digest), nil
		}
	}
	if text != "" {
		return "", exit(exitUsage, "--commitment is %q, want 32 bytes as 64 hexadecimal digits or 44 characters of base64", text)
	}
	return "", nil
}

// read takes the file, or asks the server if there is none of that name.
func (f replayFlags) read(ctx context.Context, what string) ([]byte, error) {
	data, err := os.ReadFile(what)
	asked := f.device != "" || f.httpKey != ""
	switch {
	case err == nil && (asked || f.out != ""):
		return nil, exit(exitUsage, "%s is a file: --device, --http-key and --out are for the id of a result", what)
	case err == nil:
		return data, nil
	case !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(what, `/\.`) || what == "":
		return nil, exit(exitUsage, "%w", err)
	case f.device != "" && f.httpKey != "":
		return nil, exit(exitUsage, "ask as a player, with --device, or as the operator, with --http-key, not both")
	case !asked:
		return nil, exit(exitUsage, "there is no file %s; to ask a server for the result of that id, say who asks, with --device or --http-key", what)
	}
	c, _, err := f.open()
	if err != nil {
		return nil, err
	}
	answer, err := f.ask(ctx, c, what)
	if err != nil {
		return nil, explain(err, c.URL())
	}
	if f.out != "" {
		if err := os.WriteFile(f.out, answer, 0o600); err != nil { // the deck's key of a match is in it
			return nil, exit(exitUsage, "--out: %w", err)
		}
	}
	return answer, nil
}

func (f replayFlags) open() (*client.Client, client.Format, error) {
	f.server.format = client.FormatProtobuf.String()
	f.server.http = &http.Client{Timeout: askTimeout, Transport: knownOnly{}}
	return f.server.open()
}

// ask calls get_record.
func (f replayFlags) ask(ctx context.Context, c *client.Client, id string) ([]byte, error) {
	request, err := json.Marshal(map[string]string{"result_id": id})
	if err != nil {
		return nil, err
	}
	if f.httpKey != "" {
		return askAsOperator(ctx, c.URL(), f.httpKey, request)
	}
	user, err := c.AuthenticateDevice(ctx, f.device, "")
	var refused *client.Error
	if errors.As(err, &refused) && !refused.Foreign && refused.Code == codeNotFound {
		return nil, exit(exitRefused, "no such device: nobody has signed in at %s with the id %q (--device)", c.URL(), f.device)
	}
	if err != nil {
		return nil, err
	}
	answer, err := c.RPC(ctx, user, "get_record", string(request))
	return []byte(answer), err
}

// knownOnly keeps sign-ins from making accounts: a mistyped device id is nobody's.
type knownOnly struct{}

// RoundTrip implements http.RoundTripper.
func (knownOnly) RoundTrip(r *http.Request) (*http.Response, error) {
	if query := r.URL.Query(); query.Has("create") {
		query.Set("create", "false")
		r = r.Clone(r.Context())
		r.URL.RawQuery = query.Encode()
	}
	return http.DefaultTransport.RoundTrip(r)
}

const (
	codeNotFound   = 5 // gRPC's
	askTimeout     = 15 * time.Second
	maxRecordReply = 1 << 20 // a record is at most a tenth of it
)

// askAsOperator calls get_record by the HTTP key, which needs no user.
func askAsOperator(ctx context.Context, base, httpKey string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	address := base + "/v2/rpc/get_record?unwrap&http_key=" + url.QueryEscape(httpKey)
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	call.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(call)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // its URL has the key in it
		}
		return nil, fmt.Errorf("%w: %w", client.ErrNoRoute, err)
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, maxRecordReply))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", client.ErrNoRoute, err)
	}
	if reply.StatusCode == http.StatusOK {
		return body, nil
	}
	var refused struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &refused) != nil || refused.Message == "" {
		return nil, &client.Error{Code: reply.StatusCode, Message: reply.Status, Foreign: true}
	}
	if reply.StatusCode == http.StatusUnauthorized {
		return nil, exit(exitRefused, "the server refused: %s (is --http-key the server's runtime HTTP key?)", refused.Message)
	}
	return nil, exit(exitRefused, "the server refused: %s", refused.Message)
}
