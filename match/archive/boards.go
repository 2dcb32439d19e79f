package archive

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// leaderboard is one of Nakama's leaderboards, which shows one number of the statistics.
type leaderboard struct {
	id    string
	order string
	score func(*Stats) (int64, bool) // false: the player has none
}

// leaderboards are all of them. They are always set from the statistics, never raised, so whatever they show can be
// made right again.
func leaderboards() []leaderboard {
	return []leaderboard{
		{"set3d_wins", "desc", func(s *Stats) (int64, bool) { return int64(s.Wins), s.Matches > 0 }},
		{"set3d_sets", "desc", func(s *Stats) (int64, bool) { return int64(s.Sets), s.Matches > 0 }},
		{"set3d_rating", "desc", func(s *Stats) (int64, bool) { return int64(max(0, s.Rating())), s.Ranked > 0 }},
		{"set3d_fastest", "asc", func(s *Stats) (int64, bool) { return s.FastestTimedMs, s.FastestTimedMs > 0 }},
	}
}

// CreateLeaderboards makes the leaderboards that are not there.
func (a *Archive) CreateLeaderboards() error {
	for _, l := range leaderboards() {
		ctx, cancel := callContext()
		err := a.nk().LeaderboardCreate(ctx, l.id, true, l.order, "set", "", nil, true)
		cancel()
		if err != nil {
			return fmt.Errorf("leaderboard %s: %w", l.id, err)
		}
	}
	return nil
}

// publishSettled shows what a settlement has changed on the leaderboards: of most matches one or two numbers a player.
// If another process has settled the match it shows everything, since that process may have died before it did.
func (a *Archive) publishSettled(s *settlement, usernames map[string]string) error {
	shown := map[string]string{} // the versions of what is shown
	for userID, p := range s.players {
		before := s.before[userID]
		username, exists := usernames[userID]
		if !exists || !s.over && p.Stats == before {
			continue
		}
		for _, l := range leaderboards() {
			if !s.over && l.same(&before, &p.Stats) {
				continue
			}
			if err := a.setScore(l, &p.Stats, userID, username); err != nil {
				return err
			}
		}
		shown[userID] = p.version
	}
	return a.republish(shown, usernames)
}

// republish shows the statistics of those users again whose object has changed since it was shown in that version,
// until nothing has changed. Two matches of a user may end at once, in two processes, and the older statistics must not
// be shown last.
func (a *Archive) republish(shown, usernames map[string]string) error {
	for range settleTries {
		if len(shown) == 0 {
			return nil
		}
		players, bad, err := a.readPlayers(slices.Sorted(maps.Keys(shown)))
		if err != nil {
			return err
		}
		for userID, version := range shown {
			p := players[userID]
			if bad[userID] != nil || p.version == version {
				delete(shown, userID)
				continue
			}
			if shown[userID] = p.version; p.Stats == newStats() { // deleted meanwhile
				err = a.unpublish(userID)
			} else {
				err = a.setScores(&p.Stats, userID, usernames[userID])
			}
			if err != nil {
				return err
			}
		}
	}
	return errUnsteady
}

var errUnsteady = fmt.Errorf("the object has changed %d times meanwhile", settleTries)

// same reports whether a leaderboard shows the same for both.
func (l *leaderboard) same(before, after *Stats) bool {
	old, had := l.score(before)
	score, has := l.score(after)
	return has == had && score == old
}

