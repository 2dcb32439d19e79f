package client

import (
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// maxViolations is how many violations are kept in words: the first ones tell what went wrong, the rest follows from it.
const maxViolations = 50

// Verifier checks everything that a client can know about what a server says: that no card is there twice and none is lost, that
// scores, penalties and verdicts follow from the rules, that revisions rise without a gap, that events and snapshots tell the same
// story, that every claim is answered once, and that the deck was the one that was committed to. A restart of the server may take
// back what was told last, and then it begins from the state that is told next. It is a Tap of one client's match. It is safe for
// concurrent use.
type Verifier struct {
	mu         sync.Mutex
	shared     *Broadcasts
	deckSize   int
	report     Report
	lost       bool // the connection, for good
	connection connectionView
	claims     map[claimKey]*claimView
	pings      map[uint64]bool

	table      string // table id
	seat       int
	rules      *wire.Rules
	domain     domain.Rules
	commitment []byte
	here       Position
	timeMs     uint64   // of the newest state
	rosterSeen Position // its incarnation, and the revision of the roster
	view       *view    // nil until the first snapshot
	stale      bool     // the server was restarted: the next snapshot counts, whatever came before
	ended      *wire.MatchEnded
}

// VerifierConfig says what a Verifier may expect.
type VerifierConfig struct {
	// DeckSize is how many cards the deck holds; all of them, 81, when 0.
	DeckSize int
	// Shared compares the broadcasts of several clients of one match, or nil.
	Shared *Broadcasts
}

// Report is what a Verifier has found.
type Report struct {
	Messages int // from the server
	Claims   int // that this client sent, resends not counted
	Answers  int // verdicts and refusals of them
	Dealt    int // cards seen being dealt
	// DealProven says that every card seen was dealt as the revealed key or seed says; Committed that the key is the one
	// that was committed to before the first card.
	DealProven, Committed bool
	Violations            []string
	Suppressed            int // violations beyond those
}

// connectionView is what is known about one connection.
type connectionView struct {
	welcomed bool
	updated  bool
	last     Position // of the last update
}

// NewVerifier makes a verifier for one match.
func NewVerifier(config VerifierConfig) *Verifier {
	if config.DeckSize == 0 {
		config.DeckSize = domain.DeckSize
	}
	return &Verifier{
		shared: config.Shared, deckSize: config.DeckSize, seat: noSeat,
		claims: map[claimKey]*claimView{}, pings: map[uint64]bool{},
	}
}

// Joined implements Tap.
func (v *Verifier) Joined() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.connection = connectionView{}
}

// Sent implements Tap.
func (v *Verifier) Sent(frame Frame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch wire.OpCode(frame.Op) {
	case wire.OpCode_OP_CODE_CLAIM_SET:
		v.sentClaim(frame)
	case wire.OpCode_OP_CODE_PING:
		var ping wire.Ping
		if proto.Unmarshal(frame.Data, &ping) == nil {
			v.pings[ping.GetClientTimeMs()] = true
		}
	}
}

// Received implements Tap.
func (v *Verifier) Received(frame Frame) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Messages++
	message, known, err := ReadFrame(frame)
	switch {
	case err != nil:
		v.violate("op code %d: %v", frame.Op, err)
		return
	case !known:
		v.violate("op code %d is not in protocol version %d", frame.Op, ProtocolVersion)
		return
	case message.Body.GetStamp() == nil:
		v.violate("%v has no stamp", wire.OpCode(frame.Op))
	}
	switch body := message.Body.(type) {
	case *wire.Welcome:
		v.welcome(body)
	case *wire.Update:
		v.shared.check(v, frame, body)
		v.update(body)
	case *wire.ClaimResult:
		v.claimResult(body)
	case *wire.Roster:
		v.roster(body)
	case *wire.Pong:
		if !v.pings[body.GetClientTimeMs()] {
			v.violate("a Pong answers no Ping: client_time_ms %d", body.GetClientTimeMs())
		}
	case *wire.Error:
		late := body.GetReason() == wire.Reason_REASON_ENDED && body.GetOpCode() == int64(wire.OpCode_OP_CODE_FORFEIT)
		if !late { // the match may end while somebody gives up
			v.violate("the server took a message for wrong: %s, op code %d: %s", ReasonName(body.GetReason()), body.GetOpCode(), body.GetDetail())
		}
	}
}

// Lost says that the connection will not be made again: that a claim has no answer is then no violation.
func (v *Verifier) Lost() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lost = true
}

// Report is what was found so far. Call it when the match is over: claims without an answer count as violations.
func (v *Verifier) Report() Report {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.report.Violations
	if !v.lost {
		v.unanswered()
	}
	report := v.report
	report.Violations = slices.Clone(v.report.Violations)
	v.report.Violations = before
	return report
}

