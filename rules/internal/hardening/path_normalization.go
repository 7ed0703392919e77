package hardening

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "path-normalization",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Warning, lint.Mesh: lint.Info, lint.Internal: lint.Info},
	Summary:  "routes or filters decide by the path, and one resource can have several paths",
	Links: []string{
		edgeDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/http_conn_man",
	},
	Run: eachRouted(func(p *lint.Pass, m managers.Manager) {
		missing := unnormalized(m.Message, envoy.RuntimeOf(p.Snapshot))
		if len(missing) == 0 || !decidesByPath(m) {
			return
		}
		var edits []lint.Edits
		var paths []string
		for _, field := range missing {
			paths = append(paths, spellings[field])
			if field != escapedSlashes {
				edits = append(edits, write(m.At, field, true))
			}
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("without %s, routes and policies for /admin do not take %s", words.And(missing), words.And(paths)),
			Notes:   []string{"Envoy compares the path as the client wrote it, and the upstream may take all of these for /admin"},
			Help:    "set normalize_path: true, merge_slashes: true and path_with_escaped_slashes_action: UNESCAPE_AND_REDIRECT; for clients that cannot follow redirects, REJECT_REQUEST",
		}
		if len(edits) > 0 {
			d.Fixes = lint.Together(edits...).Likely("normalize paths")
		}
		p.Report(m.At.Field(missing[0]), d)
	}),
})

const escapedSlashes = "path_with_escaped_slashes_action"

// spellings are paths that the settings resolve to /admin, or do not let through.
var spellings = map[string]string{"normalize_path": "/x/../admin", "merge_slashes": "//admin", escapedSlashes: "/x%2F..%2Fadmin"}

// unnormalized returns the settings that are missing, and that the runtime does not replace either.
func unnormalized(m *hcmv3.HttpConnectionManager, runtime envoy.Runtime) (missing []string) {
	if m.GetPathNormalizationOptions() != nil {
		return nil
	}
	if m.GetNormalizePath() == nil && runtime.Integer("http_connection_manager.normalize_path", 0) == 0 {
		missing = append(missing, "normalize_path")
	}
	if !m.GetMergeSlashes() {
		missing = append(missing, "merge_slashes")
	}
	if m.GetPathWithEscapedSlashesAction() == hcmv3.HttpConnectionManager_IMPLEMENTATION_SPECIFIC_DEFAULT &&
		runtime.Integer("http_connection_manager.path_with_escaped_slashes_action", 0) == 0 {
		missing = append(missing, escapedSlashes)
	}
	return missing
}

// decidesByPath reports whether filters authorize requests, or routes distinguish paths.
func decidesByPath(m managers.Manager) bool {
	if slices.ContainsFunc(m.Filters, envoy.HTTPFilter.Authorizes) {
		return true
	}
	for l := range m.Routes.Levels {
		if l.Route != nil && l.Cluster == nil && comparesPath(l.Route.GetMatch()) {
			return true
		}
	}
	return false
}

func comparesPath(m *routev3.RouteMatch) bool {
	_, prefix := m.GetPathSpecifier().(*routev3.RouteMatch_Prefix)
	return !prefix || m.GetPrefix() != "/" && m.GetPrefix() != ""
}
