package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
)

// The exit codes. They are promised in the help.
const (
	exitOK      = 0
	exitWrong   = 1 // what was observed is not what it should be
	exitUsage   = 2
	exitNoRoute = 3   // no server there
	exitRefused = 4   // the server is there and says no
	exitNoPort  = 5   // serve cannot listen where it should
	exitStopped = 130 // interrupted, as shells say it
)

const exitCodesHelp = `
Exit codes:
  0    all well
  1    something was wrong in what was observed: a check failed, a claim was not answered
  2    wrong usage: a flag, an argument, a value
  3    no Nakama server could be reached, or it was lost
  4    the server refused: its reason is in the message
  5    serve cannot listen at its address: the port is taken, or the address is not this machine's
  130  interrupted; what was seen until then is printed`

// exitError is an error that ends the program with its code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

func exit(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// run is the program without its process. Whatever is not an exitError comes from cobra and is wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(append([]string{}, args...)) // nil would mean the process's own
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage
	var known *exitError
	if errors.As(err, &known) {
		code = known.code
	}
	_, _ = fmt.Fprintf(stderr, "set3d: %v\n", err)
	if code == exitUsage {
		_, _ = fmt.Fprintf(stderr, "Try '%s --help'.\n", command.CommandPath())
	}
	return code
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "set3d",
		Short: "The server of SET: 3D, for trying it out and for testing it",
		Long: `set3d serves SET: 3D matches on a development host, plays whole matches against any server with automatic players
that check what the server says, and measures how fast a server answers.

A first look, in two terminals:
  set3d serve
  set3d play
` + exitCodesHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(newServeCommand(), newPlayCommand(), newLoadCommand(), newSoakCommand(), newSimulateCommand(), newCrashCommand(), newReplayCommand())
	return root
}

// newHelpCommand is cobra's, but help for what does not exist is wrong usage.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return exit(exitUsage, "there is no help for %q: no such command", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// serverFlags say which server a command talks to.
type serverFlags struct {
	url    string
	key    string
	format string
	http   *http.Client // or nil
}

// The server that a command talks to if it is not told of another.
const (
	defaultURL = "http://127.0.0.1:7350"
	defaultKey = "defaultkey"
)

func (f *serverFlags) add(cmd *cobra.Command) {
	f.addServer(cmd)
	cmd.Flags().StringVar(&f.format, "format", "protobuf", "how envelopes travel on the socket: protobuf or json")
}

// addServer leaves the sockets out.
func (f *serverFlags) addServer(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", defaultURL, "where the server's API is")
	cmd.Flags().StringVar(&f.key, "key", defaultKey, "the server key, for authentication")
}

// others are the flags that name this server in another command, each after a blank; none for the default server.
func (f *serverFlags) others() string {
	text := ""
	if f.url != defaultURL {
		text += " --url " + quoted(f.url)
	}
	if f.key != defaultKey {
		text += " --key " + quoted(f.key)
	}
	return text
}

// quoted is one word of a shell's command line.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/+=@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (f *serverFlags) open() (*client.Client, client.Format, error) {
	format, err := client.ParseFormat(f.format)
	if err != nil {
		return nil, 0, exit(exitUsage, "--format: %w", err)
	}
	if !strings.Contains(f.url, "://") {
		return nil, 0, exit(exitUsage, "--url %s: http:// or https:// is missing before it: want http://HOST:PORT or https://HOST:PORT", f.url)
	}
	c, err := client.New(client.Config{URL: f.url, ServerKey: f.key, HTTP: f.http})
	if err != nil {
		return nil, 0, exit(exitUsage, "--url: %w", err)
	}
	if base, err := url.Parse(c.URL()); err != nil || base.Path != "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, 0, exit(exitUsage, "--url %s: want http://HOST:PORT or https://HOST:PORT, without a path", f.url)
	}
	return c, format, nil
}

// explain turns an error of the client into one with an exit code and with what to do about it.
func explain(err error, url string) error {
	var known *exitError
	var refused *client.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled):
		return exit(exitStopped, "interrupted")
	case errors.As(err, &refused) && refused.Foreign, errors.Is(err, client.ErrUnreadable):
		return exit(exitNoRoute, "what answers at %s does not look like a Nakama server: %w.\nName another with --url.", url, err)
	case errors.As(err, &refused):
		if refused.Code == 16 || refused.Code == 401 {
			return exit(exitRefused, "%w (is --key the server's key?)", err)
		}
		return exit(exitRefused, "%w", err)
	case errors.Is(err, client.ErrNoRoute):
		return exit(exitNoRoute, "no server answers at %s.\nStart one with 'set3d serve', or name another with --url. (%s)", url, cause(err))
	}
	return exit(exitWrong, "%w", err)
}

// cause is why a server cannot be reached, without the addresses, which the message around it names.
func cause(err error) string {
	var dial *net.OpError
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return name.Err
	case errors.As(err, &dial):
		return strings.TrimPrefix(dial.Err.Error(), "connect: ")
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return err.Error()
}

const patienceHelp = "how long a lost connection is tried for again, before it counts as failed"

// checkPatience is the range of --patience.
func checkPatience(d time.Duration) error {
	if d <= 0 || d > time.Hour {
		return exit(exitUsage, "--patience is %v, want more than 0 and at most 1h", d)
	}
	return nil
}

// checkErrors is the range of --errors.
func checkErrors(share float64) error {
	if math.IsNaN(share) || share < 0 || share > 0.9 {
		return exit(exitUsage, "--errors is %v, want 0 to 0.9", share)
	}
	return nil
}

// checkPlayers is the range of --players.
func checkPlayers(n int) error {
	if n < 1 || n > 8 {
		return exit(exitUsage, "--players is %d, want 1 to 8", n)
	}
	return nil
}
