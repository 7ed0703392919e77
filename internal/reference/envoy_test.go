package reference_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// fleet is a real Envoy that gets everything from a store.
type fleet struct {
	t     *testing.T
	ctx   context.Context
	store *reference.Store
	envoy *envoytest.Envoy
	sets  int

	server  *reference.Server
	answers answered
}

func newFleet(t *testing.T, version envoytest.Version, delta bool, flaw func(reference.Session) reference.Session) *fleet {
	t.Helper()
	return newFleetOn(t, version, func(bootstrap string) string { return bootstrap }, delta, flaw)
}

// newFleetOn is newFleet with another bootstrap, which change makes of the usual one.
func newFleetOn(
	t *testing.T, version envoytest.Version, change func(bootstrap string) string, delta bool, flaw func(reference.Session) reference.Session,
) *fleet {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	f := &fleet{t: t, ctx: ctx, store: reference.NewStore()}
	f.store.Wrap = func(s reference.Session, _ bool) reference.Session {
		if flaw != nil {
			s = flaw(s)
		}
		return f.answers.counted(s)
	}
	f.cluster("shop", 1)
	f.endpoints("shop", 1)
	f.serve("127.0.0.1:0")
	t.Cleanup(func() { f.server.Stop() })
	bootstrap := envoytest.Streams{Delta: delta}.Bootstrap(f.server.Address)
	var err error
	if f.envoy, err = version.Serve(ctx, change(bootstrap), ".yaml"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.envoy.Close)
	return f
}

func (f *fleet) serve(address string) {
	f.t.Helper()
	var err error
	if f.server, err = reference.Serve(f.store, address); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) cluster(name string, n int) { f.store.Set(name, reference.Make("cluster", name, n)) }

func (f *fleet) endpoints(name string, n int) {
	f.store.Set(name, reference.Make("cluster_load_assignment", name, n))
}

// shows waits until a page of the admin interface has a text, or lacks it if that begins with an exclamation mark.
func (f *fleet) shows(page, text string) {
	f.t.Helper()
	f.until(func() bool { return f.has(page, text) }, func() string {
		body, _ := f.envoy.Admin(context.Background(), page)
		return fmt.Sprintf("%s does not show %q:\n%s", page, text, body)
	})
}

