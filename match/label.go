package match

import "encoding/json"

// The phases of a table.
const (
	phaseLobby   = "lobby"
	phasePlaying = "playing"
	phaseEnded   = "ended"

	// phaseInterrupted is that of a table whose match a restart has interrupted. No label says it.
	phaseInterrupted = "interrupted"
)

// label is what Nakama lists a match by. Everybody can read it: no code, no user, no seed.
type label struct {
	Version int    `json:"v"`
	Phase   string `json:"phase"` // lobby, playing, ended
	Open    bool   `json:"open"`  // whether anybody can sit down now
	Private bool   `json:"private"`
	Ranked  bool   `json:"ranked"`
	Start   string `json:"start"` // what starts the match: full, ready
	Preset  string `json:"preset"`
	Seats   int    `json:"seats"`
	Taken   int    `json:"taken"`
}

func (t *table) currentLabel() label {
	l := label{
		Version: 1, Phase: phaseLobby, Private: t.setup.Private, Ranked: t.setup.Ranked, Start: t.setup.startName(), Preset: t.setup.rulesName(),
		Seats: t.seats.count, Taken: t.seats.taken(),
	}
	switch {
	case t.ended || t.closing:
		l.Phase = phaseEnded
	case t.standing.started:
		l.Phase = phasePlaying
	default:
		l.Open = !l.Private && !t.setup.Matched && t.box.freeSeats() > 0
	}
	return l
}

func (l label) String() string {
	text, err := json.Marshal(l)
	if err != nil {
		return "{}" // cannot be: numbers, a bool and strings
	}
	return string(text)
}

// refreshLabel updates the label if it is another one: each update costs Nakama an index pass, and memory for the life
// of the match. What is not told yet is not shown here either.
func (t *table) refreshLabel() {
	if t.outbox.isHolding() {
		return
	}
	t.keepReview()
	now := t.currentLabel()
	changed := now != t.label
	t.label = now
	t.publishFacts()
	if !changed || t.dispatcher == nil {
		return
	}
	if err := t.dispatcher.MatchLabelUpdate(now.String()); err != nil {
		t.logger.Debug("table %s: cannot update the label: %v", t.setup.TableID, err)
	}
}
