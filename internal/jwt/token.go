// Package jwt judges JSON web tokens as the jwt_authn filter of Envoy does (jwt_verify_lib): it finds the same faults, in the same order.
package jwt

import (
	"encoding/base64"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// Fault is what is wrong with a token, in the words of Envoy. It is empty if nothing is.
type Fault string

// The faults that do not come from the parts of a token.
const (
	Missing            Fault = "Jwt is missing"
	NotYetValid        Fault = "Jwt not yet valid"
	Expired            Fault = "Jwt is expired"
	UnknownIssuer      Fault = "Jwt issuer is not configured"
	AudienceNotAllowed Fault = "Audiences in Jwt are not allowed"
	NotVerified        Fault = "Jwt verification fails"
	NoValidKeys        Fault = "Jwks doesn't have any valid public key"
	noKeyMatches       Fault = "Jwks doesn't have key to match kid or alg from Jwt"
)

// Token is a token that is well formed.
type Token struct {
	Issuer, Subject    string
	Audiences          []string
	NotBefore, Expires uint64 // in seconds since 1970; 0: not stated
	Header, Claims     *structpb.Struct
	Payload            string // the claims as they are encoded

	algorithm, keyID, signed, signature string
}

var algorithms = map[string]bool{
	"ES256": true, "ES384": true, "ES512": true, "HS256": true, "HS384": true, "HS512": true, "RS256": true, "RS384": true, "RS512": true, "PS256": true,
	"PS384": true, "PS512": true, "EdDSA": true,
}

// Parse follows Jwt::parseFromString.
func Parse(text string) (*Token, Fault) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '.' })
	if len(parts) != 3 {
		return nil, "Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections"
	}
	t := &Token{Payload: parts[1], signed: parts[0] + "." + parts[1]}
	if fault := t.header(parts[0]); fault != "" {
		return nil, fault
	}
	if fault := t.claims(); fault != "" {
		return nil, fault
	}
	signature, ok := unescape(parts[2])
	if !ok {
		return nil, "Jwt signature is an invalid Base64url encoded"
	}
	t.signature = signature
	return t, ""
}

func (t *Token) header(encoded string) Fault {
	text, ok := unescape(encoded)
	if !ok {
		return "Jwt header is an invalid Base64url encoded"
	}
	if t.Header, ok = object(text); !ok {
		return "Jwt header is an invalid JSON"
	}
	if alg, ok := t.Header.GetFields()["alg"].GetKind().(*structpb.Value_StringValue); ok {
		t.algorithm = alg.StringValue
	} else {
		return "Jwt header [alg] field is required and must be a string"
	}
	if !algorithms[t.algorithm] {
		return "Jwt header [alg] is not supported"
	}
	if !textOf(t.Header, "kid", &t.keyID) {
		return "Jwt header [kid] field is not a string"
	}
	return ""
}

func (t *Token) claims() Fault {
	text, ok := unescape(t.Payload)
	if !ok {
		return "Jwt payload is an invalid Base64url encoded"
	}
	if t.Claims, ok = object(text); !ok {
		return "Jwt payload is an invalid JSON"
	}
	var issued uint64
	var id string
	for _, field := range []struct {
		name string
		to   *string
	}{{"iss", &t.Issuer}, {"sub", &t.Subject}} {
		if !textOf(t.Claims, field.name, field.to) {
			return Fault("Jwt payload [" + field.name + "] field is not a string")
		}
	}
	for _, field := range []struct {
		name string
		to   *uint64
	}{{"iat", &issued}, {"nbf", &t.NotBefore}, {"exp", &t.Expires}} {
		if what := numberOf(t.Claims, field.name, field.to); what != "" {
			return Fault("Jwt payload [" + field.name + "] field is not " + what)
		}
	}
	if !textOf(t.Claims, "jti", &id) {
		return "Jwt payload [jti] field is not a string"
	}
	if t.Audiences, ok = textsOf(t.Claims.GetFields()["aud"]); !ok {
		return "Jwt payload [aud] field is not a string or string list"
	}
	return ""
}

// AtTime follows Jwt::verifyTimeConstraint. All times are in seconds.
func (t *Token) AtTime(now, skew uint64) Fault {
	switch {
	case now+skew < t.NotBefore:
		return NotYetValid
	case t.Expires > 0 && now > t.Expires+skew:
		return Expired
	}
	return ""
}

// For reports whether the token is for one of some audiences, or there are none (CheckAudience).
func (t *Token) For(audiences []string) bool {
	for _, wanted := range audiences {
		for _, own := range t.Audiences {
			if sanitized(wanted) == sanitized(own) {
				return true
			}
		}
	}
	return len(audiences) == 0
}

// sanitized leaves out the scheme and the last slash of an audience.
func sanitized(audience string) string {
	rest, ok := strings.CutPrefix(audience, "http://")
	if !ok {
		rest = strings.TrimPrefix(audience, "https://")
	}
	return strings.TrimSuffix(rest, "/")
}

// Claim returns a claim by its name, or by the path to it with dots (StructUtils::GetValue); nil if there is none.
func (t *Token) Claim(name string) *structpb.Value {
	value := structpb.NewStructValue(t.Claims)
	for part := range strings.SplitSeq(name, ".") {
		value = value.GetStructValue().GetFields()[part]
	}
	return value
}

// unescape follows absl::WebSafeBase64Unescape.
func unescape(text string) (string, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	return string(raw), err == nil
}

func object(text string) (*structpb.Struct, bool) {
	made := &structpb.Struct{}
	return made, protojson.Unmarshal([]byte(text), made) == nil
}

// textOf takes a field that is a string if it exists.
func textOf(from *structpb.Struct, name string, to *string) (ok bool) {
	value, has := from.GetFields()[name]
	if !has {
		return true
	}
	s, ok := value.GetKind().(*structpb.Value_StringValue)
	if ok {
		*to = s.StringValue
	}
	return ok
}

// numberOf takes a field that is a number if it exists, and otherwise says what it is not.
func numberOf(from *structpb.Struct, name string, to *uint64) (what string) {
	value, has := from.GetFields()[name]
	if !has {
		return ""
	}
	n, ok := value.GetKind().(*structpb.Value_NumberValue)
	switch {
	case !ok:
		return "an integer"
	case n.NumberValue < 0 || n.NumberValue >= math.MaxUint64:
		return "a positive 64 bit integer"
	}
	*to = uint64(n.NumberValue)
	return ""
}

// textsOf returns a string or the strings of a list.
func textsOf(value *structpb.Value) (all []string, ok bool) {
	switch by := value.GetKind().(type) {
	case nil:
		return nil, true
	case *structpb.Value_StringValue:
		return []string{by.StringValue}, true
	case *structpb.Value_ListValue:
		for _, item := range by.ListValue.GetValues() {
			s, ok := item.GetKind().(*structpb.Value_StringValue)
			if !ok {
				return nil, false
			}
			all = append(all, s.StringValue)
		}
		return all, true
	}
	return nil, false
}
