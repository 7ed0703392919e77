package bootstrap

import (
	"fmt"
	"slices"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "overload-action",
	Severity: lint.Error,
	Summary:  "an overload action is unknown, or its configuration does not fit",
	Links:    []string{"OverloadManagerImpl::OverloadManagerImpl (source/server/overload_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		o, at := b.GetOverloadManager(), at.Field("overload_manager")
		timers := scaled{}
		for i, a := range o.GetActions() {
			action := newAction(at.Item("actions", i), a)
			if p.Target.Before("1.40") {
				action.checkOlder(p, o)
			} else {
				action.check(p, o)
			}
			timers.add(p, action)
		}
		if !p.Target.Before("1.40") {
			checkShedPoints(p, at, o)
		}
	}),
})

func checkShedPoints(p *lint.Pass, at lint.At, o *overloadv3.OverloadManager) {
	for i, point := range o.GetLoadshedPoints() {
		k := slices.IndexFunc(o.GetActions(), func(a *overloadv3.OverloadAction) bool { return a.GetName() == point.GetName() })
		if k < 0 {
			continue
		}
		p.Reject(at.Item("loadshed_points", i).Field("name"), lint.Rejection{
			Message:  fmt.Sprintf("%q is the name of an action", point.GetName()),
			Help:     "write the name of a load shed point",
			Upstream: fmt.Sprintf("Load shed point \"%s\" conflicts with an overload action of the same name", point.GetName()),
			Related:  []lint.Related{lint.RelatedTo(at.Item("actions", k).Field("name"), "the action")},
		})
	}
}

const (
	actionPrefix = "envoy.overload_actions."
	scaleTimers  = "envoy.config.overload.v3.ScaleTimersOverloadActionConfig"
	shrinkHeap   = "envoy.config.overload.v3.ShrinkHeapConfig"
)

// actions are the names in OverloadActionNames::WellKnownActions.
var actions = []string{
	"close_idle_http_connections", "disable_http_keepalive", "reduce_timeouts", "reject_incoming_connections", "reset_high_memory_stream",
	"shrink_heap", "stop_accepting_connections", "stop_accepting_requests",
}

// overloadAction is an action and its configuration.
type overloadAction struct {
	*overloadv3.OverloadAction
	at     lint.At
	short  string // the name without Envoy's prefix, if it is one of Envoy's
	config proto.Message
	where  lint.At // the configuration
	is     protoreflect.FullName
}

func newAction(at lint.At, a *overloadv3.OverloadAction) overloadAction {
	o := overloadAction{OverloadAction: a, at: at}
	if short, ok := strings.CutPrefix(a.GetName(), actionPrefix); ok && slices.Contains(actions, short) {
		o.short = short
	}
	o.config, o.where = envoy.Content(at.Field("typed_config"), a.GetTypedConfig())
	o.is = configured(at, a.GetTypedConfig())
	return o
}

// configured returns the type of an Any's content, or the type that a TypedStruct names.
func configured(at lint.At, held *anypb.Any) protoreflect.FullName {
	name := decode.TypeName(held.GetTypeUrl())
	content := at.Content(held)
	if !decode.IsTypedStruct(name) || content == nil {
		return name
	}
	url, _ := field(content, "type_url")
	return decode.TypeName(url.String())
}

// check reports the first problem of an action.
func (o overloadAction) check(p *lint.Pass, manager *overloadv3.OverloadManager) {
	name, typed := o.GetName(), o.GetTypedConfig()
	config, scales := o.at.Field("typed_config"), o.is == scaleTimers
	switch {
	case typed != nil && o.is == "":
		p.Reject(config, lint.Rejection{
			Message:  "the typed_config does not have a type",
			Help:     `write its "@type", or remove it`,
			Upstream: fmt.Sprintf("Overload action %q has an invalid typed_config: type_url is empty", name),
		})
	case scales && o.short == "" && strings.HasPrefix(name, actionPrefix):
		p.Reject(o.at.Field("name"), lint.Rejection{
			Message:  fmt.Sprintf("%s is not an action of Envoy, and the name of a custom action cannot begin with %s", name, actionPrefix),
			Help:     o.near("use a name without that prefix"),
			Upstream: fmt.Sprintf("Overload action name %q uses reserved prefix %q", name, actionPrefix),
		})
	case !scales && o.short == "":
		p.Reject(o.at.Field("name"), lint.Rejection{
			Message:  fmt.Sprintf("Envoy does not have an overload action %q", name),
			Help:     o.near("its actions are " + actionPrefix + "{" + strings.Join(actions, ", ") + "}"),
			Upstream: "Unknown Overload Manager Action " + name,
		})
	case scales && o.short != "" && o.short != "reduce_timeouts":
		p.Reject(config, lint.Rejection{
			Message:  o.short + " cannot scale timers",
			Help:     "scale them in " + actionPrefix + "reduce_timeouts, or in an action with a custom name",
			Upstream: fmt.Sprintf("Overload action name %q conflicts with its typed config", name),
		})
	default:
		o.checkKnown(p, manager)
	}
}

