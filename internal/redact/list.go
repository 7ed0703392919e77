package redact

import (
	"regexp"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Redaction is written in place of a secret; Envoy's admin interface writes the same.
const Redaction = "[redacted]"

// InReports is written in place of a secret in a finding, where a text may hold Redaction already.
const InReports = "[secret]"

// minValue is the length from which a secret is also looked for elsewhere. A shorter one may be any word.
const minValue = 8

// minMarked is that length for a field that is known to be sensitive, in the texts of reports about the same file.
const minMarked = 4

// unmarked are fields that hold secrets, or may (a key set can be symmetric), and that Envoy's protos do not mark with udpa.annotations.sensitive.
var unmarked = map[protoreflect.FullName]bool{
	"envoy.config.trace.v3.LightstepConfig.access_token":                                                                       true,
	"envoy.extensions.filters.common.jwks.v3.JwtHandshakeValidator.local_jwks":                                                 true,
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key":                                                true,
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.session_token":                                                    true,
	"envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials.token":                              true,
	"envoy.extensions.grpc_service.call_credentials.google_iam.v3.GoogleIamCredentials.authorization_token":                    true,
	"envoy.extensions.grpc_service.call_credentials.google_refresh_token.v3.GoogleRefreshTokenCredentials.token":               true,
	"envoy.extensions.grpc_service.call_credentials.service_account_jwt_access.v3.ServiceAccountJwtAccessCredentials.json_key": true,
	"envoy.extensions.filters.http.gcp_authn.v3.Audience.IAMAccessToken.authorization":                                         true,
	"envoy.extensions.filters.http.jwt_authn.v3.JwtProvider.local_jwks":                                                        true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token":                                                 true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token":                                         true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials.authorization_token":                     true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials.json_key":                  true,
}

// pair says which field of a message names the values in others: a header and its value.
type pair struct {
	name    protoreflect.Name
	values  []protoreflect.Name
	matches bool // requests are matched by the values, which must still differ when they are redacted
}

// pairs are messages that hold a credential if the name in them is that of one.
var pairs = map[protoreflect.FullName]*pair{
	"envoy.config.core.v3.HeaderValue":  {name: "key", values: []protoreflect.Name{"value", "raw_value"}},
	"envoy.config.core.v3.KeyValue":     {name: "key", values: []protoreflect.Name{"value"}},
	"envoy.config.core.v3.KeyValuePair": {name: "key", values: []protoreflect.Name{"value"}},
	"envoy.config.route.v3.HeaderMatcher": {name: "name", matches: true, values: []protoreflect.Name{
		"exact_match", "safe_regex_match", "prefix_match", "suffix_match", "contains_match", "string_match",
	}},
	"envoy.config.route.v3.QueryParameterMatcher": {name: "name", values: []protoreflect.Name{"string_match"}, matches: true},
}

// pairKeys are such pairs where the message is not known. The last is the environment of a container.
var pairKeys = []*pair{
	pairs["envoy.config.core.v3.HeaderValue"], pairs["envoy.config.route.v3.HeaderMatcher"], {name: "name", values: []protoreflect.Name{"value"}},
}

// keysOfMaps are in maps in which other keys hold secrets: in pairs, Kubernetes objects, JSON Patches and Anys.
var keysOfMaps = map[string]bool{"name": true, "kind": true, "op": true, "@type": true}

// matchKeys are the keys of a match of one value, as Kubernetes objects have it under the name of a header.
var matchKeys = map[string]bool{"exact": true, "prefix": true, "suffix": true, "contains": true, "regex": true}

// dataSource is the message whose inline_… fields hold a secret where it is one; the name of a file or of a variable is not a secret.
const dataSource protoreflect.FullName = "envoy.config.core.v3.DataSource"

// places are the keys of what says where a secret is.
var places = map[string]bool{"filename": true, "environment_variable": true, "environmentVariable": true}

// headers are names of headers and query parameters for credentials, in addition to those that end in one of the words.
var headers = map[string]bool{
	"cookie": true, "set-cookie": true, "auth": true, "x-auth": true, "key": true, "session": true, "sessionid": true, "session-id": true, "session_id": true, "x-session-id": true,
	"x-honeycomb-team": true,
}

// names are sensitive fields whose names are clear enough where the message is not known.
var names = map[string]bool{
	"private_key": true, "privateKey": true, "password": true, "pkcs12": true, "auth_password": true, "authPassword": true,
	"downstream_auth_password": true, "downstreamAuthPassword": true, "downstream_auth_passwords": true, "downstreamAuthPasswords": true,
	"secret_access_key": true, "secretAccessKey": true, "session_token": true, "sessionToken": true, "backend_token": true, "backendToken": true,
	"secret_data": true, "secretData": true, "users": true, "local_jwks": true, "localJwks": true,
	"access_token": true, "accessToken": true, "google_refresh_token": true, "googleRefreshToken": true,
	"authorization_token": true, "authorizationToken": true, "json_key": true, "jsonKey": true,
}

// within are sensitive fields whose names are clear enough only below certain keys.
var within = map[string]map[string]bool{
	"generic_secret":      {"secret": true, "secrets": true},
	"genericSecret":       {"secret": true, "secrets": true},
	"session_ticket_keys": {"keys": true},
	"sessionTicketKeys":   {"keys": true},
	"credentials":         {"key": true},
}

// words end the names of headers, keys and variables that hold a secret. A space stands for a dash, an underscore or nothing.
var words = []string{
	"password", "passwd", "passphrase", "secret", "token", "private key", "access key", "api key", "auth key", "signing key", "credential", "credentials",
	"signature", "bearer", "jwt", "authorization",
}

// textKeys end further keys for secrets in texts that cannot be parsed.
var textKeys = []string{"passwords", "inlinestring", "inlinebytes", "pkcs12", "cookie", "jwks"}

// anyWord is an expression for them.
var anyWord = strings.ReplaceAll(strings.Join(words, "|"), " ", "[_-]?")

// harmless is the value of a credential's header that holds none: at most a scheme, and what a formatter puts in at run time.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:bearer|basic|digest|negotiate|token|apikey)?\s*(?:%[^%]*%)?$`)
})

// literal matches a text that code, such as Lua, assigns to a variable for a secret.
var literal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:` + anyWord + `)["']?\]?\s*=\s*(?:"([^"\\\n]+)"|'([^'\\\n]+)')`)
})

// patterns matches secrets that are recognized by their form: bearer tokens, JSON web tokens, passwords in URLs, and private keys, with the whole block
// if it is there. A block without an end ends where another one begins: looking further would take quadratic time.
var patterns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}=*|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_.-]+|` +
		`[a-z][a-z0-9+.-]*://[^\s/@:"'\\]*:[^\s/@"'\\]+@|` +
		`(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----(?:-{0,4}[^-])*-----END [A-Z ]*PRIVATE KEY-----)|-----BEGIN [A-Z ]*PRIVATE KEY-----.*(?:[\s#]*[A-Za-z0-9+/=]{20,})*`)
})

// textField is a field of a message as text. An error is cut if it is long, so its last text may not have an end.
var textField = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-z0-9_]+: *"(?:[^"\\]|\\.)*\\?(?:"|$)`) })

const (
	privateKey        = "PRIVATE KEY"
	encodedPrivateKey = "LS0tLS1CRUdJTi" // -----BEGIN in base64
)
