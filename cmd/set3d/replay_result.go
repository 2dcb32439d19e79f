package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"set3d/client"
	"set3d/domain"
)

// savedRecord is the answer of get_record, or a bare record: then the result is nil.
type savedRecord struct {
	client.GotRecord

	seen string // the commitment that somebody has seen when the match started, or ""
}

// recordStart begins every record, of whatever version.
const recordStart = "S3R"

// readSaved reads a bare record, the answer of get_record, or that answer as Nakama wraps it.
func readSaved(data []byte) (savedRecord, error) {
	if bytes.HasPrefix(data, []byte(recordStart)) {
		return savedRecord{GotRecord: client.GotRecord{Record: data}}, nil
	}
	var saved struct {
		client.GotRecord
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
	return savedRecord{GotRecord: saved.GotRecord}, nil
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
