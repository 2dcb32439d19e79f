package simulation

import (
	"math/rand/v2"

	"set3d/domain"
)

// randomSetup is any setup that is allowed, mostly with short times, so that they meet.
func randomSetup(r *rand.Rand) domain.Setup {
	rules := domain.DefaultRules()
	rules.InitialBoardSize = 12 + 3*r.IntN(3)
	rules.RefillPolicy = domain.RefillPolicy(1 + r.IntN(2))
	rules.ClaimMode = domain.ClaimAutomatic
	if r.IntN(8) == 0 {
		rules.ClaimMode = domain.ClaimOnCommand
	}
	for _, length := range []*int64{&rules.ValidAnimMs, &rules.InvalidAnimMs, &rules.RefillAnimMs, &rules.ExpandAnimMs} {
		if r.IntN(3) == 0 {
			*length = r.Int64N(1000) * int64(r.IntN(2))
		}
	}
	rules.ClaimGraceMs = []int64{0, 250, 1000}[r.IntN(3)]
	rules.DropHoldMs = []int64{0, 1, 3000, 60_000}[r.IntN(4)]
	rules.IdleLimitMs = []int64{1000, 20_000, 600_000}[r.IntN(3)]
	rules.PenaltyMode = []domain.PenaltyMode{domain.PenaltyNone, domain.PenaltyPoint}[r.IntN(2)]
	if r.IntN(2) == 0 {
		rules.Timed, rules.TimeLimitMs = true, 1000+r.Int64N(200_000)
		if r.IntN(2) == 0 {
			rules.PenaltyMode, rules.PenaltyTimeMs = domain.PenaltyTime, 1+r.Int64N(20_000)
		}
	}
	setup := domain.Setup{Rules: rules, Players: 1 + r.IntN(domain.MaxPlayers), Deck: randomDeck(r)}
	if rules.ClaimMode == domain.ClaimAutomatic && r.IntN(2) == 0 {
		seatBots(r, &setup)
	}
	return setup
}

// seatBots makes some of the players bots, or all of them.
func seatBots(r *rand.Rand, setup *domain.Setup) {
	all := r.IntN(6) == 0
	for seat := range setup.Players {
		if all || r.IntN(3) == 0 {
			setup.Bots[seat] = domain.Bot{Level: domain.BotLevel(1 + r.IntN(3)), Seed: r.Uint64()}
		}
	}
}

func randomDeck(r *rand.Rand) domain.DeckSource {
	switch r.IntN(4) {
	case 0:
		source, err := domain.SeedSource(int32(r.Uint32() | 1))
		if err != nil {
			panic(err) // an odd seed is not zero
		}
		return source
	case 1:
		return shortDeck(r)
	}
	var key [32]byte
	for i := range key {
		key[i] = byte(r.IntN(256))
	}
	return domain.KeySource(key)
}

// shortDeck is a caller's deck of any size, so that ends come soon.
func shortDeck(r *rand.Rand) domain.DeckSource {
	ids := r.Perm(domain.DeckSize)[:1+r.IntN(domain.DeckSize)]
	cards := make([]domain.Card, len(ids))
	for i, id := range ids {
		cards[i] = domain.MustCard(id)
	}
	source, err := domain.OrderSource(cards)
	if err != nil {
		panic(err) // a permutation has no card twice
	}
	return source
}

// command is what some player, or the system, or nobody in their right mind, asks for next.
func (m *match) command() domain.Command {
	r := m.random
	seat := r.IntN(m.setup.Players)
	if m.isBot(seat) {
		seat = r.IntN(m.setup.Players) // mostly it is of no use to ask a bot
	}
	if r.IntN(25) == 0 {
		seat = r.IntN(12) - 2
	}
	if m.flaky && r.IntN(4) == 0 {
		return domain.Drop{Seat: seat}
	}
	switch choice := r.IntN(40); {
	case choice < 14:
		return m.rightClaim(seat)
	case choice < 18:
		return m.wrongClaim(seat)
	case choice < 20:
		return m.hostileClaim(seat)
	case choice < 22:
		return m.claims.again(r, seat)
	case choice < 28:
		return domain.SelectCard{Seat: seat, Slot: r.IntN(24) - 1}
	case choice < 30:
		return domain.DeselectCard{Seat: seat, Slot: r.IntN(24) - 1}
	case choice < 32:
		return domain.ClaimSelected{Seat: seat}
	case choice < 35:
		return m.animationComplete(seat)
	case choice < 37:
		return domain.Drop{Seat: seat}
	case choice < 39:
		return domain.Return{Seat: seat}
	}
	if r.IntN(4) > 0 {
		return domain.Return{Seat: seat}
	}
	return domain.Forfeit{Seat: seat}
}

func (m *match) boardCards() []domain.Card {
	board := m.session.Snapshot().Board
	return board.AppendCards(nil)
}

func (m *match) rightClaim(seat int) domain.Command {
	sets := domain.FindAllSets(m.boardCards())
	if len(sets) == 0 {
		return m.wrongClaim(seat)
	}
	cards := sets[m.random.IntN(len(sets))]
	m.random.Shuffle(3, func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return domain.ClaimSet{Seat: seat, ID: m.random.Uint64() | 1, Cards: ids(cards[:])}
}

// wrongClaim names three cards of the board, or of anywhere.
func (m *match) wrongClaim(seat int) domain.Command {
	cards := m.boardCards()
	if len(cards) < 3 || m.random.IntN(3) == 0 {
		cards = nil
		for id := range domain.DeckSize {
			cards = append(cards, domain.MustCard(id))
		}
	}
	m.random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	return domain.ClaimSet{Seat: seat, ID: m.random.Uint64() | 1, Cards: ids(cards[:3])}
}

// hostileClaim is anything at all.
func (m *match) hostileClaim(seat int) domain.Command {
	noise := make([]byte, m.random.IntN(7))
	for i := range noise {
		noise[i] = byte(m.random.IntN(256))
	}
	if cards := m.boardCards(); len(cards) > 1 && m.random.IntN(2) == 0 {
		i := 1 + m.random.IntN(len(cards)-1) // the first one twice, and another
		noise = ids([]domain.Card{cards[0], cards[0], cards[i]})
		m.random.Shuffle(3, func(i, j int) { noise[i], noise[j] = noise[j], noise[i] })
	}
	return domain.ClaimSet{Seat: seat, ID: m.random.Uint64N(3), Cards: noise}
}

func (m *match) animationComplete(seat int) domain.Command {
	if m.random.IntN(2) == 0 {
		seat = domain.BoardLayer
	}
	snapshot := m.session.Snapshot()
	serial := snapshot.Animation.Serial
	if seat != domain.BoardLayer {
		serial = m.session.Input(seat).Serial
	}
	if m.random.IntN(4) == 0 {
		serial += uint32(m.random.IntN(3)) - 1
	}
	return domain.AnimationComplete{Seat: seat, Serial: serial}
}

func ids(cards []domain.Card) []byte {
	out := make([]byte, len(cards))
	for i, card := range cards {
		out[i] = byte(card.ID())
	}
	return out
}
