package local

import (
	"errors"
	"sync"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/golang-jwt/jwt/v5"
)

// claims are what a session token says; the names are Nakama's.
type claims struct {
	TokenID   string            `json:"tid,omitempty"`
	UserID    string            `json:"uid,omitempty"`
	Username  string            `json:"usn,omitempty"`
	Vars      map[string]string `json:"vrs,omitempty"`
	ExpiresAt int64             `json:"exp,omitempty"`
	IssuedAt  int64             `json:"iat,omitempty"`
}

// GetExpirationTime returns when the token expires.
func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.ExpiresAt, 0)), nil
}

// GetNotBefore returns nothing: tokens are good at once.
func (c *claims) GetNotBefore() (*jwt.NumericDate, error) { return nil, nil }

// GetIssuedAt returns when the token was made.
func (c *claims) GetIssuedAt() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.IssuedAt, 0)), nil
}

// GetAudience returns nothing.
func (c *claims) GetAudience() (jwt.ClaimStrings, error) { return nil, nil }

// GetIssuer returns nothing.
func (c *claims) GetIssuer() (string, error) { return "", nil }

// GetSubject returns nothing.
func (c *claims) GetSubject() (string, error) { return "", nil }

// identity is who a valid token belongs to.
type identity struct {
	userID   uuid.UUID
	username string
	vars     map[string]string
	expiry   int64
	tokenID  string
}

var errTokenInvalid = errors.New("token invalid")

// tokens makes and checks tokens. Any well signed token is good until it is logged out, or its user as a whole is.
type tokens struct {
	cfg Config

	mu             sync.RWMutex
	revokedSession map[string]bool     // by token id
	revokedRefresh map[string]bool     // by token id
	voidBefore     map[uuid.UUID]int64 // Unix seconds; tokens of the same second stay good, as in Nakama
}

func newTokens(cfg Config) *tokens {
	return &tokens{cfg: cfg, revokedSession: map[string]bool{}, revokedRefresh: map[string]bool{}, voidBefore: map[uuid.UUID]int64{}}
}

// pair makes a session token and a refresh token with one id.
func (t *tokens) pair(tokenID string, userID, username string, vars map[string]string) (session, refresh string) {
	session, _ = t.sign(t.cfg.EncryptionKey, tokenID, userID, username, vars, time.Now().Add(t.cfg.Timing.Token).Unix())
	refresh, _ = t.sign(t.cfg.RefreshKey, tokenID, userID, username, vars, time.Now().Add(t.cfg.Timing.RefreshToken).Unix())
	return session, refresh
}

func (t *tokens) sign(key, tokenID, userID, username string, vars map[string]string, expiry int64) (string, int64) {
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, &claims{
		TokenID: tokenID, UserID: userID, Username: username, Vars: vars, ExpiresAt: expiry, IssuedAt: time.Now().Unix(),
	}).SignedString([]byte(key))
	if err != nil {
		panic("local: HMAC signing cannot fail: " + err.Error())
	}
	return signed, expiry
}

// parse checks a token's signature, its expiry and that it was made after its user was last logged out everywhere.
// Nakama takes the time of making from the expiry and the configured life.
func (t *tokens) parse(key, token string, life time.Duration) (identity, error) {
	c := &claims{}
	_, err := jwt.ParseWithClaims(token, c, func(*jwt.Token) (any, error) { return []byte(key), nil },
		jwt.WithExpirationRequired(), jwt.WithValidMethods([]string{"HS256"}))
	if err != nil {
		return identity{}, errTokenInvalid
	}
	user, err := uuid.FromString(c.UserID)
	if err != nil {
		return identity{}, errTokenInvalid
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if c.ExpiresAt-int64(life/time.Second) < t.voidBefore[user] {
		return identity{}, errTokenInvalid
	}
	return identity{userID: user, username: c.Username, vars: c.Vars, expiry: c.ExpiresAt, tokenID: c.TokenID}, nil
}

// parseSocket checks the token of a new socket. A token that was logged out still opens sockets, as in Nakama.
func (t *tokens) parseSocket(token string) (identity, error) {
	return t.parse(t.cfg.EncryptionKey, token, t.cfg.Timing.Token)
}

func (t *tokens) parseSession(token string) (identity, error) {
	who, err := t.parseSocket(token)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err != nil || t.revokedSession[who.tokenID] {
		return identity{}, errTokenInvalid
	}
	return who, nil
}

func (t *tokens) parseRefresh(token string) (identity, error) {
	who, err := t.parse(t.cfg.RefreshKey, token, t.cfg.Timing.RefreshToken)
	t.mu.RLock()
	defer t.mu.RUnlock()
	if err != nil || t.revokedRefresh[who.tokenID] {
		return identity{}, errTokenInvalid
	}
	return who, nil
}

// revoke logs out a session token and a refresh token by their ids; "" is none.
func (t *tokens) revoke(sessionID, refreshID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sessionID != "" {
		t.revokedSession[sessionID] = true
	}
	if refreshID != "" {
		t.revokedRefresh[refreshID] = true
	}
}

// voidUser logs a user out everywhere.
func (t *tokens) voidUser(user uuid.UUID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.voidBefore[user] = time.Now().Unix()
}

// matchTokenLife is how long the matchmaker's token for a relayed match is good.
const matchTokenLife = 30 * time.Second

// match makes a token that lets its bearer into a relayed match that need not exist yet.
func (t *tokens) match() string {
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"mid": uuid.Must(uuid.NewV4()).String() + ".", "exp": time.Now().Add(matchTokenLife).Unix(),
	}).SignedString([]byte(t.cfg.EncryptionKey))
	if err != nil {
		panic("local: HMAC signing cannot fail: " + err.Error())
	}
	return signed
}

// parseMatch returns the match id in a match token.
func (t *tokens) parseMatch(token string) (string, error) {
	parsed, err := jwt.Parse(token, func(*jwt.Token) (any, error) { return []byte(t.cfg.EncryptionKey), nil },
		jwt.WithValidMethods([]string{"HS256"}))
	if err != nil {
		return "", errTokenInvalid
	}
	id, ok := parsed.Claims.(jwt.MapClaims)["mid"].(string)
	if !ok {
		return "", errTokenInvalid
	}
	return id, nil
}
