package difftest

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

// mutation changes a message. It returns false if it cannot change anything.
type mutation struct {
	name   string
	weight int
	change func(d *draft, p place) bool
}

// mutations have weights for how much they can show. A wrong type in the text has a low weight, since it is always rejected for the same reason.
var mutations = []mutation{
	{"drop", 14, drop},
	{"duplicate", 7, duplicate},
	{"swap", 6, swap},
	{"boundary", 20, boundary},
	{"reference", 9, wrongReference},
	{"wrong type", 3, wrongType},
	{"unknown field", 2, unknownField},
	{"other member", 10, otherMember},
	{"set field", 16, setField},
	{"other extension", 7, otherExtension},
	{"crossover", 6, crossover},
}

// weighted returns the index of a mutation, at random by weight.
func (d *draft) weighted() int {
	total := 0
	for _, m := range mutations {
		total += m.weight
	}
	n := d.IntN(total)
	for i, m := range mutations {
		if n -= m.weight; n < 0 {
			return i
		}
	}
	return 0
}

// entry chooses a field in the text, and returns its index in p.at. It does not choose a field whose validity depends on the machine.
func (d *draft) entry(p place, want func(protoreflect.FieldDescriptor, *value) bool) (i int, fd protoreflect.FieldDescriptor) {
	var found []int
	for i, key := range p.at.keys {
		if fd := decode.FieldNamed(p.md.Fields(), key); fd != nil && !isEnvironment(fd) && want(fd, p.at.items[i]) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return -1, nil
	}
	i = choose(d.Rand, found)
	return i, decode.FieldNamed(p.md.Fields(), p.at.keys[i])
}

// isEnvironment reports whether a field's value is valid only on some machines: files and variables.
func isEnvironment(fd protoreflect.FieldDescriptor) bool {
	switch fd.FullName() {
	case "envoy.config.bootstrap.v3.Admin.profile_path", "envoy.config.bootstrap.v3.Admin.access_log_path",
		"envoy.config.bootstrap.v3.ClusterManager.OutlierDetection.event_log_path", "envoy.config.bootstrap.v3.RuntimeLayer.disk_layer",
		"envoy.config.core.v3.HealthCheck.event_log_path", "envoy.config.tap.v3.FilePerTapSink.path_prefix",
		"envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy.access_log",
		"envoy.extensions.watchdog.profile_action.v3.ProfileActionConfig.profile_path",
		"envoy.config.core.v3.DataSource.filename", "envoy.config.core.v3.DataSource.environment_variable",
		"envoy.config.core.v3.DataSource.watched_directory", "envoy.config.core.v3.PathConfigSource.path",
		"envoy.config.core.v3.ConfigSource.path", "envoy.extensions.access_loggers.file.v3.FileAccessLog.path",
		"envoy.config.core.v3.SocketAddress.network_namespace_filepath":
		return true
	}
	return strings.HasSuffix(string(fd.Name()), "filename") || strings.HasSuffix(string(fd.Name()), "file_path") ||
		strings.HasSuffix(string(fd.Name()), "_db_path")
}

func anyEntry(protoreflect.FieldDescriptor, *value) bool { return true }

func listOf(atLeast int) func(protoreflect.FieldDescriptor, *value) bool {
	return func(_ protoreflect.FieldDescriptor, v *value) bool {
		return v.kind == tree.List && len(v.items) >= atLeast
	}
}

func isScalar(fd protoreflect.FieldDescriptor, v *value) bool {
	return v.kind != tree.List && v.kind != tree.Map && scalarOf(fd) != nil
}

func drop(d *draft, p place) bool {
	i, _ := d.entry(p, anyEntry)
	if i < 0 {
		return false
	}
	if items := p.at.items[i]; items.kind == tree.List && len(items.items) > 0 && d.IntN(2) == 0 {
		items.remove(d.IntN(len(items.items)))
		return true
	}
	p.at.remove(i)
	return true
}

func duplicate(d *draft, p place) bool {
	i, _ := d.entry(p, listOf(1))
	if i < 0 {
		return false
	}
	l := p.at.items[i]
	l.items = slices.Insert(l.items, d.IntN(len(l.items)+1), choose(d.Rand, l.items).clone())
	return true
}

func swap(d *draft, p place) bool {
	i, _ := d.entry(p, listOf(2))
	if i < 0 {
		return false
	}
	items := p.at.items[i].items
	d.Shuffle(len(items), func(a, b int) { items[a], items[b] = items[b], items[a] })
	return true
}

func boundary(d *draft, p place) bool {
	i, fd := d.entry(p, func(fd protoreflect.FieldDescriptor, v *value) bool {
		return isScalar(fd, v) || fd.IsList() && len(v.items) > 0 && scalarOf(fd) != nil
	})
	if i < 0 {
		return false
	}
	changed := d.odd(fd)
	if l := p.at.items[i]; l.kind == tree.List {
		l.items[d.IntN(len(l.items))] = changed
	} else {
		p.at.items[i] = changed
	}
	return true
}

