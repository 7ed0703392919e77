package walk

import (
	"strings"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	earlyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
)

// The details of what the connection manager answers (source/common/stream_info).
const (
	missingHost       = "missing_host_header"
	missingPath       = "missing_path_rejected"
	notRelative       = "absolute_path_rejected"
	pathNormalization = "path_normalization_failed"
	invalidPath       = "invalid_path"
	queryUntyped      = "query_missing_content_type"
)

const requestID = "x-request-id"

// manage follows ConnectionManagerImpl::ActiveStream::decodeHeaders up to the choice of the route.
func (j *journey) manage() bool {
	switch p, has := j.headers.get(path); {
	case !j.headers.has(authority):
		return j.replies(400, missingHost)
	case j.badHeaders() != "":
		return j.replies(400, j.badHeaders())
	case !j.pathless && p == "":
		return j.replies(404, missingPath)
	case !j.rewriteDatagrams(p):
		return j.replies(404, invalidPath)
	case has && p[0] != '/':
		return j.replies(404, notRelative)
	}
	if !j.normalizePath() {
		return false
	}
	before := j.headers.value(authority)
	after := match.Host(before, j.manager.message, uint32(j.conn.Destination.Port()))
	j.headers.set(authority, after)
	if j.headers.value(method) == "CONNECT" {
		j.port = strings.TrimPrefix(before, after) // the router puts it back
	}
	return j.mutate()
}

func (j *journey) badHeaders() string {
	if _, wrong := match.NotInHosts(j.headers.value(authority)); wrong {
		return badAuthority
	}
	switch name := j.headers.value(method); {
	case !validName(ascii.Lower(name)):
		return badMethod
	case name == queryMethod && j.headers.value(contentType) == "":
		return queryUntyped
	}
	return ""
}

// replies notes a local reply of the connection manager. Envoy looks for a route all the same, for its filters, but without x-forwarded-proto it finds
// none.
func (j *journey) replies(status int, details string) bool {
	j.unrouted = true
	if j.headers.has(forwardedProto) {
		early := j.early()
		early.choose()
		switch p, has := j.headers.get(path); {
		case early.level == nil:
		case has && !strings.HasPrefix(p, "/"):
			j.answer.doubt(unknownRoute, "the path does not begin with a slash")
		default:
			j.level = early.level
			j.answer.Route, j.answer.VirtualHost, j.answer.Table = early.answer.Route, early.answer.VirtualHost, early.answer.Table
			j.answer.At.Route, j.answer.At.Host, j.answer.At.Table = early.answer.At.Route, early.answer.At.Host, early.answer.At.Table
		}
	}
	j.answer.local(status, details, "-")
	return false
}

// early returns a journey that looks for a route before this one does.
func (j *journey) early() *journey {
	return &journey{Walker: j.Walker, request: j.request, answer: &Answer{}, conn: j.conn, manager: j.manager, headers: j.headers, pathless: j.pathless, metadata: j.metadata}
}

// normalizePath follows ConnectionManagerUtility::maybeNormalizePath.
func (j *journey) normalizePath() bool {
	p, ok := j.headers.get(path)
	if !ok {
		return true
	}
	m := j.manager.message
	if i := strings.IndexByte(p, '#'); i >= 0 {
		if j.runtime.Guard("envoy.reloadable_features.http_reject_path_with_fragment", true) {
			return j.replies(400, pathNormalization)
		}
		p = p[:i]
	}
	redirect := false
	if action := m.GetPathWithEscapedSlashesAction(); action > hcmv3.HttpConnectionManager_KEEP_UNCHANGED {
		var found bool
		p, found = unescapeSlashes(p)
		j.headers.set(path, p) // also if it is rejected
		if found && action == hcmv3.HttpConnectionManager_REJECT_REQUEST {
			return j.replies(400, pathNormalization)
		}
		redirect = found && action == hcmv3.HttpConnectionManager_UNESCAPE_AND_REDIRECT
	}
	normalize := j.runtime.Integer("http_connection_manager.normalize_path", 0) > 0
	if m.GetNormalizePath() != nil {
		normalize = m.GetNormalizePath().GetValue()
	}
	if normalize {
		if j.runtime.Guard("envoy.reloadable_features.strip_dotdot_segments_with_parameters", true) {
			p = plainDots(p)
		}
		if p, ok = canonicalPath(p); !ok {
			return j.replies(400, pathNormalization)
		}
	}
	if m.GetMergeSlashes() {
		p = mergeSlashes(p)
	}
	j.headers.set(path, p)
	switch {
	case redirect && isGRPC(j.headers):
		return j.replies(400, pathNormalization)
	case redirect:
		j.answer.Location = &p
		return j.replies(307, pathNormalization)
	}
	return true
}

