package match

import "github.com/heroiclabs/nakama-common/runtime"

// visitor is one session at a table, player or spectator. It is a runtime.Presence, so that answers can be sent to it. It
// never changes: the hooks read it too.
type visitor struct {
	userID    string
	sessionID string
	node      string
	username  string
}

var _ runtime.Presence = (*visitor)(nil)

func newVisitor(p runtime.Presence) *visitor {
	return &visitor{userID: p.GetUserId(), sessionID: p.GetSessionId(), node: p.GetNodeId(), username: p.GetUsername()}
}

func (v *visitor) GetUserId() string                 { return v.userID }
func (v *visitor) GetSessionId() string              { return v.sessionID }
func (v *visitor) GetNodeId() string                 { return v.node }
func (v *visitor) GetUsername() string               { return v.username }
func (v *visitor) GetHidden() bool                   { return false }
func (v *visitor) GetPersistence() bool              { return false }
func (v *visitor) GetStatus() string                 { return "" }
func (v *visitor) GetReason() runtime.PresenceReason { return runtime.PresenceReasonUnknown }
