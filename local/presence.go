package local

import (
	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The stream modes that the host has.
const (
	modeNotifications      uint8 = 0
	modeStatus             uint8 = 1
	modeMatchRelayed       uint8 = 5
	modeMatchAuthoritative uint8 = 6
)

// stream names a set of presences.
type stream struct {
	Mode       uint8
	Subject    uuid.UUID
	Subcontext uuid.UUID
	Label      string
}

func (s stream) wire() *rtapi.Stream {
	w := &rtapi.Stream{Mode: int32(s.Mode), Label: s.Label}
	if s.Subject != uuid.Nil {
		w.Subject = s.Subject.String()
	}
	if s.Subcontext != uuid.Nil {
		w.Subcontext = s.Subcontext.String()
	}
	return w
}

// Presence is one session of one user in one stream, as handlers see it. Its fields are exported because presences
// travel through gob when a module passes them as match parameters.
type Presence struct {
	Node                string
	UserID, SessionID   uuid.UUID
	Username, Status    string
	Hidden, Persistence bool
	Reason              runtime.PresenceReason
}

// GetUserId returns the user's id.
func (p *Presence) GetUserId() string { return p.UserID.String() }

// GetSessionId returns the session's id.
func (p *Presence) GetSessionId() string { return p.SessionID.String() }

// GetNodeId returns the name of the node that the session is connected to.
func (p *Presence) GetNodeId() string { return p.Node }

// GetHidden reports whether the presence causes no events.
func (p *Presence) GetHidden() bool { return p.Hidden }

// GetPersistence reports whether the presence asked for persistent messages.
func (p *Presence) GetPersistence() bool { return p.Persistence }

// GetUsername returns the user name at the time of joining.
func (p *Presence) GetUsername() string { return p.Username }

// GetStatus returns the status text, in status streams only.
func (p *Presence) GetStatus() string { return p.Status }

// GetReason returns why the presence was last changed.
func (p *Presence) GetReason() runtime.PresenceReason { return p.Reason }

func (p *Presence) wire() *rtapi.UserPresence {
	return &rtapi.UserPresence{
		UserId: p.UserID.String(), SessionId: p.SessionID.String(), Username: p.Username, Persistence: p.Persistence,
	}
}

func (p *Presence) wireIn(s stream) *rtapi.UserPresence {
	w := p.wire()
	if s.Mode == modeStatus {
		w.Status = wrapperspb.String(p.Status)
	}
	return w
}

// member is a presence in a match. It is a type of its own because Nakama's does not survive gob either.
type member struct{ Presence }
