package dataplane

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

//go:embed builds/*.txt
var files embed.FS

// Target is a data plane and its version, such as envoy:1.40.
type Target struct{ Plane, Version string }

func (t Target) String() string { return t.Plane + ":" + t.Version }

// Family is a set of data planes that share their code: "envoy" and "envoy-contrib" are builds of Envoy; grpc-go, grpc-java and grpc-core implement
// the same specification.
type Family string

// The families.
const (
	Envoy Family = "envoy"
	GRPC  Family = "grpc"
)

// Family returns the family of t's plane, the part of its name before a hyphen.
func (t Target) Family() Family {
	family, _, _ := strings.Cut(t.Plane, "-")
	return Family(family)
}

// Actor returns the name of the data plane in sentences: Envoy for all its builds, and the implementation for gRPC.
func (t Target) Actor() string {
	if t.Family() == GRPC {
		return t.Plane
	}
	return "Envoy"
}

// targets maps each known target to its build. A file is parsed when its build is first needed.
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

var sorted = sync.OnceValue(func() []Target {
	return slices.SortedFunc(maps.Keys(targets()), func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.Plane, b.Plane), slices.Compare(numbers(a.Version), numbers(b.Version)))
	})
})

// All returns the known targets, sorted by plane and then by version.
func All() []Target { return slices.Clone(sorted()) }

// Join returns the names of targets, separated by commas.
func Join(all []Target) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.String()
	}
	return strings.Join(names, ", ")
}

// Before reports whether t is older than a version of its plane, such as 1.39.
func (t Target) Before(version string) bool {
	return slices.Compare(numbers(t.Version), numbers(version)) < 0
}

// Default returns the newest Envoy.
func Default() Target {
	var newest Target
	for _, t := range sorted() {
		if t.Plane == "envoy" {
			newest = t
		}
	}
	return newest
}

// numbers splits a version into its parts, so that 1.9 is less than 1.10.
func numbers(version string) (parts []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		parts = append(parts, n)
	}
	return parts
}

// Parse parses PLANE:VERSION. A plane with only one known version needs none. It returns an error if the target is not known.
func Parse(s string) (Target, error) {
	plane, version, versioned := strings.Cut(s, ":")
	t := Target{plane, version}
	if _, ok := targets()[t]; ok {
		return t, nil
	}
	only := slices.DeleteFunc(All(), func(known Target) bool { return known.Plane != plane })
	if !versioned && len(only) == 1 {
		return only[0], nil
	}
	return Target{}, fmt.Errorf("unknown target %q (known: %s)", s, Join(All()))
}

// nothing is the build of an unknown target.
var nothing = &build{}

// latest is the build that was asked for last. A run asks for the same one with nearly every message.
var latest atomic.Pointer[targetBuild]

type targetBuild struct {
	target Target
	build  *build
}

func (t Target) build() *build {
	if last := latest.Load(); last != nil && last.target == t {
		return last.build
	}
	b := nothing
	if read, ok := targets()[t]; ok {
		b = read()
	}
	latest.Store(&targetBuild{t, b})
	return b
}

// Extensions returns the extensions of t's official build. An unknown target does not have any.
func (t Target) Extensions() *Extensions { return &t.build().extensions }

// Lacks reports whether t does not know a part of the API: a package, a message type, a field, or an enum value (ENUM.VALUE).
func (t Target) Lacks(name protoreflect.FullName) bool {
	lacks := t.build().lacks
	for ; len(lacks) > 0 && name != ""; name = name.Parent() {
		if lacks[string(name)] {
			return true
		}
	}
	return false
}

// Adds reports whether t has a message type that later versions of the API removed.
func (t Target) Adds(name protoreflect.FullName) bool { return t.build().adds[name] }

// Options returns the FieldOptions of a field in t's API: its constraints (validate.rules) and whether it is deprecated. ok is false if
// they are the same as in the descriptors that xdslint decodes with.
func (t Target) Options(field protoreflect.FullName) (options *descriptorpb.FieldOptions, ok bool) {
	options, ok = t.build().options[field]
	return options, ok
}

// Differs reports whether Options returns ok for any field.
func (t Target) Differs() bool { return len(t.build().options) > 0 }

// Since returns the first version of t's plane after t for which has returns true, such as 1.38. It returns "" if no version does.
func (t Target) Since(has func(Target) bool) string {
	for _, other := range All() {
		if other.Plane == t.Plane && t.Before(other.Version) && has(other) {
			return other.Version
		}
	}
	return ""
}

// Contrib returns the build of t's version that also has the extensions of Envoy's contrib folder. ok is false if no such build is known.
func (t Target) Contrib() (contrib Target, ok bool) {
	contrib = Target{t.Plane + "-contrib", t.Version}
	_, ok = targets()[contrib]
	return contrib, ok
}
