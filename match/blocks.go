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
	// blocksPage and blocksPages bound what is read of one user's list.
	blocksPage, blocksPages = 1000, 5
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

// load reads the lists of users that are not known well enough. It waits for the database: not under a lock. A list that cannot be
// read counts as empty, since a player without a table is worse than one beside a nuisance.
func (b *blocks) load(ctx context.Context, userIDs []string) {
	for _, userID := range userIDs {
		if !b.knows(userID) {
			b.refresh(ctx, userID)
		}
	}
}

// refresh reads one user's list anew.
func (b *blocks) refresh(ctx context.Context, userID string) {
	users, cursor, state := map[string]bool{}, "", friendBlocked
	for range blocksPages {
		page, next, err := b.module.nk.FriendsList(ctx, userID, blocksPage, &state, cursor)
		if err != nil {
			b.module.count("set3d_block_lists_unread_total", nil)
			b.module.logger.Warn("cannot read whom user %s has blocked: %v", userID, err)
			break
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
		if list.until <= now {
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
