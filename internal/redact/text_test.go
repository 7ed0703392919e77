package redact_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, text, want, what string }{
		{"a.yaml", "a: b # nothing\n", "a: b # nothing\n", ""},
		{"a.yaml", "password: S3CRET # why\n", "password: \"[redacted]\" # why\n", "password"},
		{"a.yaml", "password: &p S3CRET\nother: *p\n", "password: &p \"[redacted]\"\nother: *p\n", "password"},
		{"a.yaml", "other: &p S3CRET\npassword: *p\n", "other: &p \"[redacted]\"\npassword: *p\n", "other"},
		{"a.yaml", "password: |\n  S3CRET\n\n  S3CRET\nb: 1\n", "password: \"[redacted]\"\nb: 1\n", "password"},
		{"a.yaml", "password: |2\n     S3CRET\n  S3CRET\nb: 1\n", "password: \"[redacted]\"\nb: 1\n", "password"},
		{"a.yaml", "password: >-\n  S3CRET\n  S3CRET", "password: \"[redacted]\"", "password"},
		{"a.yaml", "password: one\n  S3CRET\nb: 1\n", "password: \"[redacted]\"\nb: 1\n", "password"},
		{"a.yaml", "a: [{password: 'S3''CRET', b: 1}]\n", "a: [{password: \"[redacted]\", b: 1}]\n", "a[0].password"},
		{"a.yaml", "a: 1\r\npassword: S3CRET\r\nb: 1\r\n", "a: 1\r\npassword: \"[redacted]\"\r\nb: 1\r\n", "password"},
		{"a.yaml", "# password: S3CRET\na: 1\n", "# password: \"[redacted]\"\na: 1\n", "password, in a comment"},
		{
			"a.yaml", "a: 1 # was Bearer S3CRETS3CRETS3CRETS3CRET\n", "a: 1 # was [redacted]\n",
			"looks like a credential for HTTP, in a comment",
		},
		{
			"a.yaml", "# -----BEGIN PRIVATE KEY-----\n# S3CRET\n# -----END PRIVATE KEY-----\na: \"# no comment\"\n", "# [redacted]\na: \"# no comment\"\n",
			"looks like a private key, in a comment",
		},
		{
			"a.yaml", "lua: |\n  x = 1\n  k = '-----BEGIN PRIVATE KEY-----\n  S3CRET\n  -----END PRIVATE KEY-----'\n  y = 2\n", "lua: |\n  x = 1\n  k = '[redacted]'\n  y = 2\n",
			"looks like a private key",
		},
		{
			"a.yaml", "kind: Secret\ndata: {a: UzNDUkVU}\nstringData: {b: S3CRET}\n", "kind: Secret\ndata: {a: \"W3JlZGFjdGVkXQ==\"}\nstringData: {b: \"[redacted]\"}\n",
			"data.a",
		},
		{
			"a.yaml", "kind: ConfigMap\ndata:\n  x.yaml: |\n    # token: S3CRET\n    a: 1\n    password: S3CRET # b\n",
			"kind: ConfigMap\ndata:\n  x.yaml: |\n    # token: \"[redacted]\"\n    a: 1\n    password: \"[redacted]\" # b\n", "token, in a comment",
		},
		{
			"a.yaml", "patch: {header: {key: Authorization, value: S3CRET}}\n", "patch: {header: {key: Authorization, value: \"[redacted]\"}}\n",
			"patch.header.value",
		},
		{
			"a.yaml", "password: S3CRETS3CRET\nnote: it is S3CRETS3CRET # S3CRETS3CRET\n", "password: \"[redacted]\"\nnote: \"it is [redacted]\" # [redacted]\n", "password",
		},
		{
			"a.yaml", "token: S3CRETS3CRET1\npassword: S3CRETS3CRET\nnote: S3CRETS3CRET1 or S3CRETS3CRET, S3CRETS3CRE\n",
			"token: \"[redacted]\"\npassword: \"[redacted]\"\nnote: \"[redacted] or [redacted], S3CRETS3CRE\"\n", "token",
		},
		{"a.yaml", "password: redacted\n", "password: \"[redacted]\"\n", "password"},
		{
			"a.yaml", "  # key:\n  #   inline_string: |\n  #     S3CRET\n  #\n  #     S3CRET\n  #   mode: fast\na: 1\n",
			"  # key:\n  #   inline_string: |\n  #     [redacted]\n  #\n  #     [redacted]\n  #   mode: fast\na: 1\n", "a block under a key for secrets, in a comment",
		},
		{"a.yaml", "a: [https://me:S3CRET@h/p, https://me@h/p, http://h:80/@]\n", "a: [\"[redacted]h/p\", https://me@h/p, http://h:80/@]\n", "looks like a password in a URL"},
		{"a.yaml", "a: {b\npassword: S3CRET\nc: 1\n", "a: {b\npassword: \"[redacted]\"\nc: 1\n", "password"},
		{"a.yaml", "a: {b\nprivate_key: |\n  S3CRET\n  S3CRET\nc: 1\n", "a: {b\nprivate_key: |\n  [redacted]\n  [redacted]\nc: 1\n", "a block under a key for secrets"},
		{"a.json", `{"password": "S3CRET", "b": "\u003c"}`, `{"password": "[redacted]", "b": "\u003c"}`, "password"},
		{"a.json", `{"password": "S3CRET", `, `{"password": "[redacted]" `, "password"},
		{"a.pb_text", "private_key { inline_string: 'S3CRET' } a: 1", `private_key { inline_string: "[redacted]" } a: 1`, "private_key.inline_string"},
		{".xdslint.yaml", "ignores: [{rule: a, reason: 'eyJhbGciOiJI.eyJzdWIiOiIx.S3CRET'}]\n", "ignores: [{rule: a, reason: '[redacted]'}]\n", "looks like a JSON web token"},
	} {
		clean, found := redact.Text(c.name, []byte(c.text), types.Envoy)
		if string(clean) != c.want {
			t.Errorf("%q became\n%q, want\n%q", c.text, clean, c.want)
		}
		what := ""
		if len(found) > 0 {
			what = found[0].What
		}
		if what != c.what {
			t.Errorf("%q: found %q, want %q", c.text, what, c.what)
		}
	}
}

