package routetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
)

// entry is a line of an access log: values by command operator, such as REQ(:method). What is missing is empty.
type entry map[string]string

// first returns the first value that is there.
func (e entry) first(operators ...string) string {
	for _, operator := range operators {
		if value := e[operator]; value != "" {
			return value
		}
	}
	return ""
}

// reader reads lines of one format, or returns nil for a line of another one.
type reader func(line string) entry

// Formats that configurations do not have to spell out: Envoy's own (DEFAULT_FORMAT in source/common/formatter/http_formatter_context.cc) and Istio's,
// which adds to it, and the keys that most formats in JSON have.
const (
	envoyFormat = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% ` +
		`%BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" ` +
		`"%UPSTREAM_HOST%"`
	istioFormat = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% ` +
		`%CONNECTION_TERMINATION_DETAILS% "%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ` +
		`"%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER% %UPSTREAM_LOCAL_ADDRESS% ` +
		`%DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REQUESTED_SERVER_NAME% %ROUTE_NAME%`
)

var commonKeys = map[string]any{
	"method": "%REQ(:METHOD)%", "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%", "x-envoy-origin-path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
	"authority": "%REQ(:AUTHORITY)%", ":authority": "%REQ(:AUTHORITY)%", "protocol": "%PROTOCOL%", "response_code": "%RESPONSE_CODE%",
	"response_flags": "%RESPONSE_FLAGS%", "upstream_host": "%UPSTREAM_HOST%", "upstream_cluster": "%UPSTREAM_CLUSTER%", "route_name": "%ROUTE_NAME%",
	"requested_server_name": "%REQUESTED_SERVER_NAME%", "downstream_local_address": "%DOWNSTREAM_LOCAL_ADDRESS%",
}

// readersOf returns the formats of a configuration's access logs, and then those that everyone has.
func readersOf(v graph.View) (all []reader) {
	for _, place := range v.Places((&corev3.SubstitutionFormatString{}).ProtoReflect().Descriptor().FullName()) {
		m, _ := graph.As[*corev3.SubstitutionFormatString](place)
		switch {
		case m.GetJsonFormat() != nil:
			all = append(all, keys(m.GetJsonFormat().AsMap()))
		case m.GetTextFormatSource().GetInlineString() != "":
			all = append(all, text(m.GetTextFormatSource().GetInlineString()))
		case m.GetTextFormat() != "": //nolint:staticcheck // deprecated, and in use
			all = append(all, text(m.GetTextFormat())) //nolint:staticcheck // the same
		}
	}
	return append(all, text(istioFormat), text(envoyFormat), keys(commonKeys))
}

var operator = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%(%|[A-Z][A-Z_0-9]*(?:\([^)]*\))?(?::[0-9]+)?%)`)
})

// nameOf returns the operator in %…%, in the form that entries have.
func nameOf(found string) string {
	name, rest, called := strings.Cut(strings.Trim(found, "%"), "(")
	if !called {
		name, _, _ = strings.Cut(name, ":")
		return name
	}
	if name == "REQUEST_HEADER" {
		name = "REQ"
	}
	argument, _, _ := strings.Cut(rest, ")")
	return name + "(" + strings.ToLower(argument) + ")"
}

// text returns a reader of lines that a text format makes.
func text(format string) reader {
	var names []string
	var pattern strings.Builder
	last := 0
	for _, at := range operator().FindAllStringIndex(format, -1) {
		pattern.WriteString(regexp.QuoteMeta(format[last:at[0]]))
		if found := format[at[0]:at[1]]; found == "%%" {
			pattern.WriteString("%")
		} else {
			pattern.WriteString("(.*?)")
			names = append(names, nameOf(found))
		}
		last = at[1]
	}
	pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(format[last:], "\n")))
	lines, err := regexp.Compile("^" + pattern.String() + "$")
	if err != nil {
		return func(string) entry { return nil } // too long
	}
	return func(line string) entry {
		values := lines.FindStringSubmatch(line)
		if values == nil {
			return nil
		}
		e := entry{}
		for i, name := range names {
			e.set(name, values[i+1])
		}
		return e
	}
}

func (e entry) set(name, value string) {
	if value != "-" {
		e[name] = value
	}
}

// keys returns a reader of objects in JSON whose values are single operators, wherever they are nested.
func keys(format map[string]any) reader {
	return func(line string) entry {
		var object map[string]any
		d := json.NewDecoder(bytes.NewReader([]byte(line)))
		d.UseNumber()
		if d.Decode(&object) != nil {
			return nil
		}
		e := entry{}
		e.read(format, object)
		return e
	}
}

func (e entry) read(format, object map[string]any) {
	for key, value := range format {
		switch inner := value.(type) {
		case map[string]any:
			if held, ok := object[key].(map[string]any); ok {
				e.read(inner, held)
			}
		case string:
			if is := object[key]; is != nil && operator().FindString(inner) == inner {
				e.set(nameOf(inner), fmt.Sprint(is))
			}
		}
	}
}
