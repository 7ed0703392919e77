package route

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "redirect-is-url",
	Severity: lint.Warning,
	Summary:  "the host or the path of a redirect is a URL",
	Links: []string{
		"Utility::newUri (source/common/http/utility.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-redirectaction",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RedirectAction) {
		if _, ok := tableOf(p, at); !ok {
			return
		}
		if host := m.GetHostRedirect(); strings.Contains(host, "/") {
			p.Report(at.Field("host_redirect"), lint.Diagnostic{
				Message: fmt.Sprintf("the location of this redirect is http://%s…", host),
				Notes:   []string{"Envoy writes the scheme, host_redirect and the path one after the other"},
				Help:    "write only the name of the host; the scheme and the path have fields of their own, such as https_redirect and path_redirect",
			})
		}
		if path := m.GetPathRedirect(); hasScheme().MatchString(path) {
			p.Report(at.Field("path_redirect"), lint.Diagnostic{
				Message: fmt.Sprintf("the location of this redirect is http://HOST/%s", path),
				Notes:   []string{"Envoy writes the scheme, the host and path_redirect one after the other"},
				Help:    "write only the path; the scheme and the host have fields of their own, such as https_redirect and host_redirect",
			})
		}
	}),
})

var hasScheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://`) })
