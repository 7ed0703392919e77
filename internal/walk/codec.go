package walk

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/wrapperspb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
)

// The details of what the codecs reject (source/common/http/http1/codec_impl.cc and http2/codec_impl.cc).
const (
	codecError    = "http1.codec_error"
	tooLarge      = "http1.headers_too_large"
	tooMany       = "http1.too_many_headers"
	badUnderscore = "http1.unexpected_underscore"
	badURL        = "http1.invalid_url"
	badScheme     = "http1.invalid_scheme"
	plainHTTPS    = "http1.https_url_on_plaintext_connection"
	badAuthority  = "http.invalid_authority"
	badMethod     = "http.invalid_method"
	lowVersion    = "low_version"
)

const protocolError = "DPE"

// methods are those that HTTP/1 takes without allow_custom_methods (kValidMethods in source/common/http/http1/balsa_parser.cc).
var methods = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE MSEARCH NOTIFY
		OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE`) {
		methods[name] = true
	}
}

// decode makes the headers that the codec passes on, or notes the answer of the codec.
func (j *journey) decode() bool {
	j.headers = &headers{}
	m := j.manager.message
	if j.request.HTTP == "" && m.GetCodecType() == hcmv3.HttpConnectionManager_HTTP2 {
		j.request.HTTP = "2"
	}
	r := j.request
	http2 := r.HTTP == "2"
	switch codec := m.GetCodecType(); {
	case codec == hcmv3.HttpConnectionManager_HTTP3:
		j.answer.doubt(unknownStatus, "HTTP/3 is not modelled")
		return j.lost()
	case http2 && codec == hcmv3.HttpConnectionManager_HTTP1, !http2 && codec == hcmv3.HttpConnectionManager_HTTP2:
		return j.closes("the connection manager takes " + codec.String() + " alone")
	}
	ok := false
	if http2 {
		ok = j.decode2()
	} else {
		ok = j.decode1()
	}
	j.sent, j.decoded = j.headers.clone(), ok
	return ok
}

// fields takes the headers other than the pseudo headers, one after the other, within the limits.
func (j *journey) fields(http2 bool) bool {
	options := j.manager.message.GetCommonHttpProtocolOptions()
	count := limitOf(options.GetMaxHeadersCount(), 100)
	others, size := j.pseudo(http2)
	list := j.request.All()
	if j.request.protocol() != "" {
		list, others = list[1:], others+1
	}
	var cookies []string
	for _, h := range list {
		name, value := ascii.Lower(h[0]), h[1]
		if !http2 {
			value = strings.Trim(value, " \t")
		}
		if !validName(name) || !validValue(value) {
			return j.breaks(http2, codecError)
		}
		if action := options.GetHeadersWithUnderscoresAction(); strings.Contains(name, "_") && action != corev3.HttpProtocolOptions_ALLOW {
			if action == corev3.HttpProtocolOptions_REJECT_REQUEST {
				return j.breaks(http2, badUnderscore)
			}
			continue
		}
		if http2 && name == "cookie" { // Utility::reconstituteCrumbledCookies; each part counts
			cookies = append(cookies, value)
		} else {
			j.headers.append(name, value)
		}
		switch size += len(name) + len(value); {
		case size > j.maxHeaders():
			return j.refuses(http2, 431, tooLarge)
		case len(j.headers.list)+len(cookies)+others > count:
			return j.refuses(http2, 431, tooMany)
		}
	}
	if len(cookies) > 0 {
		j.headers.add("cookie", strings.Join(cookies, "; "))
	}
	return true
}

// maxHeaders is how many bytes of headers a request may have.
func (j *journey) maxHeaders() int {
	return 1024 * limitOf(j.manager.message.GetMaxRequestHeadersKb(), 60)
}

func limitOf(v *wrapperspb.UInt32Value, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return int(v.GetValue())
}

// pseudo returns how many pseudo headers count for the limit, and their size with that of the path.
func (j *journey) pseudo(http2 bool) (count, size int) {
	r := j.request
	if http2 {
		count++ // the method
	}
	if r.Path != nil {
		size += len(*r.Path)
		if http2 {
			count += 2 // and the scheme
		}
	}
	if r.Authority != nil {
		count++
		size += len("host") + len(*r.Authority)
	}
	return count, size
}

func (j *journey) breaks(http2 bool, details string) bool { return j.refuses(http2, 400, details) }

// refuses notes that the codec answers HTTP/1 with a status, and resets a stream of HTTP/2.
func (j *journey) refuses(http2 bool, status int, details string) bool {
	if http2 {
		j.answer.closed("", protocolError)
		return false
	}
	j.headers, j.request.HTTP = &headers{}, "" // the connection manager does not see the request
	j.answer.local(status, details, protocolError)
	return false
}

// decode1 follows ServerConnectionImpl::handlePath and onHeadersCompleteBase of HTTP/1.
func (j *journey) decode1() bool {
	r, options := j.request, j.manager.message.GetHttpProtocolOptions()
	if r.headSize() > j.maxHeaders() {
		return j.refuses(false, 431, tooLarge)
	}
	if details := j.parse1(); details != "" {
		return j.breaks(false, details)
	}
	if !j.fields(false) {
		return false
	}
	if hosts, has := hostsOf(r.Authority, j.headers.values(authority)); has {
		j.headers.set(authority, hosts)
	}
	if !j.nominated() || !j.target() {
		return false
	}
	j.headers.set(method, r.Method)
	if r.HTTP == "1.0" {
		if !options.GetAcceptHttp_10() {
			return j.refuses(false, 426, lowVersion)
		}
		if !j.headers.has(authority) && options.GetDefaultHostForHttp_10() != "" {
			j.headers.set(authority, options.GetDefaultHostForHttp_10())
		}
	}
	if _, wrong := match.NotInHosts(j.headers.value(authority)); wrong {
		return j.breaks(false, badAuthority)
	}
	return true
}

// target reads the request target: a path, or a URL.
func (j *journey) target() bool {
	r := j.request
	if r.Method == "CONNECT" {
		j.pathless = true
		if r.Path != nil || !isTarget(j.headers.value(authority)) {
			return j.breaks(false, badURL)
		}
		return true
	}
	url := *r.Path
	m := j.manager.message
	absolute := m.GetHttpProtocolOptions().GetAllowAbsoluteUrl()
	switch {
	case url[0] == '/' || r.Method == "OPTIONS" && url[0] == '*', absolute != nil && !absolute.GetValue():
		j.headers.set(path, url)
		return true
	}
	named, name, rest, ok := splitURL(url)
	if !ok {
		return j.breaks(false, badURL)
	}
	j.headers.set(authority, name)
	j.headers.set(scheme, named)
	if named != "http" && named != "https" {
		return j.breaks(false, badScheme)
	}
	if named == "https" && !j.conn.tls && m.GetUseRemoteAddress().GetValue() && m.GetXffNumTrustedHops() == 0 {
		return j.refuses(false, 403, plainHTTPS)
	}
	j.headers.set(path, rest)
	return true
}

// splitURL follows Utility::Url::initialize: the scheme, the host with its port, and the rest.
func splitURL(url string) (named, name, rest string, ok bool) {
	named, name, ok = strings.Cut(url, "://")
	if i := strings.IndexAny(name, "/?#"); i >= 0 {
		name, rest = name[:i], name[i:]
	} else {
		rest = "/"
	}
	if i := strings.IndexByte(name, '@'); i >= 0 {
		name = name[i+1:]
	}
	return ascii.Lower(named), name, rest, ok && isHost(name) && !strings.HasPrefix(rest, "#")
}

// isTarget reports whether a text can be the target of a CONNECT request: a host with a port.
func isTarget(text string) bool { return match.WithoutPort(text) != text && isHost(text) }

// isHost reports whether a text is a host, with or without a port.
func isHost(text string) bool {
	parts := urlHost().FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	port, err := strconv.Atoi(cmp.Or(parts[1], "0"))
	return err == nil && port < 1<<16
}

var urlHost = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?$`)
})

