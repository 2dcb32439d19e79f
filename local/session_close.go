package local

import (
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/gorilla/websocket"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// close ends the session once: its presences leave for the reason, last words are sent, then the socket is closed.
// With a message the peer gets a close frame that says it; without one the connection just ends.
func (s *session) close(message string, reason runtime.PresenceReason, lastWords ...*rtapi.Envelope) {
	s.closing.Lock()
	s.cancel()
	s.closing.Unlock()

	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return
	}
	s.stopped = true
	s.mu.Unlock()

	s.srv.matchmaker.removeSession(s.id)
	s.srv.tracker.untrackAll(s.id, reason)
	s.srv.status.forget(s.id)
	s.srv.sessions.remove(s.id)
	s.ping.Stop()
	for _, e := range lastWords {
		if b, err := s.format.marshal(e); err == nil {
			s.mu.Lock()
			_ = s.writeLocked(s.frameType(), b) // the peer may be gone already
			s.mu.Unlock()
		}
	}
	if message != "" {
		s.sayClosed(message)
	}
	_ = s.conn.Close() // closing twice is harmless
	s.logger.Debug("Closed client connection: %v", message)
	s.srv.events.sessionEnd(s, message)
}

func (s *session) sayClosed(message string) {
	if !s.closeSent.CompareAndSwap(false, true) {
		return
	}
	frame := websocket.FormatCloseMessage(websocket.CloseNormalClosure, message)
	if err := s.conn.WriteControl(websocket.CloseMessage, frame, time.Now().Add(s.srv.cfg.Timing.WriteWait)); err != nil {
		return
	}
	t := time.NewTimer(s.srv.cfg.Timing.CloseWait)
	defer t.Stop()
	select {
	case <-s.closeAck:
	case <-t.C:
	}
}

// The codes of the notifications that the host itself sends.
const (
	notificationSingleSocket int32 = -7
	notificationBanned       int32 = -8
)

func notificationEnvelope(subject string, code int32) *rtapi.Envelope {
	return notificationsEnvelope(&api.Notification{
		Id: uuid.Must(uuid.NewV4()).String(), Subject: subject, Content: "{}", Code: code,
		CreateTime: &timestamppb.Timestamp{Seconds: time.Now().Unix()},
	})
}

func notificationsEnvelope(ns ...*api.Notification) *rtapi.Envelope {
	return &rtapi.Envelope{Message: &rtapi.Envelope_Notifications{Notifications: &rtapi.Notifications{Notifications: ns}}}
}