// until waits until something holds. Otherwise, the test fails with what is wrong.
func (f *fleet) until(holds func() bool, wrong func() string) {
	f.t.Helper()
	for !holds() {
		select {
		case <-f.ctx.Done():
			f.t.Fatal(wrong())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (f *fleet) has(page, text string) bool {
	body, err := f.envoy.Admin(f.ctx, page)
	lacks, negated := strings.CutPrefix(text, "!")
	return err == nil && strings.Contains(string(body), lacks) == !negated
}

// passes waits until Envoy has got new endpoints of a cluster: what the server has sent before has arrived by then.
func (f *fleet) passes(name string) {
	f.t.Helper()
	f.sets++
	f.endpoints(name, 500+f.sets)
	f.shows("/clusters", fmt.Sprintf("%s::192.0.2.1:1%d::", name, 500+f.sets))
}

// ports of endpoints are 1000 more than their number.
func at(name string, n int) string { return fmt.Sprintf("%s::192.0.2.1:1%03d::", name, n) }

// harms are flaws that make a real Envoy visibly wrong.
var harms = []struct {
	clause string
	delta  bool
	flaw   func() func(reference.Session) reference.Session
	play   func(f *fleet)
	page   string
	right  string // what the page shows without the flaw, and not with it
}{
	{"update-not-sent", false, lossy(reference.Endpoints, without("cart", 1002)), changesCart, "/clusters", at("cart", 2)},
	{"update-not-sent", true, lossy(reference.Endpoints, without("cart", 1002)), changesCart, "/clusters", at("cart", 2)},
	{"creation-not-sent", false, lossy(reference.Endpoints, without("late", 1001)), createsLate, "/clusters", at("late", 1)},
	{"creation-not-sent", true, lossy(reference.Endpoints, without("late", 1001)), createsLate, "/clusters", at("late", 1)},
	{"removal-not-sent", true, lossy(reference.Clusters, keeps), func(f *fleet) {
		f.add("stock")
		f.store.Delete(reference.Clusters, "stock")
		f.passes("shop")
	}, "/clusters", "!stock::"},
	{"state-partial", false, onlyChanged, func(f *fleet) {
		f.add("cart")
		f.cluster("shop", 2)
		f.shows("/config_dump", `"connect_timeout": "2s"`)
		f.passes("shop")
	}, "/clusters", at("cart", 1)},
	{"resubscription-unanswered", true, each(heedless), func(f *fleet) {
		f.add("cart")
		f.store.Delete(reference.Clusters, "shop")
		f.shows("/clusters", "!shop::")
		f.cluster("shop", 1)
		f.shows("/config_dump", `"shop"`)
		f.passes("cart")
	}, "/clusters", at("shop", 1)},
	{"endpoints-not-resent", false, each(ignoresRepeats), func(f *fleet) {
		f.add("cart")
		f.cluster("shop", 2)
		f.shows("/config_dump", `"connect_timeout": "2s"`)
		f.passes("cart")
	}, warming, "warming_clusters: 0"},
	{"warming-without-endpoints", true, each(unprompted), func(f *fleet) {
		f.add("cart")
		f.cluster("shop", 2)
		f.shows("/config_dump", `"connect_timeout": "2s"`)
		f.passes("cart")
	}, warming, "warming_clusters: 0"},
	{"subscription-unanswered", true, each(silent(func(name string) bool { return name == "void" })), func(f *fleet) {
		f.cluster("void", 1)
		f.shows("/config_dump", `"void"`)
		f.passes("shop")
	}, warming, "warming_clusters: 0"},
	{"new-request-unanswered", false, each(func(s reference.Session) reference.Session { return withholding(s, reference.Endpoints, resent()) }), func(f *fleet) {
		f.add("cart")
		f.store.Delete(reference.Clusters, "cart")
		f.shows("/clusters", "!cart::")
		f.cluster("cart", 1)
		f.shows("/config_dump", `"cart"`)
		f.passes("shop")
	}, "/clusters", at("cart", 1)},
	{"response-type-missing", false, each(untyped), addsCart, "/clusters", at("cart", 1)},
	{"response-type-missing", true, each(untyped), addsCart, "/clusters", at("cart", 1)},
	{"resource-type-differs", false, each(once(reference.Clusters, 2, foreign)), addsCart, rejections, "update_rejected: 0\n"},
	{"resource-type-differs", true, each(once(reference.Clusters, 2, foreign)), addsCart, rejections, "update_rejected: 0\n"},
	{"resource-unnamed", true, each(once(reference.Endpoints, 2, unnamed)), func(f *fleet) {
		f.cluster("cart", 1)
		f.endpoints("cart", 1)
		f.shows("/config_dump", `"cart"`)
		f.passes("shop")
	}, "/clusters", at("cart", 1)},
	{"duplicate-name", false, each(once(reference.Clusters, 2, twice)), addsCart, rejections, "update_rejected: 0\n"},
	{"duplicate-name", true, each(once(reference.Clusters, 2, twice)), addsCart, rejections, "update_rejected: 0\n"},
	{"removed-and-sent", true, each(once(reference.Clusters, 2, removedToo)), addsCart, rejections, "update_rejected: 0\n"},
	{"nack-loop", false, each(again(rejects)), rejectsShop, rejections, "update_rejected: 1\n"},
	{"nack-loop", true, each(again(rejects)), rejectsShop, rejections, "update_rejected: 1\n"},
	{"wildcard-unanswered", false, each(unheard(reference.Scopes, nil)), scoped, "/listeners", "web::"},
	{"wildcard-unanswered", true, each(unheard(reference.Scopes, nil)), scoped, "/listeners", "web::"},
	{"nonce-missing", false, each(withoutNonces), sellsCart, "/clusters", at("cart", 1)},
	{"nonce-missing", true, each(withoutNonces), sellsCart, "/clusters", at("cart", 1)},
	{"empty-deletes-nothing", false, each(deletesByNothing), func(f *fleet) {
		f.add("cart")
		f.store.Set("cart", &endpointv3.ClusterLoadAssignment{ClusterName: "cart"})
		f.passes("shop")
	}, "/clusters", "!" + at("cart", 1)},
	{"resent-unchanged", false, each(again(acks)), func(f *fleet) { f.passes("shop") }, "/stats?filter=cds.update_success", "update_success: 1\n"},
	{"resent-unchanged", true, each(again(acks)), func(f *fleet) { f.passes("shop") }, "/stats?filter=cds.update_success", "update_success: 1\n"},
	{"heartbeat-version", true, each(beats), routed, "/stats?filter=rds.web.update_rejected", "update_rejected: 0\n"},
	{"response-unrequested", true, each(eagerly), routed, "/listeners", "web::"},
	{"version-unchanged", false, each(frozen), whileAway, "/config_dump", `"connect_timeout": "2s"`},
	{"resource-version-unchanged", true, each(frozen), whileAway, "/config_dump", `"connect_timeout": "2s"`},
	// Envoy serves after 15 seconds.
	{"wildcard-unanswered", false, each(mute), func(*fleet) {}, "/stats?filter=lds.init_fetch_timeout", "init_fetch_timeout: 0"},
	{"wildcard-unanswered", true, each(mute), func(*fleet) {}, "/stats?filter=lds.init_fetch_timeout", "init_fetch_timeout: 0"},
}

const (
	warming    = "/stats?filter=cluster_manager.warming_clusters"
	rejections = "/stats?filter=cds.update_rejected"
)

// untyped takes the type from the response that adds a cluster.
func untyped(s reference.Session) reference.Session {
	return once(reference.Clusters, 2, func(p proto.Message) []proto.Message {
		set(p, "type_url", "")
		return one(p)
	})(s)
}

// unnamed takes the names from resources of Delta.
func unnamed(p proto.Message) []proto.Message {
	for _, r := range p.(*discoveryv3.DeltaDiscoveryResponse).GetResources() {
		r.Name = ""
	}
	return one(p)
}

// add adds a cluster, and waits until Envoy has it.
func (f *fleet) add(name string) {
	f.t.Helper()
	f.cluster(name, 1)
	f.endpoints(name, 1)
	f.shows("/clusters", at(name, 1))
}

func changesCart(f *fleet) {
	f.add("cart")
	f.endpoints("cart", 2)
	f.passes("shop")
}

// createsLate adds the endpoints of a cluster after Envoy has subscribed to them.
func createsLate(f *fleet) {
	f.cluster("late", 1)
	f.shows("/config_dump", `"late"`)
	f.endpoints("late", 1)
	f.passes("shop")
}

func addsCart(f *fleet) {
	f.cluster("cart", 1)
	f.endpoints("cart", 1)
	f.shows("/stats?filter=cds.update_attempt", "!update_attempt: 1\n")
	f.passes("shop")
}

// sellsCart adds a cluster, and waits for something else.
func sellsCart(f *fleet) {
	f.cluster("cart", 1)
	f.endpoints("cart", 1)
	f.shows("/config_dump", `"cart"`)
	f.listens()
}

// routed adds a listener with its routes.
func routed(f *fleet) {
	f.set("web", &routev3.RouteConfiguration{}, `{"name": "web"}`)
	f.listen(overRDS)
	f.shows("/config_dump?resource=dynamic_listeners", `"web"`)
	f.passes("shop")
}

// whileAway changes a cluster while Envoy is not connected.
func whileAway(f *fleet) {
	f.returns(func() { f.cluster("shop", 2) })
	f.passes("shop")
}

func rejectsShop(f *fleet) {
	f.cluster("shop", -1)
	f.shows(rejections, "!update_rejected: 0\n")
	f.cluster("shop", 3)
	f.shows("/config_dump", `"connect_timeout": "3s"`)
}

// TestHarms: a real Envoy is visibly wrong because of the breach of a clause, and right without it.
func TestHarms(t *testing.T) {
	if testing.Short() {
		t.Skip("two of the Envoys wait for 15 seconds")
	}
	envoytest.Need(t)
	for _, h := range harms {
		t.Run(fmt.Sprintf("%s, Delta %t", h.clause, h.delta), func(t *testing.T) {
			t.Parallel()
			right := newFleet(t, envoytest.Newest, h.delta, nil)
			right.shows("/clusters", at("shop", 1))
			h.play(right)
			right.shows(h.page, h.right)

			wrong := newFleet(t, envoytest.Newest, h.delta, h.flaw())
			wrong.shows("/clusters", at("shop", 1))
			h.play(wrong)
			if wrong.has(h.page, h.right) {
				t.Errorf("with the flaw, %s shows %q too", h.page, h.right)
			}
		})
	}
}

// TestWarming: Envoy waits for the endpoints of a cluster that changes, and uses those that it has after the timeout.
func TestWarming(t *testing.T) {
	versions := []envoytest.Version{envoytest.Newest}
	if envoytest.Thorough() {
		versions = []envoytest.Version{"1.36", "1.37", "1.38", "1.39", envoytest.Newest}
	}
	envoytest.Need(t, versions...)
	for _, version := range versions {
		for delta, flaw := range map[bool]func(reference.Session) reference.Session{false: ignoresRepeats, true: unprompted} {
			t.Run(fmt.Sprintf("%s, Delta %t", version, delta), func(t *testing.T) {
				f := newFleet(t, version, delta, flaw)
				f.shows("/clusters", at("shop", 1))
				changed := cluster("shop", 2)
				changed.EdsClusterConfig.EdsConfig.ResourceApiVersion = corev3.ApiVersion_V3
				changed.EdsClusterConfig.EdsConfig.InitialFetchTimeout = durationpb.New(time.Second)
				f.store.Set("shop", changed)
				f.shows("/stats?filter=cluster.shop.assignment_use_cached", "assignment_use_cached: 1")
				f.shows(warming, "warming_clusters: 0")
				f.shows("/clusters", at("shop", 1))
			})
		}
	}
}
