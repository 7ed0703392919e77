package walk

import (
	"slices"
	"strings"

	apikeyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/api_key_auth/v3"
)

// apiKeyAuth follows ApiKeyAuthFilter::decodeHeaders.
func apiKeyAuth(j *journey, v visit) bool {
	config, _ := v.Config.(*apikeyv3.ApiKeyAuth)
	own, _ := v.own.(*apikeyv3.ApiKeyAuthPerRoute)
	credentials, sources, forwarding := config.GetCredentials(), config.GetKeySources(), config.GetForwarding()
	if len(own.GetCredentials()) > 0 {
		credentials = own.GetCredentials()
	}
	if len(own.GetKeySources()) > 0 {
		sources = own.GetKeySources()
	}
	if own != nil { // also where it does not say anything of it
		forwarding = own.GetForwarding()
	}
	key := j.apiKey(sources)
	at := slices.IndexFunc(credentials, func(c *apikeyv3.Credential) bool { return c.GetKey() == key })
	switch {
	case len(sources) == 0:
		return j.answers(401, "missing_key_sources", "-")
	case len(credentials) == 0:
		return j.answers(401, "missing_credentials", "-")
	case key == "":
		return j.answers(401, "missing_api_key", "-")
	case at < 0:
		return j.answers(401, "unknown_api_key", "-")
	}
	client := credentials[at].GetClient()
	if allowed := own.GetAllowedClients(); len(allowed) > 0 && !slices.Contains(allowed, client) {
		return j.answers(403, "client_not_allowed", "-")
	}
	if name := forwarding.GetHeader(); name != "" {
		j.headers.change(name)
		j.headers.set(name, client)
	}
	if forwarding.GetHideCredentials() {
		j.hideKeys(sources)
	}
	return true
}

// apiKey returns the key from the first source that has one.
func (j *journey) apiKey(sources []*apikeyv3.KeySource) (key string) {
	for _, s := range sources {
		switch {
		case s.GetHeader() != "":
			key = strings.TrimPrefix(j.first(s.GetHeader()), "Bearer ")
		case s.GetQuery() != "":
			key, _ = decodeQuery(j.headers.value(path)).first(s.GetQuery())
		default:
			key, _ = j.cookie(s.GetCookie())
		}
		if key != "" {
			break
		}
	}
	return key
}

// hideKeys removes the keys from the request.
func (j *journey) hideKeys(sources []*apikeyv3.KeySource) {
	for _, s := range sources {
		switch {
		case s.GetHeader() != "":
			j.headers.change(s.GetHeader())
			j.headers.remove(s.GetHeader())
		case s.GetQuery() != "":
			q := decodeQuery(j.headers.value(path))
			delete(q, s.GetQuery())
			j.headers.set(path, q.in(j.headers.value(path)))
		case j.headers.has("cookie"):
			j.answer.doubt("added.cookie", "a filter removes its key from it")
		}
	}
}
