package jwt_test

import (
	"encoding/base64"
	"testing"

	"github.com/xdslint/xdslint/internal/jwt"
)

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func token(header, claims string) string { return encode(header) + "." + encode(claims) + ".c2ln" }

// TestFaults: the first fault of a token is found. The bench of package walktest asks Envoy.
func TestFaults(t *testing.T) {
	const head = `{"alg":"HS256"}`
	for text, want := range map[string]jwt.Fault{
		"":                                       "Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections",
		"a.b":                                    "Jwt is not in the form of Header.Payload.Signature with two dots and 3 sections",
		"!.b.c":                                  "Jwt header is an invalid Base64url encoded",
		encode("x") + ".b.c":                     "Jwt header is an invalid JSON",
		token(`{}`, `{}`):                        "Jwt header [alg] field is required and must be a string",
		token(`{"alg":"none"}`, `{}`):            "Jwt header [alg] is not supported",
		token(`{"alg":"HS256","kid":1}`, `{}`):   "Jwt header [kid] field is not a string",
		encode(head) + ".!.c":                    "Jwt payload is an invalid Base64url encoded",
		token(head, `[]`):                        "Jwt payload is an invalid JSON",
		token(head, `{"iss":1}`):                 "Jwt payload [iss] field is not a string",
		token(head, `{"exp":"x"}`):               "Jwt payload [exp] field is not an integer",
		token(head, `{"nbf":-1}`):                "Jwt payload [nbf] field is not a positive 64 bit integer",
		token(head, `{"aud":[1]}`):               "Jwt payload [aud] field is not a string or string list",
		encode(head) + "." + encode("{}") + ".!": "Jwt signature is an invalid Base64url encoded",
		token(head, `{"iss":"a","aud":["x"],"exp":5}`): "",
	} {
		if _, got := jwt.Parse(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestTimes: a clock may differ by some seconds.
func TestTimes(t *testing.T) {
	made, fault := jwt.Parse(token(`{"alg":"HS256"}`, `{"nbf":100,"exp":200,"aud":"https://shop/"}`))
	if fault != "" {
		t.Fatal(fault)
	}
	for now, want := range map[uint64]jwt.Fault{89: jwt.NotYetValid, 90: "", 210: "", 211: jwt.Expired} {
		if got := made.AtTime(now, 10); got != want {
			t.Errorf("%d: %q, want %q", now, got, want)
		}
	}
	if !made.For(nil) || !made.For([]string{"http://shop"}) || made.For([]string{"cart"}) {
		t.Error("the audience does not fit")
	}
}

// TestKeys: keys that are not known are left out.
func TestKeys(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "{}": 0, `{"keys":[]}`: 0, `{"keys":[{"kty":"oct","k":""},{"kty":"RSA","n":"!","e":"AQAB"},{"kty":"EC","x":"AA","y":"AA"},{"kty":"OKP","crv":"X25519","x":"AA"}]}`: 0,
		`{"keys":[{"kty":"oct","k":"YQ"},{"kty":"oct","k":"YQ","alg":"RS256"}]}`: 1,
	} {
		if got := len(jwt.ParseKeys(text)); got != want {
			t.Errorf("%s: %d keys, want %d", text, got, want)
		}
	}
}

// FuzzParse: no text makes the package panic.
func FuzzParse(f *testing.F) {
	f.Add(token(`{"alg":"HS256"}`, `{"exp":5}`), `{"keys":[{"kty":"oct","k":"YQ"}]}`)
	f.Fuzz(func(_ *testing.T, text, keys string) {
		all := jwt.ParseKeys(keys)
		if made, fault := jwt.Parse(text); fault == "" {
			_ = all.Verify(made)
		}
	})
}
