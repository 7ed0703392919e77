package graph

// Patch is a message that a Kubernetes object puts into what a control plane makes: no resource, but part of one, or one among others that
// are not known here.
const Patch Kind = "patch"

// Object is a Kubernetes object that holds resources or patches.
type Object struct {
	Kind      string
	Namespace string // empty: that of whoever applies it
	Name      string
	Span      Span // of all of it, in its file
}

// The kinds of objects that hold patches.
const (
	EnvoyFilter      = "EnvoyFilter"      // networking.istio.io
	EnvoyPatchPolicy = "EnvoyPatchPolicy" // gateway.envoyproxy.io
)

// String names the object: EnvoyFilter shop/retries.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Secret tells whether nothing of the object must be shown.
func (o *Object) Secret() bool { return o != nil && o.Kind == "Secret" }

// InObject is where a field of the resource stands in its object: spec.configPatches[0].patch.value.typed_config. A resource that is part of
// a text in the object stands where the text does. It is nil outside of objects.
func (r *Resource) InObject(p *Path) *Path {
	switch {
	case r.Object == nil:
		return nil
	case r.Kind != Patch && r.Within != nil:
		return r.Within
	}
	if rest, ok := p.TrimPrefix(r.Around); ok {
		p = rest
	}
	return r.Within.Join(p)
}
