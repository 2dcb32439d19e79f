package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// narrator tells a match as it happens, from the messages that one client gets. What the other clients add, their refused
// claims, may come from other goroutines.
type narrator struct {
	pen *pen

	mu     sync.Mutex
	nowMs  uint64
	short  map[string]string // names to show for those that the server knows
	names  []string
	scores []int
	deck   int
	board  domain.Board
	shown  domain.Board
	fresh  map[int]bool // slots dealt to since the board was last shown
	sets   int
	ended  bool
}

func newNarrator(p *pen) *narrator {
	return &narrator{pen: p, short: map[string]string{}, fresh: map[int]bool{}}
}

// call gives a user a short name; the server's are unique, and so not pretty. Call it before the first message.
func (n *narrator) call(username, name string) { n.short[username] = name }

// Message implements client.Audience.
func (n *narrator) Message(m client.Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ms := m.Body.GetStamp().GetServerTimeMs(); ms > n.nowMs {
		n.nowMs = ms
	}
	switch body := m.Body.(type) {
	case *wire.Welcome:
		n.roster(body.GetRoster())
		if body.GetSnapshot() != nil {
			n.take(body.GetSnapshot())
			n.showBoard(true)
		}
	case *wire.Roster:
		n.roster(body)
	case *wire.Update:
		n.update(body)
	case *wire.Notice:
		n.notice(body)
	}
}

// Resolved implements client.Audience for the client whose messages are told; its verdicts are events like everybody's.
func (n *narrator) Resolved(client.Resolution) {}

