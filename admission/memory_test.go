package admission_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/admission"
)

// TestMemory: a gate keeps what its nodes have, however many snapshots they had before. Each push has other names, as those of blue-green deployments,
// and some have errors.
func TestMemory(t *testing.T) {
	const pushes, measured = 600, 100
	g := try(t, func(o *admission.Options) { o.Report = nil })
	// All names are long, so that names that are kept show.
	long := func(name string, push int) string {
		return fmt.Sprintf("%s-%d-%s", name, push, strings.Repeat("x", 2000))
	}
	push := func(i int) weak.Pointer[cachev3.Snapshot] {
		var all []types.Resource
		for k := range 20 { // each push replaces one of these
			name := long(fmt.Sprint("service-", k), (i+20-k)/20)
			all = append(all, eds(name), endpoints(name, 80), table(fmt.Sprint("table-", k), name))
			all = append(all, listener(fmt.Sprint("listener-", k), uint32(8000+k), fmt.Sprint("table-", k)))
		}
		missing := long("missing", i)
		all = append(all, table("broken", missing), table("public", long("service-0", (i+20)/20)))
		if i%7 == 0 {
			all = append(all, refused(eds(long("refused", i))))
		}
		s := snapshot(t, fmt.Sprint("v", i), all...)
		for n := range 2 {
			if err := g.SetSnapshot(t.Context(), fmt.Sprint("edge-", n), s); err != nil {
				t.Fatal(err)
			}
		}
		return weak.Make(s)
	}
	heap := func() uint64 {
		for range 3 { // what weak pointers and finalizers held goes in a later cycle
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var had []weak.Pointer[cachev3.Snapshot]
	var before uint64
	for i := range pushes {
		if i == measured {
			before = heap()
		}
		had = append(had, push(i))
	}
	after := heap()
	t.Logf("%d KB after %d pushes, %d KB after %d", before>>10, measured, after>>10, pushes)
	if after > before+1<<20 {
		t.Errorf("%d KB after %d pushes, %d KB after %d", before>>10, measured, after>>10, pushes)
	}
	alive := 0
	for _, s := range had {
		if s.Value() != nil {
			alive++
		}
	}
	if alive > 3 {
		t.Errorf("%d snapshots are still in memory", alive)
	}
	runtime.KeepAlive(g)
}
