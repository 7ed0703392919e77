package match

import (
	"fmt"
	"regexp"
	"strings"
)

// The characters that globs of a template take (kLiteralWithAsterisk in source/extensions/path/uri_template_lib/uri_template_internal.cc).
const globbed = `a-zA-Z0-9\-._~%!$&'()+,;:@=*`

var globs = map[string]string{"*": "[" + globbed + "]+", "**": "[" + globbed + "/]*"}

// Template compiles a template of path_match_policy (convertPathPatternSyntaxToRegex): a group for each variable, by its name. The expression matches a
// path as a whole.
func Template(template string) (*regexp.Regexp, error) {
	var b strings.Builder
	for rest := template; rest != ""; {
		at := strings.IndexAny(rest, "{*")
		if at < 0 {
			at = len(rest)
		}
		b.WriteString(regexp.QuoteMeta(rest[:at]))
		rest = rest[at:]
		switch {
		case strings.HasPrefix(rest, "{"):
			variable, after, ok := strings.Cut(rest[1:], "}")
			if !ok {
				return nil, fmt.Errorf("template %s: a bracket is not closed", template)
			}
			b.WriteString(variableOf(variable))
			rest = after
		case strings.HasPrefix(rest, "*"):
			glob := globAt(rest)
			b.WriteString(globs[glob])
			rest = rest[len(glob):]
		}
	}
	return compileWhole(b.String())
}

// variableOf returns the group of a variable: NAME, or NAME=PATTERN.
func variableOf(variable string) string {
	name, pattern, ok := strings.Cut(variable, "=")
	if !ok {
		pattern = "*"
	}
	var parts []string
	for part := range strings.SplitSeq(pattern, "/") {
		if glob, ok := globs[part]; ok {
			part = glob
		} else {
			part = regexp.QuoteMeta(part)
		}
		parts = append(parts, part)
	}
	return "(?P<" + name + ">" + strings.Join(parts, "/") + ")"
}

func globAt(text string) string {
	if strings.HasPrefix(text, "**") {
		return "**"
	}
	return "*"
}
