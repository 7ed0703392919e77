package plugin_test

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

// guest is a plugin in bytes: by itself a good one, which describes one rule and finds nothing. Tests make it bad.
type guest struct {
	version     int32
	imports     []function // of WASI
	description []byte
	answer      []byte // what check returns, where it has no body of its own
	check       []byte // instructions that leave an i64
	alloc       []byte // instructions that leave an i32
	describe    []byte // instructions that leave an i64
	start       []byte // instructions of _initialize
	startAtOnce bool   // they are in the module's start section
	locals      []byte // of check; empty: none
	pages       int    // of memory, from the start
	table       []byte // a table section's content
	data        []byte // more of it, at dataAt
	without     string // an export that is left out
	more        func(sections map[byte][]byte)
}

// function of WASI, and its type's index.
type function struct {
	module, name string
	kind         byte // 0
	typeIndex    byte
}

// Where things are in the guest's memory.
const (
	descriptionAt = 1 << 10
	dataAt        = 1 << 15
	answerAt      = 1 << 16
)

// Types of functions, by their indices.
const (
	nothing = iota
	toI32
	i32ToI32
	twoI32
	toI64
	twoI32ToI64
	i32s4ToI32
	oneI32
	noI32
)

// Instructions.
var (
	unreachable = []byte{0x00}
	drop        = []byte{0x1a}
	zero64      = i64(0)
	endless     = []byte{0x03, 0x40, 0x0c, 0x00, 0x0b} // loop: br 0
)

func i32(n int64) []byte { return append([]byte{0x41}, signed(n)...) }
func i64(n int64) []byte { return append([]byte{0x42}, signed(n)...) }

func call(index int) []byte { return append([]byte{0x10}, unsigned(index)...) }

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

// again repeats instructions for ever, and never comes to what it seems to leave.
func again(body ...[]byte) []byte {
	return join([]byte{0x03, 0x40}, join(body...), []byte{0x0c, 0x00, 0x0b})
}

// packed is what describe and check return.
func packed(at, length int) []byte { return i64(int64(at)<<32 | int64(length)) }

func unsigned(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func signed(n int64) (out []byte) {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func sized(b []byte) []byte { return append(unsigned(len(b)), b...) }

func name(s string) []byte { return sized([]byte(s)) }

func vector(all ...[]byte) []byte { return append(unsigned(len(all)), join(all...)...) }

func marshal(m proto.Message) []byte {
	raw, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return raw
}

var goodDescription = marshal(&pluginabi.Description{
	Rules: []*pluginabi.Rule{
		{Id: "acme/one", Summary: "the first rule"},
		{Id: "acme/two", Summary: "the second rule", Severity: pluginabi.Severity_SEVERITY_INFO},
	},
	Types: []string{"envoy.config.cluster.v3.Cluster"},
})

// module writes the guest down.
func (g guest) module() []byte {
	if g.version == 0 {
		g.version = 1
	}
	if g.description == nil {
		g.description = goodDescription
	}
	inputAt := answerAt + len(g.answer)
	if g.pages == 0 {
		g.pages = 32 + (inputAt+len(g.description))>>16
	}
	or := func(body, usual []byte) []byte {
		if body == nil {
			return usual
		}
		return body
	}
	functions := []struct {
		name   string
		of     byte
		body   []byte
		locals []byte
	}{
		{"xdslint_version", toI32, i32(int64(g.version)), nil},
		{"xdslint_alloc", i32ToI32, or(g.alloc, i32(int64(inputAt))), nil},
		{"xdslint_free", twoI32, nil, nil},
		{"xdslint_describe", toI64, or(g.describe, packed(descriptionAt, len(g.description))), nil},
		{"xdslint_check", twoI32ToI64, or(g.check, packed(answerAt, len(g.answer))), g.locals},
		{"_initialize", nothing, g.start, nil},
	}
	var imports, types, exports, bodies [][]byte
	for _, f := range g.imports {
		imports = append(imports, join(name(f.module), name(f.name), []byte{f.kind, f.typeIndex}))
	}
	for i, f := range functions {
		types = append(types, []byte{f.of})
		bodies = append(bodies, sized(join(or(f.locals, []byte{0}), f.body, []byte{0x0b})))
		if f.name != g.without && (f.name != "_initialize" || !g.startAtOnce) {
			exports = append(exports, join(name(f.name), []byte{0}, unsigned(len(imports)+i)))
		}
	}
	if g.without != "memory" {
		exports = append(exports, join(name("memory"), []byte{2, 0}))
	}
	at := func(offset int, data []byte) []byte {
		return join([]byte{0}, i32(int64(offset)), []byte{0x0b}, sized(data))
	}
	data := [][]byte{at(descriptionAt, g.description)}
	if len(g.data) > 0 {
		data = append(data, at(dataAt, g.data))
	}
	if len(g.answer) > 0 {
		data = append(data, at(answerAt, g.answer))
	}
	sections := map[byte][]byte{
		1: vector(
			[]byte{0x60, 0, 0}, []byte{0x60, 0, 1, 0x7f}, []byte{0x60, 1, 0x7f, 1, 0x7f}, []byte{0x60, 2, 0x7f, 0x7f, 0}, []byte{0x60, 0, 1, 0x7e},
			[]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7e}, []byte{0x60, 4, 0x7f, 0x7f, 0x7f, 0x7f, 1, 0x7f}, []byte{0x60, 1, 0x7f, 0}, []byte{0x60, 0, 0},
		),
		3: vector(types...), 5: vector(append([]byte{0}, unsigned(g.pages)...)), 7: vector(exports...), 10: vector(bodies...), 11: vector(data...),
	}
	if len(imports) > 0 {
		sections[2] = vector(imports...)
	}
	if g.table != nil {
		sections[4] = g.table
	}
	if g.startAtOnce {
		sections[8] = unsigned(len(imports) + len(functions) - 1)
	}
	if g.more != nil {
		g.more(sections)
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	for id := range byte(13) {
		if content, ok := sections[id]; ok {
			out = append(append(out, id), sized(content)...)
		}
	}
	return out
}

// found is an answer with one finding, which f makes wrong.
func found(f func(*pluginabi.Finding)) []byte {
	finding := &pluginabi.Finding{Rule: "acme/one", Message: "this is wrong"}
	f(finding)
	return marshal(&pluginabi.Findings{Findings: []*pluginabi.Finding{finding}})
}

// empties is a message in which a field holds so many empty messages.
func empties(field protowire.Number, n int) []byte {
	return slices.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), nil), n)
}
