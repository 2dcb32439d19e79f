package proto_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

// goldenDeck is a fenced block "json" of the document with a seed or a key, and the deck that follows from it.
type goldenDeck struct {
	Seed       int32  `json:"seed"`
	Key        string `json:"key"`
	Commitment string `json:"commitment"`
	Deck       []int  `json:"deck"`
}

func (g goldenDeck) source() (domain.DeckSource, error) {
	if g.Key == "" {
		return domain.SeedSource(g.Seed)
	}
	key, err := hex.DecodeString(g.Key)
	if err != nil || len(key) != 32 {
		return domain.DeckSource{}, fmt.Errorf("key %q: %d bytes, %w", g.Key, len(key), err)
	}
	return domain.KeySource([32]byte(key)), nil
}

// TestGoldenDecks deals the decks of the document.
func TestGoldenDecks(t *testing.T) {
	block := regexp.MustCompile("(?s)```json\n(\\{[^`]*\"deck\":[^`]*\\})\n```")
	kinds := map[domain.SourceKind]bool{}
	for _, match := range block.FindAllStringSubmatch(strings.Join(docLines(t), "\n"), -1) {
		var golden goldenDeck
		if err := json.Unmarshal([]byte(match[1]), &golden); err != nil {
			t.Fatalf("%s: %v in\n%s", docPath, err, match[1])
		}
		source, err := golden.source()
		if err != nil {
			t.Fatal(err)
		}
		kinds[source.Kind()] = true
		if got := deal(t, source); !slices.Equal(got, golden.Deck) {
			t.Errorf("%s: %v deals\n%v, not\n%v", docPath, source.Kind(), got, golden.Deck)
		}
		if commitment, ok := source.Commitment(); ok && hex.EncodeToString(commitment[:]) != golden.Commitment {
			t.Errorf("%s: the commitment is %x, not %s", docPath, commitment, golden.Commitment)
		}
	}
	if !kinds[domain.SourceKey] || !kinds[domain.SourceSeed] {
		t.Errorf("%s: there should be a deck from a key and one from a seed", docPath)
	}
}

// TestExamplesAreOneMatch does what the document tells a client to do: it checks the cards of the examples against the
// key at their end.
func TestExamplesAreOneMatch(t *testing.T) {
	var commitment, key []byte
	var dealt []int
	for _, e := range findExamples(t, docLines(t)) {
		if e.message != "Update" {
			continue
		}
		var u wire.Update
		if err := protojson.Unmarshal([]byte(e.json), &u); err != nil {
			t.Fatalf("%s:%d: %v", docPath, e.line, err)
		}
		for _, event := range u.Events {
			if started := event.GetMatchStarted(); started != nil {
				commitment = started.Commitment
			}
			for _, card := range event.GetCardsDealt().GetCards() {
				dealt = append(dealt, int(card))
			}
			if ended := event.GetMatchEnded(); ended != nil {
				key = ended.GetKey()
			}
		}
	}
	if sum := sha256.Sum256(key); len(key) != 32 || !slices.Equal(sum[:], commitment) {
		t.Fatalf("%s: the commitment %x is not the SHA-256 of the key %x", docPath, commitment, key)
	}
	if deck := deal(t, domain.KeySource([32]byte(key))); !slices.Equal(dealt, deck[:len(dealt)]) {
		t.Errorf("%s: the examples deal\n%v, the key\n%v", docPath, dealt, deck)
	}
}

func deal(t *testing.T, source domain.DeckSource) []int {
	t.Helper()
	deck, err := domain.NewDeck(source)
	if err != nil {
		t.Fatal(err)
	}
	cards, err := deck.Draw(deck.Remaining())
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int, len(cards))
	for i, card := range cards {
		ids[i] = card.ID()
	}
	return ids
}
