package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"set3d/domain"
)

// savedRecord is the answer of get_record, or a bare record.
type savedRecord struct {
	ResultID string       `json:"result_id"`
	Record   []byte       `json:"record"`
	Result   *matchResult `json:"result"` // nil for a bare record

	seen string // the commitment that somebody has seen when the match started, or ""
}

// matchResult is what a server has written down of a match. Fields that are not compared with the record are left out.
type matchResult struct {
	ResultID     string         `json:"result_id"`
	TableID      string         `json:"table_id"`
	MatchID      string         `json:"match_id"`
	Preset       string         `json:"preset"`
	Rules        map[string]any `json:"rules"`
	Ranked       bool           `json:"ranked"`
	DurationMs   int64          `json:"duration_ms"`
	Reason       string         `json:"reason"`
	Winners      []int          `json:"winners"`
	Commitment   string         `json:"commitment"`
	Key          string         `json:"key"`
	Seed         int32          `json:"seed"`
	RecordSHA256 string         `json:"record_sha256"`
	RecordBytes  int            `json:"record_bytes"`
	Players      []playerResult `json:"players"`
}

type playerResult struct {
	Seat        int    `json:"seat"`
	DisplayName string `json:"display_name"`
	Bot         string `json:"bot"`
	Score       int    `json:"score"`
	Forfeited   bool   `json:"forfeited"`
	Claims      int    `json:"claims"`
	Wrong       int    `json:"wrong"`
	ReactionMs  struct {
		Count   int   `json:"count"`
		Fastest int64 `json:"fastest"`
		Median  int64 `json:"median"`
	} `json:"reaction_ms"`
	Rating *struct {
		Before int `json:"before"`
		After  int `json:"after"`
		Change int `json:"change"`
	} `json:"rating"`
}

// recordStart begins every record, of whatever version.
const recordStart = "S3R"

// readSaved reads a bare record, the answer of get_record, or that answer as Nakama wraps it.
func readSaved(data []byte) (savedRecord, error) {
	if bytes.HasPrefix(data, []byte(recordStart)) {
		return savedRecord{Record: data}, nil
	}
	var saved struct {
		savedRecord
		Payload string `json:"payload"`
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		return savedRecord{}, fmt.Errorf("neither a record nor the answer of get_record: %w", err)
	}
	if saved.Record == nil && saved.Payload != "" {
		return readSaved([]byte(saved.Payload))
	}
	if saved.Record == nil {
		return savedRecord{}, errors.New("not the answer of get_record: there is no record in it")
	}
	return saved.savedRecord, nil
}

// name is a seat's, as far as it is known.
func (s savedRecord) name(setup domain.Setup, seat int) string {
	name := fmt.Sprintf("seat %d", seat)
	if s.Result != nil {
		for _, player := range s.Result.Players {
			if player.Seat == seat && player.DisplayName != "" {
				name = player.DisplayName
			}
		}
	}
	if seat >= 0 && seat < domain.MaxPlayers && setup.Bots[seat].Level != 0 {
		if bot := setup.Bots[seat].Level.String() + " bot"; name != bot {
			name += " (" + bot + ")"
		}
	}
	return name
}
