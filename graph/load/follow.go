package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// served maps a field with a ConfigSource to the kind of resource that comes from there.
var served = map[protoreflect.FullName]graph.Kind{
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config":                                graph.Listener,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.cds_config":                                graph.Cluster,
	"envoy.config.bootstrap.v3.RuntimeLayer.RtdsLayer.rtds_config":                                   graph.Runtime,
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.eds_config":                                    graph.ClusterLoadAssignment,
	"envoy.config.endpoint.v3.LedsClusterLocalityConfig.leds_config":                                 graph.LbEndpoint,
	"envoy.config.route.v3.Vhds.config_source":                                                       graph.VirtualHost,
	"envoy.config.core.v3.ExtensionConfigSource.config_source":                                       graph.ExtensionConfig,
	"envoy.extensions.filters.network.http_connection_manager.v3.Rds.config_source":                  graph.RouteConfiguration,
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds.scoped_rds_config_source": graph.ScopedRouteConfiguration,
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source":     graph.RouteConfiguration,
	"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig.sds_config":                           graph.Secret,
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds.source":                                  graph.Cluster,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand.odcds_config":                   graph.Cluster,
}

// servers is what is known about the ConfigSources of one bootstrap.
type servers struct {
	read     map[graph.Source]bool // the files, and whether they could be read
	kinds    map[graph.Kind]map[graph.Source]bool
	onDemand bool // a filter may ask for clusters that nothing names
}

