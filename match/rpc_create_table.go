package match

import (
	"slices"
	"strconv"

	"set3d/domain"
)

// The names of enums in JSON.
var (
	startModeNames = [...]string{"full", "ready"}
	botLevelNames  = [...]string{"easy", "medium", "hard"} // by their numbers less one
)

const (
	defaultMinPlayers = 2
	maxFillAfterMs    = 600_000
	rankedHoldMs      = 60_000 // of a dropped player's seat: others wait for a result that counts
)

// readTable reads what kind of table create_match was asked for, beside the rules. The seats are known already.
func (r *request) readTable(s *tableSetup) {
	mode, _ := r.choice("start", startModeNames[:])
	s.StartWhenReady = mode == 1
	s.MinPlayers = min(defaultMinPlayers, s.Seats)
	if s.Preset == practicePreset {
		s.MinPlayers = 1
	}
	if n, ok := r.number("min_players", 1, int64(s.Seats)); ok {
		s.MinPlayers = int(n)
		if !s.StartWhenReady {
			r.outOfRange("min_players", strconv.FormatInt(n, 10), "only with start ready")
		}
	}
	r.readBots(s)
}

// readBots seats bots behind the people: whoever comes first has seat 0.
func (r *request) readBots(s *tableSetup) {
	levels, _ := r.texts("bots", s.Seats-1)
	for i, name := range levels {
		level := slices.Index(botLevelNames[:], name)
		if level < 0 {
			r.outOfRange("bots", shorten(name), "easy, medium or hard")
			return
		}
		s.Bots[s.Seats-len(levels)+i] = domain.BotEasy + domain.BotLevel(level)
	}
	s.FillAfterMs, _ = r.number("fill_with_bots_after_ms", 1, maxFillAfterMs)
	level, named := r.choice("fill_level", botLevelNames[:])
	switch {
	case s.FillAfterMs != 0 && !named:
		s.FillLevel = domain.BotMedium
	case s.FillAfterMs != 0:
		s.FillLevel = domain.BotEasy + domain.BotLevel(level)
	case named:
		r.outOfRange("fill_level", botLevelNames[level], "only with fill_with_bots_after_ms")
	}
}
