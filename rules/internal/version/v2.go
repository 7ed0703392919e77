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
	Summary:   "a type or transport version of xDS v2, which Envoy no longer supports",
	Run: lint.EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool { return versionField(md) != nil },
		func(p *lint.Pass, at lint.At, _ protoreflect.Message) { transportVersion(p, at.Place) }).And(lint.EachProblem(func(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
		d := lint.Diagnostic{
			Message: problem.Message, Rejected: true,
			Notes:    []string{"Envoy rejects a message that contains an unknown type"},
			Upstream: fmt.Sprintf("could not find @type 'type.googleapis.com/%s'", problem.Name),
		}
		if r.Kind == graph.Patch {
			d.Notes = []string{envoy.OnDecodeError(r, problem)}
		}
		if successor := decode.Successor(problem.Name); successor != "" {
			url := "type.googleapis.com/" + successor
			d.Help = "write " + url
			d.Fixes = lint.Replace(lint.AtProblem(r, problem).Field("@type"), url).Likely("write the v3 type")
		}
		p.ReportProblem(r, problem, d)
	}, graph.OldType)),
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
		Message: "Envoy no longer supports V2, only V3",
		Help:    "write transport_api_version: V3",
	}
	if asked(at) {
		d.Rejected, d.Upstream = true, "V2 xDS transport protocol version is deprecated"
	} else {
		d.Notes = []string{"envoy --mode validate accepts it here"}
	}
	where := at.At().Field("transport_api_version")
	d.Fixes = lint.Replace(where, "V3").Safe("write V3") // V2 never worked
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

// late lists fields whose client Envoy does not create in validate mode.
var late = map[protoreflect.FullName]bool{
	"envoy.config.bootstrap.v3.Bootstrap.hds_config":                                             true,
	"envoy.config.bootstrap.v3.Bootstrap.DynamicResources.lds_config":                            true,
	"envoy.config.bootstrap.v3.ClusterManager.load_stats_config":                                 true,
	"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source": true,
}

// asked reports whether Envoy checks the version when it reads the message.
func asked(at *graph.Place) bool {
	for ; at != nil; at = at.Parent {
		if fd := envoy.FieldOf(at); fd != nil && late[fd.FullName()] {
			return false
		}
	}
	return true
}
