package match

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"set3d/domain"
)

// begin brings a table of a kind to a moment.
func (k twinKind) begin(t *testing.T, at moment) *twin {
	t.Helper()
	w := k.start(newFake(t, append(slices.Clone(k.settings), quickCheckpoints)...))
	if !w.started() || len(w.players) != k.players {
		t.Fatalf("started %t, %d players", w.started(), len(w.players))
	}
	at.come(w)
	if w.m.table().ended {
		t.Fatal("it is over")
	}
	return w
}

// A table is the same after one restart and after two as it was before: for everybody, and for what the match means in
// the end.
func TestResumeTwin(t *testing.T) {
	seen := map[domain.MatchState]bool{}
	for name, kind := range twinKinds() {
		for when, at := range moments() {
			if kind.players < at.least {
				continue
			}
			t.Run(strings.ReplaceAll(name+", "+when, " ", "_"), func(t *testing.T) {
				w := kind.begin(t, at)
				seen[w.m.table().session.Snapshot().State] = true
				compareTwins(t, w, kind, at)
			})
		}
	}
	states := []domain.MatchState{domain.BoardIdle, domain.ValidSetAnim, domain.RefillAnim, domain.ExpandBoardAnim}
	for _, state := range states {
		if !seen[state] {
			t.Errorf("no table was interrupted in %v", state)
		}
	}
}

func compareTwins(t *testing.T, w *twin, kind twinKind, at moment) {
	before, want := w.view(t), w.consequences()
	if !at.kept {
		w.m.terminate(0)
		w.m.loop()
	}
	next, err := w.resumed(w.n.fork(kind.settings...))
	if err != nil {
		t.Fatal(err)
	}
	again, err := next.resumed(next.n.fork(kind.settings...))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range slices.Concat(differences(before, next.view(t)), differences(before, again.view(t))) {
		t.Error(d)
	}
	result, consequences := next.end(t)
	if consequences != want {
		t.Errorf("the result says %s, want %s", consequences, want)
	}
	if at.kept {
		if without, _ := w.end(t); result != without {
			t.Errorf("the result: %s", contrast(without, result))
		}
	}
}

// lobbyFields are those of a setup that savedTable leaves empty.
var lobbyFields = []string{"Seed", "Deck", "Bots", "Reserved", "ReservedMs"}

// A resumed table that was stored without any one field of the description differs from what it was.
func TestTwinNoticesEveryField(t *testing.T) {
	unnoticed := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[savedTable]()) {
		if !f.Anonymous && !slices.Contains(lobbyFields, f.Name) {
			unnoticed[f.Name] = true
		}
	}
	for _, kind := range twinKinds() {
		w := kind.begin(t, moments()["start"])
		before, id := w.view(t), w.m.table().setup.TableID
		for _, field := range slices.Sorted(maps.Keys(unnoticed)) {
			n := w.n.fork(kind.settings...)
			forgetField(t, n, id, field)
			next, err := w.resumed(n)
			if err != nil || len(differences(before, next.view(t))) > 0 {
				delete(unnoticed, field)
			}
		}
	}
	for field := range unnoticed {
		t.Errorf("no table shows that %s is missing", field)
	}
}

// The comment of savedTable says of every field of a table what becomes of it at a restart.
func TestEveryFieldHasAFate(t *testing.T) {
	fields := map[string]bool{}
	for name, structure := range map[string]reflect.Type{
		"table": reflect.TypeFor[table](), "setup": reflect.TypeFor[tableSetup](), "seats": reflect.TypeFor[seats](),
		"seat": reflect.TypeFor[seat](), "mailbox": reflect.TypeFor[mailbox](), "ledger": reflect.TypeFor[ledger](),
		"standing": reflect.TypeFor[standing](),
	} {
		for f := range structure.Fields() {
			fields[name+"."+f.Name] = true
		}
	}
	names := regexp.MustCompile(`\b(table|setup|seats|seat|mailbox|ledger|standing)\.\w+`)
	for _, name := range names.FindAllString(commentOf(t, "saved.go", "savedTable"), -1) {
		if !fields[name] {
			t.Errorf("%s is named and does not exist, or twice", name)
		}
		delete(fields, name)
	}
	for name := range fields {
		t.Errorf("%s is not named", name)
	}
}

// commentOf is the doc comment of a type.
func commentOf(t *testing.T, file, name string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && g.Specs[0].(*ast.TypeSpec).Name.Name == name {
			return g.Doc.Text()
		}
	}
	t.Fatalf("no type %s in %s", name, file)
	return ""
}
