package format

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/cel"
)

// command is a command that Envoy has.
type command struct {
	since string
	takes syntax
	from  string // the version that takes arguments first, if it is later than since
	// wrong returns what is wrong with arguments, if it is not only their presence
	wrong func(t dataplane.Target, arguments string) (what, upstream string)
}

func (c command) syntax(t dataplane.Target) syntax {
	if c.from != "" && t.Before(c.from) {
		return syntax{}
	}
	return c.takes
}

var (
	optional = syntax{arguments: true}
	required = syntax{arguments: true, required: true}
	header   = syntax{arguments: true, required: true, length: true}
	free     = syntax{arguments: true, length: true}
)

const first = "1.36" // the oldest target

// arguments are the commands that take arguments. Those that take none are in plain.
var arguments = map[string]command{
	"CEL":              {since: first, takes: free, wrong: expression},
	"CLUSTER_METADATA": {since: first, takes: required},
	"COALESCE":         {since: "1.37", takes: header},
	"COMMON_DURATION":  {since: first, takes: required, wrong: duration},
	"DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT":  {since: first, takes: optional, from: "1.38"},
	"DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT": {since: first, takes: optional, from: "1.38"},
	"DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT":         {since: first, takes: optional, from: "1.38"},
	"DOWNSTREAM_PEER_CERT_V_END":                    {since: first, takes: optional},
	"DOWNSTREAM_PEER_CERT_V_START":                  {since: first, takes: optional},
	"DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT":        {since: first, takes: optional, from: "1.38"},
	"DYNAMIC_METADATA":                              {since: first, takes: header},
	"EMIT_TIME":                                     {since: first, takes: optional},
	"EMIT_TIME_LOCAL":                               {since: first, takes: optional},
	"ENVIRONMENT":                                   {since: first, takes: header},
	"FILTER_STATE":                                  {since: first, takes: free, wrong: filterState},
	"GRPC_STATUS":                                   {since: first, takes: optional, wrong: grpcStatus},
	"METADATA":                                      {since: first, takes: free, wrong: metadata},
	"PATH":                                          {since: first, takes: free, wrong: options("PATH", []string{"WQ", "NQ"}, []string{"ORIG", "PATH", "ORIG_OR_PATH"})},
	"QUERY_PARAM":                                   {since: first, takes: header},
	"QUERY_PARAMS":                                  {since: "1.38", takes: free, wrong: options("QUERY_PARAMS", []string{"ORIG", "DECODED"})},
	"REQ":                                           {since: first, takes: header, wrong: headers},
	"REQUESTED_SERVER_NAME":                         {since: first, takes: optional, from: "1.37", wrong: options("REQUESTED_SERVER_NAME", []string{"SNI_ONLY", "SNI_FIRST", "HOST_FIRST"}, []string{"ORIG", "HOST", "ORIG_OR_HOST"})},
	"REQUEST_HEADER":                                {since: "1.37", takes: header, wrong: headers},
	"RESP":                                          {since: first, takes: header, wrong: headers},
	"RESPONSE_CODE_DETAILS":                         {since: first, takes: optional},
	"RESPONSE_HEADER":                               {since: "1.37", takes: header, wrong: headers},
	"RESPONSE_TRAILER":                              {since: "1.37", takes: header, wrong: headers},
	"START_TIME":                                    {since: first, takes: optional},
	"START_TIME_LOCAL":                              {since: first, takes: optional},
	"STREAM_INFO_REQ":                               {since: first, takes: header, wrong: headers},
	"TRAILER":                                       {since: first, takes: header, wrong: headers},
	"TYPED_CEL":                                     {since: first, takes: free, wrong: expression},
	"UPSTREAM_FILTER_STATE":                         {since: first, takes: free, wrong: filterState},
	"UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT":           {since: first, takes: optional, from: "1.38"},
	"UPSTREAM_METADATA":                             {since: first, takes: required},
	"UPSTREAM_PEER_CERT_V_END":                      {since: first, takes: optional},
	"UPSTREAM_PEER_CERT_V_START":                    {since: first, takes: optional},
	"UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT":          {since: first, takes: optional, from: "1.38"},
	"XFCC_VALUE":                                    {since: first, takes: free},
}

