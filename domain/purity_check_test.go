package domain

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// impurities returns what is not pure in the files of one package, as "file:line: what: what to do instead". The error is the first
// one of types; where types are unknown, impurities go unseen.
func impurities(fset *token.FileSet, files []*ast.File) (violations []string, typeError error) {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: pureImporter{}, Error: func(err error) {
		if typeError == nil {
			typeError = err
		}
	}}
	pkg, _ := config.Check("domain", fset, files, info)
	for _, file := range files {
		v := &purityVisitor{fset: fset, info: info, pkg: pkg, reported: map[string]bool{}}
		v.imports(file)
		v.packageLevel(file)
		ast.Inspect(file, v.visit)
		violations = append(violations, v.violations...)
	}
	return violations, typeError
}

// standardLibrary reads the types that the compiler has exported; it keeps them, as they take a while.
var standardLibrary = importer.Default()

// pureImporter imports the packages that are allowed; any other is empty.
type pureImporter struct{}

func (pureImporter) Import(name string) (*types.Package, error) {
	if slices.Contains(pureImports, name) {
		return standardLibrary.Import(name)
	}
	empty := types.NewPackage(name, path.Base(name))
	empty.MarkComplete()
	return empty, nil
}

type purityVisitor struct {
	fset       *token.FileSet
	info       *types.Info
	pkg        *types.Package
	violations []string
	reported   map[string]bool // a line and what is wrong in it, once
}

func (v *purityVisitor) report(at ast.Node, what, instead string) {
	position := v.fset.Position(at.Pos())
	violation := fmt.Sprintf("%s:%d: %s: %s", position.Filename, position.Line, what, instead)
	if !v.reported[violation] {
		v.reported[violation] = true
		v.violations = append(v.violations, violation)
	}
}

func (v *purityVisitor) imports(file *ast.File) {
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !slices.Contains(pureImports, name) {
			instead := insteadOfImport[name]
			if instead == "" {
				instead = "use " + strings.Join(pureImports, ", ")
			}
			v.report(spec, "import of "+spec.Path.Value, instead)
		} else if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") {
			v.report(spec, "import of "+spec.Path.Value+" without its name", "give its name")
		}
	}
}

// packageLevel allows errors and tables: errors by their names and type, tables by types whose values cannot change unless they are
// assigned to. That nobody assigns to them is for assigns to see; what happens through a pointer to a table, it cannot.
func (v *purityVisitor) packageLevel(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				v.report(d, "init", "compute the table where it is declared, by a function that returns it")
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if object := v.info.Defs[name]; name.Name != "_" && object != nil && !isErrorVar(object) && !isTable(object) {
						v.report(name, "package-level var "+name.Name, "keep state in a value that the caller has; only errors "+
							"(ErrX) and unexported tables (arrays, strings, numbers and structs of these; no slices, whose elements could change) "+
							"are allowed here")
					}
				}
			}
		}
	}
}

func isErrorVar(object types.Object) bool {
	errorType := types.Universe.Lookup("error").Type()
	return types.Identical(object.Type(), errorType) && strings.HasPrefix(strings.ToLower(object.Name()), "err")
}

func isTable(object types.Object) bool { return !object.Exported() && isPlain(object.Type()) }

