package report

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cncf/xds/go/udpa/annotations"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
	"github.com/xdslint/xdslint/lint"
)

const redaction = "[secret]"

// secrets knows what must not be shown of each file. A file is looked through when something of it is about to be shown.
type secrets struct {
	resources map[*source.File][]*graph.Resource
	files     map[*source.File]*hidden
}

// hidden is what one file must not show.
type hidden struct {
	spans  []source.Span // sorted by their beginning
	values []string
	broken bool // the file could not be parsed: where its secrets are is guessed from its lines
}

func newSecrets(result *lint.Result) *secrets {
	if len(result.Diagnostics) == 0 { // nothing will be shown
		return &secrets{files: map[*source.File]*hidden{}}
	}
	return allSecrets(result)
}

// Hides tells which lines of the files of a result must not be shown, since they hold a secret. Lines count from 1.
func Hides(result *lint.Result) func(f *source.File, line int) bool {
	s := allSecrets(result)
	return func(f *source.File, line int) bool {
		text, start := f.Line(line)
		return s.of(f).hide(text, start)
	}
}

func allSecrets(result *lint.Result) *secrets {
	s := &secrets{resources: map[*source.File][]*graph.Resource{}, files: map[*source.File]*hidden{}}
	known := map[*graph.Resource]bool{}
	add := func(r *graph.Resource) {
		if r != nil && !known[r] {
			known[r] = true
			s.resources[r.File] = append(s.resources[r.File], r)
		}
	}
	for _, snapshot := range result.Snapshots {
		for _, r := range snapshot.Resources {
			add(r)
		}
	}
	for i := range result.Diagnostics {
		add(result.Diagnostics[i].Resource)
		for _, r := range result.Diagnostics[i].Related {
			add(r.Resource)
		}
	}
	return s
}

func (s *secrets) of(f *source.File) *hidden {
	h := s.files[f]
	if h == nil {
		h = &hidden{}
		for _, r := range s.resources[f] {
			h.resource(r)
		}
		h.privateKeys(f.Text)
		sort.Slice(h.spans, func(i, j int) bool { return h.spans[i].Start < h.spans[j].Start })
		slices.Sort(h.values)
		h.values = slices.Compact(h.values)
		// Longer ones first: one value may be part of another.
		sort.SliceStable(h.values, func(i, j int) bool { return len(h.values[i]) > len(h.values[j]) })
		s.files[f] = h
	}
	return h
}

// redacted copies the findings of a result, without the secrets in their texts.
func (s *secrets) redacted(result *lint.Result) []lint.Diagnostic {
	all := slices.Clone(result.Diagnostics)
	for i := range all {
		d := &all[i]
		h := s.of(d.Resource.File)
		d.Message, d.Help, d.Upstream = h.redact(d.Message), h.redact(d.Help), h.redact(d.Upstream)
		d.Notes = slices.Clone(d.Notes)
		for j := range d.Notes {
			d.Notes[j] = h.redact(d.Notes[j])
		}
		d.Related = slices.Clone(d.Related)
		for j := range d.Related {
			r := &d.Related[j]
			r.Message = s.of(r.Resource.File).redact(r.Message)
		}
		d.Fixes = slices.DeleteFunc(slices.Clone(d.Fixes), func(fix lint.Fix) bool {
			return slices.ContainsFunc(fix.Edits, func(e lint.Edit) bool { return h.redact(e.New) != e.New })
		})
	}
	return all
}

// redact takes the file's secrets out of a text about it.
func (h *hidden) redact(s string) string {
	for _, v := range h.values {
		if strings.Contains(s, v) {
			s = strings.ReplaceAll(s, v, redaction)
		}
	}
	if looksSecret([]byte(s)) {
		s = patterns().ReplaceAllString(s, redaction)
	}
	return s
}

// hide tells whether a line, which starts at an offset, must not be shown.
func (h *hidden) hide(line []byte, start int) bool {
	end := start + len(line)
	for _, span := range h.spans {
		if span.Start >= end {
			break
		}
		if span.End > start {
			return true
		}
	}
	return looksSecret(line) || h.broken && likelySecret().Match(line)
}