// isGRPC follows Grpc::Common::hasGrpcContentType.
func isGRPC(h *headers) bool {
	rest, ok := strings.CutPrefix(h.value(contentType), "application/grpc")
	return ok && (rest == "" || rest[0] == '+')
}

// isUpgrade follows Utility::isUpgrade.
func isUpgrade(h *headers) bool {
	return h.has("upgrade") && hasToken(h.value("connection"), "upgrade")
}

// edgeHeaders are removed from requests that come from outside, and externalHeaders from all that are not internal (cleanInternalHeaders).
var (
	edgeHeaders = []string{
		"x-envoy-decorator-operation", "x-envoy-downstream-service-cluster", "x-envoy-downstream-service-node", "x-envoy-original-path",
		"x-envoy-original-host",
	}
	externalHeaders = []string{
		"x-envoy-retriable-status-codes", "x-envoy-retriable-header-names", "x-envoy-retry-on", "x-envoy-retry-grpc-on", "x-envoy-max-retries",
		"x-envoy-upstream-alt-stat-name", "x-envoy-upstream-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms",
		"x-envoy-upstream-rq-timeout-alt-response", "x-envoy-expected-rq-timeout-ms", "x-envoy-force-trace", "x-envoy-ip-tags", "x-envoy-original-url",
		"x-envoy-hedge-on-per-try-timeout",
	}
)

// mutate follows ConnectionManagerUtility::mutateRequestHeaders.
func (j *journey) mutate() bool {
	m, h := j.manager.message, j.headers
	if !j.mutateEarly() {
		return false
	}
	if !isUpgrade(h) {
		h.remove("connection", "upgrade")
		j.sanitizeTE()
	}
	h.remove(internalHeader, "keep-alive", "proxy-connection", "transfer-encoding")
	if all := h.values("referer"); len(all) > 1 || len(all) == 1 && !validReferer(all[0]) {
		h.remove("referer")
	}
	if !j.detect() {
		return false
	}
	internal := j.forwarded()
	if m.GetSchemeHeaderTransformation().GetSchemeToOverwrite() != "" {
		h.set(scheme, m.GetSchemeHeaderTransformation().GetSchemeToOverwrite())
		h.set(forwardedProto, h.value(scheme))
	}
	if !h.has(scheme) {
		h.set(scheme, schemeOf(j.conn.tls))
		if forwarded := ascii.Lower(h.value(forwardedProto)); forwarded == "http" || forwarded == "https" {
			h.set(scheme, forwarded)
		}
	}
	h.set(scheme, ascii.Lower(h.value(scheme)))
	if internal {
		h.set(internalHeader, "true")
	} else {
		if m.GetUseRemoteAddress().GetValue() {
			h.remove(edgeHeaders...)
		}
		h.remove(externalHeaders...)
		h.remove(j.internalOnly()...)
	}
	j.identify(internal)
	j.introduce()
	return true
}

// identify gives the request an ID, unless it has one that comes from inside or may stay (UUIDRequestIDExtension::set).
func (j *journey) identify(internal bool) {
	m := j.manager.message
	external := !internal && m.GetUseRemoteAddress().GetValue() && !m.GetPreserveExternalRequestId()
	generates := m.GetGenerateRequestId() == nil || m.GetGenerateRequestId().GetValue()
	if generates && (external || !j.headers.has(requestID)) {
		j.headers.set(requestID, match.Unknown)
	}
}

// internalOnly returns the headers that the route configuration does not take from outside.
func (j *journey) internalOnly() []string {
	early := j.early()
	if !early.findTable() || early.table == nil {
		return nil
	}
	return early.table.message.GetInternalOnlyHeaders()
}

// mutateEarly lets extensions change the headers before there is a route.
func (j *journey) mutateEarly() bool {
	for i, e := range j.manager.message.GetEarlyHeaderMutationExtensions() {
		at := j.manager.at.Item("early_header_mutation_extensions", i)
		content, _ := envoy.Content(at.Field("typed_config"), e.GetTypedConfig())
		config, ok := content.(*earlyv3.HeaderMutation)
		if !ok {
			j.answer.doubt(unknownRoute, "the extension "+e.GetName()+" can change the headers before")
			return j.lost()
		}
		j.mutateBy(j.headers, config.GetMutations(), func(name, why string) { j.answer.doubt("added."+name, why) })
	}
	return true
}

func (j *journey) sanitizeTE() {
	te := j.headers.value("te")
	j.headers.remove("te")
	if hasToken(te, "trailers") {
		j.headers.set("te", "trailers")
	}
}
