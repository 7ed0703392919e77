package walk

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/internal/jwt"
)

// demand is what one verifier asks of the tokens of a request.
type demand struct {
	providers       []string
	audiences       []string // instead of those of the provider
	byIssuer        bool     // the issuer of a token chooses its provider
	missing, failed bool     // are let through
}

// location is a token, and where it is.
type location struct {
	text    string
	issuers []string // that may have a token here; an empty one stands for all
	remove  func()   // nil: nothing removes it
}

// verify follows AuthenticatorImpl::verify: all tokens have to be good, the last one first.
func (c *check) verify(d *demand) (fault jwt.Fault, known bool) {
	for _, name := range d.providers {
		c.sanitize(c.config.GetProviders()[name])
	}
	fault = jwt.Missing
	tokens := c.tokens(d.providers)
	for _, t := range slices.Backward(tokens) {
		if fault, known = c.token(d, t); !known {
			return "", false
		}
		if fault != "" && !d.failed && !d.missing {
			break
		}
	}
	if d.failed || d.missing && fault == jwt.Missing {
		return "", true
	}
	return fault, true
}

// sanitize removes the headers that only the filter may set.
func (j *journey) sanitize(p *jwtauthnv3.JwtProvider) {
	names := []string{p.GetForwardPayloadHeader()}
	for _, each := range p.GetClaimToHeaders() {
		names = append(names, each.GetHeaderName())
	}
	for _, name := range names {
		if name != "" {
			j.headers.change(name)
			j.headers.remove(name)
		}
	}
}

