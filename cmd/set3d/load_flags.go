package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"set3d/client"
)

// loadRules leave out the animations: each claim is judged when it comes, and what is measured is the server, not the rules.
const loadRules = `{"valid_anim_ms":0,"refill_anim_ms":0,"expand_anim_ms":0,"invalid_anim_ms":100}`

// The limits of a load: one process cannot drive more, and a slip of the finger should not try.
const (
	maxLoadMatches  = 2000
	maxIdleTables   = 20_000
	maxLoadPace     = 10 * time.Minute
	maxLoadDuration = 24 * time.Hour
	maxLoadRamp     = time.Hour
	leastDrop       = 100 * time.Millisecond
	maxPresetShare  = 1000
)

// jsonToOutput is what --json without a file stands for.
const jsonToOutput = "-"

type loadFlags struct {
	server    serverFlags
	players   int
	matches   int
	idle      int
	duration  time.Duration
	ramp      time.Duration
	pace      time.Duration
	errors    float64
	dropEvery time.Duration
	patience  time.Duration
	preset    string
	presets   string
	rules     string
	echo      string
	seed      uint64
	json      string
	verify    bool
	serverPID int
	metrics   string
}

func (f *loadFlags) add(cmd *cobra.Command) {
	f.server.add(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.players, "players", 4, "players of each table, 1 to 8")
	flags.IntVar(&f.matches, "matches", 10, fmt.Sprintf("tables in play at once, 0 to %d", maxLoadMatches))
	flags.IntVar(&f.idle, "idle", 0, fmt.Sprintf("tables besides at which nobody does anything, 0 to %d", maxIdleTables))
	flags.DurationVar(&f.duration, "duration", 30*time.Second, "how long is measured, from when all tables are open")
	flags.DurationVar(&f.ramp, "ramp", 0, "open the tables over this time; 0: as fast as is decent")
	flags.DurationVar(&f.pace, "pace", 2*time.Second, "mean time that a player thinks before a claim")
	flags.Float64Var(&f.errors, "errors", 0.05, "share of claims that are wrong, 0 to 0.9")
	flags.DurationVar(&f.dropEvery, "drop-every", 0, "mean time after which a player loses the connection and makes another; 0: never")
	flags.DurationVar(&f.patience, "patience", 5*time.Second, patienceHelp)
	flags.StringVar(&f.preset, "preset", "", "rules by name, the server's default when empty")
	flags.StringVar(&f.presets, "presets", "", "a mix of presets with their shares, classic:3,fast:1")
	flags.StringVar(&f.rules, "rules", "", "fields of the rules to replace, as JSON; without it and a preset: "+loadRules)
	flags.StringVar(&f.echo, "echo", "", "drive an echo module instead of the game: the name of its RPC that makes a match")
	flags.Uint64Var(&f.seed, "seed", 0, "makes the players think and choose alike in two runs; 0: a new one")
	flags.StringVar(&f.json, "json", "", "print the result as JSON; --json=FILE writes it there and prints the table")
	flags.Lookup("json").NoOptDefVal = jsonToOutput
	flags.BoolVar(&f.verify, "verify", true, "check every message as play does; costs this process some time")
	flags.IntVar(&f.serverPID, "server-pid", 0, "watch CPU and memory of this process, the server's (Linux)")
	flags.StringVar(&f.metrics, "metrics", "", "watch the server by its Prometheus metrics at this URL")
}

// loadPlan is what the tables are to be.
type loadPlan struct {
	requests []client.CreateMatch // by share
	seed     uint64
}

// request is that of a table, so that the shares come out right among any consecutive ones.
func (p loadPlan) request(table int) client.CreateMatch { return p.requests[table%len(p.requests)] }

func (f loadFlags) plan() (loadPlan, error) {
	plan := loadPlan{seed: f.seed}
	if plan.seed == 0 {
		plan.seed = rand.Uint64()
	}
	if err := f.check(); err != nil {
		return plan, err
	}
	names, err := f.presetMix()
	if err != nil {
		return plan, err
	}
	rules := f.rules
	if rules == "" && f.preset == "" && f.presets == "" {
		rules = loadRules
	}
	for _, name := range names {
		request := client.CreateMatch{Preset: name, Seats: f.players}
		if err := readRules(rules, &request); err != nil {
			return plan, err
		}
		plan.requests = append(plan.requests, request)
	}
	return plan, nil
}

func (f loadFlags) check() error {
	if err := checkPlayers(f.players); err != nil {
		return err
	}
	switch {
	case f.matches < 0 || f.matches > maxLoadMatches:
		return exit(exitUsage, "--matches is %d, want 0 to %d", f.matches, maxLoadMatches)
	case f.idle < 0 || f.idle > maxIdleTables:
		return exit(exitUsage, "--idle is %d, want 0 to %d", f.idle, maxIdleTables)
	case f.matches == 0 && f.idle == 0:
		return exit(exitUsage, "--matches is 0 and --idle too: there is nothing to do")
	case f.preset != "" && f.presets != "":
		return exit(exitUsage, "--preset and --presets: one of them")
	case f.echo != "" && (f.preset != "" || f.presets != "" || f.rules != ""):
		return exit(exitUsage, "--echo knows neither presets nor rules")
	}
	if err := f.checkTimes(); err != nil {
		return err
	}
	return checkOpenFiles(f.players*f.matches + socketsOfIdle(f.idle, f.players))
}

func (f loadFlags) checkTimes() error {
	switch {
	case f.duration <= 0 || f.duration > maxLoadDuration:
		return exit(exitUsage, "--duration is %v, want more than 0 and at most %v", f.duration, maxLoadDuration)
	case f.ramp < 0 || f.ramp > maxLoadRamp:
		return exit(exitUsage, "--ramp is %v, want 0 to %v", f.ramp, maxLoadRamp)
	case f.pace < 0 || f.pace > maxLoadPace:
		return exit(exitUsage, "--pace is %v, want 0 to %v", f.pace, maxLoadPace)
	case f.dropEvery != 0 && f.dropEvery < leastDrop:
		return exit(exitUsage, "--drop-every is %v, want at least %v, or 0", f.dropEvery, leastDrop)
	}
	if err := checkErrors(f.errors); err != nil {
		return err
	}
	return checkPatience(f.patience)
}

// presetMix reads "classic:3,fast:1" as the names in turn, each as often as its share.
func (f loadFlags) presetMix() ([]string, error) {
	if f.presets == "" {
		return []string{f.preset}, nil
	}
	var names []string
	for part := range strings.SplitSeq(f.presets, ",") {
		name, text, shared := strings.Cut(part, ":")
		share := 1
		if shared {
			var err error
			if share, err = strconv.Atoi(text); err != nil || share < 1 || share > maxPresetShare {
				return nil, exit(exitUsage, "--presets: %q: want a share of 1 to %d", part, maxPresetShare)
			}
		}
		if name == "" {
			return nil, exit(exitUsage, "--presets: %q: want NAME:SHARE,NAME:SHARE", f.presets)
		}
		for range share {
			names = append(names, name)
		}
	}
	return names, nil
}
