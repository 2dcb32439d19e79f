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
	// Reaction is the mean time from seeing a board to claiming; each one is between a half and one and a half of it.
	Reaction time.Duration
	// ErrorRate is the share of claims that are no Set, 0 to 1.
	ErrorRate float64
}

// Player plays by itself: it looks for Sets on its controller's replica, which shows no more than a person sees, picks one,
// waits as long as a person would, and selects its cards one by one. Not safe for concurrent use.
type Player struct {
	config     PlayerConfig
	controller *Controller
	random     *rand.Rand
	plan       *plan
}

// plan is a claim that the player is about to make.
type plan struct {
	cards domain.Triple
	due   time.Duration // on the controller's clock
}

// NewPlayer makes a player that plays through the controller.
func NewPlayer(config PlayerConfig, controller *Controller) *Player {
	return &Player{config: config, controller: controller, random: rand.New(rand.NewPCG(config.Seed, 0x5e7))}
}

// NextWake is when Act will have something to do if nothing else happens; false if never.
func (p *Player) NextWake() (time.Duration, bool) {
	if p.plan == nil || p.controller.State() != domain.BoardIdle && p.controller.State() != domain.InvalidSetAnim {
		return 0, false // a message will change the state
	}
	return p.plan.due, true
}

// Act looks at the board and claims if it is time. Call it after every message and at NextWake.
func (p *Player) Act() {
	c := p.controller
	state, started := c.Snapshot()
	if _, plays := c.Seat(); !started || !plays || c.Closed() || c.Ended() != nil || c.WaitingForServer() {
		p.plan = nil
		return
	}
	if p.plan != nil && !p.lies(state.Board) {
		p.plan = nil
	}
	if p.plan == nil {
		p.think(state.Board)
	}
	if p.plan == nil || c.clock() < p.plan.due {
		return
	}
	if wait := time.Duration(c.RetryAtMs()-c.MatchTimeMs()) * time.Millisecond; wait > 0 {
		p.plan.due = c.clock() + wait
		return
	}
	if c.State() == domain.BoardIdle {
		p.claim(state.Board)
	}
}

// lies reports whether the planned cards are still on the board.
func (p *Player) lies(board domain.Board) bool {
	for _, card := range p.plan.cards {
		if _, lies := board.SlotOf(card); !lies {
			return false
		}
	}
	return true
}

// think makes a plan: a Set, or sometimes three cards that are none.
func (p *Player) think(board domain.Board) {
	cards := board.AppendCards(nil)
	sets := domain.FindAllSets(cards)
	if len(sets) == 0 {
		return
	}
	half := p.config.Reaction / 2
	p.plan = &plan{cards: sets[p.random.IntN(len(sets))], due: p.controller.clock() + half}
	if half > 0 {
		p.plan.due += time.Duration(p.random.Int64N(int64(2 * half)))
	}
	if p.random.Float64() < p.config.ErrorRate {
		p.plan.cards = p.mistake(cards)
	}
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

// claim taps the three cards. A player whose board moved under its fingers starts again.
func (p *Player) claim(board domain.Board) {
	for _, card := range p.plan.cards {
		slot, _ := board.SlotOf(card)
		if result := p.controller.SelectCard(slot); result.Outcome == domain.Refused {
			break
		}
	}
	for _, slot := range p.controller.Selected() {
		if !p.controller.WaitingForServer() {
			p.controller.DeselectCard(slot)
		}
	}
	p.plan = nil
}
