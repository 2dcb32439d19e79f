package client

import (
	"math/rand/v2"
	"time"

	"set3d/domain"
)

// PlayerConfig says how an automatic player plays.
type PlayerConfig struct {
	// Seed makes the player's choices and times the same again.
	Seed uint64
	// Reaction is the mean time from one claim's answer to the next claim; each one is between a half and one and a half of it.
	Reaction time.Duration
	// ErrorRate is the share of claims that are no Set, 0 to 1.
	ErrorRate float64
}

// Player plays by itself: it waits as long as a person would, looks for Sets on its controller's replica, which shows no more
// than a person sees, picks one and selects its cards. Not safe for concurrent use.
type Player struct {
	config     PlayerConfig
	controller *Controller
	random     *rand.Rand
	armed      bool
	due        time.Duration // of the next claim, on the controller's clock
}

// NewPlayer makes a player that plays through the controller.
func NewPlayer(config PlayerConfig, controller *Controller) *Player {
	return &Player{config: config, controller: controller, random: rand.New(rand.NewPCG(config.Seed, 0x5e7))}
}

// NextWake is when Act will have something to do if nothing else happens; false if never.
func (p *Player) NextWake() (time.Duration, bool) {
	state := p.controller.State()
	if !p.armed || state != domain.BoardIdle && state != domain.InvalidSetAnim {
		return 0, false // a message will change the state
	}
	return p.due, true
}

// Act looks at the board and claims if it is time. Call it after every message and at NextWake.
func (p *Player) Act() {
	c := p.controller
	state, started := c.Snapshot()
	if _, plays := c.Seat(); !started || !plays || c.Closed() || c.Ended() != nil || c.WaitingForServer() {
		p.armed = false
		return
	}
	if !p.armed {
		p.armed, p.due = true, c.clock()+p.config.Reaction/2+p.upTo(p.config.Reaction)
	}
	if c.clock() < p.due {
		return
	}
	if wait := time.Duration(c.RetryAtMs()-c.MatchTimeMs()) * time.Millisecond; wait > 0 {
		p.due = c.clock() + wait
		return
	}
	if state.State != domain.BoardIdle {
		p.due = c.clock() + p.upTo(p.config.Reaction/4) // not all at once when the board comes to rest
		return
	}
	p.armed = false
	if cards, found := p.choose(state.Board.AppendCards(nil)); found {
		p.claim(state.Board, cards)
	}
}

func (p *Player) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(p.random.Int64N(int64(d)))
}

// choose picks a Set, or sometimes three cards that are none.
func (p *Player) choose(cards []domain.Card) (domain.Triple, bool) {
	sets := domain.FindAllSets(cards)
	if len(sets) == 0 {
		return domain.Triple{}, false
	}
	if p.random.Float64() < p.config.ErrorRate {
		return p.mistake(cards), true
	}
	return sets[p.random.IntN(len(sets))], true
}

// mistake picks three cards that are no Set: of four cards at most one triple is a Set, so swapping one card is enough. The last three
// cards of a deck are always a Set, and there is no mistake to make.
func (p *Player) mistake(cards []domain.Card) domain.Triple {
	p.random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
	picked := domain.Triple(cards[:3])
	if domain.ValidateTriple(picked).IsValid() && len(cards) > 3 {
		picked[2] = cards[3]
	}
	return picked
}

// claim selects the three cards. If one cannot be selected, a player out of time for one, nothing stays selected.
func (p *Player) claim(board domain.Board, cards domain.Triple) {
	for _, card := range cards {
		slot, _ := board.SlotOf(card)
		if p.controller.SelectCard(slot).Outcome == domain.Refused {
			break
		}
	}
	if p.controller.WaitingForServer() {
		return
	}
	for _, slot := range p.controller.Selected() {
		p.controller.DeselectCard(slot)
	}
}
