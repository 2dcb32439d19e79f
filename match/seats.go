package match

import "set3d/domain"

// spectatorSeat is the seat of those who have none. The domain knows no player there.
const spectatorSeat = -1

// anySeat is wanted by who does not care which.
const anySeat = -1

// seat is one place at the table. It belongs to a user, whichever of the user's sessions sits there.
type seat struct {
	userID  string // empty: free
	name    string
	visitor *visitor // nil while the user is not connected
	order   int      // of sitting down: the one who has sat longest is the host
}

// seats are the places of a table; those beyond count do not exist.
type seats struct {
	count int
	sat   int // how often somebody sat down
	seat  [domain.MaxPlayers]seat
}

// of returns the seat that belongs to a user.
func (s *seats) of(userID string) (int, bool) {
	for i := range s.count {
		if s.seat[i].userID == userID {
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

// free empties a seat.
func (s *seats) free(i int) { s.seat[i] = seat{} }

// taken counts the seats that belong to somebody.
func (s *seats) taken() int {
	n := 0
	for i := range s.count {
		if s.seat[i].userID != "" {
			n++
		}
	}
	return n
}

// full reports whether everybody who is to play sits there, connected.
func (s *seats) full() bool {
	for i := range s.count {
		if s.seat[i].visitor == nil {
			return false
		}
	}
	return true
}

// host is the seat of the one who has sat longest.
func (s *seats) host() (int, bool) {
	host := spectatorSeat
	for i := range s.count {
		if s.seat[i].userID != "" && (host < 0 || s.seat[i].order < s.seat[host].order) {
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
