package route

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-action-unfit",
	Severity: lint.Error,
	Summary:  "a virtual host's matcher has an action that is not a route, or continues after a match",
	Links: []string{
		"MatchTreeFactory::createOnMatchBase (source/common/matcher/matcher.h)",
		"RouteMatchActionFactory (source/common/router/config_impl.h)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		switch m.Descriptor().FullName() {
		case "google.protobuf.Any":
			if at.Place.Parent != nil {
				checkAction(p, at)
			}
		case "xds.type.matcher.v3.Matcher.OnMatch", "envoy.config.common.matcher.v3.Matcher.OnMatch":
			fd := m.Descriptor().Fields().ByName("keep_matching")
			if fd == nil || !m.Get(fd).Bool() || !inVirtualHost(at.Place) {
				return
			}
			if _, ok := tableOf(p, at); ok {
				p.Reject(at.Field("keep_matching").Key(), lint.Rejection{
					Message:  "a virtual host's matcher cannot continue after a match",
					Help:     "remove keep_matching; to try several routes in order, write a RouteList",
					Upstream: "keep_matching is not supported",
				})
			}
		}
	}, "google.protobuf.Any", "xds.type.matcher.v3.Matcher.OnMatch", "envoy.config.common.matcher.v3.Matcher.OnMatch"),
})

func checkAction(p *lint.Pass, at lint.At) {
	action := at.Place.Parent.At()
	switch holder(action) {
	case "xds.type.matcher.v3.Matcher.OnMatch.action", "envoy.config.common.matcher.v3.Matcher.OnMatch.action":
	default:
		return
	}
	name := envoy.ExtensionType(at.Place)
	if name == "" || name == "envoy.config.route.v3.Route" || name == "envoy.config.route.v3.RouteList" || !inVirtualHost(action.Place) {
		return
	}
	if _, ok := tableOf(p, action); ok {
		p.Reject(action.Field("typed_config", "@type"), lint.Rejection{
			Message:  fmt.Sprintf("a virtual host's matcher cannot have the action %s", name),
			Help:     "write an envoy.config.route.v3.Route or RouteList",
			Upstream: fmt.Sprintf("Didn't find a registered implementation for '%s' with type URL: '%s'", stringOf(action, "name"), name),
		})
	}
}
