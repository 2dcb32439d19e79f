package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"set3d/domain"
)

// tableSetup is all that a match is made from. It crosses Nakama as JSON in one parameter, because parameters must
// survive gob. It is comparable: two requests are the same if their setups are. The table changes its own copy, which
// is stored with its checkpoints: see savedTable.
type tableSetup struct {
	TableID string
	Creator string // user id
	Preset  string
	Rules   domain.Rules
	Seats   int
	Seed    int32      // of a practice deck; 0: a fresh key at the start
	PanicAt entryPoint // test hook
	Deck    string     // test hook: card codes
	Private bool       // joined by its code only
	Code    string     // by which others find the table
	Matched bool       // made by the matchmaker, for the users in Reserved

	Public bool // by rules by which strangers are brought together
	Ranked bool
	Custom bool // other rules than the preset's

	// StartWhenReady starts the match when all who sit are ready, at least MinPlayers; else it starts when all seats are taken.
	StartWhenReady bool
	MinPlayers     int

	Bots        [domain.MaxPlayers]domain.BotLevel // by seat, from the opening on
	FillAfterMs int64                              // when bots of FillLevel take the free seats, once a person waits; 0: never
	FillLevel   domain.BotLevel

	// Users by seat for whom the seats are kept for ReservedMs from the opening on.
	Reserved   [domain.MaxPlayers]string
	ReservedMs int64
}

// kind is what quick_match finds the table as. ok is false if it sends nobody there.
func (s *tableSetup) kind() (kind tableKind, ok bool) {
	plain := !s.Custom && !s.Ranked && !s.StartWhenReady && s.Seed == 0 && s.Deck == "" && s.PanicAt == ""
	human := s.FillAfterMs == 0 && s.Bots == [domain.MaxPlayers]domain.BotLevel{}
	return tableKind{s.Preset, s.Seats}, s.Public && plain && human && !s.Private && !s.Matched
}

// rulesName is the preset's name, or "custom".
func (s *tableSetup) rulesName() string {
	if s.Custom {
		return customPreset
	}
	return s.Preset
}

// startName is what starts the match, as requests spell it.
func (s *tableSetup) startName() string {
	if s.StartWhenReady {
		return startModeNames[1]
	}
	return startModeNames[0]
}

// setupParam is the key of a match's one parameter.
const setupParam = "setup"

func (s tableSetup) params() (map[string]any, error) {
	raw, err := json.Marshal(s)
	return map[string]any{setupParam: string(raw)}, err
}

func readSetup(params map[string]any) (tableSetup, error) {
	raw, ok := params[setupParam].(string)
	if !ok {
		return tableSetup{}, errors.New("the match was not created by this module: it has no setup")
	}
	var s tableSetup
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		return tableSetup{}, fmt.Errorf("unreadable setup: %w", err)
	}
	return s, s.validate()
}

func (s *tableSetup) validate() error {
	if s.Seats < 1 || s.Seats > domain.MaxPlayers {
		return fmt.Errorf("a table has 1 to %d seats, not %d", domain.MaxPlayers, s.Seats)
	}
	return s.Rules.Validate()
}

// deck is where the cards come from. The key is asked for only when it is needed.
func (s tableSetup) deck(newKey func() [32]byte) domain.DeckSource {
	if s.Deck != "" {
		if source, err := parseDeck(s.Deck); err == nil {
			return source
		}
	}
	if source, err := domain.SeedSource(s.Seed); err == nil {
		return source
	}
	return domain.KeySource(newKey())
}

// parseDeck reads card codes, the first card first.
func parseDeck(codes string) (domain.DeckSource, error) {
	var cards []domain.Card
	for _, code := range strings.Fields(codes) {
		card, err := domain.ParseCard(code)
		if err != nil {
			return domain.DeckSource{}, err
		}
		cards = append(cards, card)
	}
	return domain.OrderSource(cards)
}