func (v *Verifier) violate(format string, args ...any) {
	if len(v.report.Violations) >= maxViolations {
		v.report.Suppressed++
		return
	}
	where := fmt.Sprintf("at revision %d, %.3f s: ", v.here.Revision, float64(v.timeMs)/1000)
	v.report.Violations = append(v.report.Violations, where+fmt.Sprintf(format, args...))
}

func (v *Verifier) welcome(w *wire.Welcome) {
	position := PositionOf(w.GetStamp())
	if v.connection.updated && position.Before(v.connection.last) {
		v.violate("a Welcome goes back to revision %d", position.Revision)
	}
	v.connection.welcomed = true
	v.welcomeTerms(w)
	v.roles(w)
	if position.Before(v.here) {
		v.violate("a Welcome of revision %d comes after one of %d", position.Revision, v.here.Revision)
		return
	}
	known := v.view != nil && position == v.here
	v.stamp(w.GetStamp())
	if w.GetSnapshot() != nil {
		v.snapshot(w.GetSnapshot())
		if known {
			v.compare(w.GetSnapshot())
		} else {
			v.resync(w.GetSnapshot())
		}
	}
	if verdict := w.GetLastVerdict(); verdict != nil {
		v.lastVerdict(verdict)
	}
	if ended := w.GetEnded(); ended != nil {
		v.matchEnded(ended)
	}
}

// welcomeTerms checks what must be the same in every Welcome of a match.
func (v *Verifier) welcomeTerms(w *wire.Welcome) {
	if w.GetProtocolVersion() != ProtocolVersion {
		v.violate("protocol version %d, want %d", w.GetProtocolVersion(), ProtocolVersion)
	}
	if v.table == "" {
		v.table = w.GetTableId()
	} else if v.table != w.GetTableId() {
		v.violate("the table id changes from %q to %q", v.table, w.GetTableId())
	}
	v.terms(w.GetRules(), w.GetCommitment())
	if t := w.GetTiming(); t.GetResendAfterMs() == 0 || t.GetGiveUpAfterMs() == 0 || t.GetReconnectAfterMs() == 0 {
		v.violate("a Welcome without timing advice: %v", t)
	}
}

func (v *Verifier) terms(rules *wire.Rules, commitment []byte) {
	if v.rules == nil {
		v.rules, v.domain = rules, DomainRules(rules)
		if err := v.domain.Validate(); err != nil {
			v.violate("%v", err)
		}
	} else if !proto.Equal(v.rules, rules) {
		v.violate("the rules change from {%v} to {%v}", v.rules, rules)
	}
	switch {
	case len(commitment) != 0 && len(commitment) != 32:
		v.violate("a commitment of %d bytes", len(commitment))
	case len(v.commitment) == 0:
		v.commitment = commitment
	case !slices.Equal(v.commitment, commitment):
		v.violate("the commitment changes from %x to %x", v.commitment, commitment)
	}
}

func (v *Verifier) roles(w *wire.Welcome) {
	isPlayer := w.GetRole() == wire.Role_ROLE_PLAYER
	if isPlayer != (w.Seat != nil) {
		v.violate("role %v and seat %v do not agree", w.GetRole(), w.Seat)
	}
	if !isPlayer {
		return
	}
	if v.view != nil && v.seat != noSeat && v.seat != int(w.GetSeat()) { // in the lobby players may move
		v.violate("the seat changes from %d to %d", v.seat, w.GetSeat())
	}
	v.seat = int(w.GetSeat())
}

func (v *Verifier) roster(r *wire.Roster) {
	revision := Position{r.GetStamp().GetIncarnation(), uint64(r.GetStamp().GetRosterRevision())}
	if !v.rosterSeen.Before(revision) {
		v.violate("the roster revision goes from %d to %d", v.rosterSeen.Revision, revision.Revision)
	}
	v.rosterSeen = revision
	if v.view != nil && len(r.GetSeats()) != len(v.view.scores) {
		v.violate("a roster of %d seats in a match of %d", len(r.GetSeats()), len(v.view.scores))
	}
}

// stamp moves on to a newer state.
func (v *Verifier) stamp(s *wire.Stamp) {
	if s.GetIncarnation() > v.here.Incarnation {
		v.resumed()
	}
	if s.GetIncarnation() == v.here.Incarnation && s.GetServerTimeMs() < v.timeMs {
		v.violate("the server's time goes back from %d to %d ms", v.timeMs, s.GetServerTimeMs())
	}
	v.here, v.timeMs = PositionOf(s), s.GetServerTimeMs()
}
