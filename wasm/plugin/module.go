package plugin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Limits of a module. A count in a module takes a few bytes, and wazero allocates as many locals, table elements or exports as it says before it reads the
// first: so a small module could take any amount of memory. Modules from Go's and Rust's compilers stay far below these limits.
const (
	maxTypes     = 100_000
	maxParams    = 1_000 // of a function, and as many results
	maxImports   = 1_000
	maxFunctions = 200_000
	maxTables    = 4
	maxTable     = 1 << 18 // elements of a table, however often it grows
	maxGlobals   = 100_000
	maxExports   = 100_000
	maxSegments  = 100_000 // of data, and as many of elements
	maxLocals    = 10_000  // of a function
	maxAllLocals = 1_000_000
	maxBody      = 1 << 20 // bytes of a function: the time to compile it can grow with the square
	// maxMerges limits the memory to compile a function, which is up to 200 bytes for each variable in each block: where blocks meet, the
	// compiler merges the values of all variables. Of functions that Go or Rust compile, the largest seen has 65,000 of them.
	maxMerges    = 1_000_000
	maxAllMerges = 50 * maxMerges // which is a matter of time
)

const pageSize = 64 << 10

// wasi is the only module that a plugin can import.
const wasi = "wasi_snapshot_preview1"

// sanitize checks a module before wazero reads it. It returns the module without names and debugging data, and with a limit to the growth of its tables. It
// is an error if the module is broken, is over a limit, or imports something that plugins do not get.
func sanitize(module []byte, memory int) ([]byte, error) {
	const header = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(module, []byte(header)) {
		return nil, errors.New("is not a WebAssembly module")
	}
	out := append(make([]byte, 0, len(module)), header...)
	in := &reader{left: module[len(header):], memory: memory}
	for len(in.left) > 0 && in.err == nil {
		id, content := in.byte(), in.bytes()
		if in.err != nil || id == 0 { // 0: a custom section
			continue
		}
		section := &reader{left: content, memory: memory, widest: in.widest}
		read, ok := sections[id]
		if !ok {
			return nil, fmt.Errorf("has a section %d, which xdslint does not know", id)
		}
		if id == 4 {
			content = section.boundedTables()
		} else {
			read(section)
		}
		if section.err == nil && len(section.left) > 0 {
			section.broken()
		}
		in.err, in.widest = section.err, section.widest
		out = append(binary.AppendUvarint(append(out, id), uint64(len(content))), content...)
	}
	return out, in.err
}

// sections by their ids. wazero itself rejects sections that are duplicate or in the wrong order.
var sections = map[byte]func(*reader){
	1: func(r *reader) { r.each("types", maxTypes, r.functionType) },
	2: func(r *reader) { r.each("imports", maxImports, r.imported) },
	3: func(r *reader) { r.each("functions", maxFunctions, func() { r.number() }) },
	4: nil, // tables are rewritten
	5: func(r *reader) { r.each("memories", 1, r.memories) },
	6: func(r *reader) {
		r.each("globals", maxGlobals, func() {
			r.skip(2) // its type, and whether it can change
			r.expression()
		})
	},
	7: func(r *reader) {
		r.each("exports", maxExports, func() {
			r.bytes()
			r.byte()
			r.number()
		})
	},
	8: func(r *reader) { r.number() },
	9: func(r *reader) {
		elements := 0
		r.each("element segments", maxSegments, func() { r.elements(&elements) })
	},
	10: func(r *reader) {
		var all totals
		r.each("functions", maxFunctions, func() { r.body(&all) })
	},
	11: func(r *reader) { r.each("data segments", maxSegments, r.data) },
	12: func(r *reader) { r.number() },
}

// reader reads the binary format; after the first error it returns only zeros.
type reader struct {
	left   []byte
	memory int // in bytes: the limit of the module's memory
	widest int // how many parameters and results the largest type has
	err    error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.left = nil
}

func (r *reader) broken() { r.fail("is a broken WebAssembly module") }

func (r *reader) skip(n int) []byte {
	if n > len(r.left) {
		r.broken()
		return nil
	}
	skipped := r.left[:n]
	r.left = r.left[n:]
	return skipped
}