func (a *Archive) setScores(s *Stats, userID, username string) error {
	for _, l := range leaderboards() {
		if err := a.setScore(l, s, userID, username); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) setScore(l leaderboard, s *Stats, userID, username string) error {
	score, has := l.score(s)
	if !has {
		return nil
	}
	ctx, cancel := callContext()
	defer cancel()
	if _, err := a.nk().LeaderboardRecordWrite(ctx, l.id, userID, username, score, 0, nil, nil); err != nil {
		return fmt.Errorf("leaderboard %s, user %s: %w", l.id, userID, err)
	}
	return nil
}

// unpublish takes a user off the leaderboards.
func (a *Archive) unpublish(userID string) error {
	for _, l := range leaderboards() {
		ctx, cancel := callContext()
		err := a.nk().LeaderboardRecordDelete(ctx, l.id, userID)
		cancel()
		if err != nil && isUUID(userID) { // what is no user's id is on no leaderboard
			return fmt.Errorf("leaderboard %s: %w", l.id, err)
		}
	}
	return nil
}

// RepairLeaderboards sets all leaderboards from all statistics, and takes off everybody who has none. It returns how
// many players it has looked at, and goes on past those whose object cannot be used, which the error names.
func (a *Archive) RepairLeaderboards() (int, error) {
	seen, bad, err := a.repairLeaderboards()
	return seen, errors.Join(err, errors.Join(bad...))
}

// repairLeaderboards is RepairLeaderboards with the objects that cannot be used apart from what has kept it from going
// on.
func (a *Archive) repairLeaderboards() (seen int, failed []error, err error) {
	err = a.pages(playersCollection, func(page []object) error {
		seen += len(page)
		var users []string
		for _, o := range page {
			if _, err := o.player(); err != nil {
				failed = appendSome(failed, err)
				continue
			}
			users = append(users, o.key)
		}
		err := a.showAll(users)
		if errors.Is(err, errUnsteady) { // somebody plays faster than this reads
			failed, err = appendSome(failed, err), nil
		}
		return err
	})
	for _, l := range leaderboards() {
		if err == nil {
			err = a.sweepLeaderboard(l)
		}
	}
	return seen, failed, err
}

// showAll makes all leaderboards right for those of the users who exist, at most 100. Numbers that are right already
// are not written.
func (a *Archive) showAll(users []string) error {
	usernames, err := a.alive(users)
	if err != nil || len(usernames) == 0 {
		return err
	}
	users = slices.Sorted(maps.Keys(usernames))
	players, bad, err := a.readPlayers(users)
	if err != nil {
		return err
	}
	shown := map[string]string{}
	for _, l := range leaderboards() {
		scores, err := a.scores(l, users)
		if err != nil {
			return err
		}
		for _, userID := range users {
			if bad[userID] != nil {
				continue
			}
			p := players[userID]
			shown[userID] = p.version
			score, has := l.score(&p.Stats)
			if now, there := scores[userID]; has == there && score == now {
				continue
			}
			if err := a.setScore(l, &p.Stats, userID, usernames[userID]); err != nil {
				return err
			}
		}
	}
	return a.republish(shown, usernames)
}

// scores are what a leaderboard shows of some users, at most 100.
func (a *Archive) scores(l leaderboard, users []string) (map[string]int64, error) {
	ctx, cancel := callContext()
	defer cancel()
	_, owned, _, _, err := a.nk().LeaderboardRecordsList(ctx, l.id, users, 1, "", 0)
	scores := make(map[string]int64, len(owned))
	for _, r := range owned {
		scores[r.OwnerId] = r.Score
	}
	return scores, err
}

// sweepLeaderboard removes the records of those who have no number to be shown there.
func (a *Archive) sweepLeaderboard(l leaderboard) error {
	var owners []string // all, before any is removed: a cursor may count records
	for cursor := ""; ; {
		ctx, cancel := callContext()
		records, _, next, _, err := a.nk().LeaderboardRecordsList(ctx, l.id, nil, pageSize, cursor, 0)
		cancel()
		if err != nil {
			return err
		}
		for _, r := range records {
			owners = append(owners, r.OwnerId)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	for some := range slices.Chunk(owners, pageSize) {
		if err := a.sweepOwners(l, some); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) sweepOwners(l leaderboard, owners []string) error {
	players, bad, err := a.readPlayers(owners)
	if err != nil {
		return err
	}
	for _, userID := range owners {
		if bad[userID] != nil {
			continue
		}
		if _, has := l.score(&players[userID].Stats); has {
			continue
		}
		ctx, cancel := callContext()
		err := a.nk().LeaderboardRecordDelete(ctx, l.id, userID)
		cancel()
		if err != nil {
			return fmt.Errorf("leaderboard %s, user %s: %w", l.id, userID, err)
		}
	}
	return nil
}
