package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"github.com/heroiclabs/nakama-common/runtime"
)

// online reports whether a user shows a status.
func (s *Server) online(userID string) bool {
	return s.tracker.count(stream{Mode: modeStatus, Subject: uuid.FromStringOrNil(userID)}) > 0
}

// checkModuleID is checkID in the words that modules get.
func checkModuleID(id, username string, shortest int) error {
	switch {
	case id == "":
		return errors.New("expects id string")
	case badChars.MatchString(id):
		return errors.New("expects id to be valid, no spaces or control characters allowed")
	case len(id) < shortest || len(id) > 128:
		return fmt.Errorf("expects id to be valid, must be %d-128 bytes", shortest)
	case badUsername.MatchString(username):
		return errors.New("expects username to be valid, no spaces or control characters allowed")
	case len(username) > 128:
		return errors.New("expects id to be valid, must be 1-128 bytes")
	}
	return nil
}

func (n *nakama) AuthenticateDevice(ctx context.Context, id, username string, create bool) (string, string, bool, error) {
	if err := checkModuleID(id, username, 10); err != nil {
		return "", "", false, err
	}
	u, created, err := n.srv.store.authenticateDevice(ctx, id, username, create)
	return u.ID, u.Username, created, asGRPC(err)
}

func (n *nakama) AuthenticateCustom(ctx context.Context, id, username string, create bool) (string, string, bool, error) {
	if err := checkModuleID(id, username, 6); err != nil {
		return "", "", false, err
	}
	u, created, err := n.srv.store.authenticateCustom(ctx, id, username, create)
	return u.ID, u.Username, created, asGRPC(err)
}

func (n *nakama) AuthenticateEmail(ctx context.Context, email, password, username string, create bool) (string, string, bool, error) {
	u, created, err := n.srv.store.authenticateEmail(ctx, email, password, username, create)
	return u.ID, u.Username, created, asGRPC(err)
}

func (n *nakama) AuthenticateTokenGenerate(userID, username string, exp int64, vars map[string]string) (string, int64, error) {
	if userID == "" {
		return "", 0, errors.New("expects user id")
	}
	if _, err := uuid.FromString(userID); err != nil {
		return "", 0, errors.New("expects valid user id")
	}
	if username == "" {
		username, _ = checkUsername("") // an empty name is always replaced by a good one
	}
	if exp == 0 {
		exp = time.Now().Add(n.srv.cfg.Timing.Token).Unix()
	}
	token, exp := n.srv.tokens.sign(n.srv.cfg.EncryptionKey, uuid.Must(uuid.NewV4()).String(), userID, username, vars, exp)
	return token, exp, nil
}

func (n *nakama) AccountGetId(ctx context.Context, userID string) (*api.Account, error) {
	id, err := uuid.FromString(userID)
	if err != nil {
		return nil, errors.New("invalid user id")
	}
	u, ok, err := n.srv.store.user(ctx, id.String())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errAccountNotFound
	}
	return u.account(n.srv.online(u.ID)), nil
}

func (n *nakama) AccountsGetId(ctx context.Context, userIDs, deviceIDs []string) ([]*api.Account, error) {
	ids, err := canonical(userIDs)
	if err != nil {
		return nil, err
	}
	found, err := n.srv.store.usersThat(ctx, func(u *user) bool {
		return slices.Contains(ids, u.ID) || slices.ContainsFunc(u.Devices, func(d string) bool { return slices.Contains(deviceIDs, d) })
	})
	if err != nil {
		return nil, err
	}
	out := []*api.Account{}
	for _, u := range found {
		out = append(out, u.account(n.srv.online(u.ID)))
	}
	return out, nil
}

func canonical(ids []string) ([]string, error) {
	out := make([]string, 0, len(ids))
	for _, raw := range ids {
		id, err := uuid.FromString(raw)
		if err != nil {
			return nil, errors.New("each user id must be a valid id string")
		}
		out = append(out, id.String())
	}
	return out, nil
}

func (n *nakama) UsersGetId(ctx context.Context, userIDs []string, _ []string) ([]*api.User, error) {
	ids, err := canonical(userIDs)
	if err != nil {
		return nil, err
	}
	return n.users(ctx, ids, nil)
}

