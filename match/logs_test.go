package match

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	wire "set3d/proto/set3d/v1"
)

// What is logged of a match names its table or its match, and never a card, the deck's key, or what replays the match.
func TestLogsKeepSecrets(t *testing.T) {
	n := newFake(t, "SET3D_DURABILITY=safe")
	n.storage.setFault(func(op string) error {
		if op == "write" || op == "multi" {
			return errors.New("down")
		}
		return nil
	})
	stopped := startGame(n, `{"rules":{"penalty_mode":"point","invalid_anim_ms":0}}`, "ann", "bob")
	broken := startGame(n, `{"test_panic_at":"signal"}`, "cid", "dan")
	for i, g := range []*game{stopped, broken} {
		board := g.m.table().session.Snapshot().Board
		var cards []byte
		for _, card := range board.AppendCards(nil)[:3] {
			cards = append(cards, byte(card.ID()))
		}
		g.players[0].send(g.m, wire.OpCode_OP_CODE_CLAIM_SET, &wire.ClaimSet{ClaimId: uint64(i + 1), Cards: cards})
		g.players[1].send(g.m, wire.OpCode_OP_CODE_FORFEIT, &wire.Forfeit{})
		g.pass(time.Minute)
		_ = g.m.table().String()
	}
	if _, err := n.admin("admin_end", `{"match_id":"`+stopped.m.id+`"}`); err != nil && reasonOf(err) != "UNKNOWN_MATCH" {
		t.Fatal(err)
	}
	card := regexp.MustCompile(`\b[0-2]{4}\b`)
	n.logger.mu.Lock()
	defer n.logger.mu.Unlock()
	if len(n.logger.lines) < 5 {
		t.Fatalf("only %q", n.logger.lines)
	}
	for _, line := range n.logger.lines {
		first, _, _ := strings.Cut(line, "\n") // the rest is a stack
		if card.MatchString(strings.NewReplacer(stopped.m.id, "", broken.m.id, "").Replace(first)) {
			t.Errorf("cards: %s", first)
		}
		for _, g := range []*game{stopped, broken} {
			key := g.m.table().deck.Key()
			for _, secret := range []string{hex.EncodeToString(key[:]), base64.StdEncoding.EncodeToString(key[:]), string(key[:])} {
				if strings.Contains(line, secret) {
					t.Errorf("the key: %s", first)
				}
			}
		}
	}
	for _, g := range []*game{stopped, broken} {
		id, table := g.m.id, g.m.table().setup.TableID
		named := 0
		for _, line := range n.logger.lines {
			if strings.Contains(line, id) || strings.Contains(line, table) {
				named++
			}
		}
		if named < 2 {
			t.Errorf("%d lines name the table or the match", named)
		}
	}
}
