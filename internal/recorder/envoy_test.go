package recorder_test

import (
	"fmt"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// TestEnvoy: the reference server and a real Envoy break nothing, in any variant. The proxy between them is not noticed.
func TestEnvoy(t *testing.T) {
	versions := []envoytest.Version{envoytest.Newest}
	if envoytest.Thorough() {
		versions = []envoytest.Version{"1.36", "1.37", "1.38", "1.39", envoytest.Newest}
	}
	envoytest.Need(t, versions...)
	for _, version := range versions {
		for _, delta := range []bool{false, true} {
			for _, perType := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, Delta %t, a stream for each type %t", version, delta, perType), func(t *testing.T) {
					w := newWorld(t)
					w.playEnvoy(version, envoytest.Streams{Delta: delta, PerType: perType})
					for _, finding := range w.end() {
						t.Error(finding)
					}
				})
			}
		}
	}
}

// playEnvoy lets an Envoy start, follow changes, reject one and reconnect.
func (w *world) playEnvoy(version envoytest.Version, streams envoytest.Streams) {
	t := w.t
	source := streams.Source()
	shop := func(timeout string) { w.store.Set("shop", cluster(t, source, "shop", timeout)) }
	shop("1s")
	w.store.Set("shop", assignment(t, "shop", "8080"))
	w.store.Set("web", listener(t, source))
	w.store.Set("web", routes(t, "*"))
	envoy, err := version.Serve(w.ctx, streams.Bootstrap(w.addr), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close()
	w.until("the listener", func() bool { _, err := envoy.Addr(w.ctx, "web"); return err == nil })

	w.answered(reference.Endpoints, func() { w.store.Set("shop", assignment(t, "shop", "8081")) })
	w.answered(reference.Routes, func() { w.store.Set("web", routes(t, "example.com")) })
	w.answered(reference.Clusters, func() { shop("2s") })
	w.answered(reference.Clusters, func() { shop("-1s") })
	w.until("the NACK", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.nacks > 0
	})
	w.answered(reference.Clusters, func() { shop("3s") })

	// A cluster is added, removed and added again.
	cart := cluster(t, source, "cart", "1s")
	w.store.Set("cart", assignment(t, "cart", "8080"))
	w.answered(reference.Endpoints, func() { w.store.Set("cart", cart) })
	w.answered(reference.Clusters, func() { w.store.Delete(reference.Clusters, "cart") })
	w.answered(reference.Endpoints, func() { w.store.Set("cart", cart) })

	w.reset()
	w.answered(reference.Endpoints, func() { w.store.Set("shop", assignment(t, "shop", "8082")) })
}