func (r *reader) byte() byte {
	if b := r.skip(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads an unsigned LEB128 of 32 bits.
func (r *reader) number() int {
	n, size := binary.Uvarint(r.left)
	if size <= 0 || size > 5 || n > 1<<32-1 {
		r.broken()
		return 0
	}
	r.left = r.left[size:]
	return int(n)
}

func (r *reader) bytes() []byte { return r.skip(r.number()) }

// count reads the number of things that follow. Each takes at least one byte.
func (r *reader) count(things string, limit int) int {
	n := r.number()
	if n > limit {
		r.fail("has %d %s; the limit is %d", n, things, limit)
		return 0
	}
	if n > len(r.left) {
		r.broken()
		return 0
	}
	return n
}

func (r *reader) each(things string, limit int, read func()) {
	for range r.count(things, limit) {
		if r.err != nil {
			return
		}
		read()
	}
}

func (r *reader) functionType() {
	if r.byte() != 0x60 {
		r.broken() // or a type of the GC proposal, which is not enabled
	}
	parameters := r.skip(r.count("parameters in one function", maxParams))
	results := r.skip(r.count("results in one function", maxParams))
	r.widest = max(r.widest, len(parameters)+len(results))
}

func (r *reader) imported() {
	module, name := string(r.bytes()), string(r.bytes())
	kind := r.byte()
	switch {
	case r.err != nil:
	case module != wasi:
		r.fail("wants to import %s.%s: plugins can only import WASI (%s)", quoted(module), quoted(name), wasi)
	case kind != 0:
		r.fail("wants to import %s.%s, which is not a function", quoted(module), quoted(name))
	}
	r.number()
}

// boundedTables reads the tables, and writes them with a limit to their growth.
func (r *reader) boundedTables() []byte {
	n := r.count("tables", maxTables)
	out := binary.AppendUvarint(nil, uint64(n))
	for range n {
		kind, flags, size, most := r.byte(), r.byte(), r.number(), maxTable
		switch {
		case flags == 1:
			most = min(r.number(), maxTable)
		case flags != 0:
			r.broken()
		}
		if size > maxTable {
			r.fail("has a table of %d elements; the limit is %d", size, maxTable)
		}
		if most < size {
			r.broken()
		}
		out = append(out, kind, 1)
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(size)), uint64(most))
	}
	return out
}

func (r *reader) memories() {
	flags, pages := r.byte(), r.number()
	switch {
	case flags == 1:
		r.number()
	case flags != 0:
		r.fail("has a memory that is shared or has 64-bit addresses")
	}
	if pages > r.memory/pageSize {
		r.fail("wants %s of memory at the start; the limit is %s", size(pages*pageSize), size(r.memory))
	}
}

// elements reads a segment of functions for a table; all is the count over all segments.
func (r *reader) elements(all *int) {
	flags := r.number()
	passive, spelledOut, expressions := flags&1 != 0, flags&2 != 0, flags&4 != 0
	if flags > 7 {
		r.broken()
	}
	if !passive {
		if spelledOut {
			r.number() // which table
		}
		r.expression()
	}
	if passive || spelledOut {
		r.byte() // of which kind they are
	}
	n := r.count("elements", maxTable)
	if *all += n; *all > maxTable {
		r.fail("has more than %d elements for its tables", maxTable)
	}
	for range n {
		if expressions {
			r.expression()
		} else {
			r.number()
		}
		if r.err != nil {
			return
		}
	}
}

// totals of all functions.
type totals struct{ locals, merges int }

// body reads the locals of a function, and leaves its code to wazero.
func (r *reader) body(all *totals) {
	body := &reader{left: r.bytes()}
	if len(body.left) > maxBody {
		r.fail("has a function of %s; the limit is %s", size(len(body.left)), size(maxBody))
	}
	own := 0
	body.each("kinds of locals in one function", maxLocals, func() {
		own += body.number()
		body.byte()
	})
	if own > maxLocals {
		r.fail("has a function with %d locals; the limit is %d", own, maxLocals)
		return
	}
	// Blocks can have parameters and results too.
	blocks, variables := mostBlocks(body.left), own+r.widest
	all.locals, all.merges = all.locals+own, all.merges+blocks*variables
	switch {
	case all.locals > maxAllLocals:
		r.fail("has more than %d locals in its functions", maxAllLocals)
	case blocks*variables > maxMerges:
		r.fail("has a function with up to %d variables in %d blocks, which would take too much memory to compile: split it", variables, blocks)
	case all.merges > maxAllMerges:
		r.fail("has functions with too many variables in too many blocks to compile")
	case body.err != nil:
		r.fail("%w", body.err)
	}
}

// mostBlocks returns how many instructions begin a block at most: any byte of the code can be an operand instead.
func mostBlocks(code []byte) (n int) {
	for _, begins := range []byte{0x02, 0x03, 0x04} { // block, loop, if
		n += bytes.Count(code, []byte{begins})
	}
	return n
}

func (r *reader) data() {
	flags := r.number()
	if flags > 2 {
		r.broken()
	}
	if flags == 2 {
		r.number() // which memory
	}
	if flags != 1 {
		r.expression()
	}
	r.bytes()
}

// expression reads the constant instructions for an offset, or for the first value of a global.
func (r *reader) expression() {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b: // end
			return
		case 0x41, 0x42: // i32.const, i64.const
			r.skip(1 + max(0, slices.IndexFunc(r.left, func(b byte) bool { return b < 0x80 })))
		case 0x43: // f32.const
			r.skip(4)
		case 0x44: // f64.const
			r.skip(8)
		case 0x23, 0xd2: // global.get, ref.func
			r.number()
		case 0xd0: // ref.null
			r.byte()
		default:
			r.broken()
		}
	}
}
