package kube

import (
	"iter"
	"slices"
	"strings"
)

// templates are the paths of the pod templates in workloads, by the API group and kind.
var templates = map[string][]string{
	"/Pod": {}, "/ReplicationController": {"spec", "template"},
	"apps/Deployment": {"spec", "template"}, "apps/DaemonSet": {"spec", "template"}, "apps/StatefulSet": {"spec", "template"}, "apps/ReplicaSet": {"spec", "template"},
	"batch/Job": {"spec", "template"}, "batch/CronJob": {"spec", "jobTemplate", "spec", "template"},
}

// Object is one Kubernetes object.
type Object struct{ Value }

// Kind returns the group and the kind: apps/Deployment.
func (o Object) Kind() string {
	group, _, grouped := strings.Cut(o.Field("apiVersion").Text(), "/")
	if !grouped {
		group = ""
	}
	return group + "/" + o.Field("kind").Text()
}

// Name returns the name of the object in its namespace.
func (o Object) Name() string { return o.Field("metadata", "name").Text() }

// Namespace returns the namespace; empty if the client that applies the object chooses it.
func (o Object) Namespace() string { return o.Field("metadata", "namespace").Text() }

// Near reports whether two objects are in one namespace, or may be.
func (o Object) Near(other Object) bool {
	return o.Namespace() == other.Namespace() || o.Namespace() == "" || other.Namespace() == ""
}

// Holds reports whether the object is a ConfigMap or a Secret.
func (o Object) Holds() bool { return o.Kind() == "/ConfigMap" || o.Kind() == "/Secret" }

// Data returns the keys of a ConfigMap or a Secret.
func (o Object) Data() (keys []string) {
	for _, field := range []string{"data", "stringData", "binaryData"} {
		keys = append(keys, o.Field(field).Keys()...)
	}
	return keys
}

// Pod is a pod, or what a workload says about its pods.
type Pod struct {
	Value
	Of Object // the workload
}

// PodOf returns the pod of a workload. ok is false if the object is not a workload.
func PodOf(o Object) (pod Pod, ok bool) {
	path, ok := templates[o.Kind()]
	if !ok {
		return Pod{}, false
	}
	pod = Pod{o.Field(path...), o}
	return pod, pod.Field("spec").Exists()
}

// Containers returns the containers that run as long as the pod, with sidecars among the init containers.
func (p Pod) Containers() iter.Seq[Container] {
	return func(yield func(Container) bool) {
		for v := range p.Field("spec", "containers").Items() {
			if !yield(p.container(v)) {
				return
			}
		}
		for v := range p.Field("spec", "initContainers").Items() {
			if v.Field("restartPolicy").Text() == "Always" && !yield(p.container(v)) {
				return
			}
		}
	}
}

// Alone reports whether the pod has only one container that runs as long as the pod.
func (p Pod) Alone() bool {
	n := 0
	for range p.Containers() {
		n++
	}
	return n == 1
}

// Redirects reports whether an init container may redirect connections to other ports.
func (p Pod) Redirects() bool {
	for c := range p.Field("spec", "initContainers").Items() {
		security := c.Field("securityContext")
		if security.Field("privileged").True() {
			return true
		}
		for capability := range security.Field("capabilities", "add").Items() {
			if name := capability.Text(); name == "NET_ADMIN" || name == "ALL" {
				return true
			}
		}
	}
	return false
}

// defaultGrace is the default of terminationGracePeriodSeconds.
const defaultGrace = 30

// Grace returns for how many seconds Kubernetes waits before it kills the containers of a pod that it ends.
func (p Pod) Grace() int {
	if n, ok := p.Field("spec", "terminationGracePeriodSeconds").Int(); ok {
		return n
	}
	return defaultGrace
}

// Mounts returns the ConfigMaps and Secrets in the pod's volumes, by their kind and name.
func (p Pod) Mounts() (ids []string) {
	for v := range p.Field("spec", "volumes").Items() {
		for from := range (Mount{volume: v}).sources() {
			ids = append(ids, from.kind+" "+from.name)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Labels returns the labels of the pod.
func (p Pod) Labels() []string { return p.Field("metadata", "labels").pairs() }

// Selects returns the labels that a Service selects.
func (o Object) Selects() []string {
	if o.Kind() != "/Service" || o.Field("spec", "type").Text() == "ExternalName" {
		return nil
	}
	return o.Field("spec", "selector").pairs()
}

// pairs returns the entries of a map of texts, in one spelling.
func (v Value) pairs() (all []string) {
	for _, key := range v.Keys() {
		all = append(all, key+"="+v.Field(key).Text())
	}
	return all
}

// SelectedBy reports whether a Service sends traffic to the pods.
func (p Pod) SelectedBy(service Object) bool {
	selects, labels := service.Selects(), p.Labels()
	return len(selects) > 0 && service.Near(p.Of) && !slices.ContainsFunc(selects, func(label string) bool { return !slices.Contains(labels, label) })
}

// Port returns the number of a port that a Service or a probe names, by its number or by the name that a container gives it.
func (p Pod) Port(named Value) (number int, ok bool) {
	if number, ok := named.Int(); ok {
		return number, true
	}
	for c := range p.Containers() {
		if number, ok := c.Field("ports").named(named.Text()).Field("containerPort").Int(); ok {
			return number, true
		}
	}
	return 0, false
}
