package schema

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/lint"
)

// official reports whether a message type is part of the target's build.
func official(t dataplane.Target, name protoreflect.FullName) bool {
	_, err := types.Envoy.FindMessageByName(name)
	return err == nil && !t.Lacks(name) || t.Adds(name)
}

// unknownType returns the finding about a type that the official build does not have. Its URL is at a place.
func unknownType(p *lint.Pass, at lint.At, url string) lint.Diagnostic {
	r, name := at.Resource(), decode.TypeName(url)
	d := lint.Diagnostic{
		Severity: lint.Warning,
		Message:  fmt.Sprintf("%s does not have the type %s", build(p), name),
		Rejected: true,
		Upstream: fmt.Sprintf("could not find @type 'type.googleapis.com/%s'", name),
	}
	switch {
	case r.Kind == graph.Patch:
		d.Upstream = "" // the control plane does not know it either
	case r.Text == nil && r.Kind != graph.File:
		d.Upstream = fmt.Sprintf("Didn't find a registered implementation for type URL: '%s'", name)
	}
	var elsewhere []string
	if _, err := types.Envoy.FindMessageByName(name); err == nil {
		elsewhere = builtElsewhere(p.Target, func(t dataplane.Target) bool { return !t.Lacks(name) })
	}
	near, problem := meant(p.Target.Extensions(), name), graph.Problem{Carried: at.Path().Name() == "type_url"}
	switch {
	case near != "" && official(p.Target, protoreflect.FullName(near)):
		d.Severity = lint.Error
		suggestType(&d, at, near)
		d.Notes = []string{envoy.OnDecodeError(r, problem)}
	case p.TargetGiven:
		d.Severity = lint.Error
		d.Notes = []string{envoy.OnDecodeError(r, problem)}
	case elsewhere == nil:
		d.Notes = []string{"a build with this extension accepts it, every other build rejects it"}
	}
	d.Notes = append(d.Notes, elsewhere...)
	return d
}

func build(p *lint.Pass) string {
	if strings.HasSuffix(p.Target.Plane, "-contrib") {
		return "the build of " + p.Target.String()
	}
	return "the official build of " + p.Target.String()
}

// misplaced returns the finding about a type that Envoy has, but not for that place.
func misplaced(p *lint.Pass, pt envoy.Point, name protoreflect.FullName, at lint.At) lint.Diagnostic {
	d := lint.Diagnostic{
		Message:  fmt.Sprintf("%s does not configure %s", name, kindOf(pt.Categories)),
		Notes:    []string{envoy.OnReject(at.Resource())},
		Rejected: true,
		Upstream: fmt.Sprintf("Didn't find a registered implementation for '…' with type URL: '%s'", name),
	}
	var others []string
	for _, e := range p.Target.Extensions().ByTypeURL(string(name)) {
		others = append(others, kindOf([]string{e.Category}))
	}
	if len(others) > 0 {
		d.Notes = append([]string{"it configures " + strings.Join(unique(others), " and ")}, d.Notes...)
	} else {
		d.Notes = append([]string{"it does not configure any extension"}, d.Notes...)
		d.Notes = append(d.Notes, builtElsewhere(p.Target, func(t dataplane.Target) bool { return pt.Takes(t.Extensions(), name) })...)
	}
	fitting := inCategories(p, pt.Categories)
	near := nearestTypo(string(name), fitting)
	if other := otherSide.Replace(string(name)); other != string(name) && slices.Contains(fitting, other) {
		near = other
	}
	if near != "" {
		suggestType(&d, at, near)
	}
	return d
}

// otherSide turns the name of what configures connections from clients into that for connections to clusters, and back.
var otherSide = strings.NewReplacer("Downstream", "Upstream", "Upstream", "Downstream")

// suggestType adds the type that was probably meant.
func suggestType(d *lint.Diagnostic, at lint.At, near string) {
	url := "type.googleapis.com/" + near
	d.Help, d.Fixes = fmt.Sprintf("did you mean %q?", url), lint.Replace(at, url).Likely("write "+url)
}

// builtElsewhere notes which other builds have what the target lacks.
func builtElsewhere(t dataplane.Target, has func(dataplane.Target) bool) (notes []string) {
	if since := t.Since(has); since != "" {
		notes = append(notes, fmt.Sprintf("%s has it since %s", t.Actor(), since))
	}
	if contrib, ok := t.Contrib(); ok && has(contrib) {
		notes = append(notes, fmt.Sprintf("Envoy's contrib build has it: --target %s", contrib))
	}
	return notes
}

// typeNames lists the types that a misspelt one may mean: all extension configurations and resources.
func typeNames(x *dataplane.Extensions) []string {
	if known, ok := typesOf.Load(x); ok {
		return known.([]string)
	}
	var names []string
	types.Each(func(name, _ protoreflect.FullName) {
		if strings.HasPrefix(string(name), "envoy.") && (len(x.ByTypeURL(string(name))) > 0 || strings.HasPrefix(string(name), "envoy.config.")) {
			names = append(names, string(name))
		}
	})
	typesOf.Store(x, sorted(names))
	return names
}

var typesOf sync.Map // *dataplane.Extensions → []string: every unknown type asks

// meant finds the type that a name of an unknown type stands for: its successor in v3, or the one that was misspelt.
func meant(x *dataplane.Extensions, name protoreflect.FullName) string {
	if successor := decode.Successor(string(name)); successor != "" {
		return successor
	}
	return nearestType(x, name)
}

// nearestType finds the type that a misspelt name means: one with a similar name, otherwise the only one with the same last
// part in another package.
func nearestType(x *dataplane.Extensions, name protoreflect.FullName) string {
	names := typeNames(x)
	if near := nearestTypo(string(name), names); near != "" {
		return near
	}
	var same []string
	for _, candidate := range names {
		if strings.HasSuffix(candidate, "."+string(name.Name())) && plausible(name) {
			same = append(same, candidate)
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	return ""
}

// plausible reports whether a name is meant for one of Envoy's own types, not for a vendor's.
func plausible(name protoreflect.FullName) bool {
	return strings.HasPrefix(string(name), "envoy.") && name.Name() != "Config" && unicode.IsUpper(rune(name.Name()[0]))
}

// named reports whether an extension of that name is in one of the categories.
func named(p *lint.Pass, name string, categories []string) bool {
	for _, e := range p.Target.Extensions().ByName(name) {
		if slices.Contains(categories, e.Category) {
			return true
		}
	}
	return false
}

// namesIn lists the names of a category's extensions that have a configuration.
func namesIn(x *dataplane.Extensions, category string) []string {
	var names []string
	for _, typeName := range typeNames(x) {
		for _, e := range x.ByTypeURL(typeName) {
			if e.Category == category {
				names = append(names, e.Name)
			}
		}
	}
	return sorted(names)
}
