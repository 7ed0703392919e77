package snapshots

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/lint"
)

// object is a message as JSON has it.
type object = map[string]any

// The forms of the storefront snapshot are made of its YAML without any code of the product.
var forms = []struct {
	name string // of the folder, behind "storefront-"
	text bool
	make func(t *testing.T, s map[string]object) map[string][]byte
	// What Envoy itself treats differently: what the finding of a rule is in this form; empty: there is none.
	but map[string]string
}{
	{"config-dump", true, configDump, map[string]string{
		// Envoy drops a secret that nothing asks for: no dump holds one.
		"reference/orphan-resource": "",
	}},
	{"binary", false, binary, nil},
	{"static", true, static, map[string]string{
		// Envoy loads static secrets whether or not something names them.
		"reference/orphan-resource": "",
		// Envoy rejects a bootstrap that names a static secret that does not exist. It waits for a secret that comes over SDS.
		"reference/unknown-secret": `no static secret is named "shop-certificate"`,
	}},
}

// TestForms: the same mistakes are found whatever form the configuration has.
func TestForms(t *testing.T) {
	top(t)
	want := findings(check(t, storefront))
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			dir := storefront + "-" + form.name
			keep(t, dir, form.make(t, readStorefront(t)))
			result := check(t, dir)
			if diff := cmp.Diff(but(want, form.but), findings(result)); diff != "" {
				t.Errorf("the findings differ from those in %s:\n%s", storefront, diff)
			}
			for i := range result.Diagnostics {
				if d := &result.Diagnostics[i]; (d.Span != lint.Diagnostic{}.Span) != form.text {
					t.Errorf("%s: %s has the span %v", d.Resource.File.Name, d.Rule.ID(), d.Span)
				}
			}
		})
	}
}

// but are findings with other messages for some rules; an empty one takes a rule's findings away.
func but(all []finding, messages map[string]string) (changed []finding) {
	for _, f := range all {
		message, other := messages[f.Rule]
		if other {
			f.Message = message
		}
		if f.Message != "" {
			changed = append(changed, f)
		}
	}
	return changed
}

// keep compares files with what is checked in, or writes them.
func keep(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		golden(t, filepath.Join(dir, name), string(text))
	}
}

// readStorefront reads the files of the storefront snapshot, by name without extension.
func readStorefront(t *testing.T) map[string]object {
	t.Helper()
	paths, err := filepath.Glob(storefront + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]object{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file object
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".yaml")] = file
	}
	return files
}

func indent(t *testing.T, o object) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ") // as Envoy's admin does
	if err := e.Encode(o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// binary makes DiscoveryResponses, and a bootstrap that names them.
func binary(t *testing.T, s map[string]object) map[string][]byte {
	files := map[string][]byte{}
	for name, file := range s {
		text := bytes.ReplaceAll(indent(t, file), []byte(`.yaml"`), []byte(`.pb"`))
		if name == "bootstrap" {
			files["bootstrap.json"] = text
			continue
		}
		var response discoveryv3.DiscoveryResponse
		if err := protojson.Unmarshal(text, &response); err != nil {
			t.Fatal(err)
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(&response)
		if err != nil {
			t.Fatal(err)
		}
		files[name+".pb"] = raw
	}
	return files
}

// static makes one bootstrap of all that Envoy takes there; its route configurations and endpoints stay in files of their own.
func static(t *testing.T, s map[string]object) map[string][]byte {
	boot := s["bootstrap"]
	delete(boot, "dynamic_resources")
	statics := boot["static_resources"].(object)
	for list, file := range map[string]string{"listeners": "lds", "clusters": "cds", "secrets": "sds"} {
		for _, r := range resources(s[file]) {
			delete(r, "@type")
			before, _ := statics[list].([]any)
			statics[list] = append(before, r)
		}
	}
	each(boot, func(o object) { // a secret without a source of its own is a static one
		if o["name"] == "shop-certificate" {
			delete(o, "sds_config")
		}
	})
	files := map[string][]byte{"bootstrap.json": bytes.ReplaceAll(indent(t, boot), []byte(`.yaml"`), []byte(`.json"`))}
	for _, name := range []string{"rds", "eds"} {
		files[name+".json"] = indent(t, s[name])
	}
	return files
}

// configDump makes what /config_dump?include_eds would show if Envoy took everything; TestRealDump has what it shows.
func configDump(t *testing.T, s map[string]object) map[string][]byte {
	const updated = "2026-01-01T00:00:00.000Z"
	wrapped := func(file, field string) (list []any) {
		for _, r := range resources(s[file]) {
			o := object{"version_info": s[file]["version_info"], field: r, "last_updated": updated}
			switch file {
			case "lds":
				o = object{"name": r["name"], "active_state": o}
			case "sds":
				o["name"] = r["name"]
			case "eds":
				o = object{field: r}
			}
			list = append(list, o)
		}
		return list
	}
	section := func(name string, fields object) object {
		o := object{"@type": "type.googleapis.com/envoy.admin.v3." + name}
		maps.Copy(o, fields)
		return o
	}
	var statics []any
	for _, c := range s["bootstrap"]["static_resources"].(object)["clusters"].([]any) {
		c := maps.Clone(c.(object))
		c["@type"] = s["cds"]["type_url"]
		statics = append(statics, object{"cluster": c, "last_updated": updated})
	}
	return map[string][]byte{"config_dump.json": indent(t, object{"configs": []any{
		section("BootstrapConfigDump", object{"bootstrap": s["bootstrap"], "last_updated": updated}),
		section("ClustersConfigDump", object{"version_info": "41", "static_clusters": statics, "dynamic_active_clusters": wrapped("cds", "cluster")}),
		section("EndpointsConfigDump", object{"dynamic_endpoint_configs": wrapped("eds", "endpoint_config")}),
		section("ListenersConfigDump", object{"version_info": "41", "dynamic_listeners": wrapped("lds", "listener")}),
		section("ScopedRoutesConfigDump", nil),
		section("RoutesConfigDump", object{"dynamic_route_configs": wrapped("rds", "route_config")}),
		section("SecretsConfigDump", object{"dynamic_active_secrets": wrapped("sds", "secret")}),
	}})}
}

// resources are those of a DiscoveryResponse.
func resources(response object) (all []object) {
	for _, r := range response["resources"].([]any) {
		all = append(all, r.(object))
	}
	return all
}

// each visits all objects below one.
func each(v any, f func(object)) {
	switch v := v.(type) {
	case object:
		f(v)
		for _, inner := range v {
			each(inner, f)
		}
	case []any:
		for _, inner := range v {
			each(inner, f)
		}
	}
}
