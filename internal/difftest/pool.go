package difftest

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/tree"
)

// pool has parts of the corpus that mutations can use in other places.
type pool struct {
	messages map[protoreflect.FullName][]*value // by type
	scalars  map[protoreflect.FullName][]*value // by field
	keys     map[protoreflect.FullName][]string // of map fields
}

func newPool(c *corpus) *pool {
	p := &pool{map[protoreflect.FullName][]*value{}, map[protoreflect.FullName][]*value{}, map[protoreflect.FullName][]string{}}
	for _, s := range c.seeds {
		for _, at := range places(s.root) {
			p.messages[at.md.FullName()] = addNew(p.messages[at.md.FullName()], at.at)
			p.addFields(at)
		}
	}
	return p
}

func (p *pool) addFields(at place) {
	for i, key := range at.at.keys {
		fd := decode.FieldNamed(at.md.Fields(), key)
		switch v := at.at.items[i]; {
		case fd == nil:
		case fd.IsMap():
			p.keys[fd.FullName()] = append(p.keys[fd.FullName()], v.keys...)
		case scalarOf(fd) == nil:
		case v.kind == tree.List:
			for _, item := range v.items {
				p.scalars[fd.FullName()] = addNew(p.scalars[fd.FullName()], item)
			}
		default:
			p.scalars[fd.FullName()] = addNew(p.scalars[fd.FullName()], v)
		}
	}
}

// addNew adds a value that the pool does not have yet: the examples repeat each other.
func addNew(all []*value, v *value) []*value {
	if slices.ContainsFunc(all, v.equal) {
		return all
	}
	return append(all, v)
}

func (v *value) without(key string) *value {
	copied := v.clone()
	if i := slices.Index(copied.keys, key); i >= 0 {
		copied.remove(i)
	}
	return copied
}

// extensions are the configurations that an Any can contain.
type extensions struct {
	byCategory map[string][]string // type names
	categories map[string][]string // of a type
	byHolder   map[string][]string // types that the corpus has in such a place
}

func newExtensions(c *corpus) *extensions {
	x := &extensions{map[string][]string{}, map[string][]string{}, map[string][]string{}}
	table := dataplane.Default().Extensions()
	types.Each(func(name, _ protoreflect.FullName) {
		if needsFiles(string(name)) {
			return
		}
		for _, e := range table.ByTypeURL(string(name)) {
			if !slices.Contains(x.categories[string(name)], e.Category) {
				x.categories[string(name)] = append(x.categories[string(name)], e.Category)
				x.byCategory[e.Category] = append(x.byCategory[e.Category], string(name))
			}
		}
	})
	for _, s := range c.seeds {
		for _, at := range places(s.root) {
			if name := string(at.md.FullName()); at.isAny && !slices.Contains(x.byHolder[at.holder], name) {
				x.byHolder[at.holder] = append(x.byHolder[at.holder], name)
			}
		}
	}
	return x
}

// needsFiles reports whether an extension loads a module or data from the machine, or looks up credentials there.
func needsFiles(name string) bool {
	for _, part := range []string{".dynamic_modules.", ".wasm.", ".aws_", ".geoip", ".file_based.", ".file_server.", ".file_system", ".access_loggers.file."} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// extension returns an Any for a place, usually of a category that belongs there. It does not have the type not.
func (d *draft) extension(holder, not string) *value {
	known := d.extensions.byHolder[holder]
	if not != "" {
		known = append(slices.Clone(known), not)
	}
	if len(known) == 0 {
		return nil
	}
	var fit []string
	for _, category := range d.extensions.categories[choose(d.Rand, known)] {
		fit = append(fit, d.extensions.byCategory[category]...)
	}
	fit = slices.DeleteFunc(fit, func(name string) bool { return name == not })
	if len(fit) == 0 {
		return nil
	}
	name := choose(d.Rand, fit)
	md := typeOf(name)
	made := object()
	if others := d.pool.messages[protoreflect.FullName(name)]; len(others) > 0 && d.IntN(5) > 0 {
		made = choose(d.Rand, others).clone()
	} else if d.IntN(4) > 0 && !isValue(md) {
		made = d.generate(md, holder, 1)
	}
	made.set("@type", str("type.googleapis.com/"+name))
	return made
}
