package load

import "testing"

// TestDumpParts: a section by itself, a list of them, and an element are read like the whole.
func TestDumpParts(t *testing.T) {
	const cluster = `{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a"}`
	const section = `{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "dynamic_active_clusters": [{"version_info": "7", "cluster": ` + cluster + `}]}`
	for name, text := range map[string]string{
		"section": section,
		"list":    "[" + section + "]",
		"element": `{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump.DynamicCluster", "cluster": ` + cluster + `}`,
		"typed":   `{"@type": "type.googleapis.com/envoy.admin.v3.ConfigDump", "configs": [` + section + "]}",
	} {
		expect(t, given(t, map[string]string{name: text}), `
snapshot "`+name+`" loose=false
  cluster "a" in <nil> 
`+name+`: config_dump
`)
	}
}

// TestOldDump: Envoys of 2021 write fields that v3 does not have, and load assignments without the cluster's name. Of
// those no one knows to which cluster they belong, so it is not known either that one is missing.
func TestOldDump(t *testing.T) {
	expect(t, given(t, map[string]string{"dump.json": `{"configs": [
{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {"id": "a", "hidden_envoy_deprecated_build_version": "7"}, "admin": {"prot": 1}}},
{"@type": "type.googleapis.com/envoy.admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [
  {"endpoint_config": {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "endpoints": [{}]}}]}]}`}), `
snapshot "dump.json" loose=false
  bootstrap "a" in <nil> 
     "\"prot\"": envoy.config.bootstrap.v3.Admin has no field "prot"
dump.json: config_dump
`)
	in, err := Texts(t.Context(), map[string][]byte{"dump.json": []byte(`{"configs": [
{"@type": "type.googleapis.com/envoy.admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [
  {"endpoint_config": {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "endpoints": [{}]}}]}]}`)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Snapshots) != 1 || len(in.Snapshots[0].Resources) != 0 {
		t.Errorf("%v", in.Snapshots)
	}
}