// nameGroup returns what the values of a field can name, or "" if they are not names.
func nameGroup(key string) string {
	last := key[strings.LastIndexByte(key, '_')+1:]
	switch {
	case strings.HasPrefix(key, "cluster") && last != "header", last == "cluster", last == "clusters":
		return "cluster"
	case last == "name", last == "plugin", last == "header", last == "key":
		return "name"
	}
	return ""
}

// wrongReference replaces a name by that of something else, or by one that does not exist.
func wrongReference(d *draft, p place) bool {
	i, _ := d.entry(p, func(fd protoreflect.FieldDescriptor, v *value) bool {
		return fd.Kind() == protoreflect.StringKind && isScalar(fd, v) && nameGroup(string(fd.Name())) != ""
	})
	if i < 0 {
		return false
	}
	to := "no-such-name"
	if names := d.names[choose(d.Rand, []string{"cluster", "name", nameGroup(p.at.keys[i])})]; len(names) > 0 && d.IntN(3) > 0 {
		to = choose(d.Rand, names)
	}
	p.at.items[i] = str(to)
	return true
}

func wrongType(d *draft, p place) bool {
	i, _ := d.entry(p, anyEntry)
	if i < 0 {
		return false
	}
	p.at.items[i] = choose(d.Rand, []*value{str("text"), number("7"), number("1.5"), boolean(true), list(), object(), list(str("text")), {kind: tree.Null}})
	return true
}

func unknownField(d *draft, p place) bool {
	key := "no_such_field"
	if i, _ := d.entry(p, anyEntry); i >= 0 && d.IntN(2) == 0 {
		key = p.at.keys[i] + "s" // a typo
	}
	p.at.set(key, number("1"))
	return true
}

// otherMember sets another field of a oneof: instead of the existing one, or, rarely, in addition to it.
func otherMember(d *draft, p place) bool {
	i, fd := d.entry(p, func(fd protoreflect.FieldDescriptor, _ *value) bool { return fd.ContainingOneof() != nil })
	if i < 0 || fd.ContainingOneof().Fields().Len() < 2 {
		return false
	}
	other := fd
	for other == fd {
		members := fd.ContainingOneof().Fields()
		other = members.Get(d.IntN(members.Len()))
	}
	made := d.plausible(other, p.holder, 0)
	if made == nil || isEnvironment(other) {
		return false
	}
	if d.IntN(8) > 0 {
		p.at.remove(i)
	}
	p.at.set(string(other.Name()), made)
	return true
}

// setField sets a field that is not set. It does not set a second member of a oneof.
func setField(d *draft, p place) bool {
	var unset []protoreflect.FieldDescriptor
	for i := range p.md.Fields().Len() {
		if fd := p.md.Fields().Get(i); given(p.at, fd) == nil && !isEnvironment(fd) && !oneofGiven(p.at, fd) {
			unset = append(unset, fd)
		}
	}
	if len(unset) == 0 {
		return false
	}
	fd := choose(d.Rand, unset)
	var made *value
	if scalarOf(fd) != nil && !fd.IsList() && d.IntN(4) == 0 {
		made = d.odd(fd)
	} else {
		made = d.plausible(fd, p.holder, 0)
	}
	if made == nil {
		return false
	}
	p.at.set(string(fd.Name()), made)
	return true
}

// given returns the value of a field in the text, under either of its names.
func given(at *value, fd protoreflect.FieldDescriptor) *value {
	if v := at.get(string(fd.Name())); v != nil {
		return v
	}
	return at.get(fd.JSONName())
}

func oneofGiven(at *value, fd protoreflect.FieldDescriptor) bool {
	one := fd.ContainingOneof()
	if one == nil {
		return false
	}
	for i := range one.Fields().Len() {
		if given(at, one.Fields().Get(i)) != nil {
			return true
		}
	}
	return false
}

// otherExtension puts the configuration of another extension into an Any.
func otherExtension(d *draft, p place) bool {
	if !p.isAny {
		return false
	}
	made := d.extension(p.holder, string(p.md.FullName()))
	if made == nil {
		return false
	}
	*p.at = *made
	return true
}

// crossover replaces a message by one of the same type from somewhere else.
func crossover(d *draft, p place) bool {
	others := d.pool.messages[p.md.FullName()]
	if len(others) == 0 {
		return false
	}
	other := choose(d.Rand, others).clone()
	if url := p.at.get("@type"); p.isAny {
		other.set("@type", url)
	} else if i := slices.Index(other.keys, "@type"); i >= 0 {
		other.remove(i)
	}
	if name := p.at.get("name"); name != nil && other.get("name") != nil && d.IntN(4) > 0 {
		other.set("name", name) // else most would be about names
	}
	*p.at = *other
	return true
}
