package graph

// Patch is a message that a Kubernetes object adds to the output of a control plane: a part of a resource, or a
// resource among others that are not known here.
const Patch Kind = "patch"

// Object is a Kubernetes object that holds resources or patches.
type Object struct {
	Kind      string
	Namespace string // empty: that of the client that applies it
	Name      string
	Span      Span // of the whole object, in its file
}

// The kinds of objects that hold patches.
const (
	EnvoyFilter      = "EnvoyFilter"      // networking.istio.io
	EnvoyPatchPolicy = "EnvoyPatchPolicy" // gateway.envoyproxy.io
)

// String returns the object's kind and name: EnvoyFilter shop/retries.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Secret reports whether the object is a Secret, whose content must not be shown.
func (o *Object) Secret() bool { return o != nil && o.Kind == "Secret" }

// InObject returns the path of a field of the resource in its object: spec.configPatches[0].patch.value.typed_config.
// For a resource in a text of the object it is the path of the text. It is nil outside of objects.
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
