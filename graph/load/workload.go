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

// runs returns which containers of the input run which bootstraps, and gives the bootstraps what the containers merge over them. It reads those that
// are on the command line.
func (l *loader) runs() []*run {
	m := l.manifests()
	if len(m.workloads) == 0 {
		return nil
	}
	var runs []*run
	boots := l.boots()
	for _, o := range m.workloads {
		pod, _ := kube.PodOf(o.kube())
		holders := m.mounted(o, pod)
		for container := range pod.Containers() {
			for _, holder := range holders {
				container.Given = append(container.Given, holder.kube())
			}
			b := boots.of(o, container, holders)
			if b == nil {
				b = l.onCommandLine(o, container)
			}
			if b != nil && (b.in.file == o.in.file || m.single(o)) {
				runs = append(runs, &run{b, o, &container, m.serving(o, pod)})
			}
		}
	}
	l.overlay(runs)
	return runs
}

func (o *object) kube() kube.Object { return kube.Object{Value: kube.ValueOf(o.node)} }

// manifests are the Kubernetes objects of an input.
type manifests struct {
	workloads []*object
	holders   map[string][]*object // ConfigMaps and Secrets, by kube.Key.Object
	services  map[string][]*object // by the first label that they select
	count     map[string]int       // of objects, by their full name
	left      int                  // how often a Service may still be compared with a pod
}

// comparisons limits how often Services are compared with pods: in an input where all have the same labels, the cost grows with the square.
const comparisons = 10_000

func (l *loader) manifests() *manifests {
	m := &manifests{holders: map[string][]*object{}, services: map[string][]*object{}, count: map[string]int{}, left: comparisons}
	for _, in := range l.inputs {
		for _, o := range slices.Concat(in.objects, in.others) {
			m.note(o)
		}
	}
	return m
}

func (m *manifests) note(o *object) {
	k := o.kube()
	m.count[o.String()]++
	if _, pod := kube.PodOf(k); pod {
		m.workloads = append(m.workloads, o)
	}
	if k.Holds() {
		id := k.Kind() + " " + k.Name()
		m.holders[id] = append(m.holders[id], o)
	}
	for _, label := range k.Selects() {
		m.services[label] = append(m.services[label], o)
		return
	}
}

// single reports whether no other object has the name of an object. Of two, one may be a patch of the other.
func (m *manifests) single(o *object) bool { return m.count[o.String()] == 1 }

// means reports whether a workload can mean an object: of several with one name, only the one in its own file.
func (m *manifests) means(workload, o *object) bool { return workload.in == o.in || m.single(o) }

// mounted returns the ConfigMaps and Secrets in the volumes of a workload.
func (m *manifests) mounted(o *object, pod kube.Pod) (all []*object) {
	for _, id := range pod.Mounts() {
		for _, holder := range m.holders[id] {
			if m.means(o, holder) {
				all = append(all, holder)
			}
		}
	}
	return all
}

// serving returns the Services that send traffic to the pods of a workload.
func (m *manifests) serving(o *object, pod kube.Pod) (all []*object) {
	for _, label := range pod.Labels() {
		for _, service := range m.services[label] {
			if m.left == 0 {
				return all
			}
			m.left--
			if m.means(o, service) && pod.SelectedBy(service.kube()) {
				all = append(all, service)
			}
		}
	}
	return all
}

// booting is a bootstrap.
type booting struct {
	in       *input
	services map[*object]bool // that its snapshot has
}

// boots are the bootstraps of an input.
type boots struct {
	inside map[*graph.Object][]*booting
	files  map[string][]*booting // by the last part of the path
}

func (l *loader) boots() *boots {
	all := &boots{map[*graph.Object][]*booting{}, map[string][]*booting{}}
	for _, in := range l.inputs {
		if in.as == bootstrap {
			base := path.Base(filepath.ToSlash(in.file.Name))
			all.files[base] = append(all.files[base], newBooting(in))
		}
		for _, o := range in.objects {
			if o.texts == nil {
				continue
			}
			for _, text := range o.texts.inputs {
				if text.as == bootstrap {
					all.inside[o.Object] = append(all.inside[o.Object], newBooting(text))
				}
			}
		}
	}
	return all
}

func newBooting(in *input) *booting { return &booting{in, map[*object]bool{}} }

// of returns the bootstrap that a container runs, or nil: the key of a ConfigMap or Secret that is mounted where Envoy reads its bootstrap. If the
// input does not have that object, something else makes it of a file: of the one with that name next to the workload or below it.
func (all *boots) of(o *object, c kube.Container, holders []*object) *booting {
	line, ok := c.Command()
	config, known := line.Config()
	if !ok || !known {
		return nil
	}
	if m, ok := c.Mount(config); ok {
		for _, key := range m.Keys() {
			found, ok := c.Holder(key)
			for _, holder := range holders {
				if ok && found.Is(holder.node) {
					return all.in(holder, key.Key)
				}
			}
		}
	}
	if !line.Certain() {
		return nil
	}
	return all.file(filepath.Dir(o.in.path), path.Base(config))
}

// in returns the bootstrap in a key of an object, or the only one in it if it does not have the key.
func (all *boots) in(holder *object, key string) *booting {
	inside := all.inside[holder.Object]
	for _, b := range inside {
		if in, _ := b.in.within.Key(); in == key {
			return b
		}
	}
	if len(inside) == 1 && !slices.Contains(holder.kube().Data(), key) {
		return inside[0]
	}
	return nil
}

// file returns the only bootstrap in a file of a name in or below a folder.
func (all *boots) file(folder, name string) (found *booting) {
	for _, b := range all.files[name] {
		rel, err := filepath.Rel(folder, b.in.file.Name)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		if found != nil {
			return nil
		}
		found = b
	}
	return found
}

// run is a container that runs a bootstrap.
type run struct {
	*booting
	workload  *object
	container *kube.Container
	services  []*object
}

// add adds the workload to the snapshot, and its Services that the snapshot does not have: two workloads can have one Service.
func (r *run) add() {
	if r.in.snapshot == nil {
		return
	}
	r.put(r.workload, graph.Workload)
	for _, service := range r.services {
		r.container.Services = append(r.container.Services, service.kube())
		if !r.booting.services[service] {
			r.booting.services[service] = true
			r.put(service, graph.Service)
		}
	}
}

func (r *run) put(o *object, kind graph.Kind) {
	r.in.snapshot.Add(&graph.Resource{Kind: kind, Name: o.String(), File: o.in.file, Text: tree.TextOf(o.node), Object: o.Object, Runs: r.container})
	o.in.takes(o)
}

// takes makes an object one of those that are read.
func (in *input) takes(o *object) {
	in.file.Unrecognised = false
	if in.as == nothing {
		in.as = manifest
	}
	if i := slices.Index(in.others, o); i >= 0 {
		in.others = slices.Delete(in.others, i, i+1)
		in.objects = append(in.objects, o)
	}
}
