package version

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "v2",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a type or a transport version of xDS v2, which Envoy no longer speaks",
	Run: lint.EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool { return versionField(md) != nil },
		func(p *lint.Pass, at lint.At, _ protoreflect.Message) { transportVersion(p, at.Place) }).And(func(p *lint.Pass) {
		p.Problems(graph.OldType, func(r *graph.Resource, problem graph.Problem) {
			d := lint.Diagnostic{
				Message: problem.Message, Rejected: true,
				Notes:    []string{"envoy refuses what holds a type that it does not know"},
				Upstream: fmt.Sprintf("could not find @type 'type.googleapis.com/%s'", problem.Name),
			}
			if r.Kind == graph.Patch {
				d.Notes = []string{envoy.OnDecodeError(r, problem)}
			}
			if successor := decode.Successor(problem.Name); successor != "" {
				url := "type.googleapis.com/" + successor
				d.Help = "write " + url
				d.Fixes = lint.Replace(lint.AtProblem(r, problem).Field("@type"), url).Likely("write the type of v3")
			}
			p.ReportProblem(r, problem, d)
		})
	}),
})

func transportVersion(p *lint.Pass, at *graph.Place) {
	fd := versionField(at.Message.Descriptor())
	if fd == nil {
		return
	}
	if fd.Enum().Values().ByName("V2").Number() != at.Message.Get(fd).Enum() {
		return
	}
	if read, _ := envoy.Validated(p.Target.Extensions(), at); !read {
		return
	}
	d := lint.Diagnostic{
		Message: "V2 is gone: envoy speaks only V3",
		Help:    "write transport_api_version: V3",
	}
	if asked(at) {
		d.Rejected, d.Upstream = true, "V2 xDS transport protocol version is deprecated"
	} else {
		d.Notes = []string{"envoy --mode validate accepts it here"}
	}
	where := at.At().Field("transport_api_version")
	d.Fixes = lint.Replace(where, "V3").Safe("write V3") // V2 never got an answer
	p.Report(where, d)
}

var versionFields sync.Map // protoreflect.MessageDescriptor → protoreflect.FieldDescriptor; false where there is none

func versionField(md protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if known, ok := versionFields.Load(md); ok {
		fd, _ := known.(protoreflect.FieldDescriptor)
		return fd
	}
	fd := md.Fields().ByName("transport_api_version")
	if fd == nil || fd.Enum() == nil || fd.Enum().FullName() != "envoy.config.core.v3.ApiVersion" {
		versionFields.Store(md, false)
		return nil
	}
	versionFields.Store(md, fd)
	return fd
}

// late are fields whose client Envoy does not make when it only validates.
var late = map[protoreflect.FullName]bool{
	"envoy.config.bootstrap.v3.Bootstrap.hds_config":                                             true,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config":                            true,
	"envoy.config.bootstrap.v3.ClusterManager.load_stats_config":                                 true,
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source": true,
}

// asked tells whether Envoy looks at the version when it reads the message.
func asked(at *graph.Place) bool {
	for ; at != nil; at = at.Parent {
		if fd := envoy.FieldOf(at); fd != nil && late[fd.FullName()] {
			return false
		}
	}
	return true
}