// refused tells a refused claim: only its claimant knows of it.
func (n *narrator) refused(seat int, r client.Resolution) {
	if r.Kind != client.ResolvedRefused {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	text := n.name(seat) + "'s claim is refused: " + reasonText(r.Reason)
	if len(r.MissingCards) > 0 {
		text += ", gone: " + n.cards(r.MissingCards)
	}
	n.line(n.pen.dim.Render(text))
}

// say tells something that is not the match's.
func (n *narrator) say(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.line(n.pen.bad.Render(text))
}

// reasonText is what a game would show.
func reasonText(reason wire.Reason) string {
	switch reason {
	case wire.Reason_REASON_OWN_LOCK:
		return "still locked after a wrong claim"
	case wire.Reason_REASON_BOARD_LOCK:
		return "the board is moving"
	case wire.Reason_REASON_NOT_ON_BOARD:
		return "somebody was faster"
	case wire.Reason_REASON_ENDED:
		return "the match is over"
	case wire.Reason_REASON_OUT_OF_TIME:
		return "out of time"
	}
	return strings.ToLower(strings.ReplaceAll(client.ReasonName(reason), "_", " "))
}

func (n *narrator) roster(r *wire.Roster) {
	n.names = n.names[:0]
	for seat, s := range r.GetSeats() {
		name := s.GetDisplayName()
		if short, ok := n.short[name]; ok {
			name = short
		}
		if name == "" {
			name = fmt.Sprintf("seat %d", seat)
		}
		n.names = append(n.names, name)
	}
}

func (n *narrator) name(seat int) string {
	if seat >= len(n.names) {
		return fmt.Sprintf("seat %d", seat)
	}
	return n.pen.seats[seat%len(n.pen.seats)].Render(n.names[seat])
}

// line is one line of the story, with the match time.
func (n *narrator) line(text string) { n.lineAt(n.nowMs, text) }

func (n *narrator) lineAt(ms uint64, text string) {
	n.pen.printf("%s  %s\n", n.pen.dim.Render(fmt.Sprintf("%6.1f s", float64(ms)/1000)), text)
}

func (n *narrator) cards(cards []domain.Card) string {
	var drawn []string
	for _, card := range cards {
		drawn = append(drawn, strings.Join(strings.Fields(n.pen.card(card)), " "))
	}
	return strings.Join(drawn, ", ")
}

// update tells the events, and then shows the board if it has come to rest.
func (n *narrator) update(u *wire.Update) {
	for _, event := range u.GetEvents() {
		n.event(event)
	}
	n.take(u.GetSnapshot())
	if u.GetSnapshot().GetState() == wire.BoardState_BOARD_STATE_IDLE {
		n.showBoard(false)
	}
	for _, event := range u.GetEvents() {
		if ended := event.GetMatchEnded(); ended != nil {
			n.matchEnded(event.GetAtMs(), ended)
		}
	}
}

func (n *narrator) take(s *wire.Snapshot) {
	state, err := client.DomainSnapshot(s)
	if err != nil {
		return
	}
	n.board, n.deck = state.Board, state.DeckCount
	n.scores = n.scores[:0]
	for seat := range state.Players {
		n.scores = append(n.scores, state.ByPlayer[seat].Score)
	}
}

func (n *narrator) event(event *wire.Event) {
	at := event.GetAtMs()
	switch e := event.GetKind().(type) {
	case *wire.Event_CardsDealt:
		for _, slot := range e.CardsDealt.GetSlots() {
			n.fresh[int(slot)] = e.CardsDealt.GetCause() != wire.DealCause_DEAL_CAUSE_INITIAL
		}
		if e.CardsDealt.GetCause() == wire.DealCause_DEAL_CAUSE_INITIAL {
			n.lineAt(at, fmt.Sprintf("%d cards are dealt", len(e.CardsDealt.GetCards())))
		}
	case *wire.Event_BoardExpanded:
		n.lineAt(at, fmt.Sprintf("No Set on the board: %d more cards", len(e.BoardExpanded.GetCards())))
	case *wire.Event_SetClaimed:
		n.claimed(at, e.SetClaimed)
	case *wire.Event_PenaltyApplied:
		n.penalty(at, e.PenaltyApplied)
	case *wire.Event_PlayerForfeited:
		n.lineAt(at, n.name(int(e.PlayerForfeited.GetSeat()))+" is out")
	}
}

func (n *narrator) claimed(at uint64, e *wire.SetClaimed) {
	verdict, err := client.DomainVerdict(e)
	if err != nil {
		return
	}
	slots := fmt.Sprintf("(slots %d, %d, %d)", verdict.Slots[0], verdict.Slots[1], verdict.Slots[2])
	cards := n.cards(verdict.Cards[:]) + "  " + n.pen.dim.Render(slots)
	if verdict.Valid() {
		n.sets++
		n.lineAt(at, n.name(verdict.Seat)+" takes "+cards)
		return
	}
	n.lineAt(at, n.name(verdict.Seat)+" claims "+cards)
	n.pen.printf("          %s: %s mixed\n", n.pen.bad.Render("wrong"), strings.ToLower(verdict.Mixed.String()))
}

func (n *narrator) penalty(at uint64, e *wire.PenaltyApplied) {
	what := fmt.Sprintf("loses %d points", e.GetAmount())
	switch {
	case e.GetMode() == wire.PenaltyMode_PENALTY_MODE_TIME:
		what = fmt.Sprintf("loses %.1f s, %.1f s left", float64(e.GetAmount())/1000, float64(e.GetRemaining())/1000)
	case e.GetAmount() == 0:
		what = "has no point to lose"
	case e.GetAmount() == 1:
		what = "loses a point"
	}
	n.lineAt(at, n.name(int(e.GetSeat()))+" "+what)
}

// showBoard draws the board, with the scores beside it, if it is another one than last time.
func (n *narrator) showBoard(always bool) {
	if n.board == n.shown && !always {
		return
	}
	var beside side
	widest := 0
	for _, name := range n.names {
		widest = max(widest, len([]rune(name)))
	}
	room := max(5, n.pen.width-margin-boardWidth-4-widest-5)
	for seat, score := range n.scores {
		pad := strings.Repeat(" ", max(0, widest-n.nameWidth(seat)))
		beside = append(beside, fmt.Sprintf("%s%s %2d%s", n.name(seat), pad, score, n.bar(seat, " ", score, room)))
	}
	beside = append(beside, n.pen.dim.Render(fmt.Sprintf("deck %d, %s taken", n.deck, count(n.sets, "Set"))))
	n.pen.printf("\n")
	n.pen.board(n.board, n.fresh, beside)
	n.pen.printf("\n")
	n.shown = n.board
	clear(n.fresh)
}

// bar is a seat's score as a bar, with a gap before it if there is one.
func (n *narrator) bar(seat int, gap string, score, room int) string {
	if score == 0 {
		return ""
	}
	return gap + n.pen.seats[seat%len(n.pen.seats)].Render(bar(score, room))
}

func (n *narrator) nameWidth(seat int) int {
	if seat >= len(n.names) {
		return len(fmt.Sprintf("seat %d", seat))
	}
	return len([]rune(n.names[seat]))
}

func (n *narrator) notice(notice *wire.Notice) {
	switch notice.GetKind() {
	case wire.NoticeKind_NOTICE_KIND_SHUTDOWN:
		n.line(n.pen.bad.Render(fmt.Sprintf("The server shuts down in %.0f s", float64(notice.GetGraceMs())/1000)))
	case wire.NoticeKind_NOTICE_KIND_CLOSED:
		if !n.ended {
			n.line(n.pen.bad.Render("The table has closed"))
		}
	case wire.NoticeKind_NOTICE_KIND_MAINTENANCE:
		n.line(n.pen.bad.Render(announcement(notice)))
	case wire.NoticeKind_NOTICE_KIND_DRAINING:
		n.line(n.pen.bad.Render("The server opens no new tables for now"))
	}
}

// announcement is what the operator has to say. The text comes from a server, so nothing in it may steer the terminal.
func announcement(notice *wire.Notice) string {
	if notice.GetText() == "" {
		return "The operator's announcement is withdrawn"
	}
	text := "The operator announces: " + printable(notice.GetText())
	if at := notice.GetAtUnixMs(); notice.AtUnixMs != nil {
		text += time.UnixMilli(int64(at)).Local().Format(" (on 2006-01-02 at 15:04)")
	}
	return text
}

// printable leaves out what is not to be seen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

var endTexts = map[wire.EndReason]string{
	wire.EndReason_END_REASON_NO_SETS_LEFT:   "no Set is left",
	wire.EndReason_END_REASON_TIME_UP:        "time is up",
	wire.EndReason_END_REASON_LAST_PLAYER:    "one player is left",
	wire.EndReason_END_REASON_ABANDONED:      "nobody is left",
	wire.EndReason_END_REASON_IDLE:           "nobody found a Set for too long",
	wire.EndReason_END_REASON_INTERNAL_ERROR: "something failed in the server",
	wire.EndReason_END_REASON_OPERATOR:       "the operator has ended it",
}

func (n *narrator) matchEnded(at uint64, e *wire.MatchEnded) {
	n.ended = true
	n.lineAt(at, n.pen.bold.Render("The match is over: "+endTexts[e.GetReason()]))
	n.pen.printf("          %s on the board, %d in the deck\n", count(n.board.CardCount(), "card"), n.deck)
	table := append([]*wire.FinalScore(nil), e.GetTable()...)
	slices.SortStableFunc(table, func(a, b *wire.FinalScore) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	widest := 0
	for _, line := range table {
		widest = max(widest, n.nameWidth(int(line.GetSeat())))
	}
	n.pen.printf("\n")
	for _, line := range table {
		seat, note := int(line.GetSeat()), ""
		if line.GetForfeited() {
			note = "  gave up"
		}
		pad := strings.Repeat(" ", widest-n.nameWidth(seat))
		drawn := n.bar(seat, "  ", int(line.GetScore()), max(5, n.pen.width-widest-20))
		n.pen.printf("  %s%s %3d%s%s\n", n.name(seat), pad, line.GetScore(), drawn, note)
	}
	n.pen.printf("\n  %s\n\n", n.pen.bold.Render(n.winners(e)))
}

func (n *narrator) winners(e *wire.MatchEnded) string {
	if table := e.GetTable(); len(table) == 1 { // there is nobody to win against
		return fmt.Sprintf("%s finished with %s.", n.name(int(table[0].GetSeat())), count(n.sets, "Set"))
	}
	var names []string
	for _, seat := range e.GetWinners() {
		names = append(names, n.name(int(seat)))
	}
	switch len(names) {
	case 0:
		return "Nobody wins."
	case 1:
		return names[0] + " wins."
	}
	return "A tie: " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " win."
}
