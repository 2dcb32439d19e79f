package domain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The domain is pure: the same calls give the same results, on every machine, whatever the time. This file enforces it, and
// says of everything that is not allowed what to write instead.

func TestDomainIsPure(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	require.Greater(t, len(files), 5)

	violations, err := impurities(fset, files)
	for _, violation := range violations {
		t.Error(violation)
	}
	if len(violations) == 0 { // else the types are incomplete, for want of the imports
		require.NoError(t, err)
	}
}

// The test bites: every kind of impurity is found, where it is.
func TestPurityTestBites(t *testing.T) {
	for _, snippet := range []struct{ name, code, want string }{
		{"clock", `import "time"` + "\n" + `var _ = time.Now`, `2: import of "time": take milliseconds since the match began`},
		{"files", `import "os"`, `2: import of "os": take what is to be read`},
		{"log", `import "log"`, `2: import of "log": return an event`},
		{"locks", `import "sync"`, `2: import of "sync": leave locks to the caller`},
		{"network", `import "net"`, `2: import of "net": use`},
		{"old random", `import "math/rand"`, `2: import of "math/rand": use a generator from math/rand/v2`},
		{"own code", `import "set3d/match"`, `2: import of "set3d/match": use`},
		{"protobuf", `import "google.golang.org/protobuf/proto"`, `2: import of "google.golang.org/protobuf/proto": use`},
		{"renamed clock", `import strings "time"`, `2: import of "time"`},
		{"nameless import", `import . "fmt"`, `2: import of "fmt" without its name`},
		{"import for its effects", `import _ "fmt"`, `2: import of "fmt" without its name`},
		{"global random", "import \"math/rand/v2\"\nfunc f() int {\nreturn rand.IntN(3) }", "4: rand.IntN: draw from a generator"},
		{"shuffle", "import r \"math/rand/v2\"\nfunc f() {\nr.Shuffle(1, nil) }", "4: rand.Shuffle: draw from"},
		{"random as a value", "import \"math/rand/v2\"\nvar f = rand.Uint64", "3: rand.Uint64: draw from"},
		{"printing", "import \"fmt\"\nfunc f() {\nfmt.Println(1) }", "4: fmt.Println: return an event"},
		{"builtin printing", "func f() {\nprintln(1) }", "3: println: return an event"},
		{"reading", "import \"fmt\"\nfunc f() {\nfmt.Sscanf(``, ``) }", "4: fmt.Sscanf: return"},
		{"goroutine", "func f() {\ngo f() }", "3: go statement: return what is to be done"},
		{"select", "func f() {\nselect {} }", "3: select: return what is to be done"},
		{"channel", "type t struct {\nc chan int }", "3: channel: return what is to be done"},
		{"making a channel", "func f() {\n_ = make(chan int) }", "3: channel"},
		{"sending", "func f[C ~chan<- int](c C) {\nc <- 1 }", "3: send: return"},
		{"receiving", "func f[C ~<-chan int](c C) {\n<-c }", "3: receive: return"},
		{"float literal", "const c = 0.5", "2: float: count in integers"},
		{"float that is whole", "const c = 1e3", "2: float: count in integers"},
		{"imaginary", "const c = 2i", "2: float: count in integers"},
		{"float type", "func f(x float64) {\n}", "2: float: count in integers"},
		{"float32 field", "type t struct {\nx float32 }", "3: float: count in integers"},
		{"named float", "type seconds float64\nfunc f(s seconds) {\n_ = s }", "4: float: count in integers"},
		{"float from another package", "import \"math\"\nfunc f(n int64) bool {\nreturn math.Signbit(math.Float64frombits(1)) }", "4: float"},
		{"float in disguise", "import \"math/rand/v2\"\nfunc f(r *rand.Rand) int {\nreturn int(r.NormFloat64()) }", "4: float"},
		{"range over a map", "func f(m map[int]int) {\nfor range m {} }", "3: range over a map: use a slice"},
		{"range over a named map", "type scores map[int]int\nfunc f(s scores) {\nfor k := range s { _ = k } }", "4: range over a map"},
		{"range over a generic map", "func f[M ~map[int]int](m M) {\nfor k := range m { _ = k } }", "3: range over a map"},
		{"state", "var counter int\nfunc f() {\ncounter++ }", "4: counter changes: package-level state"},
		{"state, assigned", "var table [3]int\nfunc f() {\ntable[1] = 2 }", "4: table changes"},
		{"state, in a struct", "var t struct{ n []int; m [2]int }\nfunc f() {\nt.m[1] += 2 }", "4: t changes"},
		{"state, ranged into", "var at int\nfunc f() {\nfor at = range 3 {} }", "4: at changes"},
		{"state, by init", "func init() {\n}", "2: init: compute the table where it is declared"},
		{"exported table", "var Table = [2]int{1, 2}", "2: package-level var Table: "},
		{"map", "var names = map[int]string{}", "2: package-level var names: "},
		{"slice", "var names = []string{}", "2: package-level var names: "},
		{"slice in a table", "var names = [1][]string{}", "2: package-level var names: "},
		{"pointer", "var current *int", "2: package-level var current: "},
		{"function", "var hook func()", "2: package-level var hook: "},
		{"error by another name", "import \"errors\"\nvar Failure = errors.New(``)", "3: package-level var Failure: "},
		{"error that changes", "import \"errors\"\nvar ErrX = errors.New(``)\nfunc f() {\nErrX = nil }", "5: ErrX changes"},
	} {
		t.Run(snippet.name, func(t *testing.T) {
			violations, _ := impuritiesOf(t, snippet.code)
			assert.Contains(t, strings.Join(violations, "\n"), "snippet.go:"+snippet.want)
		})
	}
}

func TestPurityTestLetsPureCodeBe(t *testing.T) {
	violations, err := impuritiesOf(t, `
		import ("errors"; "fmt"; "math"; "math/rand/v2"; "strings")
		var ErrX = errors.New("x")
		var errY error = fmt.Errorf("y: %w", ErrX)
		var _ fmt.Stringer = card(0)
		var names, squares = [...]string{"a"}, square()
		var limits struct{ low, high [2]int }
		const half, large = 7 / 2, math.MaxInt64
		type card uint8
		func (c card) String() string { return names[c] + strings.ToUpper(fmt.Sprint(limits)) }
		func square() (table [9]int) { for i := range table { table[i] = i * i }; return table }
		func draw(key [32]byte) uint64 { return rand.New(rand.NewChaCha8(key)).Uint64N(81) + uint64(squares[half]) }
		func sum(m map[int]int, keys []int) (total int) { for _, k := range keys { total += m[k] }; return total }
		func count() int { counter := 0; counter++; names := [1]string{}; names[0] = ""; return counter + len(names) }
		func each(yield func(int) bool) { for i := range 3 { if !yield(i) { return } } }
		func all() { for range each { panic(errY) } }`)
	require.NoError(t, err)
	assert.Empty(t, violations)
}

func impuritiesOf(t *testing.T, code string) ([]string, error) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", "package domain\n"+code, parser.SkipObjectResolution)
	require.NoError(t, err)
	return impurities(fset, []*ast.File{file})
}
