// Package redact knows which parts of a configuration are secrets, and takes them out of texts.
package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cncf/xds/go/udpa/annotations"
)

// unmarked are fields that hold secrets, or may (a key set can be symmetric), and that Envoy's protos do not mark.
var unmarked = map[protoreflect.FullName]bool{
	"envoy.config.trace.v3.LightstepConfig.access_token":                                                                       true,
	"envoy.extensions.filters.common.jwks.v3.JwtHandshakeValidator.local_jwks":                                                 true,
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.secret_access_key":                                                true,
	"envoy.extensions.filters.http.aws_lambda.v3.Credentials.session_token":                                                    true,
	"envoy.extensions.grpc_service.call_credentials.access_token.v3.AccessTokenCredentials.token":                              true,
	"envoy.extensions.grpc_service.call_credentials.google_iam.v3.GoogleIamCredentials.authorization_token":                    true,
	"envoy.extensions.grpc_service.call_credentials.google_refresh_token.v3.GoogleRefreshTokenCredentials.token":               true,
	"envoy.extensions.grpc_service.call_credentials.service_account_jwt_access.v3.ServiceAccountJwtAccessCredentials.json_key": true,
	"envoy.extensions.filters.http.jwt_authn.v3.JwtProvider.local_jwks":                                                        true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token":                                                 true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token":                                         true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials.authorization_token":                     true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials.json_key":                  true,
}

var sensitive sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// Fields lists the fields of a message that hold secrets: those that Envoy's protos mark (udpa.annotations.sensitive), and a few more.
func Fields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := sensitive.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if marked, _ := proto.GetExtension(fd.Options(), annotations.E_Sensitive).(bool); marked || unmarked[fd.FullName()] {
			fields = append(fields, fd)
		}
	}
	sensitive.Store(md, fields)
	return fields
}

// HeaderValue is the message of a header that Envoy adds; it is no secret by its type, but may carry a credential.
const HeaderValue protoreflect.FullName = "envoy.config.core.v3.HeaderValue"

// DataSource is the message whose inline_… fields hold a secret where it is one; the name of a file or of a variable is none.
const DataSource protoreflect.FullName = "envoy.config.core.v3.DataSource"

// credentialHeaders are those whose names do not end in a word for one.
var credentialHeaders = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true, "x-honeycomb-team": true}

// Header tells whether a header of this name and value carries a credential. What a formatter puts in at run time is none.
func Header(name, value string) bool {
	return (credentialHeaders[strings.ToLower(name)] || credential().MatchString(name)) && !strings.HasPrefix(value, "%")
}

// names are sensitive fields whose names are plain enough to go by where the message is not known.
var names = map[string]bool{
	"private_key": true, "privateKey": true, "password": true, "pkcs12": true, "auth_password": true, "authPassword": true,
	"downstream_auth_password": true, "downstreamAuthPassword": true, "downstream_auth_passwords": true, "downstreamAuthPasswords": true,
	"secret_access_key": true, "secretAccessKey": true, "session_token": true, "sessionToken": true, "backend_token": true, "backendToken": true,
	"secret_data": true, "secretData": true, "users": true, "local_jwks": true, "localJwks": true,
	"access_token": true, "accessToken": true, "google_refresh_token": true, "googleRefreshToken": true,
	"authorization_token": true, "authorizationToken": true, "json_key": true, "jsonKey": true,
}

// within are sensitive fields whose names say enough only below the key that they stand under.
var within = map[string]map[string]bool{
	"generic_secret":      {"secret": true, "secrets": true},
	"genericSecret":       {"secret": true, "secrets": true},
	"session_ticket_keys": {"keys": true},
	"sessionTicketKeys":   {"keys": true},
	"credentials":         {"key": true},
}

// credential are the names of headers, and keys that no message may have, or that have a text where a message belongs: a secret is what
// people write there.
var credential = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(password|passwd|secret|token|private[_-]?key|access[_-]?key|api[_-]?key)$`)
})

// Key tells whether a secret stands under a key whose message is not known; under is the key that its map stands under, and text says that
// the value is a single text.
func Key(key, under string, text bool) bool {
	return names[key] || within[under][key] || text && credential().MatchString(key)
}

// IsPlace tells the keys of what says where a secret is, and is none.
func IsPlace(key string) bool {
	return key == "filename" || key == "environment_variable" || key == "environmentVariable"
}

// Redaction is what Redact writes in place of a secret; Envoy's admin interface writes the same.
const Redaction = "[redacted]"

// patterns are secrets that tell by their looks: bearer tokens, JSON web tokens, passwords in URLs, private keys, of these the whole block if it is
// there. Where another one begins, a block without an end is over: looking on for it would take a time that grows with the square of the text.
var patterns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}=*|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_.-]+|` +
		`[a-z][a-z0-9+.-]*://[^\s/@:"'\\]*:[^\s/@"'\\]+@|` +
		`(?s:-----BEGIN [A-Z ]*PRIVATE KEY-----(?:-{0,4}[^-])*-----END [A-Z ]*PRIVATE KEY-----)|-----BEGIN [A-Z ]*PRIVATE KEY-----.*(?:[\s#]*[A-Za-z0-9+/=]{20,})*`)
})

// Looks tells whether a text holds what looks like a secret.
func Looks(text []byte) bool {
	// Few texts hold any of these words; the expression is slow.
	return (containsFold(text, "bearer") || containsFold(text, "basic") || bytes.Contains(text, []byte("eyJ")) || bytes.Contains(text, []byte("://")) ||
		bytes.Contains(text, []byte(privateKey))) && patterns().Match(text)
}

const privateKey = "PRIVATE KEY"

// Scrub puts a word in place of all that looks like a secret in a text.
func Scrub(text, word string) string {
	if !Looks([]byte(text)) {
		return text
	}
	return patterns().ReplaceAllLiteralString(text, word)
}

// containsFold looks for a lower-case word in any case of letters.
func containsFold(text []byte, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(string(text[i:i+len(word)]), word) {
			return true
		}
	}
	return false
}
