// Package target knows the data planes that xdslint judges for. A target is a data file PLANE-VERSION.txt beside this file, which holds
// the extensions of that build; another version is another file.
package target

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed *.txt
var files embed.FS

// Target is a data plane and its version, such as envoy:1.40.
type Target struct{ Plane, Version string }

func (t Target) String() string { return t.Plane + ":" + t.Version }

// targets holds each known target with its table, which is parsed when it is first asked for.
var targets = sync.OnceValue(func() map[Target]func() *Extensions {
	found := map[Target]func() *Extensions{}
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	for _, entry := range entries {
		base := strings.TrimSuffix(entry.Name(), ".txt")
		dash := strings.LastIndexByte(base, '-')
		found[Target{base[:dash], base[dash+1:]}] = sync.OnceValue(func() *Extensions {
			text, err := files.ReadFile(entry.Name())
			if err != nil {
				panic(err)
			}
			return parse(string(text))
		})
	}
	return found
})

// All lists the known targets, by plane and rising version.
func All() []Target {
	var all []Target
	for t := range targets() {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Plane, b.Plane), slices.Compare(numbers(a.Version), numbers(b.Version)))
	})
	return all
}

// Default is the newest Envoy.
func Default() Target {
	var newest Target
	for _, t := range All() {
		if t.Plane == "envoy" {
			newest = t
		}
	}
	return newest
}

// numbers makes 1.9 less than 1.10.
func numbers(version string) (parts []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		parts = append(parts, n)
	}
	return parts
}

// Parse reads PLANE:VERSION.
func Parse(s string) (Target, error) {
	plane, version, _ := strings.Cut(s, ":")
	t := Target{plane, version}
	if _, ok := targets()[t]; !ok {
		var known []string
		for _, t := range All() {
			known = append(known, t.String())
		}
		return Target{}, fmt.Errorf("unknown target %q (known: %s)", s, strings.Join(known, ", "))
	}
	return t, nil
}

// Extensions is the table of what t's official build holds; a target that Parse does not know holds nothing.
func (t Target) Extensions() *Extensions {
	if table, ok := targets()[t]; ok {
		return table()
	}
	return &Extensions{}
}
