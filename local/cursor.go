package local

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/gofrs/uuid/v5"
)

// Cursors are what Nakama's are, gob in base64, so that the host refuses what Nakama cannot read and nothing else: of
// the values below the names and types of the fields matter.

// objectCursor is the object before a page of a storage listing.
type objectCursor struct {
	Key    string
	UserID uuid.UUID
	Read   int32
}

// recordCursor is the record before a page of a leaderboard, or if IsNext is false the one after it.
type recordCursor struct {
	IsNext        bool
	LeaderboardId string
	ExpiryTime    int64 // always 0: boards are not reset
	Score         int64
	Subscore      int64
	OwnerId       string
	Rank          int64
}

// friendCursor is where a page of friends begins: Position counts from 0, among the friends that are listed.
type friendCursor struct {
	State    int64 // of the first one
	Position int64
}

func encodeCursor(as *base64.Encoding, cursor any) (string, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(cursor); err != nil {
		return "", fmt.Errorf("encoding a cursor: %w", err)
	}
	return as.EncodeToString(b.Bytes()), nil
}

var errUnreadable = errors.New("unreadable cursor")

// decodeCursor returns nil if there is no cursor.
func decodeCursor[T any](as *base64.Encoding, text string) (*T, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := as.DecodeString(text)
	if err != nil {
		return nil, errUnreadable
	}
	cursor := new(T)
	if gob.NewDecoder(bytes.NewReader(raw)).Decode(cursor) != nil {
		return nil, errUnreadable
	}
	return cursor, nil
}
