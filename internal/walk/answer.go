package walk

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// Answer is what Envoy does with a request. As JSON, it has the fields that docs/route.md lists.
type Answer struct {
	Status          *int                `json:"status"` // nil: Envoy closes the connection, or it is not known
	Location        *string             `json:"location,omitempty"`
	Body            *string             `json:"body,omitempty"` // of a direct response
	Chain           string              `json:"chain,omitempty"`
	VirtualHost     string              `json:"vhost,omitempty"`
	Route           string              `json:"route,omitempty"`
	Cluster         *string             `json:"cluster"`          // nil where Envoy itself answers
	Target          string              `json:"target,omitempty"` // what the route chooses, even where a filter answers
	Path            string              `json:"path,omitempty"`   // Path, Host and Method are as the upstream sees them
	Host            string              `json:"host,omitempty"`
	Method          string              `json:"method,omitempty"`
	Flags           string              `json:"flags,omitempty"`   // as %RESPONSE_FLAGS%
	Details         string              `json:"details,omitempty"` // as %RESPONSE_CODE_DETAILS%
	Added           map[string][]string `json:"added,omitempty"`
	Removed         []string            `json:"removed,omitempty"`
	ResponseAdded   map[string][]string `json:"response_added,omitempty"`
	ResponseRemoved []string            `json:"response_removed,omitempty"`
	Mirrors         []string            `json:"mirrors,omitempty"`
	Weighted        map[string]*Share   `json:"weighted,omitempty"`
	Unknown         map[string]string   `json:"unknown,omitempty"` // the reason, by field

	// What follows is for people, and not in the JSON.
	At        Places       `json:"-"`
	Listener  string       `json:"-"`
	Scope     string       `json:"-"`
	Table     string       `json:"-"`
	Filters   []FilterStep `json:"-"`
	Passed    []Passed     `json:"-"`
	Endpoints []Endpoints  `json:"-"`
	Limits    *Limits      `json:"-"`
	Reached   []Part       `json:"-"`
	Closed    string       `json:"-"` // why Envoy closes the connection
}

// Share is the part of the requests that a weighted cluster gets, and what differs for them.
type Share struct {
	Share float64             `json:"share"`
	Host  string              `json:"host,omitempty"`
	Added map[string][]string `json:"added,omitempty"`
}

// Places are where that is what the request reaches. What it does not reach has a zero At.
type Places struct {
	Listener, Chain, Scope, Table, Host, Route graph.At
}

// FilterStep is an HTTP filter that sees the request.
type FilterStep struct {
	Name   string
	Kind   string
	Does   string // passes, answers, disabled, unknown
	Why    string // it is not known
	Config string // the level that configures it, other than the chain
	Filter envoy.HTTPFilter
	State  envoy.FilterState
}

// Passed is a candidate that did not take the request.
type Passed struct {
	Kind string // listener, filter chain, route
	Name string
	Why  string
	At   graph.At
	Some []*envoy.RouteLevel // the first of the routes, if Name is their number
	more int                 // that number
}

// Rest names the candidate, or those of the routes that Some does not have.
func (p *Passed) Rest() string {
	if len(p.Some) == 0 {
		return p.Name
	}
	if p.more > len(p.Some) {
		return fmt.Sprintf("%d more", p.more-len(p.Some))
	}
	return ""
}

// Endpoints are the endpoints of one priority and locality.
type Endpoints struct {
	Priority  uint32
	Locality  string
	Addresses []string
	At        graph.At
}

// Limits are the timeouts, retries and hedging in effect.
type Limits struct {
	Timeout     string // empty or 0s: none
	IdleTimeout string
	PerTry      string
	RetryOn     string
	Retries     uint32
	Hedging     bool
}

// The keys of Unknown.
const (
	unknownStatus  = "status"
	unknownRoute   = "route"
	unknownCluster = "cluster"
	unknownChain   = "chain"
	unknownHost    = "host"
	unknownPath    = "path"
)

// doubt notes why a field is not known. The first reason stays.
func (a *Answer) doubt(field, why string) {
	if a.Unknown == nil {
		a.Unknown = map[string]string{}
	}
	if _, ok := a.Unknown[field]; !ok {
		a.Unknown[field] = why
	}
}

// closed notes that Envoy closes the connection.
func (a *Answer) closed(details, flags string) *Answer {
	a.Status, a.Cluster, a.Details, a.Flags = nil, nil, details, flags
	return a
}

// local notes a local reply.
func (a *Answer) local(status int, details, flags string) *Answer {
	a.Status, a.Cluster, a.Details, a.Flags = &status, nil, details, flags
	a.Path, a.Host, a.Method, a.Weighted = "", "", "", nil
	return a
}
