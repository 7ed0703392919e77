package http

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	processv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/filters/process_ratelimit/v3"
	fluentdv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/fluentd/v3"
	telemetryv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/open_telemetry/v3"
	statsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stats/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "access-log-invalid",
	Severity: lint.Error,
	Summary:  "an access log has a value that its code rejects, or lacks one that it needs",
	Links: []string{
		"StatsAccessLog::StatsAccessLog (source/extensions/access_loggers/stats/stats.cc)",
		"OpenTelemetryFormatter (source/extensions/access_loggers/open_telemetry/substitution_formatter.cc)",
		"FluentdAccessLogFactory::createAccessLogInstance (source/extensions/access_loggers/fluentd/config.cc)",
		"ProcessRateLimitFilter (source/extensions/access_loggers/filters/process_ratelimit/filter.cc)",
	},
	Run: read.Each(read.Of(stats), read.Of(telemetry), read.Of(processLimit), read.Of(fluentd)),
})

func stats(p *lint.Pass, at lint.At, m *statsv3.Config) {
	prefix, scope := m.GetStatPrefix() != "", m.GetStatsScope() != nil //nolint:staticcheck // deprecated, and in use
	if prefix == scope && !p.Target.Before("1.39") {
		p.Reject(at, lint.Rejection{
			Message:  "the access log needs one of stats_scope and stat_prefix",
			Help:     "write stats_scope: {prefix: …}",
			Upstream: "Either 'stat_prefix' or 'stats_scope' must be configured, but not both.",
		})
	}
	for i, c := range m.GetCounters() {
		checkStatValue(p, at.Item("counters", i), "counter", c.GetValueFormat() != "", c.GetValueFixed() != nil)
	}
	if p.Target.Before("1.38") {
		return // gauges were something else
	}
	for i, g := range m.GetGauges() {
		own := at.Item("gauges", i)
		checkStatValue(p, own, "gauge", g.GetValueFormat() != "", g.GetValueFixed() != nil)
		checkGauge(p, own, g)
	}
}

func fluentd(p *lint.Pass, at lint.At, m *fluentdv3.FluentdAccessLogConfig) {
	checkIntervals(p, at.Field("retry_options", "backoff_options"), m.GetRetryOptions().GetBackoffOptions(),
		"max_backoff_interval must be greater or equal to base_backoff_interval")
}

func checkStatValue(p *lint.Pass, at lint.At, kind string, format, fixed bool) {
	switch {
	case format && fixed:
		p.Reject(at.Field("value_fixed").Key(), lint.Rejection{
			Message:  "value_fixed cannot be combined with value_format",
			Help:     "keep one of them",
			Upstream: "Stats logger cannot have both `value_format` and `value_fixed` configured.",
		})
	case !format && !fixed:
		p.Reject(at, lint.Rejection{
			Message:  "the " + kind + " does not have a value",
			Help:     "add value_fixed: 1, or a value_format",
			Upstream: "Stats logger " + kind + " must have either `value_format` or `value_fixed`.",
		})
	}
}

func checkGauge(p *lint.Pass, at lint.At, g *statsv3.Config_Gauge) {
	const help = "write set: {log_type: …}, or add_subtract: {add_log_type: …, sub_log_type: …}"
	pair := g.GetAddSubtract()
	switch {
	case g.GetSet() == nil && pair == nil:
		p.Reject(at, lint.Rejection{
			Message: "the gauge is never changed", Help: help,
			Upstream: "Stats logger gauge must have at least one operation configured.",
		})
	case g.GetSet() != nil && pair != nil:
		p.Reject(at.Field("set").Key(), lint.Rejection{
			Message: "set cannot be combined with add_subtract", Help: "keep one of them",
			Upstream: "Stats logger gauge cannot have both SET and PAIRED_ADD/PAIRED_SUBTRACT operations.",
		})
	case g.GetSet() != nil && g.GetSet().GetLogType() == datav3.AccessLogType_NotSet:
		p.Reject(at.Field("set"), lint.Rejection{
			Message: "the gauge does not say when it is set", Help: help,
			Upstream: "Stats logger gauge set operation must have a valid log type.",
		})
	case pair == nil:
	case pair.GetAddLogType() == datav3.AccessLogType_NotSet || pair.GetSubLogType() == datav3.AccessLogType_NotSet:
		p.Reject(at.Field("add_subtract"), lint.Rejection{
			Message: "the gauge does not say when it is added to and subtracted from", Help: help,
			Upstream: "Stats logger gauge add/subtract operation must have a valid log type.",
		})
	case pair.GetAddLogType() == pair.GetSubLogType():
		p.Reject(at.Field("add_subtract", "sub_log_type"), lint.Rejection{
			Message: "the gauge is added to and subtracted from at the same time", Help: "write another log type",
			Upstream: "Duplicate access log type in gauge operations.",
		})
	}
}

func telemetry(p *lint.Pass, at lint.At, m *telemetryv3.OpenTelemetryAccessLogConfig) {
	if body := m.GetBody().ProtoReflect(); m.GetBody().GetValue() != nil {
		checkLogged(p, at.Field("body"), body)
	}
	if m.GetAttributes() != nil {
		checkLoggedList(p, at.Field("attributes"), m.GetAttributes().ProtoReflect())
	}
}

// checkLogged reports a value that is not a text, or a list or map of those.
func checkLogged(p *lint.Pass, at lint.At, value protoreflect.Message) {
	kind := value.WhichOneof(value.Descriptor().Oneofs().ByName("value"))
	switch {
	case kind == nil || kind.Message() == nil && kind.Name() != "string_value":
		p.Reject(at, lint.Rejection{
			Message:  "the value is not a text",
			Help:     `write string_value: "…", which can be a format`,
			Upstream: "Only string values, nested key value lists and array values are supported in OpenTelemetry access log format.",
		})
	case kind.Message() != nil:
		checkLoggedList(p, at.Field(string(kind.Name())), value.Get(kind).Message())
	}
}

// checkLoggedList checks the values of an ArrayValue or a KeyValueList.
func checkLoggedList(p *lint.Pass, at lint.At, m protoreflect.Message) {
	values := m.Get(m.Descriptor().Fields().ByName("values")).List()
	for i := range values.Len() {
		own, item := at.Item("values", i), values.Get(i).Message()
		if fd := item.Descriptor().Fields().ByName("key"); fd != nil {
			own, item = own.Field("value"), item.Get(item.Descriptor().Fields().ByName("value")).Message()
		}
		checkLogged(p, own, item)
	}
}

func processLimit(p *lint.Pass, at lint.At, m *processv3.ProcessRateLimitFilter) {
	if m.GetDynamicConfig() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the rate limit of the access log does not have a bucket",
			Help:     "add dynamic_config",
			Upstream: "`dynamic_config` is required.",
		})
	}
}
