package grpc

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
)

// The implementations, by the name of their plane. Core is that of C++, Python, Ruby and others.
const (
	Go   = "grpc-go"
	Java = "grpc-java"
	Core = "grpc-core"
)

// Client is a gRPC client or server that gets its configuration over xDS.
type Client struct {
	Target    dataplane.Target
	Env       map[string]string // environment variables that switch features on or off
	Bootstrap *Bootstrap        // nil: not known
}

// ClientOf returns the client of a target, with the bootstrap of a snapshot if there is one.
func ClientOf(v graph.View, t dataplane.Target, env map[string]string) Client {
	c := Client{Target: t, Env: env}
	for _, r := range v.All(graph.GRPCBootstrap) {
		if m, ok := r.Message.(*structpb.Struct); ok {
			c.Bootstrap = c.ReadBootstrap(m)
		}
	}
	return c
}

// ReadEnv reads environment variables, as NAME=VALUE. It returns nil if there are none.
func ReadEnv(variables []string) (env map[string]string, err error) {
	for _, variable := range variables {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("invalid environment variable %q: must be NAME=VALUE", variable)
		}
		if env == nil {
			env = map[string]string{}
		}
		env[name] = value
	}
	return env, nil
}

// is reports whether the client is of one of the implementations.
func (c Client) is(planes ...string) bool { return slices.Contains(planes, c.Target.Plane) }

// enabled reports whether a feature is on. Its variable is true or false; otherwise, the default holds (envconfig.boolFromEnv).
func (c Client) enabled(variable string, byDefault bool) bool {
	value := c.Env[variable]
	if byDefault {
		return !strings.EqualFold(value, "false")
	}
	return strings.EqualFold(value, "true")
}

// Others returns the same client of each of the other implementations.
func (c Client) Others() (all []Client) {
	for _, t := range dataplane.All() {
		if t.Family() == dataplane.GRPC && t.Plane != c.Target.Plane {
			all = append(all, Client{t, c.Env, c.Bootstrap})
		}
	}
	return all
}

// Effect is what a client does with a fault.
type Effect uint8

// The effects.
const (
	Rejects Effect = iota // it rejects the resource
	Ignores               // it accepts the resource, and does not do what the fields say
	Fails                 // it accepts the resource, and RPCs fail
)

// Fault is a place in a resource that a client does not take as it is meant.
type Fault struct {
	At       graph.At
	Effect   Effect
	Message  string // what is wrong
	Then     string // what the client does, unless it rejects the resource
	Help     string // what to write instead
	Upstream string // the core of grpc-go's error
}

// rejected returns a list of one fault for which the client rejects the resource.
func rejected(at graph.At, message, upstream, help string) []Fault {
	return []Fault{{At: at, Message: message, Upstream: upstream, Help: help}}
}

// accepted returns a list of one fault that the client accepts.
func accepted(at graph.At, effect Effect, message, then, help string) []Fault {
	return []Fault{{At: at, Effect: effect, Message: message, Then: then, Help: help}}
}

// OnReject returns the note that says what happens when a client rejects r.
func OnReject(t dataplane.Target, r *graph.Resource) string {
	switch r.Kind {
	case graph.GRPCBootstrap:
		return t.Plane + " rejects the bootstrap, and every xds: channel fails"
	case graph.File:
		return t.Plane + " cannot read the file"
	}
	return t.Plane + " rejects the update (NACK) and keeps its previous configuration"
}

// Named checks that a resource has a name (unmarshalListenerResource, unmarshalRouteConfigResource, unmarshalClusterResource,
// unmarshalEndpointsResource).
func (c Client) Named(at graph.At, resource proto.Message) []Fault {
	if graph.NameOf(resource.ProtoReflect()) != "" {
		return nil
	}
	return rejected(at, "the resource has no name", "empty resource name", "give it the name that clients ask for")
}
