// Package dataplane knows the data planes that xdslint judges for. A target is a data file PLANE-VERSION.txt beside this file, which says
// what that build has: extensions, and parts of the API. Another version is another file.
package dataplane

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

//go:embed builds/*.txt
var files embed.FS

// Target is a data plane and its version, such as envoy:1.40.
type Target struct{ Plane, Version string }

func (t Target) String() string { return t.Plane + ":" + t.Version }

// targets holds each known target with its file, which is read when it is first asked for.
var targets = sync.OnceValue(func() map[Target]func() *build {
	found := map[Target]func() *build{}
	entries, err := files.ReadDir("builds")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	for _, entry := range entries {
		base := strings.TrimSuffix(entry.Name(), ".txt")
		dash := strings.LastIndexByte(base, '-')
		found[Target{base[:dash], base[dash+1:]}] = sync.OnceValue(func() *build {
			b, err := read(entry.Name())
			if err != nil {
				panic(err)
			}
			return b
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

// Join names targets in a sentence.
func Join(all []Target) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// Before tells whether t is older than a version, such as 1.39. All targets so far are builds of Envoy.
func (t Target) Before(version string) bool {
	return slices.Compare(numbers(t.Version), numbers(version)) < 0
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
		return Target{}, fmt.Errorf("unknown target %q (known: %s)", s, Join(All()))
	}
	return t, nil
}

// nothing is what a target that Parse does not know has.
var nothing = &build{}

func (t Target) build() *build {
	if b, ok := targets()[t]; ok {
		return b()
	}
	return nothing
}

// Extensions is the table of what t's official build holds; a target that Parse does not know holds nothing.
func (t Target) Extensions() *Extensions { return &t.build().extensions }

// Lacks tells whether t does not know a part of the API: a message type, a field, or an enum value (by the enum's name, a dot and
// its own name).
func (t Target) Lacks(name protoreflect.FullName) bool {
	lacks := t.build().lacks
	for ; len(lacks) > 0 && name != ""; name = name.Parent() {
		if lacks[string(name)] {
			return true
		}
	}
	return false
}

// Adds tells whether t has a message type that is gone from the API since.
func (t Target) Adds(name protoreflect.FullName) bool { return t.build().adds[name] }

// Options returns the FieldOptions of a field in t's API where they differ from those of the descriptors that xdslint decodes with:
// its constraints (validate.rules) and whether it is deprecated. ok is false where they do not.
func (t Target) Options(field protoreflect.FullName) (options *descriptorpb.FieldOptions, ok bool) {
	options, ok = t.build().options[field]
	return options, ok
}

// Differs tells whether there is any field for which Options has an answer.
func (t Target) Differs() bool { return len(t.build().options) > 0 }

// Since is the first version of t's plane, later than t, that has something, such as 1.38; empty if none has.
func (t Target) Since(has func(Target) bool) string {
	for _, other := range All() {
		if other.Plane == t.Plane && t.Before(other.Version) && has(other) {
			return other.Version
		}
	}
	return ""
}

// Contrib is the build of t's version that holds the extensions of Envoy's contrib folder too; ok is false if none is known.
func (t Target) Contrib() (contrib Target, ok bool) {
	contrib = Target{t.Plane + "-contrib", t.Version}
	_, ok = targets()[contrib]
	return contrib, ok
}