func isPlain(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Array:
		return isPlain(t.Elem())
	case *types.Struct:
		for field := range t.Fields() {
			if !isPlain(field.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

func (v *purityVisitor) visit(node ast.Node) bool {
	const handOut = "return what is to be done, and let the caller do it"
	switch n := node.(type) {
	case *ast.GoStmt:
		v.report(n, "go statement", handOut)
	case *ast.SelectStmt:
		v.report(n, "select", handOut)
	case *ast.ChanType:
		v.report(n, "channel", handOut)
	case *ast.SendStmt:
		v.report(n, "send", handOut)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			v.report(n, "receive", handOut)
		}
	case *ast.RangeStmt:
		v.ranges(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			v.assigns(n.Lhs...)
		}
	case *ast.IncDecStmt:
		v.assigns(n.X)
	case *ast.Ident:
		v.uses(n)
	}
	if expression, ok := node.(ast.Expr); ok {
		v.floats(expression)
	}
	return true
}

func (v *purityVisitor) ranges(n *ast.RangeStmt) {
	if t := v.info.TypeOf(n.X); t != nil && isMap(t) {
		v.report(n, "range over a map", "use a slice or an array, whose order is fixed")
	}
	if n.Tok == token.ASSIGN {
		v.assigns(n.Key, n.Value)
	}
}

func isMap(t types.Type) bool {
	if parameter, ok := types.Unalias(t).(*types.TypeParam); ok {
		constraint := parameter.Constraint().Underlying().(*types.Interface)
		for embedded := range constraint.EmbeddedTypes() {
			union, ok := embedded.(*types.Union)
			if !ok {
				if isMap(embedded) {
					return true
				}
				continue
			}
			for term := range union.Terms() {
				if isMap(term.Type()) {
					return true
				}
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// assigns reports assignments to package-level variables and to parts of them.
func (v *purityVisitor) assigns(targets ...ast.Expr) {
	for _, target := range targets {
		root := target
		for root != nil {
			switch e := root.(type) {
			case *ast.IndexExpr:
				root = e.X
				continue
			case *ast.SelectorExpr:
				root = e.X
				continue
			case *ast.ParenExpr:
				root = e.X
				continue
			case *ast.Ident:
				if object := v.info.Uses[e]; v.pkg != nil && object != nil && object.Parent() == v.pkg.Scope() {
					v.report(target, e.Name+" changes", "package-level state is shared by all matches: keep it in a value that the caller has")
				}
			}
			break
		}
	}
}

// uses reports impure functions, however they are named or passed on.
func (v *purityVisitor) uses(name *ast.Ident) {
	switch object := v.info.Uses[name].(type) {
	case *types.Builtin:
		if object.Name() == "print" || object.Name() == "println" {
			v.report(name, object.Name(), "return an event, an error or a refusal: the adapter writes")
		}
	case *types.Func:
		if object.Pkg() == nil || object.Signature().Recv() != nil {
			return
		}
		if instead, impure := impureFunction(object.Pkg().Path(), object.Name()); impure {
			v.report(name, object.Pkg().Name()+"."+object.Name(), instead)
		}
	}
}

// floats reports expressions and types that are floats, literals and results of calls included.
func (v *purityVisitor) floats(expression ast.Expr) {
	t := v.info.TypeOf(expression)
	if t == nil {
		return
	}
	if basic, ok := t.Underlying().(*types.Basic); ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0 {
		v.report(expression, "float", "count in integers, and name the unit: floats differ from machine to machine")
	}
}

// pureImports are the packages that the domain may import, all of them pure themselves, apart from what
// impureFunction knows.
var pureImports = []string{
	"bytes", "cmp", "crypto/sha256", "encoding/binary", "encoding/hex", "errors", "fmt", "hash", "hash/fnv", "iter", "math",
	"math/bits", "math/rand/v2", "slices", "sort", "strconv", "strings", "unicode/utf8",
}

// insteadOfImport says what to do without a package that is not pure.
var insteadOfImport = map[string]string{
	"time":          "take milliseconds since the match began from the caller",
	"os":            "take what is to be read as an argument",
	"io":            "take and return values",
	"log":           "return an event, an error or a refusal: the adapter logs",
	"log/slog":      "return an event, an error or a refusal: the adapter logs",
	"sync":          "leave locks to the caller: the domain is not safe for concurrent use, and says so",
	"sync/atomic":   "leave locks to the caller: the domain is not safe for concurrent use, and says so",
	"context":       "return at once: nothing here waits",
	"math/rand":     "use a generator from math/rand/v2 that is seeded by the caller",
	"crypto/rand":   "take the key from the caller",
	"maps":          "keep a slice or an array, whose order is fixed",
	"reflect":       "write the fields out",
	"unsafe":        "do without",
	"encoding/json": "return values: the adapter encodes them",
}

// impureFunction says of a function of a pure package whether it is not.
func impureFunction(pkg, name string) (instead string, impure bool) {
	switch {
	case pkg == "math/rand/v2" && !strings.HasPrefix(name, "New"):
		return "draw from a generator that is seeded by the caller", true
	case pkg == "fmt" && (strings.HasPrefix(name, "Print") || strings.Contains(strings.ToLower(name), "scan")):
		return "return an event, an error or a refusal: the adapter writes", true
	}
	return "", false
}
