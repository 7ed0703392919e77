// Package pod holds the rules about the Kubernetes objects that say how a bootstrap runs.
package pod

import (
	"regexp"
	"slices"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "pod", Summary: "the Kubernetes workloads that run a bootstrap, and the Services in front of them", Family: dataplane.Envoy}

const (
	lifecycleDocs = "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination"
	configMapDocs = "https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically"
	limitDocs     = "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/"
	drainDocs     = "https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/operations/draining"
)

// workload is a workload with a container that runs the bootstrap.
type workload struct {
	*graph.Resource
	*kube.Container
}

func each(f func(p *lint.Pass, w workload)) lint.Check {
	return lint.EachResource(func(p *lint.Pass, r *graph.Resource) { f(p, workload{r, r.Runs}) }, graph.Workload)
}

// at points to a value of the workload.
func (w workload) at(v kube.Value) lint.At { return w.AtPath(v.Path()) }

// related points to a value, with a message about it.
func (w workload) related(v kube.Value, message string) []lint.Related {
	return []lint.Related{lint.RelatedTo(w.at(v), message)}
}

// eachFile calls f for each file from which the resources read something, until the rule is full.
func eachFile(p *lint.Pass, f func(at lint.At, name string)) {
	for _, place := range p.Snapshot.Places(nameOf(&corev3.DataSource{})) {
		if m, ok := graph.As[*corev3.DataSource](place); ok && m.GetFilename() != "" && !p.Full() {
			f(place.At().Field("filename"), m.GetFilename())
		}
	}
	eachSource(p, func(at lint.At, m *corev3.PathConfigSource) { f(at.Field("path"), m.GetPath()) })
}

// eachSource calls f for each file from which Envoy reads resources.
func eachSource(p *lint.Pass, f func(at lint.At, m *corev3.PathConfigSource)) {
	for _, place := range p.Snapshot.Places(nameOf(&corev3.PathConfigSource{})) {
		if m, ok := graph.As[*corev3.PathConfigSource](place); ok && !p.Full() {
			f(place.At(), m)
		}
	}
}

func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }

// rolls matches annotations by which tools restart the pods when a ConfigMap changes.
var rolls = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`checksum|sha|hash|reloader`) })

// rolled reports whether something seems to restart the pods when their ConfigMaps change.
func (w workload) rolled() bool {
	annotations := slices.Concat(w.Pod.Field("metadata", "annotations").Keys(), w.Pod.Of.Field("metadata", "annotations").Keys())
	return slices.ContainsFunc(annotations, rolls().MatchString)
}

// hashed matches the names that Kustomize generates: another content has another name.
var hashed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`) })

// changes reports whether the input has an object of a mount whose content changes under its name.
func (w workload) changes(m kube.Mount) bool {
	return slices.ContainsFunc(m.Keys(), func(key kube.Key) bool {
		o, ok := w.Holder(key)
		return ok && !o.Field("immutable").True() && !hashed().MatchString(o.Name())
	})
}