// notInHeader matches what the name of a header cannot contain. A pseudo-header begins with a colon.
var notInHeader = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[^A-Za-z0-9!#$%&'*+.^_`|~-]") })

// headers checks the name of a header and of its alternative (SubstitutionFormatUtils::parseSubcommandHeaders).
func headers(_ dataplane.Target, arguments string) (what, upstream string) {
	names := strings.Split(arguments, "?")
	if len(names) > 2 && !slices.Contains(names, "") {
		return "takes one alternative header at most", "More than 1 alternative header specified in token: " + arguments
	}
	for _, name := range names {
		if wrong := notInHeader().FindString(strings.TrimPrefix(name, ":")); wrong != "" {
			return fmt.Sprintf("names a header with the character %q", wrong), "Invalid header configuration. Format string contains invalid characters."
		}
	}
	return "", ""
}

// duration follows CommonDurationFormatter::create.
func duration(_ dataplane.Target, arguments string) (what, upstream string) {
	parts := strings.Split(arguments, ":")
	switch {
	case len(parts) < 2 || len(parts) > 3:
		return "needs START:END or START:END:PRECISION", "Invalid common duration configuration: " + arguments + "."
	case len(parts) == 3 && !slices.Contains([]string{"ms", "us", "ns"}, parts[2]):
		return "has a precision other than ms, us and ns", "Invalid common duration precision: " + parts[2] + "."
	}
	return "", ""
}

// filterState follows FilterStateFormatter::create.
func filterState(_ dataplane.Target, arguments string) (what, upstream string) {
	parts := append(strings.Split(arguments, ":"), "", "")
	key, kind, field := parts[0], parts[1], parts[2]
	switch {
	case key == "":
		return "needs a key", "Invalid filter state configuration, key cannot be empty."
	case !slices.Contains([]string{"", "PLAIN", "TYPED", "FIELD"}, kind):
		return "has a type other than PLAIN, TYPED and FIELD", "Invalid filter state serialize type, only support PLAIN/TYPED/FIELD."
	case kind != "" && (kind == "FIELD") != (field != ""):
		return "needs a field with FIELD, and only then", "Invalid filter state serialize type, FIELD should be used with the field name."
	}
	return "", ""
}

// metadata follows MetadataFormatterCommandParser::parse of source/extensions/formatter/metadata.
func metadata(t dataplane.Target, arguments string) (what, upstream string) {
	kind, _, _ := strings.Cut(arguments, ":")
	kinds := []string{"DYNAMIC", "CLUSTER", "ROUTE", "UPSTREAM_HOST", "LISTENER", "VIRTUAL_HOST"}
	if !t.Before("1.37") {
		kinds = append(kinds, "LISTENER_FILTER_CHAIN")
	}
	if !slices.Contains(kinds, kind) {
		return fmt.Sprintf("has a kind of metadata other than %s", strings.Join(kinds, ", ")), kind + " is not supported type of metadata"
	}
	return "", ""
}

// expression checks the expression of CELFormatterCommandParser::parse.
func expression(_ dataplane.Target, arguments string) (what, upstream string) {
	if upstream := cel.Invalid(arguments); upstream != "" {
		return "has an invalid CEL expression", upstream
	}
	return "", ""
}

// grpcStatus follows GrpcStatusFormatter::parseFormat.
func grpcStatus(_ dataplane.Target, arguments string) (what, upstream string) {
	if slices.Contains([]string{"", "CAMEL_STRING", "SNAKE_STRING", "NUMBER"}, arguments) {
		return "", ""
	}
	return "takes CAMEL_STRING, SNAKE_STRING or NUMBER", "GrpcStatusFormatter only supports CAMEL_STRING, SNAKE_STRING or NUMBER."
}

// options accepts one of several words in each position, separated by colons. A position may be empty or missing.
func options(name string, positions ...[]string) func(t dataplane.Target, arguments string) (what, upstream string) {
	return func(_ dataplane.Target, arguments string) (what, upstream string) {
		for i, part := range strings.SplitN(arguments, ":", len(positions)+1) {
			if i < len(positions) && part != "" && !slices.Contains(positions[i], part) {
				return "takes " + strings.Join(positions[i], ", "), fmt.Sprintf("Invalid %s option: '%s'", name, part)
			}
		}
		return "", ""
	}
}
