// Command istio serves what Istio's discovery server makes of the objects that it is sent: "apply YAML", in Base64, for all of them.
package main

import (
	"encoding/base64"
	"fmt"
	"log"
	"net"
	"time"

	"istio.io/istio/pilot/pkg/config/kube/crd"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pkg/config"
	istiolog "istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"

	"github.com/xdslint/xdslint/internal/servers/child"
)

func main() {
	quiet := istiolog.DefaultOptions()
	quiet.OutputPaths = []string{"stderr"}
	if err := istiolog.Configure(quiet); err != nil {
		log.Fatal(err)
	}
	log.Fatal(test.Wrap(func(t test.Failer) {
		server := xds.NewFakeDiscoveryServer(t, xds.FakeOptions{
			DebounceTime:    100 * time.Millisecond, // as pilot-discovery does
			ListenerBuilder: func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") },
		})
		applied := objects{store: server.Store(), last: map[string]config.Config{}}
		if err := child.Run(server.Listener, applied.take); err != nil {
			t.Fatal(err)
		}
	}))
}

// objects are those in a store.
type objects struct {
	store model.ConfigStoreController
	last  map[string]config.Config
}

func (o *objects) take(words []string) error {
	if words[0] != "apply" {
		return fmt.Errorf("a line begins with %q", words[0])
	}
	text, err := base64.StdEncoding.DecodeString(words[1])
	if err != nil {
		return err
	}
	all, _, err := crd.ParseInputs(string(text))
	if err != nil {
		return err
	}
	next := map[string]config.Config{}
	for _, c := range all {
		next[c.Key()] = c
		if err := o.set(c); err != nil {
			return err
		}
	}
	for key, c := range o.last {
		if _, ok := next[key]; !ok {
			if err := o.store.Delete(c.GroupVersionKind, c.Name, c.Namespace, nil); err != nil {
				return err
			}
		}
	}
	o.last = next
	return nil
}

func (o *objects) set(c config.Config) error {
	old, ok := o.last[c.Key()]
	var err error
	switch {
	case !ok:
		_, err = o.store.Create(c)
	case !old.Equals(&c):
		_, err = o.store.Update(c)
	}
	return err
}
