package archive

import (
	"errors"
	"fmt"
	"strings"
)

// playersPerSweep is how many players one sweep looks at, in pages of 100, to find those whose accounts are gone:
// 100,000 players take eight hours.
const playersPerSweep = 1_000

// sweepPlayers removes the data of users who do not exist any more: a deletion in Nakama's console runs no hooks, and
// what the system owns does not go with the account. It goes on where the last sweep has stopped.
func (a *Archive) sweepPlayers() error {
	var failed []error
	for range playersPerSweep / pageSize {
		page, next, err := a.page(playersCollection, a.sweepAt)
		if err != nil {
			a.sweepAt = ""
			return errors.Join(append(failed, err)...)
		}
		if err := a.forgetMissing(page); err != nil {
			failed = append(failed, err)
		}
		if a.sweepAt = next; next == "" {
			break
		}
	}
	return errors.Join(failed...)
}

func (a *Archive) forgetMissing(page []object) error {
	var users []string
	for _, o := range page {
		if !isUUID(o.key) {
			a.complain(o.key, fmt.Errorf("player %s: no user's id", o.key))
			continue
		}
		users = append(users, o.key)
	}
	alive, err := a.alive(users)
	if err != nil {
		return err
	}
	var failed []error
	for _, userID := range users {
		if _, exists := alive[userID]; exists {
			continue
		}
		a.config.Logger.Info("user %s does not exist any more: removing what is kept about it", userID)
		if err := a.forgetGone(userID); err != nil {
			failed = appendSome(failed, fmt.Errorf("user %s: %w", userID, err))
		}
	}
	return errors.Join(failed...)
}

// isUUID reports whether a text is a user's id. Nakama refuses a whole request for what is none.
func isUUID(text string) bool {
	for i, c := range []byte(text) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (c == '-') || !hyphen && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return false
		}
	}
	return len(text) == len(systemUser)
}
