package kube

import (
	"math/big"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Container is a container of a pod.
type Container struct {
	Value
	Pod      Pod
	Given    []Object // the ConfigMaps and Secrets of the input
	Services []Object // of the input that select the pod

	mounts map[string]Mount // by their paths
}

func (p Pod) container(v Value) Container {
	c := Container{Value: v, Pod: p, mounts: map[string]Mount{}}
	volumes := map[string]Value{}
	for volume := range p.Field("spec", "volumes").Items() {
		volumes[volume.Field("name").Text()] = volume
	}
	for at := range v.Field("volumeMounts").Items() {
		c.mounts[path.Clean("/"+at.Field("mountPath").Text())] = Mount{At: at, volume: volumes[at.Field("name").Text()]}
	}
	return c
}

// Limit returns the most that the container may use of a resource: bytes of memory, or processors.
func (c Container) Limit(of string) (limit *big.Rat, at Value, ok bool) {
	at = c.Field("resources", "limits", of)
	limit, ok = quantity(at.Text())
	return limit, at, ok
}

// variants are what the names of Envoy's images may continue with, after a dash.
var variants = []string{"distroless", "contrib", "debug", "dev", "alpine"}

var release = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|-)v?(1\.[0-9]+)(?:[.-]|$)`) })

// Image returns whether the container runs an image of Envoy, and the version in its tag: 1.40; empty if it does not say.
func (c Container) Image() (version string, ok bool) {
	name, _, _ := strings.Cut(path.Base(c.Field("image").Text()), "@")
	name, tag, _ := strings.Cut(name, ":")
	words := strings.Split(name, "-")
	if words[0] != "envoy" || slices.ContainsFunc(words[1:], func(word string) bool { return !slices.Contains(variants, word) }) {
		return "", false
	}
	if found := release().FindStringSubmatch(tag); found != nil {
		version = found[1]
	}
	return version, true
}

// Mount is where a container finds a file: a key of a ConfigMap or a Secret, or something in another volume.
type Mount struct {
	At     Value // of the container's volumeMounts
	volume Value
	file   string // in the volume
}

// longestPath is the limit of Linux.
const longestPath = 4096

// Mount returns where the container finds a file. ok is false if it is not in a volume, or not certainly.
func (c Container) Mount(file string) (m Mount, ok bool) {
	if len(file) > longestPath {
		return Mount{}, false
	}
	file = path.Clean(file)
	for folder := file; path.IsAbs(file); folder = path.Dir(folder) {
		if m, ok = c.mounts[folder]; ok {
			rest := strings.TrimPrefix(file, strings.TrimSuffix(folder, "/"))
			m.file = strings.TrimPrefix(path.Join("/", m.At.Field("subPath").Text(), rest), "/")
			return m, m.volume.Exists() && !m.At.Field("subPathExpr").Exists()
		}
		if folder == "/" {
			break
		}
	}
	return Mount{}, false
}

// Single reports whether only a part of the volume is mounted. Kubernetes never updates such a mount.
func (m Mount) Single() bool { return m.At.Field("subPath").Text() != "" }

// Key is a key of a ConfigMap or a Secret.
type Key struct {
	Kind string // as Object.Kind has it
	Name string // of the object
	Key  string // empty: none of its keys has the file's name
}

// Keys returns the keys that the file can be: of the volume's only object, or of one of those that it projects. It is empty for other volumes.
func (m Mount) Keys() (keys []Key) {
	for from := range m.sources() {
		key := Key{from.kind, from.name, m.file}
		if from.items.Exists() {
			key.Key = ""
			for item := range from.items.Items() {
				if path.Clean(item.Field("path").Text()) == m.file {
					key.Key = item.Field("key").Text()
				}
			}
		}
		keys = append(keys, key)
	}
	return keys
}

// projection is an object whose keys are files of a volume.
type projection struct {
	kind, name string
	items      Value // which keys; all if it does not exist
}

func (m Mount) sources() func(yield func(projection) bool) {
	of := func(v Value, secretName string) (projection, bool) {
		if o := v.Field("configMap"); o.Exists() {
			return projection{"/ConfigMap", o.Field("name").Text(), o.Field("items")}, true
		}
		o := v.Field("secret")
		return projection{"/Secret", o.Field(secretName).Text(), o.Field("items")}, o.Exists()
	}
	return func(yield func(projection) bool) {
		if s, ok := of(m.volume, "secretName"); ok {
			yield(s)
			return
		}
		for projected := range m.volume.Field("projected", "sources").Items() {
			if s, ok := of(projected, "name"); ok && !yield(s) {
				return
			}
		}
	}
}

// Holder returns the object of a key. ok is false if the input does not have it, or several of that name.
func (c Container) Holder(key Key) (found Object, ok bool) {
	n := 0
	for _, o := range c.Given {
		if o.Kind() == key.Kind && o.Name() == key.Name && o.Near(c.Pod.Of) {
			found = o
			n++
		}
	}
	return found, n == 1
}
