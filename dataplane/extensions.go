package dataplane

// Extension is something that a build can be told to use, as the build itself reports it.
type Extension struct {
	Category string
	Name     string
	TypeURLs []string // of its configurations, without a prefix; some extensions take none
}

// Extensions are those of one build.
type Extensions struct {
	categories []string
	byTypeURL  map[string][]Extension
	byName     map[string][]Extension
}

// ByTypeURL returns the extensions that a message type configures, of all categories; url has no "type.googleapis.com/".
func (x *Extensions) ByTypeURL(url string) []Extension { return x.byTypeURL[url] }

// ByName returns the extensions of that name; a name can occur in several categories.
func (x *Extensions) ByName(name string) []Extension { return x.byName[name] }

// Categories lists all categories, sorted.
func (x *Extensions) Categories() []string { return x.categories }

func (x *Extensions) add(e Extension) {
	x.byName[e.Name] = append(x.byName[e.Name], e)
	for _, url := range e.TypeURLs {
		x.byTypeURL[url] = append(x.byTypeURL[url], e)
	}
	x.categories = append(x.categories, e.Category)
}