// TestManySecrets: the time for thousands of secrets grows with the text, not with its square; with that, this would take hours.
func TestManySecrets(t *testing.T) {
	const many = 20_000
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "- {password: S3CRET-%d, name: S3CRET-%d, token: S3CRET-same} # -----BEGIN PRIVATE KEY-----\n", i, i)
	}
	clean, found := redact.Text("a.yaml", []byte(text.String()), types.Envoy)
	if strings.Contains(string(clean), "S3CRET") {
		t.Error("secrets are left")
	}
	if len(found) != 4*many {
		t.Errorf("%d are found", len(found))
	}
}

// piece is a part of a text. Redaction may replace a secret by any text, but must keep everything else.
type piece struct {
	text   string
	secret bool
}

// planter writes configurations with secrets in them, in random places and layouts.
type planter struct {
	*rapid.T
	pieces  []piece
	secrets []string
}

func (p *planter) keep(format string, args ...any) {
	p.pieces = append(p.pieces, piece{text: fmt.Sprintf(format, args...)})
}

func (p *planter) pick(of ...string) string { return rapid.SampledFrom(of).Draw(p.T, "pick") }

func (p *planter) secret() string {
	s := "S3CR3T" + rapid.StringMatching(`[A-Za-z0-9]{12}`).Draw(p.T, "secret")
	p.secrets = append(p.secrets, s)
	return s
}

// value plants a secret behind a key at an indentation, and ends the line.
func (p *planter) value(indent string) {
	s := p.secret()
	header, text := "", ""
	switch p.pick("plain", "single", "double", "literal", "folded", "lines", "anchor", "tag") {
	case "plain":
		text = s
	case "single":
		text = "'it''s " + s + "'"
	case "double":
		text = `"a\n` + s + `\t"`
	case "literal":
		text = p.pick("|", "|-", "|+") + "\n" + indent + "  one " + s + "\n\n" + indent + "  # two"
	case "folded":
		text = ">-\n" + indent + "  one\n" + indent + "  " + s
	case "lines":
		text = "one\n" + indent + "  " + s
	case "anchor":
		header, text = fmt.Sprintf("&a%d ", len(p.secrets)), s
	case "tag":
		header, text = "!!str ", s
	}
	p.keep(" %s", header)
	p.pieces = append(p.pieces, piece{text, true})
	if !strings.Contains(text, "\n") {
		p.keep("%s", p.pick("", " # why", "\t# why"))
	}
	p.keep("\n")
}

