package decode_test

import (
	"flag"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/decode"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

// In each of these Envoy has nothing to complain about but how the text reads as a message.
var (
	jsonTexts   = []string{`{}`, `  {}  `, `null`, `[]`, `[{}]`, `{} {}`, `{}x`, `{"admin":{},}`, `{"admin":{},,}`, `{,}`, `{admin:{}}`, `{'admin':{}}`, `{"admin"={}}`, `{"admin":{}} // c`, `/* c */{}`, `{"node":{"id":'a"b'}}`, "{\"node\":{\"id\":\"a\nb\"}}", `{null:1}`, `{1:{}}`, `{a-b:1}`, `{"node":{"id":"\ud800"}}`, `{"node":{"id":"\ud83d\ude00"}}`, `{"node":{"id":"\q"}}`, `{"node":{"id":"\'"}}`, `{"a":undefined}`, `{"static_resources":{"clusters":[,]}}`, `{"static_resources":{"clusters":[{"name":"a"},]}}`}
	jsonCluster = []string{
		// integers
		`"per_connection_buffer_limit_bytes":"0x50"`, `"per_connection_buffer_limit_bytes":"80.0"`, `"per_connection_buffer_limit_bytes":8e1`, `"per_connection_buffer_limit_bytes":" 80"`, `"per_connection_buffer_limit_bytes":"+80"`, `"per_connection_buffer_limit_bytes":+80`, `"per_connection_buffer_limit_bytes":0x50`, `"per_connection_buffer_limit_bytes":080`, `"per_connection_buffer_limit_bytes":"080"`, `"per_connection_buffer_limit_bytes":""`, `"per_connection_buffer_limit_bytes":null`, `"per_connection_buffer_limit_bytes":true`, `"per_connection_buffer_limit_bytes":4294967295`, `"per_connection_buffer_limit_bytes":4294967296`, `"per_connection_buffer_limit_bytes":80.5`, `"per_connection_buffer_limit_bytes":"1_000"`, `"per_connection_buffer_limit_bytes":NaN`, `"per_connection_buffer_limit_bytes":"NaN"`, `"per_connection_buffer_limit_bytes":[80]`, `"per_connection_buffer_limit_bytes":{"value":80}`, `"per_connection_buffer_limit_bytes":{"value":null}`, `"per_connection_buffer_limit_bytes":{"valu":80}`,
		// floats
		`"common_lb_config":{"healthy_panic_threshold":{"value":"0x10"}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":" 1"}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":".5"}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":.5}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":1.}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":"1f"}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":1e400}}`, `"common_lb_config":{"healthy_panic_threshold":{"value":true}}`,
		// durations
		`"connect_timeout":"1.s"`, `"connect_timeout":".5s"`, `"connect_timeout":"+1s"`, `"connect_timeout":" 1s"`, `"connect_timeout":"1.5"`, `"connect_timeout":1`, `"connect_timeout":"1.1234567890s"`, `"connect_timeout":"1.123456789s"`, `"connect_timeout":"315576000001s"`, `"connect_timeout":{"seconds":"1","nanos":5}`, `"connect_timeout":{"secs":1}`, `"connect_timeout":"1ms"`, `"connect_timeout":"01s"`, `"connect_timeout":["1s"]`,
		// booleans, enums, strings
		`"respect_dns_ttl":"True"`, `"respect_dns_ttl":1`, `"respect_dns_ttl":"1"`, `"respect_dns_ttl":"yes"`, `"respect_dns_ttl":"maybe"`, `"respect_dns_ttl":True`, `"lb_policy":"random"`, `"lb_policy":"NOPE"`, `"lb_policy":"3"`, `"lb_policy":3.0`, `"lb_policy":"3.0"`, `"lb_policy":"ROUND-ROBIN"`, `"lb_policy":""`, `"lb_policy":true`, `"alt_stat_name":1`, `"alt_stat_name":null`, `"alt_stat_name":["a"]`, `"alt_stat_name":"\u0000"`,
		// lists
		`"lrs_report_endpoint_metrics":"a"`, `"lrs_report_endpoint_metrics":[null]`, `"lrs_report_endpoint_metrics":[["a"]]`, `"lrs_report_endpoint_metrics":{"a":1}`, `"health_checks":null`, `"health_checks":[[]]`, `"health_checks":5`,
		// names, duplicates, oneofs
		`"connectTimeout":"1s"`, `"ConnectTimeout":"1s"`, `"connect-timeout":"1s"`, `"connect_timeout":"1s","connectTimeout":"2s"`, `"connect_timeout":"1s","connect_timeout":"2s"`, `"type":"STATIC","cluster_type":null`, `"type":"STATIC","cluster_type":{"name":"x"}`, `"type":"STATIC","type":"STATIC"`, `"@type":"x"`, `"lb_policy":"NOPE","lb_policy":"RANDOM"`,
		// Structs and maps
		`"metadata":{"filter_metadata":{"x":{"a":1,"a":2}}}`, `"metadata":{"filter_metadata":{"x":{"a":[1,[2],{"b":null}]}}}`, `"metadata":{"filter_metadata":{"x":null}}`, `"metadata":{"filter_metadata":{"x":[]}}`, `"metadata":{"filter_metadata":{"x":{"a":1e999}}}`, `"metadata":{"filter_metadata":{"a":{},"a":{}}}`, `"metadata":{"filter_metadata":[]}`, `"metadata":{"filter_metadata":[{"key":"a","value":{}}]}`,
		// Anys
		`"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"x"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Duration"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s","x":1}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Struct","a":1}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Empty","value":{}}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"google.protobuf.Empty"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"a/b/google.protobuf.Empty"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"/google.protobuf.Empty"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Empty","@type":"type.googleapis.com/google.protobuf.Empty"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/no.Such"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"a":1}}}`, `"metadata":{"typed_filter_metadata":{"x":{}}}`, `"metadata":{"typed_filter_metadata":{"x":{"type_url":"type.googleapis.com/google.protobuf.Empty","value":""}}}`, `"metadata":{"typed_filter_metadata":{"x":5}}`,
		`"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.BytesValue","value":"YWI"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.BytesValue","value":"YWI="}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.BytesValue","value":"YWI=="}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.BytesValue","value":"-_8="}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.BytesValue","value":"a b="}}}`,
		`"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"2026-01-31T12:00:00Z"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"2026-01-31T12:00:00+01:00"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Timestamp","value":"2026-01-31"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.FieldMask","value":"a.b,cD"}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.Any","value":{"@type":"type.googleapis.com/google.protobuf.Empty"}}}}`, `"metadata":{"typed_filter_metadata":{"x":{"@type":"type.googleapis.com/google.protobuf.ListValue","value":[1,[2]]}}}`,
	}
	yamlTexts = []string{
		"{}", "# c\n", "admin:", "admin: {}\n---\nfoo: {]", "admin: {}\nadmin: {}", "admin:{}", "admin: {profile_path: a, profile_path: b}", "!ignore x: &x {profile_path: a}\nadmin: *x", "!ignore x: &x {profile_path: a}\nadmin:\n  <<: *x", "x: !ignore 1", "admin: *y", "admin: [\n]", "foo\nadmin: {}", "static_resources: {clusters: [name: a]}", "static_resources:\n  clusters:\n    name: a", "static_resources:\n  clusters:\n  - - name: a", "static_resources:\n  clusters: name", "- admin: {}", "%YAML 1.1\n---\nadmin: {}", "# c\n%YAML 1.2\n---\nadmin: {}", "%YAML 1.3\n---\nadmin: {}", "%YAML 2.0\n---\nadmin: {}", "%YAML 1.2\n%YAML 1.2\n---\nadmin: {}", "node:\n  id: a: b", "node:\n  id: |\n    a\n   b", "node: {id: a #c\n}", "1: 2", "a",
		// a value in the column of its key, or behind a tab
		"node:\n{id: a}\n", "node:\n{id: a}", "node:\n  id:\n  \"a\"\n  metadata:\n  {a: b}\n", "node: # c\n\n# c\n{id: a\n}\n", "node:\n&a {id: a}\n", "node:\n&a\n  id: a", "node:\n  id: &a b\n  cluster:\n  *a\n", "node:\n  id:\n  !x 'a'\n", "node:\n  id:\n  !x a\n", "node:\n  id:\n  a\n", "node:\n  id:\n  a\n  cluster: b", "node:\n{id: a}\n{id: b}\n", "node:\n {id: a}\nadmin:\n[]\n", "node:\n  metadata:\n {a: b}\n", "node:\n\t{id: a}", "node:\n  id:\n\t\"a\"", "node:\n  id:\n  \t a", "node:\n  metadata: {a: [b\n\t]}", "node:\n  id: a\n\t]",
		// lines in brackets in any column
		"node:\n  metadata: {\na: b\n}", "node:\n  metadata:\n    a: [b,\n{\"c\": d}\n]\n", "node:\n  metadata: {a: [\n- b]}", "node:\n  metadata: {a: [\n---\n]}", "node:\n  metadata: {a: [b,\n# c\n]}", "node:\n  metadata: {a: [b #c\n]}", "node:\n  metadata: {a:\nb}",
		// comments without a space, and tabs below values
		"node: {id: a}#c", "node:\n  id: |#c\n    a\n", "node:\n  id: \"a\"#c\nadmin: {}", "node:\n  metadata: {a: [\"b\"#c\n]}", "node:\n  id: a\n\t\nadmin: {}", "node:\n  id: a\n  \t# c\nadmin: {}", "node:\n  id: a\n   \t\nadmin: {}", "node:\n  id: a # c\n\t\nadmin: {}", "node:\n  id: \"a\"\n\t\nadmin: {}", "node:\n  id: a\n\n\t", "node:\n  id: a\n   b\n\t\nadmin: {}", "node:\n  client_features:\n  - a\n  \t\n  - b", "node:\n  client_features:\n  - a\n   \t\n  - b", "node: {metadata: {a: b\n\t\n}}",
		"node:\n  metadata: {a: 1.5, b: 1, c: x, d: [1,2], e: ~, f: 5000000000, g: on, 5: x, true: z}",
	}
	yamlStrings  = []string{"!!str ~", "!x", `!!str ""`, "!!null null", "a", "123", `"123"`, "1.5", "true", "tRue", "y", "N", "on", "oFF", "~", "Null", "nuLL", "!!str 123", "! true", `!!bool "true"`, `!!str "true"`, "2001-01-01", "0x1F", "0o17", "017", "09", "1e3", "1_000", "-1", "+1", "1a", "a:b", "a: b", "@a", "|\n      123", "'a''b'", "2147483648", "&x a", "&x 5", "*x", `"\x41"`, `"\q"`, "a\n      b", "", `""`}
	yamlIntegers = []string{"80", "0x50", "0120", "0o120", "0b11", "1_000", "+80", "80.0", "8e1", "4294967295", "4294967296", "~", "yes", "080", "0X50", "80#c", "{value: 80}", "[80]", "!!int \"80\""}
)

var update = flag.Bool("update", false, "write what Envoy says of the texts")

func TestAgreesWithEnvoy(t *testing.T) {
	envoytest.Need(t)
	records, err := envoytest.OpenRecords("../../testdata/verdicts/decode.txt", *update)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // when all have been asked
		if err := records.Write(); err != nil {
			t.Error(err)
		}
	})
	t.Parallel()
	ask := func(text, ext string) {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			q := envoytest.Question{About: "text" + ext, Way: "validate", Digest: envoytest.Digest(map[string]string{ext: text})}
			verdict, err := records.Ask(envoytest.Newest, q, func() (envoytest.Verdict, error) { return envoytest.ValidateText(t.Context(), text, ext) })
			if err != nil {
				t.Error(err)
			}
			if ours := complaint(text, ext); (ours == "") != (verdict.Outcome == envoytest.Accept) {
				t.Errorf("Envoy says %s, we say %q", verdict, ours)
			}
		})
	}
	for _, text := range jsonTexts {
		ask(text, ".json")
	}
	for _, text := range jsonCluster {
		ask(`{"static_resources":{"clusters":[{"name":"a",`+text+`}]}}`, ".json")
	}
	for _, text := range yamlTexts {
		ask(text, ".yaml")
	}
	const cluster = "static_resources:\n  clusters:\n  - name: a\n"
	for _, text := range yamlStrings {
		ask(cluster+"    alt_stat_name: "+text+"\n", ".yaml")
	}
	for _, text := range yamlIntegers {
		ask(cluster+"    per_connection_buffer_limit_bytes: "+text+"\n", ".yaml")
	}
}

// complaint is the first thing that Envoy should not take either.
func complaint(text, ext string) string {
	file := &source.File{Text: []byte(text)}
	parse, format := syntax.ParseYAML, decode.YAML
	if ext == ".json" {
		parse, format = syntax.ParseJSON, decode.JSON
	}
	docs, err := parse(file)
	if err != nil && (format != decode.YAML || len(docs) == 0) {
		return err.Error()
	}
	if len(docs) == 0 || len(docs) > 1 && format == decode.JSON {
		return "not one document"
	}
	d := decode.NewDecoder(nil)
	d.Format = format
	d.Decode(docs[0], &bootstrapv3.Bootstrap{})
	for _, p := range d.Problems {
		if !p.Lenient {
			return p.Message
		}
	}
	return ""
}
