package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// nakama is the runtime.NakamaModule that modules get. It lives as long as the server.
type nakama struct {
	unsupportedModule
	srv *Server
}

var _ runtime.NakamaModule = (*nakama)(nil)

func (n *nakama) MatchCreate(ctx context.Context, module string, params map[string]any) (string, error) {
	if module == "" {
		return "", errors.New("expects module name")
	}
	return n.srv.matches.create(ctx, module, params)
}

func (n *nakama) MatchGet(_ context.Context, id string) (*api.Match, error) {
	return n.srv.matches.get(id)
}

func (n *nakama) MatchSignal(ctx context.Context, id string, data string) (string, error) {
	return n.srv.matches.signal(ctx, id, data)
}

func (n *nakama) MatchList(ctx context.Context, limit int, authoritative bool, label string, minSize, maxSize *int, query string) ([]*api.Match, error) {
	l := listing{limit: limit, authoritative: &authoritative, minSize: int32Of(minSize), maxSize: int32Of(maxSize)}
	if label != "" {
		l.label = &label
	}
	if query != "" {
		l.query = &query
	}
	return n.srv.matches.list(ctx, l)
}

func int32Of(v *int) *int32 {
	if v == nil {
		return nil
	}
	n := int32(*v)
	return &n
}

// streamOf parses a stream's parts; empty ids are nil ids.
func streamOf(mode uint8, subject, subcontext, label string) (stream, error) {
	s := stream{Mode: mode, Label: label}
	var err error
	if subject != "" {
		if s.Subject, err = uuid.FromString(subject); err != nil {
			return s, errors.New("stream subject must be a valid identifier")
		}
	}
	if subcontext != "" {
		if s.Subcontext, err = uuid.FromString(subcontext); err != nil {
			return s, errors.New("stream subcontext must be a valid identifier")
		}
	}
	return s, nil
}

// recipients are the presences' sessions, wherever they are; without presences the whole stream's.
func (n *nakama) recipients(s stream, presences []runtime.Presence) ([]uuid.UUID, error) {
	if len(presences) == 0 {
		return n.srv.tracker.sessionIDs(s), nil
	}
	out := make([]uuid.UUID, 0, len(presences))
	for _, p := range presences {
		id, err := uuid.FromString(p.GetSessionId())
		if err != nil {
			return nil, errors.New("expects each presence session id to be a valid identifier")
		}
		out = append(out, id)
	}
	return out, nil
}

func (n *nakama) StreamSendRaw(mode uint8, subject, subcontext, label string, msg *rtapi.Envelope, presences []runtime.Presence, _ bool) error {
	s, err := streamOf(mode, subject, subcontext, label)
	if err != nil {
		return err
	}
	if msg == nil {
		return errors.New("expects a valid message")
	}
	to, err := n.recipients(s, presences)
	if err != nil {
		return err
	}
	n.srv.router.send(to, msg)
	return nil
}

func (n *nakama) StreamSend(mode uint8, subject, subcontext, label, data string, presences []runtime.Presence, reliable bool) error {
	s, err := streamOf(mode, subject, subcontext, label)
	if err != nil {
		return err
	}
	return n.StreamSendRaw(mode, subject, subcontext, label, &rtapi.Envelope{Message: &rtapi.Envelope_StreamData{
		StreamData: &rtapi.StreamData{Stream: s.wire(), Data: data, Reliable: reliable},
	}}, presences, reliable)
}

func (n *nakama) StreamUserList(mode uint8, subject, subcontext, label string, includeHidden, includeNotHidden bool) ([]runtime.Presence, error) {
	s, err := streamOf(mode, subject, subcontext, label)
	if err != nil {
		return nil, err
	}
	var out []runtime.Presence
	for _, p := range n.srv.tracker.list(s, includeHidden, includeNotHidden) {
		out = append(out, p)
	}
	return out, nil
}

func (n *nakama) StreamCount(mode uint8, subject, subcontext, label string) (int, error) {
	s, err := streamOf(mode, subject, subcontext, label)
	if err != nil {
		return 0, err
	}
	return n.srv.tracker.count(s), nil
}

func (n *nakama) SessionDisconnect(_ context.Context, sessionID string, reason ...runtime.PresenceReason) error {
	id, err := uuid.FromString(sessionID)
	if err != nil {
		return errors.New("expects valid session id")
	}
	why := runtime.PresenceReasonDisconnect
	if len(reason) > 0 {
		why = reason[0]
	}
	n.srv.sessions.disconnect(id, why)
	return nil
}

// NotificationSend reaches sockets only: the host keeps no notifications.
func (n *nakama) NotificationSend(_ context.Context, userID, subject string, content map[string]any, code int, sender string, persistent bool) error {
	user, err := uuid.FromString(userID)
	if err != nil {
		return errors.New("expects userID to be a valid UUID")
	}
	if subject == "" {
		return errors.New("expects subject to be a non-empty string")
	}
	if code <= 0 && (code < -2000 || code > -1000) {
		return errors.New("expects code to number above 0")
	}
	text, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("failed to convert content: %s", err)
	}
	from, err := uuid.FromString(sender)
	if err != nil && sender != "" {
		return errors.New("expects sender to either be an empty string or a valid UUID")
	}
	n.srv.router.send(n.srv.tracker.sessionIDs(stream{Mode: modeNotifications, Subject: user}), notificationsEnvelope(&api.Notification{
		Id: uuid.Must(uuid.NewV4()).String(), Subject: subject, Content: string(text), Code: int32(code),
		SenderId: from.String(), Persistent: persistent, CreateTime: timestamppb.New(time.Now().Truncate(time.Second)),
	}))
	return nil
}

func (n *nakama) MetricsCounterAdd(name string, tags map[string]string, delta int64) {
	n.srv.metrics.count(name, tags, delta)
}

func (n *nakama) MetricsGaugeSet(name string, tags map[string]string, value float64) {
	n.srv.metrics.gauge(name, tags, value)
}

func (n *nakama) MetricsTimerRecord(name string, tags map[string]string, value time.Duration) {
	n.srv.metrics.timer(name, tags, value)
}

func (n *nakama) ReadFile(relPath string) (*os.File, error) {
	if !filepath.IsLocal(relPath) {
		return nil, errors.New("path is outside of the module folder")
	}
	return os.Open(filepath.Join(n.srv.cfg.ModulePath, relPath))
}