// decode2 reads the pseudo headers of HTTP/2.
func (j *journey) decode2() bool {
	r := j.request
	if !j.fields(true) {
		return false
	}
	j.headers.set(method, r.Method)
	if r.Authority != nil {
		j.headers.set(authority, *r.Authority)
	}
	wanted := r.protocol()
	connects := r.Method == "CONNECT"
	switch {
	case connects && r.Path == nil && wanted == "":
		j.pathless = true
		return j.headers.value(authority) != "" && j.fits2() || j.breaks(true, "")
	case connects != (wanted != ""), r.Path == nil, connects && !j.manager.message.GetHttp2ProtocolOptions().GetAllowConnect():
		return j.breaks(true, "")
	}
	j.headers.set(path, *r.Path)
	named := r.Scheme
	if named == "" {
		named = schemeOf(j.conn.tls)
	}
	j.headers.set(scheme, named)
	if j.headers.value(authority) == "" || !j.fits2() || !validPath2(*r.Path) && !(r.Method == "OPTIONS" && *r.Path == "*") {
		return j.breaks(true, "")
	}
	if connects {
		j.extended(wanted)
	}
	return true
}

func schemeOf(tls bool) string {
	if tls {
		return "https"
	}
	return "http"
}

// validURL follows isUrlValid (source/common/http/http1/balsa_parser.cc): a path, or a URL with a scheme.
func validURL(url string) bool {
	for i := range len(url) {
		if url[i] < '!' || url[i] > '~' {
			return false
		}
	}
	if url == "" || url[0] == '/' || url[0] == '*' {
		return url != ""
	}
	named, rest, ok := strings.Cut(url, "://")
	if !ok || named == "" || !isAlpha(named[0]) || strings.ContainsFunc(named, func(r rune) bool { return !isAlpha(byte(r)) && !strings.ContainsRune("0123456789+-.", r) }) {
		return false
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		rest = rest[:i]
	}
	_, wrong := match.NotInHosts(rest)
	return !wrong && !strings.Contains(rest, "@@")
}

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func validPath2(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func validName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}

func validValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