func (p *planter) section(i int) {
	switch p.pick("cluster", "header", "secret", "struct", "comment", "key in a comment", "config map", "plain") {
	case "cluster":
		p.keep("- \"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: c%d # kept\n  transport_socket:\n    name: tls\n    typed_config:\n"+
			"      \"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext\n      common_tls_context:\n        tls_certificates:\n"+
			"        - certificate_chain: {inline_string: kept}\n          %s:\n            inline_string:", i, p.pick("private_key", "password", "privateKey"))
		p.value("            ")
	case "header":
		p.keep("- \"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n  request_headers_to_add:\n  - header:\n      key: %s\n      value:", p.pick("Authorization", "x-api-key", "Cookie"))
		p.value("      ")
	case "secret":
		p.keep("- kind: Secret\n  metadata: {name: kept}\n  stringData:\n    a:")
		p.value("    ")
		p.keep("  data:\n    b: ")
		p.pieces = append(p.pieces, piece{base64.StdEncoding.EncodeToString([]byte(p.secret())), true})
		p.secrets = append(p.secrets, p.pieces[len(p.pieces)-1].text)
		p.keep("\n")
	case "struct":
		p.keep("- acme:\n    kept: [1, 2]\n    %s:", p.pick("access_token", "db_password", "client_secret", "apiKey"))
		p.value("    ")
	case "comment":
		p.keep("# %s: ", p.pick("password", "api-key", "token"))
		p.pieces = append(p.pieces, piece{p.secret(), true})
		p.keep("\n- kept\n")
	case "key in a comment":
		p.keep("- kept # ")
		p.pieces = append(p.pieces, piece{"-----BEGIN RSA PRIVATE KEY-----" + p.secret() + "-----END RSA PRIVATE KEY-----", true})
		p.keep("\n")
	case "config map":
		p.keep("- kind: ConfigMap\n  data:\n    envoy.yaml: |\n      kept: 1\n      generic_secret:\n        secret:\n          inline_string: ")
		p.pieces = append(p.pieces, piece{p.secret(), true})
		p.keep(" # kept\n      more: 1\n")
	case "plain":
		p.keep("- {name: c%d, 'kept': \"# no comment\", list: [a, b]} # kept\n", i)
	}
}

// TestNothingIsLeft: in any layout, no planted secret is left, everything else is unchanged, and valid YAML stays valid YAML.
func TestNothingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planter{T: t}
		p.keep("resources:\n")
		for i := range rapid.IntRange(1, 6).Draw(t, "sections") {
			p.section(i)
		}
		var text, want strings.Builder
		want.WriteString("^")
		for _, piece := range p.pieces {
			text.WriteString(piece.text)
			if piece.secret {
				want.WriteString(`"?(\[redacted\]|W3JlZGFjdGVkXQ==)"?`)
			} else {
				want.WriteString(regexp.QuoteMeta(piece.text))
			}
		}
		if _, err := syntax.ParseYAML(&source.File{Text: []byte(text.String())}); err != nil {
			t.Fatalf("%v:\n%s", err, text.String())
		}
		clean, found := redact.Text("x.yaml", []byte(text.String()), types.Envoy)
		for _, s := range p.secrets {
			if strings.Contains(string(clean), s) {
				t.Errorf("%s is left in\n%s", s, clean)
			}
		}
		if !regexp.MustCompile(want.String() + "$").Match(clean) {
			t.Errorf("more has changed than the secrets:\n%s\nof\n%s", clean, text.String())
		}
		if _, err := syntax.ParseYAML(&source.File{Text: clean}); err != nil {
			t.Errorf("%v:\n%s", err, clean)
		}
		if len(p.secrets) > 0 && len(found) == 0 {
			t.Error("nothing is said to be found")
		}
	})
}
