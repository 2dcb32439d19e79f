package local

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	mathrand "math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/heroiclabs/nakama-common/api"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// user is an account. The zero uuid is the system's user, which always exists and cannot log in.
type user struct {
	ID, Username                                           string
	DisplayName, AvatarURL, Lang, Location, Zone, Metadata string
	Email, CustomID                                        string
	Devices                                                []string
	PasswordHash, PasswordSalt                             []byte
	Created, Updated                                       int64 // Unix seconds
	Banned                                                 bool
}

func (u *user) api(online bool) *api.User {
	return &api.User{
		Id: u.ID, Username: u.Username, DisplayName: u.DisplayName, AvatarUrl: u.AvatarURL, LangTag: u.Lang,
		Location: u.Location, Timezone: u.Zone, Metadata: u.Metadata, Online: online,
		CreateTime: &timestamppb.Timestamp{Seconds: u.Created}, UpdateTime: &timestamppb.Timestamp{Seconds: u.Updated},
	}
}

func (u *user) account(online bool) *api.Account {
	a := &api.Account{User: u.api(online), Wallet: "{}", Email: u.Email, CustomId: u.CustomID}
	for _, d := range u.Devices {
		a.Devices = append(a.Devices, &api.AccountDevice{Id: d})
	}
	if u.Banned {
		a.DisableTime = &timestamppb.Timestamp{Seconds: u.Updated}
	}
	return a
}

var (
	badChars    = regexp.MustCompile(`[[:cntrl:][:space:]]`)
	badUsername = regexp.MustCompile(`[[:cntrl:]]`) // a space is fine in a name, whatever the message says
	emailShape  = regexp.MustCompile(`^.+@.+\..+$`)
)

// checkUsername returns the name to use: a random one if none is wanted.
func checkUsername(name string) (string, error) {
	switch {
	case name == "":
		const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		b := make([]byte, 10)
		for i := range b {
			b[i] = letters[mathrand.IntN(len(letters))]
		}
		return string(b), nil
	case badUsername.MatchString(name):
		return "", fail(codeInvalidArgument, "Username invalid, no spaces or control characters allowed.")
	case len(name) > 128:
		return "", fail(codeInvalidArgument, "Username invalid, must be 1-128 bytes.")
	}
	return name, nil
}

func checkID(kind, id string, shortest int) error {
	switch {
	case id == "":
		return fail(codeInvalidArgument, kind+" ID is required.")
	case badChars.MatchString(id):
		return fail(codeInvalidArgument, kind+" ID invalid, no spaces or control characters allowed.")
	case len(id) < shortest || len(id) > 128:
		if shortest == 10 {
			return fail(codeInvalidArgument, kind+" ID invalid, must be 10-128 bytes.")
		}
		return fail(codeInvalidArgument, kind+" ID invalid, must be 6-128 bytes.")
	}
	return nil
}

// authenticate finds the account that match accepts, or creates one that adopt has completed.
func (s *store) authenticate(ctx context.Context, username string, create bool, match func(*user) bool, adopt func(*user)) (found user, created bool, err error) {
	name, err := checkUsername(username)
	if err != nil {
		return user{}, false, err
	}
	err = s.update(ctx, opAccount, func(t *tx) error {
		for _, u := range t.users {
			if match(u) {
				found = *u
				return nil
			}
		}
		if !create {
			return fail(codeNotFound, "User account not found.")
		}
		if t.userNamed(name) != nil {
			return fail(codeAlreadyExists, "Username is already in use.")
		}
		found, created = user{
			ID: uuid.Must(uuid.NewV4()).String(), Username: name, Lang: "en", Metadata: "{}",
			Created: time.Now().Unix(), Updated: time.Now().Unix(),
		}, true
		adopt(&found)
		kept := found
		t.putUser(&kept)
		return nil
	})
	var status *statusError
	switch {
	case errors.As(err, &status):
		return user{}, false, err
	case err != nil:
		return user{}, false, fail(codeInternal, "Error finding or creating user account.")
	case found.Banned:
		return user{}, false, fail(codePermissionDenied, "User account banned.")
	}
	return found, created, nil
}

func (s *store) authenticateDevice(ctx context.Context, id, username string, create bool) (user, bool, error) {
	if err := checkID("Device", id, 10); err != nil {
		return user{}, false, err
	}
	return s.authenticate(ctx, username, create,
		func(u *user) bool { return slices.Contains(u.Devices, id) },
		func(u *user) { u.Devices = []string{id} })
}

func (s *store) authenticateCustom(ctx context.Context, id, username string, create bool) (user, bool, error) {
	if err := checkID("Custom", id, 6); err != nil {
		return user{}, false, err
	}
	return s.authenticate(ctx, username, create,
		func(u *user) bool { return u.CustomID == id },
		func(u *user) { u.CustomID = id })
}

func (s *store) authenticateEmail(ctx context.Context, email, password, username string, create bool) (user, bool, error) {
	switch {
	case email == "":
	case badChars.MatchString(email):
		return user{}, false, fail(codeInvalidArgument, "Invalid email address, no spaces or control characters allowed.")
	case !emailShape.MatchString(email):
		return user{}, false, fail(codeInvalidArgument, "Invalid email address format.")
	case len(email) < 10 || len(email) > 255:
		return user{}, false, fail(codeInvalidArgument, "Invalid email address, must be 10-255 bytes.")
	}
	if len(password) < 8 {
		return user{}, false, fail(codeInvalidArgument, "Password must be at least 8 characters long.")
	}
	match := func(u *user) bool { return u.Email == strings.ToLower(email) }
	if email == "" { // logging in by name: nothing is created
		if username == "" {
			return user{}, false, fail(codeInvalidArgument, "Username is required when email address is not supplied.")
		}
		create, match = false, func(u *user) bool { return u.Username == username && u.Email != "" }
	}
	u, created, err := s.authenticate(ctx, username, create, match, func(u *user) {
		u.Email = strings.ToLower(email)
		u.PasswordSalt = make([]byte, 16)
		rand.Read(u.PasswordSalt) // never fails
		u.PasswordHash = hashPassword(password, u.PasswordSalt)
	})
	if err == nil && !created && subtle.ConstantTimeCompare(u.PasswordHash, hashPassword(password, u.PasswordSalt)) != 1 {
		return user{}, false, fail(codeUnauthenticated, "Invalid credentials.")
	}
	return u, created, err
}

func hashPassword(password string, salt []byte) []byte {
	const rounds = 10_000 // a development host's accounts are not worth more
	key, err := pbkdf2.Key(sha256.New, password, salt, rounds, 32)
	if err != nil {
		panic("local: hashing a password cannot fail: " + err.Error())
	}
	return key
}
