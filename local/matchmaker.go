package local

import (
	"context"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/rtapi"
	"github.com/heroiclabs/nakama-common/runtime"
)

type MatchmakerEntry struct{}

func (*MatchmakerEntry) GetPresence() runtime.Presence         { return nil }
func (*MatchmakerEntry) GetTicket() string                     { return "" }
func (*MatchmakerEntry) GetProperties() map[string]interface{} { return nil }
func (*MatchmakerEntry) GetPartyId() string                    { return "" }
func (*MatchmakerEntry) GetCreateTime() int64                  { return 0 }

type matchmaker struct{}

func newMatchmaker(*Server) (*matchmaker, error) { return &matchmaker{}, nil }
func (m *matchmaker) run(ctx context.Context)    { <-ctx.Done() }
func (m *matchmaker) removeSession(uuid.UUID)    {}
func (p *pipeline) matchmakerAdd(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	return p.unsupported(ctx, s, in)
}
func (p *pipeline) matchmakerRemove(ctx context.Context, s *session, in *rtapi.Envelope) (bool, *rtapi.Envelope) {
	return p.unsupported(ctx, s, in)
}