// checkKnown reports the problems of Envoy's own actions.
func (o overloadAction) checkKnown(p *lint.Pass, manager *overloadv3.OverloadManager) {
	name, typed, config := o.GetName(), o.GetTypedConfig(), o.at.Field("typed_config")
	switch o.short {
	case "":
	case "reduce_timeouts":
		switch {
		case typed == nil:
			p.Reject(o.at.Field("name"), lint.Rejection{
				Message:  "reduce_timeouts does not list the timers to scale",
				Help:     "add a typed_config of type " + scaleTimers,
				Upstream: fmt.Sprintf("Overload action %q requires typed_config", name),
			})
		case o.is != scaleTimers:
			p.Reject(config, lint.Rejection{
				Message:  "reduce_timeouts is configured by a ScaleTimersOverloadActionConfig",
				Help:     "use that type",
				Upstream: fmt.Sprintf("typed_config resolves to %s instead of %s", o.is, scaleTimers),
			})
		}
	case "reset_high_memory_stream":
		if manager.GetBufferFactoryConfig() == nil {
			p.Reject(o.at.Field("name"), lint.Rejection{
				Message:  "reset_high_memory_stream needs buffer_factory_config",
				Help:     "add overload_manager.buffer_factory_config: {minimum_account_to_track_power_of_two: 20} to track streams from 1 MiB",
				Upstream: fmt.Sprintf("Overload action %q requires buffer_factory_config.", name),
			})
		}
	case "shrink_heap":
		if typed != nil && decode.TypeName(typed.GetTypeUrl()) != shrinkHeap {
			p.Reject(config, lint.Rejection{
				Message:  "shrink_heap is configured by a ShrinkHeapConfig",
				Help:     "use that type, or remove typed_config",
				Upstream: "Unable to unpack as " + shrinkHeap,
			})
		}
	default:
		if typed != nil {
			p.Reject(config, lint.Rejection{
				Message:  o.short + " does not accept a typed_config",
				Help:     "remove it",
				Upstream: fmt.Sprintf("Overload action %q has an unexpected value for the typed_config field", name),
			})
		}
	}
}

// checkOlder reports the problems in versions before 1.40, which support neither actions with custom names nor a TypedStruct.
func (o overloadAction) checkOlder(p *lint.Pass, manager *overloadv3.OverloadManager) {
	name, typed := o.GetName(), o.GetTypedConfig()
	unknown := o.short == "" || o.short == "close_idle_http_connections" && p.Target.Before("1.38")
	switch {
	case unknown:
		p.Reject(o.at.Field("name"), lint.Rejection{
			Message:  fmt.Sprintf("%s does not have an overload action %q", p.Target, name),
			Help:     o.near("its actions are " + actionPrefix + "{" + strings.Join(actions, ", ") + "}"),
			Upstream: "Unknown Overload Manager Action " + name,
		})
	case o.short == "reduce_timeouts" && decode.TypeName(typed.GetTypeUrl()) != scaleTimers:
		p.Reject(o.at.Field("name"), lint.Rejection{
			Message:  "reduce_timeouts is configured by a ScaleTimersOverloadActionConfig",
			Help:     "add a typed_config of that type",
			Upstream: "Unable to unpack as " + scaleTimers,
		})
	default:
		o.checkKnown(p, manager)
	}
}

// near suggests the action that was probably meant, or returns otherwise.
func (o overloadAction) near(otherwise string) string {
	if near := lint.Nearest(strings.TrimPrefix(o.GetName(), actionPrefix), actions); near != "" {
		return fmt.Sprintf("did you mean %q?", actionPrefix+near)
	}
	return otherwise
}

// scaled maps each timer to the action and the place that scale it.
type scaled map[overloadv3.ScaleTimersOverloadActionConfig_TimerType]struct {
	by string
	at lint.At
}

// add reports the timers that are already scaled.
func (s scaled) add(p *lint.Pass, o overloadAction) {
	config, ok := o.config.(*overloadv3.ScaleTimersOverloadActionConfig)
	if !ok {
		return
	}
	for i, factor := range config.GetTimerScaleFactors() {
		timer, at := factor.GetTimer(), o.where.Item("timer_scale_factors", i).Field("timer")
		first, twice := s[timer]
		if !twice {
			s[timer] = struct {
				by string
				at lint.At
			}{o.GetName(), at}
			continue
		}
		upstream := fmt.Sprintf("Found duplicate entry for timer type %s", timer)
		if first.by != o.GetName() {
			upstream = fmt.Sprintf("Timer type is configured by both overload actions %q and %q", first.by, o.GetName())
		}
		p.Reject(at, lint.Rejection{
			Message:  fmt.Sprintf("the timer %s is already scaled", timer),
			Help:     "keep one of them",
			Upstream: upstream,
			Related:  []lint.Related{lint.RelatedTo(first.at, "the first time")},
		})
	}
}
