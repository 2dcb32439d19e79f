package match

import (
	"context"
	"sync"
	"time"
)

const (
	friendBlocked = 3 // Nakama's state of a friend whom the user has blocked
	// blocksFor is how long another user's block list is believed. The caller's own is always asked for.
	blocksFor = 30 * time.Second
	// blocksKept is how much longer a list is kept for the case that the next read fails.
	blocksKept = 10 * time.Minute
	// blocksPage and blocksPages bound what is read of one user's list.
	blocksPage, blocksPages = 1000, 5
	// blocksAtOnce is how many lists are read at once for one request, blocksTimeout how long one may take.
	blocksAtOnce  = 8
	blocksTimeout = 2 * time.Second
)

// blocks knows who has blocked whom among Nakama's friends.
type blocks struct {
	module *module

	mu      sync.Mutex
	lists   map[string]blockList
	sweptAt time.Duration
}

// blockList is whom one user has blocked.
type blockList struct {
	users map[string]bool
	until time.Duration
}

func newBlocks(m *module) *blocks { return &blocks{module: m, lists: map[string]blockList{}} }

// load reads the lists of users that are not known well enough, several at once. It waits for the database, though not
// for long: not under a lock.
func (b *blocks) load(userIDs []string) {
	var reading sync.WaitGroup
	free := make(chan struct{}, blocksAtOnce)
	for _, userID := range userIDs {
		if b.knows(userID) {
			continue
		}
		free <- struct{}{}
		reading.Go(func() {
			defer func() { <-free }()
			defer b.module.guard(atRPC)
			b.refresh(userID)
		})
	}
	reading.Wait()
}

// refresh reads one user's list anew. It does not depend on whose request it is for: that one may hang up. Of a list
// that cannot be read the last one that was read stays; if there is none, the user has blocked nobody as far as is
// known, since a player without a table is worse than one beside a nuisance.
func (b *blocks) refresh(userID string) {
	ctx, cancel := context.WithTimeout(context.Background(), blocksTimeout)
	defer cancel()
	users, cursor, state := map[string]bool{}, "", friendBlocked
	for range blocksPages {
		page, next, err := b.module.nk.FriendsList(ctx, userID, blocksPage, &state, cursor)
		if err != nil {
			b.module.count("set3d_block_lists_unread_total", nil)
			b.module.logger.Warn("cannot read whom user %s has blocked: %v", userID, err)
			return
		}
		for _, friend := range page {
			users[friend.GetUser().GetId()] = true
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	b.keep(userID, users)
}

func (b *blocks) knows(userID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, ok := b.lists[userID]
	return ok && b.module.clock.now() < list.until
}

func (b *blocks) keep(userID string, users map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.module.clock.now()
	b.lists[userID] = blockList{users: users, until: now + blocksFor}
	if now-b.sweptAt < sweepEvery {
		return
	}
	b.sweptAt = now
	for id, list := range b.lists {
		if list.until+blocksKept <= now {
			delete(b.lists, id)
		}
	}
}

// apart reports whether one of two users has blocked the other, as far as the lists are known.
func (b *blocks) apart(one, other string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lists[one].users[other] || b.lists[other].users[one]
}
