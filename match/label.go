package match

import "encoding/json"

// label is what Nakama lists a match by. Everybody can read it.
type label struct {
	Version int    `json:"v"`
	Phase   string `json:"phase"` // lobby, playing, ended
	Open    bool   `json:"open"`  // whether a seat is free
	Preset  string `json:"preset"`
	Seats   int    `json:"seats"`
	Taken   int    `json:"taken"`
}

func (t *table) currentLabel() label {
	l := label{Version: 1, Phase: "lobby", Preset: t.setup.Preset, Seats: t.seats.count, Taken: t.seats.taken()}
	switch {
	case t.ended || t.closing:
		l.Phase = "ended"
	case t.standing.started:
		l.Phase = "playing"
	default:
		l.Open = l.Taken < l.Seats
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
// of the match.
func (t *table) refreshLabel() {
	now := t.currentLabel()
	if now == t.label || t.dispatcher == nil {
		return
	}
	t.label = now
	if err := t.dispatcher.MatchLabelUpdate(now.String()); err != nil {
		t.logger.Debug("table %s: cannot update the label: %v", t.setup.TableID, err)
	}
}
