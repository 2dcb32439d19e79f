package match

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"set3d/domain"
)

// start deals to those who sit. Match time begins now.
func (t *table) start() {
	t.box.ledger.close()
	t.closeGaps()
	t.deck = t.setup.deck(newKey)
	t.standing.started, t.standing.startedAt = true, t.now
	t.startedUnixMs = t.module.clock.wall().UnixMilli()
	t.rosterChanged = t.rosterChanged || t.setup.StartWhenReady
	t.allActive()
	setup := domain.Setup{Rules: t.setup.Rules, Players: t.seats.count, Deck: t.deck, Bots: t.seats.bots()}
	if err := t.session.StartMatch(setup, &t.out); err != nil {
		panic(fmt.Sprintf("a validated setup does not start: %v", err))
	}
	t.logger.Info("table %s: a match of %d by %s begins", t.setup.TableID, t.seats.count, t.setup.rulesName())
	t.module.count("set3d_matches_started_total", map[string]string{"preset": presetLabel(t.setup.rulesName())})
}

// closeGaps takes the empty seats away: players are numbered without gaps. Who moves is told so before the match begins.
func (t *table) closeGaps() {
	before := t.seats.count
	moved := t.seats.compact()
	if t.seats.count == before {
		return
	}
	t.rosterChanged = true
	t.raiseRoster()
	for _, v := range moved {
		t.welcome(v)
	}
}

// newKey draws a deck's key, which nobody can guess.
func newKey() (key [32]byte) {
	_, _ = rand.Read(key[:]) // never fails: the process ends first
	return key
}

// newSeed draws what a bot does by chance.
func newSeed() uint64 {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails: the process ends first
	return binary.LittleEndian.Uint64(seed[:])
}

func newTableID() string { return rand.Text() }
