package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/lint"
)

// Template returns the path template in an extension's configuration of a type. An empty one violates a constraint.
func Template(at lint.At, extension *corev3.TypedExtensionConfig, name protoreflect.FullName, field protoreflect.Name) (text string, ok bool) {
	if extension.GetTypedConfig() == nil {
		return "", false
	}
	content := at.Content(extension.GetTypedConfig())
	if content == nil || content.ProtoReflect().Descriptor().FullName() != name {
		return "", false
	}
	m := content.ProtoReflect()
	text = m.Get(m.Descriptor().Fields().ByName(field)).String()
	return text, text != ""
}

const matchTemplate = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig"

// MatchTemplate returns the template that a path must match and its variables, and reports a malformed one. match is "" if paths are matched
// in another way.
func MatchTemplate(p *lint.Pass, at lint.At, policy *corev3.TypedExtensionConfig) (match string, variables []string, ok bool) {
	match, isMatch := Template(at, policy, matchTemplate, "path_template")
	if !isMatch {
		return "", nil, true
	}
	variables, wrong := parseTemplate(match, p.Target.Before("1.39"))
	if wrong != "" {
		p.Reject(at.Field("typed_config", "path_template"), lint.Rejection{
			Message:  "the path template is malformed: " + wrong,
			Upstream: fmt.Sprintf("path_match_policy.path_template %s is invalid", match),
		})
	}
	return match, variables, wrong == ""
}

const maxVariables, maxVariableName = 5, 16

var (
	literal      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9\-._~%!$&'()+,;:@=*]+$`) })
	variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`) })
)

// parseTemplate returns a template's variables, or what is wrong with it. If first, variables must be at the
// beginning of a segment, as until Envoy 1.38.
func parseTemplate(text string, first bool) (variables []string, wrong string) {
	if text[0] != '/' {
		return nil, "it does not start with a slash"
	}
	// Variables can contain slashes, so they are cut out first. A brace remains of each, which no other part can have.
	var bare strings.Builder
	var contents []string
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		bare.WriteString(before)
		if strings.Contains(before, "}") {
			return nil, "it has a closing brace without an opening one"
		}
		if !found {
			break
		}
		content, tail, closed := strings.Cut(after, "}")
		if !closed {
			return nil, "a brace is not closed"
		}
		name, pattern, hasPattern := strings.Cut(content, "=")
		switch {
		case !variableName().MatchString(name):
			return nil, fmt.Sprintf("%q is not a name for a variable", name)
		case len(name) > maxVariableName:
			return nil, fmt.Sprintf("the variable name %q is longer than %d", name, maxVariableName)
		case slices.Contains(variables, name):
			return nil, fmt.Sprintf("it has the variable %q twice", name)
		case len(variables) == maxVariables:
			return nil, fmt.Sprintf("it has more than %d variables", maxVariables)
		}
		if hasPattern {
			for part := range strings.SplitSeq(pattern, "/") {
				if !literal().MatchString(part) || part[0] == '*' && part != "*" && part != "**" {
					return nil, fmt.Sprintf("%q is not a pattern for a variable", pattern)
				}
			}
		} else {
			pattern = "*"
		}
		variables, contents = append(variables, name), append(contents, pattern)
		bare.WriteString("{")
		rest = tail
	}
	segments := strings.Split(bare.String()[1:], "/")
	if first && slices.ContainsFunc(segments, func(s string) bool { return strings.Index(s, "{") > 0 }) {
		return nil, "it has text before a variable, which Envoy accepts only since 1.39"
	}
	return variables, checkSegments(segments, contents)
}

// checkSegments checks the segments between the slashes. Each variable is a brace; contents are the patterns of the variables.
func checkSegments(segments, contents []string) string {
	textGlob := false
	for i, segment := range segments {
		if segment == "" && i == len(segments)-1 {
			break
		}
		around := strings.ReplaceAll(segment, "{", "")
		switch count := strings.Count(segment, "{"); {
		case segment == "":
			return "it has an empty segment"
		case around != "" && !literal().MatchString(around):
			return fmt.Sprintf("%q has a character that does not belong into a path", around)
		case count > 1:
			return "it has two variables in one segment"
		case count == 1:
			pattern := contents[0]
			contents = contents[1:]
			if segment[0] == '*' {
				return "it has a variable next to a *"
			}
			for part := range strings.SplitSeq(pattern, "/") {
				if part == "*" || part == "**" {
					if textGlob {
						return "it has a variable after **"
					}
					textGlob = part == "**"
				}
			}
		case segment[0] == '*':
			switch {
			case textGlob:
				return "it has a * after **"
			case strings.Trim(segment, "*") != "" && i < len(segments)-1:
				return "it has text after a *, and that segment is not the last"
			}
			textGlob = strings.HasPrefix(segment, "**")
		}
	}
	return ""
}

// ParseRewrite returns the variables that a rewrite names, or what is wrong with it (parseRewritePattern).
func ParseRewrite(text string) (variables []string, wrong string) {
	if text[0] != '/' {
		return nil, "it does not start with a slash"
	}
	if strings.Contains(text, "//") {
		return nil, "it has an empty segment"
	}
	for rest := text; rest != ""; {
		before, after, found := strings.Cut(rest, "{")
		if plain := strings.ReplaceAll(before, "/", ""); plain != "" && !literal().MatchString(plain) {
			return nil, fmt.Sprintf("%q has a character that does not belong into a path", before)
		}
		if !found {
			break
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			return nil, "a brace is not closed"
		}
		if !variableName().MatchString(name) {
			return nil, fmt.Sprintf("%q is not a name for a variable", name)
		}
		variables, rest = append(variables, name), tail
	}
	return variables, ""
}
