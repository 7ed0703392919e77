package evidence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// world is what evidence is about: an Envoy, and servers around it.
type world struct {
	version   envoytest.Version
	dir       string
	given     map[string]bool // names of the files of the example
	bootstrap string          // the text for Envoy
	adminHost string          // where its admin interface listens
	listeners []string
	upstreams []*upstream
	authority *authority
	running   *envoytest.Envoy // nil: not started yet
	answers   []answer         // to the last requests that were sent
	patience  time.Duration

	certificates map[string]string // and keys: files of the example that Envoy does not get
}

func newWorld(v envoytest.Version, files map[string]string) (w *world, err error) {
	w = &world{version: v, adminHost: "127.0.0.1", given: map[string]bool{}, certificates: map[string]string{}, authority: newAuthority()}
	if w.dir, err = os.MkdirTemp("", "evidence-"); err != nil {
		return nil, err
	}
	if err := w.prepare(files); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// prepare writes the files of an example for Envoy. The bootstrap is the one with static resources, or sources of others.
func (w *world) prepare(files map[string]string) error {
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		w.given[path.Base(name)] = true
	}
	for _, name := range names {
		if made(path.Ext(name)) {
			w.certificates[path.Base(name)] = files[name]
			continue
		}
		text, err := config{w: w}.prepare(name, files[name])
		if err != nil {
			return err
		}
		if strings.Contains(text, `"static_resources":`) || strings.Contains(text, `"dynamic_resources":`) {
			w.bootstrap = text
			continue
		}
		if err := os.WriteFile(filepath.Join(w.dir, path.Base(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if w.bootstrap == "" {
		return errors.New("evidence needs a bootstrap in the example")
	}
	return nil
}

// envoy returns the Envoy, which starts when it is first needed: after the lines that say what upstreams do.
func (w *world) envoy(ctx context.Context) (*envoytest.Envoy, error) {
	if w.running != nil {
		return w.running, nil
	}
	e, err := w.version.ServeAdmin(ctx, w.adminHost, w.bootstrap, ".json")
	w.running = e
	return e, err
}

func (w *world) close() {
	if w.running != nil {
		w.running.Close()
	}
	for _, u := range w.upstreams {
		u.close()
	}
	_ = os.RemoveAll(w.dir)
}

// upstream returns the server in place of an endpoint, and starts it.
func (w *world) upstream(cluster, address string) (*upstream, error) {
	for _, u := range w.upstreams {
		if u.cluster == cluster && u.address == address {
			return u, nil
		}
	}
	u, err := startUpstream(cluster, address, w.authority)
	if err == nil {
		w.upstreams = append(w.upstreams, u)
	}
	return u, err
}

// named returns the upstreams of a cluster, or the one at an address.
func (w *world) named(name string) ([]*upstream, error) {
	var all []*upstream
	var known []string
	for _, u := range w.upstreams {
		known = append(known, u.cluster, u.address)
		if u.is(name) {
			all = append(all, u)
		}
	}
	if all == nil {
		slices.Sort(known)
		return nil, fmt.Errorf("the example has no upstream %s, only %s", name, strings.Join(slices.Compact(known), ", "))
	}
	return all, nil
}

// adminName is the name of the admin interface where a line names a listener.
const adminName = "admin"

// listener returns the address of a listener. Without a name, the example has one.
func (w *world) listener(ctx context.Context, name string) (string, error) {
	e, err := w.envoy(ctx)
	if err != nil {
		return "", err
	}
	if name == adminName {
		return e.AdminAddress(), nil
	}
	if name == "" {
		if len(w.listeners) != 1 {
			return "", fmt.Errorf("say to which listener: %s", strings.Join(w.listeners, ", "))
		}
		name = w.listeners[0]
	}
	if !slices.Contains(w.listeners, name) {
		return "", fmt.Errorf("the example has no listener %s, only %s", name, strings.Join(w.listeners, ", "))
	}
	return e.Addr(ctx, name)
}

// certificateFile returns the path of a certificate or key that is made for a name.
func (w *world) certificateFile(name, ext string) (string, error) {
	file := filepath.Join(w.dir, name+ext)
	pair, err := w.authority.pair(name)
	if err != nil {
		return "", err
	}
	return file, os.WriteFile(file, pair.file(ext), 0o600)
}
