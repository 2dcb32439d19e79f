package local

import (
	"strings"

	"github.com/gofrs/uuid/v5"
)

// matchID is a parsed "uuid.node". An empty node means a relayed match.
type matchID struct {
	id   uuid.UUID
	node string
}

// parseMatchID accepts every spelling of the UUID that gofrs/uuid does, as Nakama: upper case, no hyphens, urn:uuid:,
// braces. A registry must be keyed by the parsed value.
func parseMatchID(s string) (matchID, bool) {
	raw, node, found := strings.Cut(s, ".")
	if !found {
		return matchID{}, false
	}
	id, err := uuid.FromString(raw)
	if err != nil {
		return matchID{}, false
	}
	return matchID{id: id, node: node}, true
}

func (m matchID) String() string { return m.id.String() + "." + m.node }

func (m matchID) stream() stream {
	if m.node == "" {
		return stream{Mode: modeMatchRelayed, Subject: m.id}
	}
	return stream{Mode: modeMatchAuthoritative, Subject: m.id, Label: m.node}
}
