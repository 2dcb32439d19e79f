package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	maxAnswerBytes = 1 << 20          // no answer of this server comes near; a larger one is not ours
	refreshMargin  = 20 * time.Second // a token this close to its end is replaced before it is used
	requestTimeout = 15 * time.Second // Nakama itself gives a join ten seconds
)

// Config says which server a Client talks to.
type Config struct {
	// URL is where the API is, "http://127.0.0.1:7350".
	URL string
	// ServerKey is the key for authentication, "defaultkey" on a server that was not configured.
	ServerKey string
	// HTTP makes the requests; a client with a timeout of 15 s when nil.
	HTTP *http.Client
}

// Client makes HTTP requests and opens sockets. It is safe for concurrent use and holds no connection that has to be closed.
type Client struct {
	base      *url.URL
	serverKey string
	http      *http.Client
	writes    *sync.Pool // of the sockets' write buffers
}

// New checks the configuration. It does not connect.
func New(config Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(config.URL, "/"))
	if err != nil {
		return nil, fmt.Errorf("url %q: %w", config.URL, err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("url %q: want http://HOST:PORT or https://HOST:PORT", config.URL)
	}
	c := &Client{base: base, serverKey: config.ServerKey, http: config.HTTP, writes: &sync.Pool{}}
	if c.http == nil {
		c.http = &http.Client{Timeout: requestTimeout}
	}
	return c, nil
}

// URL is where the server's API is.
func (c *Client) URL() string { return c.base.String() }

// AuthenticateDevice signs a device id of 10 to 128 characters in; a new id makes a new user. An empty username lets the
// server choose one.
func (c *Client) AuthenticateDevice(ctx context.Context, deviceID, username string) (*User, error) {
	query := url.Values{"create": {"true"}}
	if username != "" {
		query.Set("username", username)
	}
	user := &User{}
	return user, c.authenticate(ctx, user, "/v2/account/authenticate/device?"+query.Encode(), map[string]string{"id": deviceID})
}

// Refresh replaces the user's tokens.
func (c *Client) Refresh(ctx context.Context, user *User) error {
	return c.authenticate(ctx, user, "/v2/account/session/refresh", map[string]string{"token": user.refreshToken()})
}

func (c *Client) authenticate(ctx context.Context, user *User, path string, body any) error {
	var tokens struct {
		Token        string `json:"token"`
		RefreshToken string `json:"refresh_token"`
	}
	err := c.post(ctx, path, body, &tokens, func(r *http.Request) { r.SetBasicAuth(c.serverKey, "") })
	if err != nil {
		return err
	}
	claims, err := readToken(tokens.Token)
	if err != nil {
		return err
	}
	if user.ID == "" {
		user.ID, user.Username = claims.UserID, claims.Username
	}
	user.take(tokens.Token, tokens.RefreshToken, claims)
	return nil
}

// freshToken is a token that will not expire on the way.
func (c *Client) freshToken(ctx context.Context, user *User) (string, error) {
	if time.Until(user.Expires()) < refreshMargin {
		if err := c.Refresh(ctx, user); err != nil {
			return "", fmt.Errorf("refresh the session: %w", err)
		}
	}
	return user.Token(), nil
}

// RPC calls a function of the server over HTTP. Payload and answer are JSON texts.
func (c *Client) RPC(ctx context.Context, user *User, id, payload string) (string, error) {
	token, err := c.freshToken(ctx, user)
	if err != nil {
		return "", err
	}
	var answer struct {
		Payload string `json:"payload"`
	}
	err = c.post(ctx, "/v2/rpc/"+url.PathEscape(id), payload, &answer, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
	})
	return answer.Payload, err
}

// post sends body as JSON and reads a JSON answer. An answer other than 200 is an *Error.
func (c *Client) post(ctx context.Context, path string, body, answer any, authorize func(*http.Request)) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	authorize(request)
	response, err := c.http.Do(request)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // the caller knows the URL
		}
		return fmt.Errorf("%w: %w", ErrNoRoute, err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoute, err)
	}
	if response.StatusCode != http.StatusOK {
		return httpError(response.StatusCode, raw)
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreadable, path, err)
	}
	return nil
}

// httpError reads Nakama's {"code":…,"message":…}; something else may be answering, a proxy for one.
func httpError(status int, raw []byte) error {
	var body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &body) != nil || body.Message == "" {
		return &Error{Code: status, Message: fmt.Sprintf("HTTP status %d", status), Foreign: true}
	}
	return newError(body.Code, body.Message)
}
