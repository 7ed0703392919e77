// Package api holds the list of all that a Go program can use of this module.
package api

import (
	"flag"
	"fmt"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
)

const (
	module = "github.com/xdslint/xdslint"
	list   = "api.txt"
	// most is how many packages a program can import: a package that users do not need is internal.
	most = 19
)

var update = flag.Bool("update", false, "write api.txt")

// TestAPI compares the exported API with the checked-in list, so that no name is added, changed or removed by accident. What a package holds for
// all the world is a promise: see docs/stability.md.
func TestAPI(t *testing.T) {
	all := public(t)
	if len(all) > most {
		t.Errorf("%d packages can be imported, and %d are the limit: move one below internal", len(all), most)
	}
	var lines []string
	for _, pkg := range all {
		lines = append(lines, exported(pkg.Types)...)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(list, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the exported API is not the one in internal/api/api.txt: if that is meant, run `go test ./internal/api -update`\n%s", diff)
	}
}

// public loads the packages that users can import.
func public(t *testing.T) (all []*packages.Package) {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports, Dir: "../.."}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range loaded {
		for _, err := range pkg.Errors {
			t.Error(err)
		}
		path := "/" + strings.TrimPrefix(pkg.PkgPath, module) + "/"
		if pkg.Name != "main" && !strings.Contains(path, "/internal/") && !strings.Contains(path, "/examples/") && !strings.Contains(path, "/cmd/") {
			all = append(all, pkg)
		}
	}
	slices.SortFunc(all, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return all
}

// exported lists what a package exports, a line each: objects, fields and methods.
func exported(pkg *types.Package) (lines []string) {
	name := strings.TrimPrefix(strings.TrimPrefix(pkg.Path(), module), "/")
	if name == "" {
		name = "."
	}
	write := func(format string, args ...any) { lines = append(lines, name+": "+fmt.Sprintf(format, args...)) }
	for _, id := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(id)
		if !object.Exported() {
			continue
		}
		if def, ok := object.(*types.TypeName); ok {
			write("type %s %s", id, kind(def, pkg))
			members(def.Type(), pkg, func(member string) { write("%s.%s", id, member) })
			continue
		}
		write("%s", types.ObjectString(object, types.RelativeTo(pkg)))
	}
	slices.Sort(lines)
	return lines
}

// kind is what a type is, without its fields and methods.
func kind(def *types.TypeName, pkg *types.Package) string {
	if def.IsAlias() {
		return "= " + types.TypeString(types.Unalias(def.Type()), types.RelativeTo(pkg))
	}
	switch underlying := def.Type().Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	default:
		return types.TypeString(underlying, types.RelativeTo(pkg))
	}
}

// members calls f for the exported fields and methods of a type; of a type from elsewhere only if it is internal to this module: an alias makes
// those public.
func members(of types.Type, pkg *types.Package, f func(string)) {
	named, ok := types.Unalias(of).(*types.Named)
	if !ok {
		return
	}
	if from := named.Obj().Pkg(); from != pkg && (from == nil || !strings.HasPrefix(from.Path(), module+"/internal/")) {
		return
	}
	if fields, ok := named.Underlying().(*types.Struct); ok {
		for i := range fields.NumFields() {
			if field := fields.Field(i); field.Exported() {
				f(field.Name() + " " + types.TypeString(field.Type(), types.RelativeTo(pkg)))
			}
		}
	}
	methods := types.NewMethodSet(types.NewPointer(named))
	if types.IsInterface(named) {
		methods = types.NewMethodSet(named)
	}
	for i := range methods.Len() {
		if method := methods.At(i).Obj(); method.Exported() {
			f(method.Name() + strings.TrimPrefix(types.TypeString(method.Type(), types.RelativeTo(pkg)), "func"))
		}
	}
}
