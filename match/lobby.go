package match

import (
	"time"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

const (
	// countdownRestarts is how often a countdown may be stopped. After that the next one runs to its end, whoever is ready:
	// nobody can keep the others waiting by going back and forth.
	countdownRestarts = 3
	// countdownLimit is how long after the first countdown began stopping one is in vain, too.
	countdownLimit = time.Minute
)

// lobby is what a table knows before its match begins.
type lobby struct {
	endsAt   time.Duration // of the running countdown; 0: none runs
	counted  bool          // there was a countdown, the first one from countedAt on
	firstAt  time.Duration
	stops    int           // countdowns that were stopped
	fillAt   time.Duration // when bots take the free seats; 0: nobody waits yet
	isFilled bool
}

// advanceLobby lets time and what has happened have their effects: promises lapse, bots fill up, a countdown begins or is over.
func (t *table) advanceLobby() {
	if t.standing.started || t.closing || t.draining {
		return
	}
	if t.box.ledger.lapse(t.now) {
		t.rosterChanged = true
	}
	t.fillWithBots()
	switch {
	case t.setup.StartWhenReady:
		t.countDown()
	case t.seats.full():
		t.start()
	}
}

// countDown begins a countdown when all who sit are ready, and starts the match when it is over. Who sits down while it runs
// plays, ready or not; who leaves stops it only if too few are left.
func (t *table) countDown() {
	l := &t.lobby
	enough := t.seats.humans() > 0 && t.seats.taken() >= t.setup.MinPlayers
	urged := enough && l.isUrged(t.now)
	switch {
	case l.endsAt != 0 && !enough:
		t.stopCountdown()
	case l.endsAt == 0:
		t.box.ledger.seal(urged) // the promises that stand are kept, and no new ones can put the start off
		if enough && (urged || t.seats.ready()) && t.box.ledger.promises(t.now) == 0 {
			t.beginCountdown()
		}
	}
	if l.endsAt != 0 && t.now >= l.endsAt {
		t.start()
	}
}

// isUrged reports whether others have been kept waiting for so long that readiness does not matter any more.
func (l *lobby) isUrged(now time.Duration) bool {
	return l.stops >= countdownRestarts || l.counted && now-l.firstAt >= countdownLimit
}

func (t *table) beginCountdown() {
	l := &t.lobby
	l.endsAt = t.now + t.module.config.countdown
	if !l.counted {
		l.counted, l.firstAt = true, t.now
	}
	t.box.ledger.seal(true)
	t.rosterChanged = true
}

func (t *table) stopCountdown() {
	t.lobby.endsAt = 0
	t.lobby.stops++
	t.rosterChanged = true
}

// fillWithBots gives the free seats to bots when somebody has waited long enough. A seat that is promised is waited for.
func (t *table) fillWithBots() {
	l := &t.lobby
	if t.setup.FillAfterMs == 0 || l.isFilled {
		return
	}
	if t.seats.humans() == 0 {
		l.fillAt = 0
		return
	}
	if l.fillAt == 0 {
		l.fillAt = t.now + ms(t.setup.FillAfterMs)
	}
	if t.now < l.fillAt || t.box.ledger.promises(t.now) > 0 {
		return
	}
	l.isFilled = true
	for {
		if _, ok := t.seatBot(t.setup.FillLevel, anySeat); !ok {
			return
		}
	}
}

// seatBot gives a seat to a bot, if the ledger does.
func (t *table) seatBot(level domain.BotLevel, wanted int) (int, bool) {
	seat, ok := t.box.ledger.seatBot(wanted, t.now)
	if ok {
		t.seats.putBot(seat, level)
		t.rosterChanged = true
	}
	return seat, ok
}

// nextWake is when the lobby has something to do by itself. What a tick's delay does not hurt is left to the ticks.
func (l *lobby) nextWake(now time.Duration) (time.Duration, bool) {
	at, ok := l.endsAt, l.endsAt != 0
	if !l.isFilled && l.fillAt > now && (!ok || l.fillAt < at) {
		at, ok = l.fillAt, true
	}
	return at, ok
}

// settings is what kind of table this is, as a Welcome says it.
func (t *table) settings() *wire.TableSettings {
	s := &wire.TableSettings{
		Preset: t.setup.rulesName(), StartMode: wire.StartMode_START_MODE_FULL, Private: t.setup.Private, Code: t.setup.Code,
		Ranked: t.setup.Ranked,
	}
	if t.setup.StartWhenReady {
		s.StartMode, s.MinPlayers = wire.StartMode_START_MODE_READY, uint32(t.setup.MinPlayers)
	}
	return s
}
