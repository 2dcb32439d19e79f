package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"set3d/client"
	"set3d/domain"
	wire "set3d/proto/set3d/v1"
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *updateGolden {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s; go test -update rewrites it", path)
}

// tell is the recorded match as play shows it.
func tell(t *testing.T, p *pen) {
	n := newNarrator(p)
	for _, message := range readScript(t) {
		n.Message(message)
	}
	n.refused(1, client.Resolution{Kind: client.ResolvedRefused, Reason: wire.Reason_REASON_NOT_ON_BOARD, MissingCards: []domain.Card{domain.MustCard(0)}})
}

func TestTellsAMatch(t *testing.T) {
	var out bytes.Buffer
	tell(t, newPen(&out))
	golden(t, "match", out.Bytes())
	for _, line := range strings.Split(out.String(), "\n") {
		require.LessOrEqual(t, lipgloss.Width(line), plainWidth, line)
		require.Equal(t, strings.TrimRight(line, " "), line, "no blanks at the end")
	}
}

func TestTellsAMatchOnANarrowTerminal(t *testing.T) {
	var out bytes.Buffer
	p := newPen(&out)
	p.width = 50
	tell(t, p)
	golden(t, "match_narrow", out.Bytes())
}

// In colour the text is the same: colour only adds.
func TestColourOnlyAdds(t *testing.T) {
	var plain, colour bytes.Buffer
	tell(t, newPen(&plain))
	renderer := lipgloss.NewRenderer(&colour)
	renderer.SetColorProfile(termenv.ANSI)
	tell(t, newPenWith(&colour, renderer))
	require.Contains(t, colour.String(), "\x1b[")
	require.Equal(t, plain.String(), withoutEscapes(colour.String()))
}

func withoutEscapes(s string) string {
	var b strings.Builder
	for {
		start := strings.Index(s, "\x1b[")
		if start < 0 {
			return b.String() + s
		}
		b.WriteString(s[:start])
		s = s[start:]
		s = s[strings.IndexByte(s, 'm')+1:]
	}
}

func TestEveryCardIsDrawnDifferently(t *testing.T) {
	p := newPen(io.Discard)
	drawn := map[string]int{}
	for id := range domain.DeckSize {
		text := p.card(domain.MustCard(id))
		require.Equal(t, 5, lipgloss.Width(text))
		other, twice := drawn[text]
		require.False(t, twice, "cards %d and %d are both %q", id, other, text)
		drawn[text] = id
	}
	require.Equal(t, "◆   r", p.card(domain.MustCard(0)))
	require.Equal(t, "○○○ p", p.card(domain.MustCard(80)))
	require.Equal(t, "▨▨  g", p.card(domain.MustCard(27+9+3+1)))
}

func TestEndsInWords(t *testing.T) {
	for _, test := range []struct {
		winners []uint32
		want    string
	}{
		{nil, "Nobody wins."}, {[]uint32{1}, "Ben wins."}, {[]uint32{0, 1, 2}, "A tie: Ada, Ben and seat 2 win."},
	} {
		n := newNarrator(newPen(io.Discard))
		n.names = []string{"Ada", "Ben"}
		require.Equal(t, test.want, n.winners(&wire.MatchEnded{Winners: test.winners}))
	}
	solo := newNarrator(newPen(io.Discard))
	solo.names, solo.sets = []string{"Ada"}, 23
	require.Equal(t, "Ada finished with 23 Sets.", solo.winners(&wire.MatchEnded{Winners: []uint32{0}, Table: []*wire.FinalScore{{Score: 20}}}))
	require.Equal(t, "rate limited", reasonText(wire.Reason_REASON_RATE_LIMITED))
	require.Equal(t, "█████", bar(5, 5))
	require.Equal(t, "████…", bar(6, 5))
}

func TestTellsWhatIsRare(t *testing.T) {
	var out bytes.Buffer
	n := newNarrator(newPen(&out))
	n.names = []string{"Ada", "Ben"}
	n.penalty(1000, &wire.PenaltyApplied{Mode: wire.PenaltyMode_PENALTY_MODE_TIME, Amount: 5000, Remaining: 61_000})
	n.penalty(1000, &wire.PenaltyApplied{Seat: 1, Mode: wire.PenaltyMode_PENALTY_MODE_POINT, Amount: 0})
	n.event(&wire.Event{AtMs: 2000, Kind: &wire.Event_PlayerForfeited{PlayerForfeited: &wire.PlayerForfeited{Seat: 1}}})
	n.notice(&wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_SHUTDOWN, GraceMs: 5000})
	n.notice(&wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_CLOSED})
	require.Equal(t, `   1.0 s  Ada loses 5.0 s, 61.0 s left
   1.0 s  Ben has no point to lose
   2.0 s  Ben is out
   0.0 s  The server shuts down in 5 s
   0.0 s  The table has closed
`, out.String())
}

// The operator's words are shown, and nothing in them steers the terminal.
func TestTellsAnnouncements(t *testing.T) {
	var out bytes.Buffer
	n := newNarrator(newPen(&out))
	at := uint64(1_796_000_000_000)
	n.notice(&wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_MAINTENANCE, Text: "Maintenance \x1b[31mtonight", AtUnixMs: &at})
	require.Contains(t, out.String(), "Maintenance [31mtonight (on 2026-1")
	require.NotContains(t, out.String(), "\x1b[31mtonight")
	out.Reset()
	n.notice(&wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_MAINTENANCE})
	require.Contains(t, out.String(), "withdrawn")
	out.Reset()
	n.notice(&wire.Notice{Kind: wire.NoticeKind_NOTICE_KIND_DRAINING})
	require.Contains(t, out.String(), "no new tables")
}
