package walk

import (
	"slices"
	"strconv"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// mapReply follows LocalReplyImpl::rewrite: the first mapper that takes the reply changes it.
func (j *journey) mapReply() {
	config := j.manager.message.GetLocalReplyConfig()
	format := config.GetBodyFormat()
	for i, m := range config.GetMappers() {
		fits := j.takesReply(m.GetFilter())
		if fits == match.Perhaps {
			j.answer.doubt(unknownStatus, "mappers["+strconv.Itoa(i)+"] of local_reply_config depends on what is not modelled")
			j.answer.doubt("body", j.answer.Unknown[unknownStatus])
			return
		}
		if fits == match.No {
			continue
		}
		j.apply(m)
		if m.GetBodyFormatOverride() != nil {
			format = m.GetBodyFormatOverride()
		}
		break
	}
	if format != nil && j.answer.Body != nil {
		j.answer.doubt("body", "local_reply_config formats it")
	}
}

// bodiless reports whether the route answers without a body: such a reply does not keep a content-type (Utility::prepareLocalReply).
func (j *journey) bodiless() bool {
	a := j.answer
	if a.Details != directResponse || a.Body != nil && *a.Body != "" || a.Unknown["body"] != "" {
		return false
	}
	var by *corev3.DataSource
	if j.level != nil {
		by = j.level.Route.GetDirectResponse().GetBody()
	}
	return by.GetInlineString() == "" && len(by.GetInlineBytes()) == 0
}

// apply changes a reply as a mapper says.
func (j *journey) apply(m *hcmv3.ResponseMapper) {
	if m.GetStatusCode() != nil {
		*j.answer.Status = int(m.GetStatusCode().GetValue())
	}
	j.mutateAnswer(m.GetHeadersToAdd(), nil)
	switch by := m.GetBody(); {
	case by.GetFilename() != "" || by.GetEnvironmentVariable() != "":
		j.answer.doubt("body", "it comes from the machine of Envoy")
	case by != nil && j.request.Method != "HEAD":
		text := by.GetInlineString() + string(by.GetInlineBytes())
		j.answer.Body = &text
	}
}

// takesReply reports whether the filter of a mapper takes the reply (AccessLog::FilterFactory::fromProto).
func (j *journey) takesReply(f *accesslogv3.AccessLogFilter) match.Overlap {
	switch by := f.GetFilterSpecifier().(type) {
	case *accesslogv3.AccessLogFilter_StatusCodeFilter:
		return j.compares(by.StatusCodeFilter.GetComparison(), uint64(*j.answer.Status))
	case *accesslogv3.AccessLogFilter_HeaderFilter:
		return j.fitsHeader(by.HeaderFilter.GetHeader(), j.headers)
	case *accesslogv3.AccessLogFilter_ResponseFlagFilter:
		return certain(j.flagged(by.ResponseFlagFilter.GetFlags()))
	case *accesslogv3.AccessLogFilter_NotHealthCheckFilter:
		return certain(!strings.HasPrefix(j.answer.Details, "health_check_"))
	case *accesslogv3.AccessLogFilter_AndFilter:
		return allOf(by.AndFilter.GetFilters(), j.takesReply)
	case *accesslogv3.AccessLogFilter_OrFilter:
		return anyOf(by.OrFilter.GetFilters(), j.takesReply)
	}
	return match.Perhaps
}

// flagged reports whether the answer has one of some flags, or any flag if there are none. Envoy notes a protocol error after the reply.
func (j *journey) flagged(flags []string) bool {
	own := strings.Split(j.answer.Flags, ",")
	switch {
	case j.answer.Flags == protocolError:
		return false
	case len(flags) == 0:
		return j.answer.Flags != "-"
	}
	return slices.ContainsFunc(flags, func(flag string) bool { return slices.Contains(own, flag) })
}

// compares reports whether a number is as a filter wants it. The runtime can replace what it is compared with.
func (j *journey) compares(c *accesslogv3.ComparisonFilter, number uint64) match.Overlap {
	with := j.runtime.Integer(c.GetValue().GetRuntimeKey(), uint64(c.GetValue().GetDefaultValue()))
	switch c.GetOp() {
	case accesslogv3.ComparisonFilter_GE:
		return certain(number >= with)
	case accesslogv3.ComparisonFilter_LE:
		return certain(number <= with)
	case accesslogv3.ComparisonFilter_NE:
		return certain(number != with)
	}
	return certain(number == with)
}