// patterns are secrets that tell by their looks: bearer tokens, JSON web tokens, private keys.
var patterns = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}=*|eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_.-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----.*`)
})

// likelySecret is for lines of files that could not be parsed.
var likelySecret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(inline_?(string|bytes)|passwords?|secret|token|private_?key|access_?key|pkcs12)["']?\s*:\s*\S`)
})

func looksSecret(line []byte) bool {
	// Few lines hold any of these words; the expression is slow.
	return (containsFold(line, "bearer") || containsFold(line, "basic") || bytes.Contains(line, []byte("eyJ")) ||
		bytes.Contains(line, []byte("PRIVATE KEY"))) && patterns().Match(line)
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

// privateKeys hides whole PEM blocks, wherever they stand.
func (h *hidden) privateKeys(text []byte) {
	const mark = "PRIVATE KEY-----"
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(mark))
		if i < 0 {
			return
		}
		start := at + i
		end := start + len(mark)
		if j := bytes.Index(text[end:], []byte(mark)); j >= 0 {
			end += j + len(mark)
		} else {
			end = len(text)
		}
		h.spans = append(h.spans, source.Span{Start: start, End: end})
		at = end
	}
}

func (h *hidden) resource(r *graph.Resource) {
	if len(r.Problems) > 0 || r.Message == nil {
		// Parts of it are no message: go by the names of the keys.
		if r.Text == nil {
			h.broken = true
		} else {
			h.node(r.Text, "")
		}
	}
	r.Walk(func(at *graph.Place) {
		for _, fd := range sensitiveFields(at.Message.Descriptor()) {
			if at.Message.Has(fd) {
				h.field(r, at, fd)
			}
		}
		h.header(r, at)
	})
}

// header hides the value of a header that carries a credential. What a formatter puts in at run time is none.
func (h *hidden) header(r *graph.Resource, at *graph.Place) {
	md := at.Message.Descriptor()
	if md.FullName() != "envoy.config.core.v3.HeaderValue" || !credentialHeaders[strings.ToLower(at.Message.Get(md.Fields().ByName("key")).String())] {
		return
	}
	for _, name := range []protoreflect.Name{"value", "raw_value"} {
		if fd := md.Fields().ByName(name); at.Message.Has(fd) && !strings.HasPrefix(at.Message.Get(fd).String(), "%") {
			h.field(r, at, fd)
		}
	}
}

var credentialHeaders = map[string]bool{
	"authorization": true, "proxy-authorization": true, "x-api-key": true, "api-key": true, "apikey": true, "x-auth-token": true,
	"x-amz-security-token": true, "x-vault-token": true, "cookie": true,
}

func (h *hidden) field(r *graph.Resource, at *graph.Place, fd protoreflect.FieldDescriptor) {
	name, v := string(fd.Name()), at.Message.Get(fd)
	switch {
	case fd.IsList():
		for i := range v.List().Len() {
			h.value(r, at.Path.Item(name, i), fd, v.List().Get(i))
		}
	case fd.IsMap():
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			h.value(r, at.Path.Entry(name, k.String()), fd.MapValue(), v)
			return true
		})
	default:
		h.value(r, at.Path.Field(name), fd, v)
	}
}

func (h *hidden) value(r *graph.Resource, path *decode.Path, fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	if fd.Message() == nil {
		h.scalar(v)
	} else {
		m := v.Message()
		if fd.Message().FullName() == "envoy.config.core.v3.DataSource" {
			// The name of a file or of a variable is no secret.
			inline := m.WhichOneof(m.Descriptor().Oneofs().ByName("specifier"))
			if inline == nil || !strings.HasPrefix(string(inline.Name()), "inline_") {
				return
			}
			path = path.Field(string(inline.Name()))
		}
		h.strings(m)
	}
	if found := r.Locate(path); found.Exact {
		h.spans = append(h.spans, found.Value)
	}
}

