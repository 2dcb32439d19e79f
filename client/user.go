package client

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// User is an authenticated user: the tokens, and whom they name. It is safe for concurrent use.
type User struct {
	ID       string
	Username string

	mu      sync.Mutex
	token   string
	refresh string
	expires time.Time
}

// Token is the session token as it is now; a refresh replaces it.
func (u *User) Token() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.token
}

// Expires is when the token ends.
func (u *User) Expires() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.expires
}

func (u *User) refreshToken() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refresh
}

func (u *User) take(token, refresh string, claims tokenClaims) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.token, u.refresh, u.expires = token, refresh, time.Unix(claims.Expires, 0)
}

// tokenClaims is what a client may read in a token. Only the server can verify it.
type tokenClaims struct {
	UserID   string `json:"uid"`
	Username string `json:"usn"`
	Expires  int64  `json:"exp"`
}

func readToken(token string) (tokenClaims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return tokenClaims{}, fmt.Errorf("%w: a token has three parts, this one %d", ErrUnreadable, len(parts))
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return tokenClaims{}, fmt.Errorf("%w: token: %w", ErrUnreadable, err)
	}
	var claims tokenClaims
	if err := json.Unmarshal(raw, &claims); err != nil {
		return tokenClaims{}, fmt.Errorf("%w: token: %w", ErrUnreadable, err)
	}
	return claims, nil
}
