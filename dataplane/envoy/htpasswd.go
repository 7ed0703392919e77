package envoy

import "strings"

const (
	shaPrefix = "{SHA}"
	shaLength = 28 // a SHA-1 in base64
)

// HtpasswdError is what Envoy rejects in the users of basic_auth.
type HtpasswdError struct {
	Line     int // from 1; 0 for the text as a whole
	What     string
	Upstream string
}

// CheckHtpasswd returns what is wrong with users of basic_auth (readHtpasswd in source/extensions/filters/http/basic_auth/config.cc).
func CheckHtpasswd(text string) (e HtpasswdError, is bool) {
	if text == "" {
		return HtpasswdError{What: "there are no users", Upstream: "DataSource cannot be empty"}, true
	}
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		name, hash, colon := strings.Cut(line, ":")
		digest, sha := strings.CutPrefix(hash, shaPrefix)
		e := HtpasswdError{Line: i + 1}
		switch {
		case !colon:
			e.What, e.Upstream = "is not a name and a password, separated by a colon", "basic auth: invalid htpasswd format, username:password is expected"
		case name == "" || hash == "":
			e.What, e.Upstream = "has an empty name or password", "basic auth: empty user name or password"
		case seen[name]:
			e.What, e.Upstream = "repeats a user", "basic auth: duplicate users"
		case !sha:
			e.What, e.Upstream = "does not have a SHA-1 password", "basic auth: unsupported htpasswd format: please use {SHA}"
		case len(digest) != shaLength:
			e.What, e.Upstream = "does not have the 28 characters of a SHA-1 in base64", "basic auth: invalid htpasswd format, invalid SHA hash length"
		default:
			seen[name] = true
			continue
		}
		return e, true
	}
	return HtpasswdError{}, false
}
