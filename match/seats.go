package match

import "set3d/domain"

// spectatorSeat is the seat of those who have none. The domain knows no player there.
const spectatorSeat = -1

// anySeat is wanted by who does not care which.
const anySeat = -1

// seat is one place at the table. It belongs to a user, whichever of the user's sessions sits there, or to a bot. What the
// ledger promises is not here.
type seat struct {
	userID  string // empty: free, or a bot's
	bot     domain.BotLevel
	name    string
	avatar  string
	visitor *visitor // nil while the user is not connected
	order   int      // of sitting down: the connected one who has sat longest is the host
	ready   bool     // said so in the lobby
	wants   bool     // a rematch
	presence
}

func (s *seat) isTaken() bool { return s.userID != "" || s.bot != 0 }

// seats are the places of a table; those beyond count do not exist.
type seats struct {
	count int
	sat   int // how often somebody sat down
	seat  [domain.MaxPlayers]seat
}

// of returns the seat that belongs to a user.
func (s *seats) of(userID string) (int, bool) {
	for i := range s.count {
		if userID != "" && s.seat[i].userID == userID {
			return i, true
		}
	}
	return spectatorSeat, false
}

// put lets a visitor sit down.
func (s *seats) put(i int, v *visitor) {
	s.sat++
	s.seat[i] = seat{userID: v.userID, name: displayName(v.username), visitor: v, order: s.sat}
}

func (s *seats) putBot(i int, level domain.BotLevel) {
	s.seat[i] = seat{bot: level, name: level.String() + " bot"}
}

// move takes who sits in one seat, with everything, to another.
func (s *seats) move(from, to int) { s.seat[to], s.seat[from] = s.seat[from], seat{} }

// free empties a seat.
func (s *seats) free(i int) { s.seat[i] = seat{} }

// taken counts the seats that belong to somebody.
func (s *seats) taken() int { return s.tally((*seat).isTaken) }

// humans counts the seats of connected users.
func (s *seats) humans() int { return s.tally(func(p *seat) bool { return p.visitor != nil }) }

// full reports whether everybody who is to play sits there, connected.
func (s *seats) full() bool {
	return s.tally(func(p *seat) bool { return p.visitor != nil || p.bot != 0 }) == s.count
}

// ready reports whether all who sit are ready; bots always are.
func (s *seats) ready() bool {
	return s.tally(func(p *seat) bool { return p.isTaken() && p.bot == 0 && !p.ready }) == 0
}

func (s *seats) tally(which func(*seat) bool) int {
	n := 0
	for i := range s.count {
		if which(&s.seat[i]) {
			n++
		}
	}
	return n
}

// compact closes the gaps between those who sit, and takes the empty seats away. It returns who has moved.
func (s *seats) compact() (moved []*visitor) {
	n := 0
	for i := range s.count {
		if !s.seat[i].isTaken() {
			continue
		}
		if i != n {
			s.move(i, n)
			if v := s.seat[n].visitor; v != nil {
				moved = append(moved, v)
			}
		}
		n++
	}
	s.count = n
	return moved
}

// host is the seat of the connected user who has sat longest.
func (s *seats) host() (int, bool) {
	host := spectatorSeat
	for i := range s.count {
		if s.seat[i].visitor != nil && (host < 0 || s.seat[i].order < s.seat[host].order) {
			host = i
		}
	}
	return host, host >= 0
}

func (s *seats) names() (names [domain.MaxPlayers]string) {
	for i := range s.count {
		names[i] = s.seat[i].name
	}
	return names
}

func (s *seats) bots() (bots [domain.MaxPlayers]domain.Bot) {
	for i := range s.count {
		if level := s.seat[i].bot; level != 0 {
			bots[i] = domain.Bot{Level: level, Seed: newSeed()}
		}
	}
	return bots
}
