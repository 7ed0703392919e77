package redact

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
)

// looksSecret reports whether a text holds what looks like a secret.
func looksSecret(text []byte) bool {
	// Few texts hold any of these words; the expression is slow.
	return (containsFold(text, "bearer") || containsFold(text, "basic") || bytes.Contains(text, []byte("eyJ")) || bytes.Contains(text, []byte("://")) ||
		bytes.Contains(text, []byte(privateKey))) && patterns().Match(text)
}

// Hides reports whether JSON finds something to redact within a text.
func Hides(text string) bool {
	// Most texts are names and addresses, in which it looks for nothing.
	return (strings.ContainsAny(text, "{= \t\n\r\f") || strings.Contains(text, "://") || strings.Contains(text, "eyJ") ||
		strings.HasPrefix(text, encodedPrivateKey)) && inside(text, types.Envoy) != nil
}

// hasLiteral reports whether a text gives a secret to a variable.
func hasLiteral(text []byte) bool { return bytes.IndexByte(text, '=') >= 0 && literal().Match(text) }

// Looks takes out of a text what looks like a secret. It is for what others say; JSON and Text know more of a configuration.
func Looks(text string) string { return withoutLooks(text, Redaction) }

// Error takes secrets out of an error. Envoy quotes a whole message that it rejects: of its texts, only names are left.
func Error(text string) string {
	return textField().ReplaceAllStringFunc(Looks(text), func(field string) string {
		key, _, _ := strings.Cut(field, ":")
		if key == "name" || strings.HasSuffix(key, "_name") {
			return field
		}
		return key + `: "` + Redaction + `"`
	})
}

func withoutLooks(text, word string) string {
	if !looksSecret([]byte(text)) {
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

// looks notes what looks like a secret in a part of the text.
func (r *redactor) looks(at source.Span, part []byte) {
	if looksSecret(part) {
		for _, m := range patterns().FindAllIndex(part, -1) {
			r.edits = append(r.edits, edit{source.Span{Start: at.Start + m[0], End: at.Start + m[1]}, Redaction, look(part[m[0]:m[1]])})
		}
	}
	r.literals(at, part)
}

// literals notes the texts that code gives to variables for secrets.
func (r *redactor) literals(at source.Span, part []byte) {
	if !hasLiteral(part) {
		return
	}
	for _, m := range literal().FindAllSubmatchIndex(part, -1) {
		start, end := max(m[2], m[4]), max(m[3], m[5])
		if value := string(part[start:end]); !isRedaction(value) {
			r.note(value, false)
			r.edits = append(r.edits, edit{source.Span{Start: at.Start + start, End: at.Start + end}, Redaction, "a text that is assigned to a name for secrets"})
		}
	}
}

// look names what a text looks like.
func look(text []byte) string {
	switch {
	case bytes.Contains(text, []byte(privateKey)):
		return "looks like a private key"
	case bytes.HasPrefix(text, []byte("eyJ")):
		return "looks like a JSON web token"
	case bytes.HasSuffix(text, []byte("@")):
		return "looks like a password in a URL"
	}
	return "looks like a credential for HTTP"
}

// encodedKey finds a private key in base64.
func (r *redactor) encodedKey(text string) {
	if !strings.HasPrefix(text, encodedPrivateKey) {
		return
	}
	if raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err == nil && looksSecret(raw) {
		r.edits = append(r.edits, edit{source.Span{End: len(text)}, encodedRedaction, look(raw)})
	}
}
