package walk

import (
	"crypto/sha1" //nolint:gosec // what the passwords of the filter are hashed with
	"encoding/base64"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	basicauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"
)

// basicAuth follows BasicAuthFilter::decodeHeaders.
func basicAuth(j *journey, v visit) bool {
	config, _ := v.Config.(*basicauthv3.BasicAuth)
	source := config.GetUsers()
	if own, ok := v.own.(*basicauthv3.BasicAuthPerRoute); ok {
		source = own.GetUsers()
	}
	users, known := usersOf(source)
	if !known {
		return j.perhaps(v, "users that are not in the input")
	}
	name := config.GetAuthenticationHeader()
	if name == "" {
		name = "authorization"
	}
	details := ""
	switch user, password, problem := credential(j.headers.values(name)); {
	case problem != "":
		details = problem
	case users[user] != hash(password):
		details = "invalid_credential_for_basic_auth"
	default:
		if forward := config.GetForwardUsernameHeader(); forward != "" {
			j.headers.change(forward)
			j.headers.set(forward, user)
		}
		return true
	}
	j.says("www-authenticate", `Basic realm="`+quotable.Replace(j.originalURI())+`"`)
	return j.answers(401, details, "-")
}

var quotable = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// originalURI follows Utility::buildOriginalUri, with at most 256 bytes of the path.
func (j *journey) originalURI() string {
	p, has := j.headers.get(path)
	if !has {
		return ""
	}
	if before, ok := j.headers.get("x-envoy-original-path"); ok {
		p = before
	}
	return j.headers.value(scheme) + "://" + j.headers.value(authority) + p[:min(len(p), 256)]
}

// usersOf returns the hashes of users, as htpasswd writes them.
func usersOf(source *corev3.DataSource) (users map[string]string, known bool) {
	text := source.GetInlineString() + string(source.GetInlineBytes())
	users = map[string]string{}
	for line := range strings.Lines(text) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			users[name] = strings.TrimPrefix(rest, "{SHA}")
		}
	}
	return users, text != ""
}

func hash(password string) string {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // the same
	return base64.StdEncoding.EncodeToString(sum[:])
}

// credential returns the user and the password of a request, or the details of what is wrong with them.
func credential(values []string) (user, password, problem string) {
	if len(values) == 0 {
		return "", "", "no_credential_for_basic_auth"
	}
	encoded, ok := strings.CutPrefix(values[0], "Basic ")
	if !ok {
		return "", "", "invalid_scheme_for_basic_auth"
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	user, password, ok = strings.Cut(string(raw), ":")
	if err != nil || !ok {
		return "", "", "invalid_format_for_basic_auth"
	}
	return user, password, ""
}
