package load

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/kube"
	"github.com/xdslint/xdslint/internal/tree"
)

// cluster is the Kubernetes objects of an input.
type cluster struct {
	workloads, services []*object
	holders             []kube.Object // ConfigMaps and Secrets
}

// workloads adds to the snapshot of a bootstrap the Kubernetes objects of the input that say how it runs: the workloads with a container that runs
// it, and the Services that send traffic to their pods.
func (l *loader) workloads(snapshots []*graph.Snapshot) {
	c := l.cluster()
	boots := bootstraps(snapshots)
	if len(c.workloads) == 0 || len(boots) == 0 {
		return
	}
	for _, o := range c.workloads {
		pod, _ := kube.PodOf(o.kube())
		for container := range pod.Containers() {
			container.Given = c.holders
			if b := boots.of(o, container); b != nil {
				b.runs(o, container)
			}
		}
	}
	for _, b := range boots {
		for _, o := range c.services {
			if slices.ContainsFunc(b.pods, func(pod kube.Pod) bool { return pod.SelectedBy(o.kube()) }) {
				b.add(o, graph.Service)
			}
		}
	}
}

func (o *object) kube() kube.Object { return kube.Object{Value: kube.ValueOf(o.node)} }

// cluster lists the objects. It leaves out workloads and Services of which there are several with one name: one may be a patch of the other.
func (l *loader) cluster() *cluster {
	c := &cluster{}
	for _, in := range l.inputs {
		for _, o := range slices.Concat(in.objects, in.others) {
			k := o.kube()
			switch _, pod := kube.PodOf(k); {
			case pod:
				c.workloads = append(c.workloads, o)
			case k.Kind() == "/Service":
				c.services = append(c.services, o)
			case k.Holds():
				c.holders = append(c.holders, k)
			}
		}
	}
	c.workloads, c.services = single(c.workloads), single(c.services)
	return c
}

func single(objects []*object) []*object {
	count := map[string]int{}
	for _, o := range objects {
		count[o.Object.String()]++
	}
	return slices.DeleteFunc(objects, func(o *object) bool { return count[o.Object.String()] > 1 })
}

// booting is the snapshot of a bootstrap, and the pods that run it.
type booting struct {
	*graph.Snapshot
	bootstrap *graph.Resource
	pods      []kube.Pod
}

type boots []*booting

func bootstraps(snapshots []*graph.Snapshot) (all boots) {
	for _, s := range snapshots {
		for _, r := range s.Resources {
			if r.Kind == graph.Bootstrap && r.Delivery == graph.FromBootstrap && r.State == "" {
				all = append(all, &booting{Snapshot: s, bootstrap: r})
			}
		}
	}
	return all
}

// of returns the bootstrap that a container runs, or nil: the key of a ConfigMap or Secret that is mounted where Envoy reads its bootstrap. If the
// input does not have that object, something else makes it of a file: of the one with that name next to the workload or below it.
func (all boots) of(o *object, c kube.Container) *booting {
	line, ok := c.Command()
	config, known := line.Config()
	if !ok || !known {
		return nil
	}
	if m, ok := c.Mount(config); ok {
		for _, key := range m.Keys() {
			if holder, ok := c.Holder(key); ok {
				return all.in(holder, key)
			}
		}
	}
	if !line.Certain() {
		return nil
	}
	return all.file(filepath.Dir(o.in.path), path.Base(config))
}

// in returns the bootstrap in a key of an object, or the only one in it if it does not have the key.
func (all boots) in(holder kube.Object, key kube.Key) *booting {
	var inside boots
	for _, b := range all {
		o := b.bootstrap.Object
		if o == nil || "/"+o.Kind != key.Kind || o.Name != key.Name || o.Namespace != holder.Namespace() {
			continue
		}
		if in, _ := b.bootstrap.Within.Key(); in == key.Key {
			return b
		}
		inside = append(inside, b)
	}
	if len(inside) == 1 && !slices.Contains(holder.Data(), key.Key) {
		return inside[0]
	}
	return nil
}

// file returns the only bootstrap in a file of a name in or below a folder.
func (all boots) file(folder, name string) (found *booting) {
	for _, b := range all {
		file := filepath.ToSlash(b.bootstrap.File.Name)
		rel, err := filepath.Rel(folder, filepath.FromSlash(file))
		if b.bootstrap.Object != nil || path.Base(file) != name || err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		if found != nil {
			return nil
		}
		found = b
	}
	return found
}

func (b *booting) runs(o *object, c kube.Container) {
	b.pods = append(b.pods, c.Pod)
	b.add(o, graph.Workload).Runs = &c
}

func (b *booting) add(o *object, kind graph.Kind) *graph.Resource {
	r := &graph.Resource{Kind: kind, Name: o.Object.String(), File: o.in.file, Text: tree.TextOf(o.node), Object: o.Object}
	b.Add(r)
	o.in.takes(o)
	return r
}

// takes makes an object one of those that are read.
func (in *input) takes(o *object) {
	in.file.Unrecognised = false
	if in.as == nothing {
		in.as = manifest
	}
	if !slices.Contains(in.objects, o) {
		in.objects = append(in.objects, o)
	}
	in.others = slices.DeleteFunc(in.others, func(other *object) bool { return other == o })
}
