package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// comparison is of a result with what follows from its record.
type comparison struct {
	compared    int
	differences []string
}

// same compares one value that somebody says.
func (c *comparison) same(field string, says, gives any) {
	c.compared++
	if !reflect.DeepEqual(says, gives) {
		c.differences = append(c.differences, fmt.Sprintf("%s: the result says %v, the record gives %v", field, shown(says), shown(gives)))
	}
}

// shown is a value that can be told from nothing.
func shown(value any) any {
	if value == "" {
		return "nothing"
	}
	return value
}

// result compares all of a result that follows from the record.
func (c *comparison) result(saved client.GotRecord, sum domain.Summary) {
	r := saved.Result
	digest := sha256.Sum256(saved.Record)
	c.same("record_sha256", strings.ToLower(r.RecordSHA256), hex.EncodeToString(digest[:]))
	c.same("record_bytes", r.RecordBytes, len(saved.Record))
	c.same("result_id", r.ResultID, saved.ResultID)
	c.rules(r.Rules, sum.Setup.Rules)
	c.deck(r, sum)
	c.same("duration_ms", r.DurationMs, sum.DurationMs)
	c.end(r, sum)
	c.same("players", len(r.Players), sum.Setup.Players)
	for i, player := range r.Players {
		if i < len(sum.Seats) {
			c.player(fmt.Sprintf("players[%d].", i), i, player, sum)
		}
	}
}

// Ends that no record has: of a match that broke, and of one that the operator ended.
var (
	failed  = strings.TrimPrefix(wire.EndReason_END_REASON_INTERNAL_ERROR.String(), "END_REASON_")
	stopped = strings.TrimPrefix(wire.EndReason_END_REASON_OPERATOR.String(), "END_REASON_")
)

// endReasons are the ends that a match can come to by its rules, as results name them: the wire's names.
var endReasons = func() (names [domain.EndIdle + 1]string) {
	for reason, end := range map[domain.EndReason]wire.EndReason{
		domain.EndNoSetsLeft: wire.EndReason_END_REASON_NO_SETS_LEFT, domain.EndTimeUp: wire.EndReason_END_REASON_TIME_UP,
		domain.EndLastPlayer: wire.EndReason_END_REASON_LAST_PLAYER, domain.EndAbandoned: wire.EndReason_END_REASON_ABANDONED,
		domain.EndIdle: wire.EndReason_END_REASON_IDLE,
	} {
		names[reason] = strings.TrimPrefix(end.String(), "END_REASON_")
	}
	return names
}()

// end compares how the match ended. Three ends are not the rules': a match can fail, the operator can end it, and one that a restart interrupted
// is abandoned when nobody comes back to it. Nobody wins then.
func (c *comparison) end(r *client.Result, sum domain.Summary) {
	reason, winners := "no end", []int{}
	switch {
	case r.Reason == failed, !sum.HasEnded && (r.Reason == stopped || r.Reason == endReasons[domain.EndAbandoned]):
		reason = r.Reason
	case sum.HasEnded:
		reason, winners = endReasons[sum.End.Reason], append(winners, sum.End.Winners...)
	}
	c.same("reason", r.Reason, reason)
	says := append([]int{}, r.Winners...)
	slices.Sort(says)
	c.same("winners", says, winners)
}

func (c *comparison) rules(text json.RawMessage, r domain.Rules) {
	var says map[string]any
	_ = json.Unmarshal(text, &says) // what cannot be read says nothing, and each rule differs
	number := func(name string, value int64) {
		said, ok := says[name].(float64)
		if !ok {
			c.same("rules."+name, says[name], value)
			return
		}
		c.same("rules."+name, int64(said), value)
	}
	number("initial_board_size", int64(r.InitialBoardSize))
	c.same("rules.refill_policy", says["refill_policy"], map[domain.RefillPolicy]string{
		domain.RefillAlways: "always", domain.RefillToInitialSize: "to_initial_size",
	}[r.RefillPolicy])
	c.same("rules.penalty_mode", says["penalty_mode"], map[domain.PenaltyMode]string{
		domain.PenaltyNone: "none", domain.PenaltyTime: "time", domain.PenaltyPoint: "point",
	}[r.PenaltyMode])
	number("penalty_time_ms", r.PenaltyTimeMs)
	number("time_limit_ms", r.TimeLimitMs)
	number("claim_grace_ms", r.ClaimGraceMs)
	number("valid_anim_ms", r.ValidAnimMs)
	number("invalid_anim_ms", r.InvalidAnimMs)
	number("refill_anim_ms", r.RefillAnimMs)
	number("expand_anim_ms", r.ExpandAnimMs)
	number("idle_limit_ms", r.IdleLimitMs)
	number("drop_hold_ms", r.DropHoldMs)
}

func (c *comparison) deck(r *client.Result, sum domain.Summary) {
	key := ""
	if sum.Committed {
		secret := sum.Setup.Deck.Key()
		key = hex.EncodeToString(secret[:])
	}
	c.same("commitment", strings.ToLower(r.Commitment), commitmentText(sum))
	c.same("key", strings.ToLower(r.Key), key)
	c.same("seed", r.Seed, sum.Setup.Deck.Seed())
}

func (c *comparison) player(field string, seat int, says client.PlayerResult, sum domain.Summary) {
	gives, bot := sum.Seats[seat], ""
	if level := sum.Setup.Bots[seat].Level; level != 0 {
		bot = level.String()
	}
	c.same(field+"seat", says.Seat, seat)
	c.same(field+"bot", says.Bot, bot)
	c.same(field+"score", says.Score, gives.Score)
	c.same(field+"forfeited", says.Forfeited, gives.Forfeited)
	c.same(field+"claims", says.Claims, gives.Claims)
	c.same(field+"wrong", says.Wrong, gives.Wrong)
	c.same(field+"reaction_ms.count", says.ReactionMs.Count, gives.Reactions.Count)
	c.same(field+"reaction_ms.fastest", says.ReactionMs.Fastest, gives.Reactions.FastestMs)
	c.same(field+"reaction_ms.median", says.ReactionMs.Median, gives.Reactions.MedianMs)
	if rating := says.Rating; rating != nil {
		c.compared++
		if rating.After-rating.Before != rating.Change {
			c.differences = append(c.differences, fmt.Sprintf("%srating: from %d to %d is not a change of %d", field, rating.Before, rating.After,
				rating.Change))
		}
	}
}
