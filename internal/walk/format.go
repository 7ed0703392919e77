package walk

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/xdslint/xdslint/internal/ascii"
)

var command = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%(%|[A-Z][A-Z_0-9]*(?:\([^)]*\))?(?::[0-9]+)?%)`) })

// absent is the value of what the request does not have, which is not an empty text.
const absent = "\x00"

// format formats the value of a header (FormatterImpl::formatWithContext). why is not empty if a part is not known.
func (j *journey) format(text string, h *headers) (value, why string) {
	return j.formatWith(text, h, "")
}

// formatWith is format with something in place of what is missing.
func (j *journey) formatWith(text string, h *headers, missing string) (value, why string) {
	if !strings.Contains(text, "%") {
		return text, ""
	}
	value = command().ReplaceAllStringFunc(text, func(found string) string {
		if found == "%%" {
			return "%"
		}
		made, ok := j.operator(strings.Trim(found, "%"), h)
		if !ok {
			why = found + " is known only when the request is there"
		}
		if made == absent {
			return missing
		}
		return made
	})
	return value, why
}

// operator returns the value of a command operator, without the percent signs.
func (j *journey) operator(text string, h *headers) (value string, known bool) {
	name, rest, _ := strings.Cut(text, "(")
	argument, after, _ := strings.Cut(rest, ")")
	if name == text {
		name, after, _ = strings.Cut(text, ":")
	}
	limit, limited := -1, false
	if n, err := strconv.Atoi(strings.TrimPrefix(after, ":")); err == nil {
		limit, limited = n, true
	}
	value, known = j.operate(name, argument, h)
	if limited && limit < len(value) && value != absent {
		value = value[:limit]
	}
	return value, known
}

func (j *journey) operate(name, argument string, h *headers) (value string, ok bool) {
	switch name {
	case "REQ":
		return j.requestHeader(argument, h)
	case "PROTOCOL":
		return map[string]string{"1.0": "HTTP/1.0", "1.1": "HTTP/1.1", "": "HTTP/1.1", "2": "HTTP/2"}[j.request.HTTP], true
	case "ROUTE_NAME":
		if j.level == nil {
			return absent, true
		}
		return cmp.Or(j.level.Route.GetName(), absent), true
	case "REQUESTED_SERVER_NAME":
		return cmp.Or(j.conn.ServerName, absent), true
	case "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT":
		return j.conn.Source.Addr().String(), j.conn.known()
	case "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT":
		return j.conn.Direct.String(), j.conn.Direct.IsValid()
	case "DOWNSTREAM_LOCAL_PORT":
		return strconv.Itoa(int(j.conn.Destination.Port())), true
	case "DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT":
		return j.conn.Destination.Addr().String(), j.conn.Destination.Addr().IsValid()
	}
	return j.operateHere(name, argument, h)
}

// requestHeader returns NAME?OTHER: the first value of a header, or of another one.
func (j *journey) requestHeader(argument string, h *headers) (string, bool) {
	h = j.asRequest(h)
	for name := range strings.SplitSeq(argument, "?") {
		if name = ascii.Lower(name); name == requestID && h.has(requestID) || name == "x-forwarded-for" && j.local {
			return "", false
		}
		if all := h.values(name); len(all) > 0 {
			return all[0], true
		}
	}
	return absent, true
}