// strings collects the texts in a message that is sensitive as a whole.
func (h *hidden) strings(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsList():
			for i := range v.List().Len() {
				if fd.Message() != nil {
					h.strings(v.List().Get(i).Message())
				} else {
					h.scalar(v.List().Get(i))
				}
			}
		case fd.IsMap():
		case fd.Message() != nil:
			h.strings(v.Message())
		default:
			h.scalar(v)
		}
		return true
	})
}

// A shorter text than this says nothing by itself, and would be found in every other word.
const minSecret = 4

func (h *hidden) scalar(v protoreflect.Value) {
	switch s := v.Interface().(type) {
	case string:
		h.text(s)
	case []byte:
		h.text(string(s))
	}
}

func (h *hidden) text(s string) {
	if s = strings.TrimSpace(s); len(s) >= minSecret {
		h.values = append(h.values, s)
	}
}

// secretNames are sensitive fields whose names are plain enough to go by where the message is not known.
var secretNames = map[string]bool{
	"private_key": true, "privateKey": true, "password": true, "pkcs12": true, "auth_password": true, "authPassword": true,
	"downstream_auth_password": true, "downstreamAuthPassword": true, "downstream_auth_passwords": true, "downstreamAuthPasswords": true,
	"secret_access_key": true, "secretAccessKey": true, "session_token": true, "sessionToken": true, "backend_token": true, "backendToken": true,
	"secret_data": true, "secretData": true, "users": true, "local_jwks": true, "localJwks": true,
	"access_token": true, "accessToken": true, "google_refresh_token": true, "googleRefreshToken": true,
	"authorization_token": true, "authorizationToken": true, "json_key": true, "jsonKey": true,
}

// secretWithin are sensitive fields whose names say enough only below the key that they stand under.
var secretWithin = map[string]map[string]bool{
	"generic_secret":      {"secret": true, "secrets": true},
	"genericSecret":       {"secret": true, "secrets": true},
	"session_ticket_keys": {"keys": true},
	"sessionTicketKeys":   {"keys": true},
	"credentials":         {"key": true},
}

// credential are keys that no message may have, or that have a text where a message belongs: a secret is what people write there.
var credential = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(password|passwd|secret|token|private_?key|access_?key|api_?key)$`)
})

// node looks for secrets by the names of the keys; under is the key that n stands under.
func (h *hidden) node(n *decode.Node, under string) {
	for i := range n.Items {
		item := &n.Items[i]
		key := under
		if n.Kind == decode.Map {
			key = n.Keys[i].Name
			if secretNames[key] || secretWithin[under][key] || item.Kind == decode.String && credential().MatchString(key) {
				h.leaves(item)
				continue
			}
		}
		h.node(item, key)
	}
}

func (h *hidden) leaves(n *decode.Node) {
	if n.Kind == decode.String || n.Kind == decode.Number {
		h.spans = append(h.spans, n.Span())
		h.text(n.Text)
	}
	for i := range n.Items {
		if n.Kind == decode.Map {
			if key := n.Keys[i].Name; key == "filename" || key == "environment_variable" || key == "environmentVariable" {
				continue
			}
		}
		h.leaves(&n.Items[i])
	}
}

var sensitive sync.Map // protoreflect.MessageDescriptor → []protoreflect.FieldDescriptor

// unmarked are fields that hold secrets, or may (a key set can be symmetric), and that Envoy's protos do not mark.
var unmarked = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.http.jwt_authn.v3.JwtProvider.local_jwks":                                       true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.access_token":                                true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.google_refresh_token":                        true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.GoogleIAMCredentials.authorization_token":    true,
	"envoy.config.core.v3.GrpcService.GoogleGrpc.CallCredentials.ServiceAccountJWTAccessCredentials.json_key": true,
}

// sensitiveFields lists the fields of a message that hold secrets: those that Envoy's protos mark, and a few more.
func sensitiveFields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := sensitive.Load(md); ok {
		return known.([]protoreflect.FieldDescriptor)
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		if marked, _ := proto.GetExtension(fd.Options(), annotations.E_Sensitive).(bool); marked || unmarked[fd.FullName()] {
			fields = append(fields, fd)
		}
	}
	sensitive.Store(md, fields)
	return fields
}
