package tree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of ParsePath. Messages nest at most 100 deep, each in a field, an Any or a Struct.
const (
	maxPathLength = 1 << 16
	maxPathSteps  = 4 * MaxDepth
)

// ParsePath parses the result of Path.String:
// `virtual_hosts[0].typed_per_filter_config["envoy.filters.http.cors"].filter_enabled`. It does not know messages: the
// caller has to check that the fields exist.
func ParsePath(s string) (*Path, error) {
	if len(s) > maxPathLength {
		return nil, fmt.Errorf("a path of %d bytes is too long", len(s))
	}
	var p *Path
	for rest, steps := s, 0; rest != ""; steps++ {
		if steps == maxPathSteps {
			return nil, fmt.Errorf("a path of more than %d steps is too long", maxPathSteps)
		}
		if p != nil {
			if rest[0] != '.' {
				return nil, fmt.Errorf(`a "." belongs before %q`, rest)
			}
			rest = rest[1:]
		}
		var err error
		if p, rest, err = p.parseStep(rest); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// parseStep reads a field's name, and the brackets behind it.
func (p *Path) parseStep(s string) (next *Path, rest string, err error) {
	n := strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	if n < 0 {
		n = len(s)
	}
	name, rest := s[:n], s[n:]
	switch {
	case name == "":
		return nil, "", errors.New("a field's name is missing")
	case !strings.HasPrefix(rest, "["):
		return p.Field(name), rest, nil
	case strings.HasPrefix(rest, `["`):
		return p.parseKey(name, rest[1:])
	}
	digits, rest, closed := strings.Cut(rest[1:], "]")
	i, err := strconv.Atoi(digits)
	if err != nil || !closed || strconv.Itoa(i) != digits || i < 0 {
		return nil, "", fmt.Errorf(`expected a number or a "key", and a ], after %s[`, name)
	}
	return p.Item(name, i), rest, nil
}

func (p *Path) parseKey(name, s string) (next *Path, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil || !strings.HasPrefix(s[len(quoted):], "]") {
		return nil, "", fmt.Errorf(`expected a number or a "key", and a ], after %s[`, name)
	}
	key, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, "", fmt.Errorf("%s is not a key: %w", quoted, err)
	}
	return p.Entry(name, key), s[len(quoted)+1:], nil
}
