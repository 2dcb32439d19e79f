package local

import (
	"errors"
	"fmt"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

// errMatchStopped is what every dispatcher call answers once the match has stopped.
var errMatchStopped = errors.New("match stopped")

// deferredMessage waits for the end of the callback.
type deferredMessage struct {
	to       []uuid.UUID
	envelope *rtapi.Envelope
}

// A match is its own runtime.MatchDispatcher.
var _ runtime.MatchDispatcher = (*match)(nil)

// BroadcastMessage sends match data to presences of the match: to all if nil, to nobody if empty. A presence that is
// not in the match is skipped without an error.
func (m *match) BroadcastMessage(opCode int64, data []byte, presences []runtime.Presence, sender runtime.Presence, reliable bool) error {
	to, e, err := m.prepare(opCode, data, presences, sender, reliable)
	if err != nil || len(to) == 0 {
		return err
	}
	m.reg.srv.router.send(to, e)
	return nil
}

// BroadcastMessageDeferred is BroadcastMessage after the callback has returned. Who gets it is settled now.
func (m *match) BroadcastMessageDeferred(opCode int64, data []byte, presences []runtime.Presence, sender runtime.Presence, reliable bool) error {
	to, e, err := m.prepare(opCode, data, presences, sender, reliable)
	if err != nil || len(to) == 0 {
		return err
	}
	select {
	case m.deferred <- deferredMessage{to, e}:
		return nil
	default:
		return runtime.ErrDeferredBroadcastFull
	}
}

func (m *match) flushDeferred() {
	for {
		select {
		case d := <-m.deferred:
			m.reg.srv.router.send(d.to, d.envelope)
		default:
			return
		}
	}
}

func (m *match) prepare(opCode int64, data []byte, to []runtime.Presence, sender runtime.Presence, reliable bool) ([]uuid.UUID, *rtapi.Envelope, error) {
	if m.stopped.Load() {
		return nil, nil, errMatchStopped
	}
	ids, err := m.recipients(to)
	if err != nil {
		return nil, nil, err
	}
	from, err := senderWire(sender)
	if err != nil {
		return nil, nil, err
	}
	return ids, &rtapi.Envelope{Message: &rtapi.Envelope_MatchData{MatchData: &rtapi.MatchData{
		MatchId: m.id.String(), Presence: from, OpCode: opCode, Data: data, Reliable: reliable,
	}}}, nil
}

func (m *match) recipients(to []runtime.Presence) ([]uuid.UUID, error) {
	if to == nil {
		return m.members.sessionIDs(), nil
	}
	ids := make([]uuid.UUID, 0, len(to))
	for _, p := range to {
		if p == nil {
			return nil, errors.New("Presence was nil")
		}
		id, err := uuid.FromString(p.GetSessionId())
		if err != nil {
			return nil, errors.New("Presence contains an invalid Session ID")
		}
		if _, err := uuid.FromString(p.GetUserId()); err != nil && len(to) == 1 {
			return nil, errors.New("Presence contains an invalid User ID") // Nakama looks only if there is one
		}
		if m.members.has(p.GetNodeId(), id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func senderWire(sender runtime.Presence) (*rtapi.UserPresence, error) {
	if sender == nil {
		return nil, nil
	}
	if _, err := uuid.FromString(sender.GetUserId()); err != nil {
		return nil, errors.New("Sender contains an invalid User ID")
	}
	if _, err := uuid.FromString(sender.GetSessionId()); err != nil {
		return nil, errors.New("Sender contains an invalid Session ID")
	}
	return &rtapi.UserPresence{
		UserId: sender.GetUserId(), SessionId: sender.GetSessionId(), Username: sender.GetUsername(),
	}, nil
}

// MatchKick takes presences out of the match. Their sockets stay open and they are told nothing; MatchLeave follows.
func (m *match) MatchKick(presences []runtime.Presence) error {
	if m.stopped.Load() {
		return errMatchStopped
	}
	type kick struct{ session, user uuid.UUID }
	var kicks []kick
	for _, p := range presences {
		user, err := uuid.FromString(p.GetUserId())
		if err != nil {
			return errors.New("Presence contains an invalid User ID")
		}
		session, err := uuid.FromString(p.GetSessionId())
		if err != nil {
			return errors.New("Presence contains an invalid Session ID")
		}
		if p.GetNodeId() == m.id.node {
			kicks = append(kicks, kick{session, user})
		}
	}
	for _, k := range kicks {
		m.reg.srv.tracker.untrack(k.session, m.id.stream(), k.user)
	}
	return nil
}

// MatchLabelUpdate changes the label at once for MatchGet and joins, and for the listing with the next index pass.
func (m *match) MatchLabelUpdate(label string) error {
	if m.stopped.Load() {
		return errMatchStopped
	}
	if len(label) > labelMax {
		return fmt.Errorf("error updating match label: %v", runtime.ErrMatchLabelTooLong)
	}
	m.reg.index.update(m, label)
	m.label.Store(&label)
	m.put(runtime.RUNTIME_CTX_MATCH_LABEL, label)
	return nil
}
