//go:build wasip1

package sdk

import (
	"runtime/debug"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

// held are the bytes whose addresses the host knows, so that the garbage collector does not free them.
var held = map[uintptr][]byte{}

func hold(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	at := uintptr(unsafe.Pointer(&b[0]))
	held[at] = b
	return at
}

func answer(m proto.Message) int64 {
	raw, err := proto.Marshal(m)
	if err != nil {
		panic("a string of a rule is not UTF-8: " + err.Error())
	}
	return int64(hold(raw))<<32 | int64(len(raw))
}

//go:wasmexport xdslint_version
func exportVersion() int32 { return 1 }

//go:wasmexport xdslint_alloc
func exportAlloc(size int32) int32 { return int32(hold(make([]byte, uint32(size)))) }

//go:wasmexport xdslint_free
func exportFree(at, _ int32) { delete(held, uintptr(uint32(at))) }

//go:wasmexport xdslint_describe
func exportDescribe() int64 { return answer(describe(rules)) }

//go:wasmexport xdslint_check
func exportCheck(at, size int32) int64 {
	s := &pluginabi.Snapshot{}
	if err := proto.Unmarshal(held[uintptr(uint32(at))][:uint32(size)], s); err != nil {
		panic("the input from xdslint is not a snapshot: " + err.Error())
	}
	return answer(check(rules, s))
}

// The memory is discarded after each call, so garbage is collected only when there is too much of it.
func init() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(160 << 20)
}
