package match

import (
	"slices"
	"time"

	wire "set3d/proto/set3d/v1"
)

// Two devices of one user that both reconnect by themselves would take the seat from each other for ever. From the
// contestedFrom-th takeover within contestWindow on, the session that loses the seat is told that it is contested; from the
// contestedMax-th on the one that has it keeps it until the window has moved on. A phone with a bad line is far below both.
const (
	contestWindow = time.Minute
	contestedFrom = 4
	contestedMax  = 10
)

// takeover is a user's session that took the place of an older one.
type takeover struct {
	userID string
	at     time.Duration
}

// noteTakeover returns what the older session is to be told.
func (t *table) noteTakeover(userID string) wire.NoticeKind {
	t.takeovers = append(t.takeovers, takeover{userID, t.now})
	if n, _ := t.recentTakeovers(userID); n >= contestedFrom {
		return wire.NoticeKind_NOTICE_KIND_CONTESTED
	}
	return wire.NoticeKind_NOTICE_KIND_REPLACED
}

// recentTakeovers counts a user's takeovers within the window, and says when the first of them was.
func (t *table) recentTakeovers(userID string) (n int, first time.Duration) {
	t.takeovers = slices.DeleteFunc(t.takeovers, func(o takeover) bool { return t.now-o.at >= contestWindow })
	for _, o := range t.takeovers {
		if o.userID == userID {
			if n == 0 {
				first = o.at
			}
			n++
		}
	}
	return n, first
}

// refusalArgs says more about why a user is not let in.
func (t *table) refusalArgs(why wire.Reason, userID string) args {
	if why != wire.Reason_REASON_CONTESTED {
		return nil
	}
	wait, _ := t.contested(userID)
	return args{"retry_after_ms": wait.Milliseconds()}
}

// contested reports for how long a user's session that is here keeps its place against another one.
func (t *table) contested(userID string) (wait time.Duration, ok bool) {
	if !slices.ContainsFunc(t.visitors, func(v *visitor) bool { return v.userID == userID }) {
		return 0, false
	}
	n, first := t.recentTakeovers(userID)
	return first + contestWindow - t.now, n >= contestedMax
}
