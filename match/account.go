package match

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	nameMax   = 48  // characters of a name that the table shows
	avatarMax = 512 // bytes of an address; Nakama's own limit

	lookUpTimeout = 5 * time.Second
)

// lookUp asks Nakama for a user's name and picture, beside the match's goroutine: it may take as long as the database does.
// Until the answer is there the username is shown.
func (b *mailbox) lookUp(userID, shown string) {
	defer b.guard(atLookUp)
	b.trip(atLookUp)
	ctx, cancel := context.WithTimeout(context.Background(), lookUpTimeout)
	defer cancel()
	users, err := b.module.nk.UsersGetId(ctx, []string{userID}, nil)
	if err != nil || len(users) != 1 {
		b.module.logger.Warn("cannot look up user %s: %d found, %v", userID, len(users), err)
		return
	}
	name, avatar := displayName(users[0].GetDisplayName()), avatarURL(users[0].GetAvatarUrl())
	if name == "" {
		name = shown
	}
	if name != shown || avatar != "" {
		b.tell(func(t *table) { t.rename(userID, name, avatar) })
	}
}

func (t *table) rename(userID, name, avatar string) {
	i, sits := t.seats.of(userID)
	if !sits {
		return
	}
	t.seats.seat[i].name, t.seats.seat[i].avatar = name, avatar
	t.rosterChanged = true
	if t.standing.started && !t.ended {
		t.keepBy(t.now + KeepWrongWithin)
	}
}

// displayName is a user's name as others are shown it: valid text of one line, not too long, without the characters that turn
// the text around it.
func displayName(name string) string { return cleanText(name, nameMax) }

// cleanText is text that others are shown, of at most so many characters.
func cleanText(text string, most int) string {
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	return strings.TrimSpace(text)
}

// avatarURL is an address that a client may show a picture from, or nothing.
func avatarURL(address string) string {
	if len(address) > avatarMax || !utf8.ValidString(address) || strings.ContainsFunc(address, unicode.IsControl) {
		return ""
	}
	return address
}
