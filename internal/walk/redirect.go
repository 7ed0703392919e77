package walk

import (
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

var redirectStatus = map[routev3.RedirectAction_RedirectResponseCode]int{
	routev3.RedirectAction_MOVED_PERMANENTLY: 301, routev3.RedirectAction_FOUND: 302, routev3.RedirectAction_SEE_OTHER: 303,
	routev3.RedirectAction_TEMPORARY_REDIRECT: 307, routev3.RedirectAction_PERMANENT_REDIRECT: 308,
}

// location follows Utility::newUri.
func (j *journey) location(r *routev3.RedirectAction) string {
	target := j.headers.value(scheme)
	switch {
	case r.GetSchemeRedirect() != "":
		target = r.GetSchemeRedirect()
	case r.GetHttpsRedirect():
		target = "https"
	}
	port := ""
	if r.GetPortRedirect() != 0 {
		port = ":" + strconv.Itoa(int(r.GetPortRedirect()))
	}
	name := r.GetHostRedirect()
	if name == "" {
		name = j.redirectHost(target, port)
	}
	return target + "://" + name + port + j.redirectPath(r)
}

// redirectHost follows processRequestHost: the host of the request, without a port that no longer fits.
func (j *journey) redirectHost(target, port string) string {
	name := j.headers.value(authority)
	at := strings.LastIndexByte(name, ':')
	if strings.HasPrefix(name, "[") {
		if at = strings.LastIndex(name, "]:"); at >= 0 {
			at++
		}
	}
	if at < 0 {
		return name
	}
	before := j.headers.value(forwardedProto)
	drop := port != ""
	if target != before {
		drop = drop || ascii.Lower(before) == "https" && name[at:] == ":443" || ascii.Lower(before) == "http" && name[at:] == ":80"
	}
	if drop {
		return name[:at]
	}
	return name
}

func (j *journey) redirectPath(r *routev3.RedirectAction) string {
	full := j.headers.value(path)
	var result string
	own := false
	switch {
	case r.GetPathRedirect() != "":
		result = r.GetPathRedirect()
		if own = strings.Contains(result, "?"); !own {
			_, query := splitQuery(full)
			result += query
		}
	default:
		result = j.redirectRewrite(r)
	}
	if !strings.HasPrefix(result, "/") {
		result = "/" + result
	}
	if r.GetStripQuery() && !own {
		result, _ = splitQuery(result)
	}
	return result
}

// rewriteRedirected follows RouteEntryImplBase::rewritePathHeader: headers of the response see the path as the redirect rewrites it, except by
// path_rewrite.
func (j *journey) rewriteRedirected(r *routev3.RedirectAction) {
	made := j.redirectRewrite(r)
	if made == j.headers.value(path) || r.GetPathRewrite() != "" {
		return
	}
	if !j.manager.suppresses() {
		j.headers.set("x-envoy-original-path", j.headers.value(path))
	}
	j.headers.set(path, made)
}

// redirectRewrite returns the path with the part replaced that a redirect rewrites.
func (j *journey) redirectRewrite(r *routev3.RedirectAction) string {
	full := j.headers.value(path)
	switch {
	case r.GetPrefixRewrite() != "":
		made, _ := j.replacePrefix(r.GetPrefixRewrite())
		return made
	case r.GetRegexRewrite() != nil:
		just := withoutQuery(full)
		if made := j.substitute(r.GetRegexRewrite(), just, "location"); made != "" {
			return made + full[len(just):]
		}
	case r.GetPathRewrite() != "":
		made, why := j.format(r.GetPathRewrite(), j.headers)
		if why != "" {
			j.answer.doubt("location", why)
		}
		if made != "" {
			return made + full[len(withoutQuery(full)):]
		}
	}
	return full
}
