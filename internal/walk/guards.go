package walk

import (
	"maps"
	"slices"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// State is what a guard does with a request.
type State string

// The states of a guard. Only one that runs can reject every request that it should.
const (
	Runs      State = "runs"
	FailsOpen State = "fails-open" // runs, and lets requests pass if it cannot decide
	Open      State = "open"       // sees the request, and never rejects it
	Exempt    State = "exempt"     // sees the request, and its own configuration demands nothing of it
	Disabled  State = "disabled"
	Absent    State = "absent"    // is not in the filter chain of the request
	Unreached State = "unreached" // a filter before it answers
	Undecided State = "undecided" // depends on what is not known
)

// Holds reports whether requests that the guard should reject do not pass.
func (s State) Holds() bool { return s == Runs || s == FailsOpen }

// MTLS is the kind of the guard that client certificates are. The others have the kinds of their HTTP filters.
const MTLS = "mtls"

// Guard is what a guard does with a request: client certificates, or an HTTP filter that can reject requests for who sends them or how many they are.
type Guard struct {
	Name  string // of the filter
	Kind  string
	State State
	Asks  string   // what it asks for, such as the providers of tokens
	Why   string   // of a state other than Runs
	At    graph.At // that says so
}

// Guarded is an answer with the guards on the way.
type Guarded struct {
	*Answer
	Guards  []Guard
	At      graph.At                     // the listener
	Manager *hcmv3.HttpConnectionManager // nil: the request does not get to one
	Routes  envoy.Routes                 // of Manager
	Host    *envoy.RouteLevel            // the virtual host, or nil
	Domain  string                       // of it
	Level   *envoy.RouteLevel            // the route, or nil
}

// Forwards reports whether an upstream gets the request, as far as is known.
func (g *Guarded) Forwards() bool {
	return g.Cluster != nil || len(g.Weighted) > 0 || g.Unknown[unknownCluster] != ""
}

// Guards follows a request that all guards let pass, and returns what each of them does with it.
func (w *Walker) Guards(r *Request) (*Guarded, error) {
	found := &Guarded{}
	_, err := w.walk(r, found)
	return found, err
}

// guardKinds are the HTTP filters that are guards.
var guardKinds = map[string]func(j *journey, v visit, g *Guard){
	"api_key_auth": func(*journey, visit, *Guard) {}, "basic_auth": func(*journey, visit, *Guard) {}, "ext_authz": guardExtAuthz, "jwt_authn": guardJWT,
	"local_ratelimit": guardLocalLimit, "oauth2": guardOAuth2, "ratelimit": guardLimit, "rbac": guardRBAC,
}

// GuardKinds returns the kinds of all guards.
func GuardKinds() []string { return append(slices.Sorted(maps.Keys(guardKinds)), MTLS) }

// guard notes what a filter does with the request if it is a guard.
func (j *journey) guard(f envoy.HTTPFilter, state envoy.FilterState) bool {
	judge := guardKinds[f.Kind]
	if judge == nil {
		return false
	}
	g := Guard{Name: f.Message.GetName(), Kind: f.Kind, State: Runs, At: f.Own}
	switch {
	case state.Off && state.Level == nil:
		g.is(Disabled, "it is disabled in the filter chain, and the route does not enable it", f.At.Field("disabled"))
	case state.Off:
		g.is(Disabled, "it is disabled by "+levelName(state.Level), state.At)
	default:
		if state.Config != nil {
			g.At = state.At
		}
		judge(j, visit{f, state.Config, state.At}, &g)
	}
	j.guarded.Guards = append(j.guarded.Guards, g)
	return true
}

func (g *Guard) is(s State, why string, at graph.At) { g.State, g.Why, g.At = s, why, at }

// guardsSeen completes what is known of the guards at the end of a walk.
func (j *journey) guardsSeen() {
	j.guarded.Answer, j.guarded.At, j.guarded.Level = j.answer, j.at, j.level
	if j.manager != nil {
		j.guarded.Manager, j.guarded.Routes = j.manager.message, j.manager.routes
		j.unseen()
	}
}

// unseen notes the guards of the connection manager that do not see the request: a filter answers before, or an upgrade has filters of its own.
func (j *journey) unseen() {
	seen := map[string]bool{}
	for _, g := range j.guarded.Guards {
		seen[g.Kind+"/"+g.Name] = true
	}
	note := func(all []envoy.HTTPFilter, state State, why string, at graph.At) {
		for _, f := range all {
			if guardKinds[f.Kind] == nil || seen[f.Kind+"/"+f.Message.GetName()] {
				continue
			}
			seen[f.Kind+"/"+f.Message.GetName()] = true
			j.guarded.Guards = append(j.guarded.Guards, Guard{Name: f.Message.GetName(), Kind: f.Kind, State: state, Why: why, At: at})
		}
	}
	if n := len(j.answer.Filters); n > 0 && j.answer.Filters[n-1].Does == "answers" {
		note(j.filters, Unreached, "the filter "+j.answer.Filters[n-1].Name+" answers before", j.filters[n-1].At)
	}
	if j.filters != nil {
		kind := j.headers.value("upgrade")
		if kind == "" {
			kind = j.headers.value(method)
		}
		at, _ := j.upgrade(kind)
		note(j.manager.filters, Absent, "the upgrade to "+kind+" has filters of its own", j.manager.at.Item("upgrade_configs", at).Field("filters").Key())
	}
}

const untrusted = "certificates of any authority are accepted"

// guardTLS notes what a filter chain demands of the certificates of clients.
func (j *journey) guardTLS(at graph.At, c *tlsv3.DownstreamTlsContext) {
	g := Guard{Name: MTLS, Kind: MTLS, State: Runs, At: at.Field("require_client_certificate")}
	common := c.GetCommonTlsContext()
	switch {
	case c.GetRequireClientCertificate().GetValue() && !envoy.VerifiesPeer(common):
		g.is(Open, "there is nothing to verify client certificates with, so that none is asked for", at.Field("require_client_certificate"))
	case !envoy.VerifiesPeer(common):
		return
	case !c.GetRequireClientCertificate().GetValue():
		g.is(Open, "a client certificate is not required", at.Field("common_tls_context"))
	case common.GetValidationContext().GetTrustChainVerification() != 0:
		g.is(Open, untrusted, at.Field("common_tls_context", "validation_context", "trust_chain_verification"))
	case common.GetCombinedValidationContext().GetDefaultValidationContext().GetTrustChainVerification() != 0:
		g.is(Open, untrusted, at.Field("common_tls_context", "combined_validation_context", "default_validation_context", "trust_chain_verification"))
	}
	j.guarded.Guards = append(j.guarded.Guards, g)
}
