package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// BenchmarkTrace judges a recording of 1,000 responses about 10,000 resources: the whole process, from start to exit.
func BenchmarkTrace(b *testing.B) {
	for _, delta := range []bool{false, true} {
		name := map[bool]string{false: "sotw", true: "delta"}[delta]
		file := save(b, b.TempDir(), "xds.jsonl", recorded(b, delta))
		for _, rules := range []string{"protocol", "protocol,transition"} {
			b.Run(name+"/"+rules, func(b *testing.B) {
				xdslint, _ := binaries(b)
				var took usage
				runs := 0
				for b.Loop() {
					took.add(b, xdslint, "trace", "--no-config", "--select", rules, file)
					runs++
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(ms(took.wall/time.Duration(runs)), "xdslint-ms")
				b.ReportMetric(float64(took.memory)/1024, "xdslint-MB")
			})
		}
	}
}

const (
	clusterType  = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	endpointType = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
)

// tape writes a recording of one stream.
type tape struct {
	bytes.Buffer
	at    time.Time
	delta bool
	nonce int
}

// recorded is what a client and a server say about 5,000 clusters with their endpoints, of which 998 then change one after
// the other.
func recorded(b *testing.B, delta bool) []byte {
	b.Helper()
	t := &tape{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), delta: delta}
	var clusters, endpoints []any
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprintf("service-%d", i))
		ads := map[string]any{"ads": map[string]any{}, "resource_api_version": "V3"}
		clusters = append(clusters, map[string]any{
			"@type": clusterType, "name": names[i], "type": "EDS", "eds_cluster_config": map[string]any{"eds_config": ads},
		})
		endpoints = append(endpoints, assigned(names[i], 8080))
	}
	method := "Stream"
	if delta {
		method = "Delta"
	}
	t.line(b, map[string]any{"recording": map[string]any{"version": 1, "id": "bench", "part": 1}})
	t.event(b, "opened", map[string]any{"method": "/envoy.service.discovery.v3.AggregatedDiscoveryService/" + method + "AggregatedResources"})
	t.event(b, "request", map[string]any{"node": map[string]any{"id": "edge-1", "user_agent_name": "envoy"}, "type_url": clusterType})
	t.send(b, clusterType, nil, names, clusters)
	subscribe := "resource_names"
	if delta {
		subscribe = "resource_names_subscribe"
	}
	t.event(b, "request", map[string]any{"type_url": endpointType, subscribe: names})
	t.send(b, endpointType, names, names, endpoints)
	for i := range 998 {
		t.send(b, endpointType, names, names[i:i+1], []any{assigned(names[i], 9000+i)})
	}
	return t.Bytes()
}

func assigned(name string, port int) map[string]any {
	address := map[string]any{"socket_address": map[string]any{"address": "10.0.0.1", "port_value": port}}
	endpoint := map[string]any{"endpoint": map[string]any{"address": address}}
	return map[string]any{
		"@type": endpointType, "cluster_name": name,
		"endpoints": []any{map[string]any{"locality": map[string]any{"zone": "a"}, "lb_endpoints": []any{endpoint}}},
	}
}

// send writes a response and its ACK, which has all subscribed names in SotW.
func (t *tape) send(b *testing.B, url string, subscribed, names []string, resources []any) {
	b.Helper()
	t.nonce++
	nonce := fmt.Sprint(t.nonce)
	answer := map[string]any{"type_url": url, "response_nonce": nonce}
	if t.delta {
		for i, r := range resources {
			resources[i] = map[string]any{"name": names[i], "version": nonce, "resource": r}
		}
	} else {
		answer["version_info"], answer["resource_names"] = nonce, subscribed
	}
	t.event(b, "response", map[string]any{"type_url": url, "nonce": nonce, "version_info": nonce, "resources": resources})
	t.event(b, "request", answer)
}

func (t *tape) event(b *testing.B, what string, body map[string]any) {
	b.Helper()
	t.line(b, map[string]any{"time": t.at.Format(time.RFC3339Nano), "stream": 1, what: body})
	t.at = t.at.Add(10 * time.Millisecond)
}

func (t *tape) line(b *testing.B, value any) {
	b.Helper()
	if err := json.NewEncoder(t).Encode(value); err != nil {
		b.Fatal(err)
	}
}