func (n *nakama) UsersGetUsername(ctx context.Context, usernames []string) ([]*api.User, error) {
	if slices.Contains(usernames, "") {
		return nil, errors.New("each username must be a string")
	}
	return n.users(ctx, nil, usernames)
}

func (n *nakama) users(ctx context.Context, ids, names []string) ([]*api.User, error) {
	found, err := n.srv.store.usersByIDOrName(ctx, ids, names)
	if err != nil {
		return nil, err
	}
	out := []*api.User{}
	for _, u := range found {
		out = append(out, u.api(n.srv.online(u.ID)))
	}
	return out, nil
}

func (n *nakama) AccountUpdateId(ctx context.Context, userID, username string, metadata map[string]any, displayName, timezone, location, langTag, avatarURL string) error {
	return n.updateAccount(ctx, &runtime.AccountUpdate{
		UserID: userID, Username: username, Metadata: metadata, DisplayName: displayName, Timezone: timezone,
		Location: location, LangTag: langTag, AvatarUrl: avatarURL,
	})
}

func (n *nakama) updateAccount(ctx context.Context, u *runtime.AccountUpdate) error {
	c, err := accountChangeOf(u)
	if err != nil {
		return err
	}
	return n.srv.store.updateAccount(ctx, c)
}

func accountChangeOf(u *runtime.AccountUpdate) (accountChange, error) {
	id, err := uuid.FromString(u.UserID)
	if err != nil {
		return accountChange{}, errors.New("expects user ID to be a valid identifier")
	}
	c := accountChange{
		user: id.String(), username: u.Username, display: notEmpty(u.DisplayName), zone: notEmpty(u.Timezone),
		location: notEmpty(u.Location), lang: notEmpty(u.LangTag), avatar: notEmpty(u.AvatarUrl),
	}
	if u.Metadata != nil {
		raw, err := json.Marshal(u.Metadata)
		if err != nil {
			return accountChange{}, fmt.Errorf("error encoding metadata: %v", err)
		}
		text, err := normalizeJSON(string(raw))
		if err != nil {
			return accountChange{}, err
		}
		c.metadata = &text
	}
	return c, nil
}

func notEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (n *nakama) AccountDeleteId(ctx context.Context, userID string, _ bool) error {
	id, err := uuid.FromString(userID)
	if err != nil {
		return errors.New("expects user ID to be a valid identifier")
	}
	return n.srv.deleteAccount(ctx, id)
}

// deleteAccount removes a user with all that is theirs, voids their tokens and closes their sockets.
func (s *Server) deleteAccount(ctx context.Context, id uuid.UUID) error {
	found, err := s.store.deleteAccount(ctx, id.String())
	if err != nil || !found {
		return err
	}
	s.tokens.voidUser(id)
	for _, sid := range s.tracker.sessionIDs(stream{Mode: modeNotifications, Subject: id}) {
		s.sessions.disconnect(sid, runtime.PresenceReasonDisconnect)
	}
	return nil
}

func (n *nakama) UsersBanId(ctx context.Context, userIDs []string) error {
	ids, err := canonical(userIDs)
	if err != nil {
		return err
	}
	if err := n.srv.store.setBanned(ctx, ids, true); err != nil {
		return err
	}
	for _, raw := range ids {
		id := uuid.FromStringOrNil(raw)
		n.srv.tokens.voidUser(id)
		n.srv.sessions.disconnectUser(id, nil, "banned", notificationBanned)
	}
	return nil
}

func (n *nakama) UsersUnbanId(ctx context.Context, userIDs []string) error {
	ids, err := canonical(userIDs)
	if err != nil {
		return err
	}
	return n.srv.store.setBanned(ctx, ids, false)
}

func (n *nakama) FriendsList(ctx context.Context, userID string, limit int, state *int, cursor string) ([]*api.Friend, string, error) {
	id, err := uuid.FromString(userID)
	if err != nil {
		return nil, "", errors.New("expects user ID to be a valid identifier")
	}
	if limit < 1 || limit > 1000 {
		return nil, "", errors.New("expects limit to be 1-1000")
	}
	if state != nil && (*state < friendMutual || *state > friendBlocked) {
		return nil, "", errors.New("expects state to be 0-3")
	}
	return n.srv.store.listFriends(ctx, id.String(), limit, state, cursor, n.srv.online)
}