// follow reads the files that ConfigSources name, and those that their resources name in turn.
func (a *assembly) follow(boot *input) (*servers, error) {
	s := &servers{read: map[graph.Source]bool{}, kinds: map[graph.Kind]map[graph.Source]bool{}}
	for done := 0; done < len(a.parts); {
		first := len(a.parts)
		for ; done < first; done++ {
			p := a.parts[done]
			for _, seen := range p.seen {
				a.source(s, boot, p, seen)
			}
			p.resource.Files = a.dataFiles(p.seen, boot)
		}
		if err := a.decode(first); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// source records one ConfigSource, and reads the file that it names.
func (a *assembly) source(s *servers, boot *input, p *part, seen decode.Seen) {
	cs, ok := seen.Message.Interface().(*corev3.ConfigSource)
	if !ok {
		s.onDemand = s.onDemand || asksOnDemand(seen)
		return
	}
	kind, ok := served[seen.Field.FullName()]
	if !ok {
		return
	}
	from := graph.SourceOf(cs, "self")
	if s.kinds[kind] == nil {
		s.kinds[kind] = map[graph.Source]bool{}
	}
	s.kinds[kind][from] = true
	path, field := pathOf(cs)
	if path == "" {
		return
	}
	at := seen.Path
	for _, name := range field {
		at = at.Field(name)
	}
	if _, known := s.read[from]; !known {
		s.read[from] = a.named(boot, p.resource, at, path, from)
	}
}

// asksOnDemand reports whether a message makes a filter ask for clusters that nothing names.
func asksOnDemand(seen decode.Seen) bool {
	return strings.HasPrefix(string(seen.Message.Descriptor().FullName()), "envoy.extensions.filters.")
}

// pathOf returns the file that a ConfigSource names, and the field that names it.
func pathOf(cs *corev3.ConfigSource) (path string, field []string) {
	switch s := cs.GetConfigSourceSpecifier().(type) {
	case *corev3.ConfigSource_PathConfigSource:
		return s.PathConfigSource.GetPath(), []string{"path_config_source", "path"}
	case *corev3.ConfigSource_Path: //nolint:staticcheck // deprecated, and in use
		return s.Path, []string{"path"}
	}
	return "", nil
}

// named adds the resources of a file that a resource names, and reports whether it could be read.
func (a *assembly) named(boot *input, by *graph.Resource, at *graph.Path, path string, from graph.Source) bool {
	name, err := a.locate(path, boot)
	if errors.Is(err, errNotGiven) {
		return false
	}
	if err != nil {
		by.Problems = append(by.Problems, graph.Problem{
			Kind: graph.Unreadable, Path: at, Span: by.Locate(at).Value, Name: path,
			Message: fmt.Sprintf("the file %q cannot be read: %s", path, err),
		})
		return false
	}
	in := a.open(name)
	in.used = true
	if len(in.problems) == 0 && in.as != response && in.as != deltaResponse {
		a.misfit(origin{in: in, source: from}, graph.Problem{Kind: graph.Syntax, Message: "this is not a discovery response, which Envoy expects in the file of a config source"})
		return false
	}
	a.file(origin{in: in, source: from})
	return len(in.problems) == 0
}

// errNotGiven: the input is a set of named texts, and this is not one of them.
var errNotGiven = errors.New("it was not given")

// among finds a file among the given texts.
func (l *loader) among(path string, boot *input) (string, error) {
	for _, try := range []string{path, filepath.Join(filepath.Dir(boot.path), path), filepath.Join(filepath.Dir(boot.path), filepath.Base(path))} {
		if _, ok := l.given[try]; ok {
			return try, nil
		}
	}
	return "", errNotGiven
}

// locate finds a file as Envoy does, from the working directory, or else from the bootstrap's folder.
func (l *loader) locate(path string, boot *input) (string, error) {
	if l.given != nil {
		return l.among(path, boot)
	}
	var tries []string
	switch {
	case filepath.IsAbs(path) && l.opts.Root != "":
		tries = []string{filepath.Join(l.opts.Root, path)}
	case filepath.IsAbs(path) || boot.path == "-":
		tries = []string{path}
	default:
		tries = []string{path, filepath.Join(filepath.Dir(boot.path), path)}
	}
	var first error
	for _, try := range tries {
		info, err := os.Stat(try)
		switch {
		case err == nil && info.IsDir():
			err = errors.New("it is a folder")
		case err == nil && !info.Mode().IsRegular():
			err = errors.New("it is not a regular file")
		case err == nil:
			return try, nil
		case errors.Is(err, fs.ErrNotExist):
			err = errors.New("it does not exist")
		}
		if first == nil {
			first = plainError(err)
		}
	}
	return "", first
}

// open returns a file that was read already, or reads it.
func (l *loader) open(path string) *input {
	identity := RealPath
	if l.given != nil {
		identity = func(name string) string { return name }
	}
	if l.opened == nil {
		l.opened = map[string]*input{}
		for _, in := range slices.Backward(l.inputs) { // the first of several links to a file counts
			if in.path != "-" {
				l.opened[identity(in.path)] = in
			}
		}
	}
	real := identity(path)
	if in := l.opened[real]; in != nil {
		return in
	}
	if l.opts.Progress != nil {
		l.opts.Progress(path)
	}
	in := l.read(found{path: path, named: true})
	l.recognise(in)
	l.opened[real], l.order = in, append(l.order, in)
	return in
}

// RealPath returns the absolute path without symbolic links. It is the same for all spellings of a path.
func RealPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// dynamicKinds are the kinds that a ConfigSource can serve.
var dynamicKinds = []graph.Kind{
	graph.Listener, graph.RouteConfiguration, graph.ScopedRouteConfiguration, graph.VirtualHost, graph.Cluster,
	graph.ClusterLoadAssignment, graph.LbEndpoint, graph.Secret, graph.Runtime, graph.ExtensionConfig,
}

// complete declares the kinds of which the snapshot of a bootstrap holds all resources: those from the bootstrap
// itself, those from files that were read, and each kind of which every source was read.
func (s *servers) complete(snapshot *graph.Snapshot, whole *graph.Resource) {
	snapshot.Complete(graph.Secret, graph.Static)
	b, ok := whole.Message.(*bootstrapv3.Bootstrap)
	if !ok {
		return
	}
	authorities := len(b.GetConfigSources()) > 0 || b.GetDefaultConfigSource() != nil // xdstp: names refer to servers there
	for _, kind := range dynamicKinds {
		all := !authorities
		for from := range s.kinds[kind] {
			if s.read[from] {
				snapshot.Complete(kind, from)
			} else {
				all = false
			}
		}
		switch kind {
		case graph.Cluster:
			all = all && !s.onDemand && b.GetDynamicResources().GetCdsResourcesLocator() == ""
		case graph.Listener:
			all = all && b.GetDynamicResources().GetLdsResourcesLocator() == ""
		}
		if all {
			snapshot.Complete(kind, graph.Anywhere)
		}
	}
}
