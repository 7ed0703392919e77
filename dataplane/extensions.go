package dataplane

// Extension is an extension of a build, as the build itself reports it.
type Extension struct {
	Category string
	Name     string
	TypeURLs []string // of its configurations, without "type.googleapis.com/"; empty if it has no configuration
}

// Extensions are the extensions of one build.
type Extensions struct {
	categories []string
	byTypeURL  map[string][]Extension
	byName     map[string][]Extension
}

// ByTypeURL returns the extensions, in all categories, that a message type configures. The url has no "type.googleapis.com/".
func (x *Extensions) ByTypeURL(url string) []Extension { return x.byTypeURL[url] }

// ByName returns the extensions with a name. Several categories can have an extension with the same name.
func (x *Extensions) ByName(name string) []Extension { return x.byName[name] }

// Categories returns all categories, sorted.
func (x *Extensions) Categories() []string { return x.categories }

func (x *Extensions) add(e Extension) {
	x.byName[e.Name] = append(x.byName[e.Name], e)
	for _, url := range e.TypeURLs {
		x.byTypeURL[url] = append(x.byTypeURL[url], e)
	}
	x.categories = append(x.categories, e.Category)
}
