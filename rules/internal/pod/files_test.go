package pod

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is written in place is not read again. One that is cut off is rejected, unless what is left is YAML: it then
// is all that there is.
func TestFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cds.yaml")
	clusters := func(names ...string) string {
		text := "resources:\n"
		for _, name := range names {
			text += fmt.Sprintf("- {\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: %s}\n", name)
		}
		return text
	}
	move := func(text string) {
		t.Helper()
		write(t, file+".new", text)
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(t, file, clusters("shop", "cart"))
	p := start(t, fmt.Sprintf("admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n"+
		"node: {id: a, cluster: a}\ndynamic_resources: {cds_config: {path_config_source: {path: %q}}}\n", file))
	has := func(name string) bool { return strings.Contains(p.ask(http.MethodGet, "/clusters"), name+"::") }
	stat := func(name string, value int) bool {
		return strings.HasSuffix(strings.TrimSpace(p.ask(http.MethodGet, "/stats?filter=cds."+name+"$")), fmt.Sprintf(": %d", value))
	}
	p.until("there is a cluster", func() bool { return has("shop") && has("cart") })

	write(t, file, clusters("shop", "written"))
	has("written") // Envoy handles what has changed before it answers
	move(clusters("shop", "moved"))
	p.until("the file that is moved is there", func() bool { return has("moved") })
	if !stat("update_attempt", 2) {
		t.Error("Envoy has read the file that was written in place")
	}

	whole := clusters("shop", "moved")
	move(whole[:len(whole)-20])
	p.until("the file is rejected", func() bool { return stat("update_failure", 1) })
	if !has("shop") || !has("moved") {
		t.Error("a cluster is removed by a file that is rejected")
	}
	move(whole[:strings.LastIndex(whole, "- ")]) // between two resources
	p.until("what is cut off is removed", func() bool { return has("shop") && !has("moved") })
	move("resources:\n")
	p.until("all is removed", func() bool { return !has("shop") })
}