// tokens follows ExtractorImpl::extract: those in headers first, then those in parameters, then those in cookies.
func (c *check) tokens(providers []string) (all []location) {
	places := [3]map[string]*location{{}, {}, {}}
	type place struct{ header, prefix string }
	headers := map[string]place{}
	note := func(kind int, key, issuer string) {
		if places[kind][key] == nil {
			places[kind][key] = &location{}
		}
		places[kind][key].issuers = append(places[kind][key].issuers, issuer)
	}
	for _, name := range providers {
		p := c.config.GetProviders()[name]
		inHeaders, inParameters := p.GetFromHeaders(), p.GetFromParams()
		if len(inHeaders)+len(inParameters)+len(p.GetFromCookies()) == 0 {
			inHeaders, inParameters = []*jwtauthnv3.JwtHeader{{Name: "authorization", ValuePrefix: "Bearer "}}, []string{"access_token"}
		}
		for _, h := range inHeaders {
			key := ascii.Lower(h.GetName()) + h.GetValuePrefix()
			headers[key] = place{ascii.Lower(h.GetName()), h.GetValuePrefix()}
			note(0, key, p.GetIssuer())
		}
		for _, parameter := range inParameters {
			note(1, parameter, p.GetIssuer())
		}
		for _, cookie := range p.GetFromCookies() {
			note(2, cookie, p.GetIssuer())
		}
	}
	for _, key := range slices.Sorted(maps.Keys(places[0])) {
		at := headers[key]
		for _, value := range c.headers.values(at.header) {
			if text, ok := afterPrefix(value, at.prefix); ok {
				all = append(all, location{text, places[0][key].issuers, func() {
					c.headers.change(at.header)
					c.headers.remove(at.header)
				}})
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(places[1])) {
		if value, ok := decodeQuery(c.headers.value(path)).first(key); ok {
			all = append(all, location{value, places[1][key].issuers, func() {
				q := decodeQuery(c.headers.value(path))
				delete(q, key)
				c.headers.set(path, q.in(c.headers.value(path)))
			}})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(places[2])) {
		if value, ok := c.cookie(key); ok {
			all = append(all, location{text: value, issuers: places[2][key].issuers})
		}
	}
	return all
}

// afterPrefix follows ExtractorImpl::extractJWT. The prefix can be anywhere in the value.
func afterPrefix(value, prefix string) (string, bool) {
	_, rest, ok := strings.Cut(value, prefix)
	if !ok || prefix == "" {
		return value, ok
	}
	start := strings.IndexFunc(rest, func(r rune) bool {
		return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	})
	if start < 0 {
		return value, true
	}
	return rest[start:], true
}

// token follows AuthenticatorImpl::startVerify.
func (c *check) token(d *demand, at location) (fault jwt.Fault, known bool) {
	t, fault := jwt.Parse(at.text)
	if fault != "" {
		return fault, true
	}
	if !slices.Contains(at.issuers, "") && !slices.Contains(at.issuers, t.Issuer) {
		return jwt.UnknownIssuer, true
	}
	p := c.config.GetProviders()[d.providers[0]]
	if d.byIssuer {
		p = c.providerOf(t.Issuer)
	}
	if p == nil {
		return jwt.UnknownIssuer, true
	}
	if fault := c.constraints(d, p, t); fault != "" {
		return fault, true
	}
	if p.GetSubjects() != nil {
		switch c.fitsText(p.GetSubjects(), t.Subject) {
		case match.No:
			return jwt.NotVerified, true
		case match.Perhaps:
			return "", false
		}
	}
	if !lives(p, t) {
		return jwt.NotVerified, true
	}
	local := p.GetLocalJwks()
	text := local.GetInlineString() + string(local.GetInlineBytes())
	keys := jwt.ParseKeys(text)
	switch {
	case len(keys) == 0 && text == "" && (local != nil || p.GetRemoteJwks() != nil):
		return "", false
	case len(keys) == 0:
		return jwt.NoValidKeys, true
	}
	if fault := keys.Verify(t); fault != "" {
		return fault, true
	}
	c.good(p, t, at)
	return "", true
}

// providerOf follows JwksCacheImpl::findByIssuer.
func (c *check) providerOf(issuer string) *jwtauthnv3.JwtProvider {
	for _, wanted := range []string{issuer, ""} {
		for _, name := range slices.Sorted(maps.Keys(c.config.GetProviders())) {
			if p := c.config.GetProviders()[name]; p.GetIssuer() == wanted {
				return p
			}
		}
	}
	return nil
}

// now is the time for which tokens are judged, in seconds.
func now() uint64 { return uint64(time.Now().Unix()) }

// constraints compares times and audiences.
func (c *check) constraints(d *demand, p *jwtauthnv3.JwtProvider, t *jwt.Token) jwt.Fault {
	skew := uint64(p.GetClockSkewSeconds())
	if skew == 0 {
		skew = 60
	}
	if fault := t.AtTime(now(), skew); fault != "" {
		return fault
	}
	audiences := d.audiences
	if len(audiences) == 0 {
		audiences = p.GetAudiences()
	}
	if !t.For(audiences) {
		return jwt.AudienceNotAllowed
	}
	return ""
}

// lives follows JwksDataImpl::isLifetimeAllowed.
func lives(p *jwtauthnv3.JwtProvider, t *jwt.Token) bool {
	if p.GetMaxLifetime() == nil {
		return !p.GetRequireExpiration() || t.Expires > 0
	}
	return t.Expires > 0 && float64(t.Expires)-float64(now()) < p.GetMaxLifetime().AsDuration().Seconds()
}

// good follows AuthenticatorImpl::handleGoodJwt.
func (c *check) good(p *jwtauthnv3.JwtProvider, t *jwt.Token, at location) {
	if name := p.GetForwardPayloadHeader(); name != "" {
		payload := t.Payload
		if p.GetPadForwardPayloadHeader() {
			payload += strings.Repeat("=", (4-len(payload)%4)%4)
		}
		c.headers.append(name, payload)
	}
	added := false
	for _, each := range p.GetClaimToHeaders() {
		text, known := claimText(t.Claim(each.GetClaimName()))
		if !known {
			c.answer.doubt("added."+ascii.Lower(each.GetHeaderName()), "Envoy may write the claim in another order")
		}
		if text != "" {
			c.headers.append(each.GetHeaderName(), text)
			added = true
		}
	}
	c.clears = c.clears || p.GetClearRouteCache() && (added || p.GetPayloadInMetadata() != "")
	if !p.GetForward() && at.remove != nil {
		at.remove()
	}
	for key, value := range map[string]*structpb.Struct{p.GetHeaderInMetadata(): t.Header, p.GetPayloadInMetadata(): t.Claims} {
		if key != "" {
			c.write("envoy.filters.http.jwt_authn", key, structpb.NewStructValue(value))
		}
	}
	if len(p.GetNormalizePayloadInMetadata().GetSpaceDelimitedClaims()) > 0 {
		c.metadata = nil
	}
}

// claimText follows AuthenticatorImpl::addJWTClaimToHeader.
func claimText(claim *structpb.Value) (text string, known bool) {
	switch by := claim.GetKind().(type) {
	case *structpb.Value_StringValue:
		return by.StringValue, true
	case *structpb.Value_NumberValue:
		if n := by.NumberValue; n >= 0 && n < math.MaxUint64 && n == math.Trunc(n) {
			return fmt.Sprint(uint64(n)), true
		}
		return fmt.Sprintf("%f", by.NumberValue), true
	case *structpb.Value_BoolValue:
		return fmt.Sprint(by.BoolValue), true
	case *structpb.Value_StructValue, *structpb.Value_ListValue:
		raw, err := json.Marshal(claim.AsInterface())
		return base64.StdEncoding.EncodeToString(raw), err == nil && len(claim.GetStructValue().GetFields()) < 2
	}
	return "", true
}
