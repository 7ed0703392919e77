package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// The peers: bin/xdslint, and the real Envoy that `make tools` installs.
const root = "../.."

func binaries(b *testing.B) (xdslint, envoy string) {
	b.Helper()
	xdslint = filepath.Join(root, "bin", "xdslint")
	envoy = filepath.Join(root, ".tools", "bin", "envoy")
	for _, program := range []string{xdslint, envoy} {
		if _, err := os.Stat(program); err != nil {
			b.Fatalf("%v: run `make build tools`", err)
		}
	}
	return xdslint, envoy
}

// BenchmarkBootstrap lints a bootstrap, and lets Envoy validate the same file.
func BenchmarkBootstrap(b *testing.B) {
	for _, size := range []struct {
		name   string
		config *bootstrapv3.Bootstrap
	}{
		{"clusters=3", Gateway(3)}, // a hundred lines
		{"clusters=1000", Gateway(1000)},
		{"clusters=10000", Gateway(10000)},
		{"mesh", mesh(8000, 10000)},
		{"routes=10000", manyRoutes(10000)}, // these two do not grow with the number of resources
		{"chains=8000", manyChains(8000)},
	} {
		for _, format := range []string{"yaml", "json"} {
			file := write(b, size.config, format)
			b.Run(size.name+"/"+format, func(b *testing.B) { against(b, file, file) })
		}
	}
}

// BenchmarkDiscoveryResponse lints binary discovery responses; Envoy's peer is the same resources as a bootstrap: as YAML
// for the mesh, and as binary for the clusters alone.
func BenchmarkDiscoveryResponse(b *testing.B) {
	whole := mesh(8000, 10000)
	b.Run("mesh", func(b *testing.B) { against(b, responses(b, whole), write(b, whole, "yaml")) })
	clusters := Gateway(100_000)
	clusters.StaticResources.Listeners = nil
	b.Run("clusters=100000", func(b *testing.B) { against(b, responses(b, clusters), write(b, clusters, "pb")) })
}

// against runs both programs in turn and reports wall time and peak memory of each.
func against(b *testing.B, lint, validate string) {
	xdslint, envoy := binaries(b)
	var ours, theirs usage
	runs := 0
	for b.Loop() {
		ours.add(b, xdslint, "lint", "--no-config", "--format", "json", lint)
		theirs.add(b, envoy, "--mode", "validate", "-l", "critical", "--service-node", "n", "--service-cluster", "c", "-c", validate)
		runs++
	}
	n := time.Duration(runs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(ours.wall/n), "xdslint-ms")
	b.ReportMetric(ms(theirs.wall/n), "envoy-ms")
	b.ReportMetric(float64(theirs.wall)/float64(ours.wall), "times-faster")
	b.ReportMetric(float64(ours.memory)/1024, "xdslint-MB")
	b.ReportMetric(float64(theirs.memory)/1024, "envoy-MB")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type usage struct {
	wall   time.Duration
	memory int64 // KiB, the peak of all runs
}

// measure runs a program and prints its wall time and peak memory. A child of this process itself would be charged with
// the memory of its parent, which made the configurations.
const measure = `
import resource, subprocess, sys, time
start = time.monotonic()
run = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
if run.returncode:
    sys.exit(run.stdout[-500:].decode(errors='replace'))
`

func (u *usage) add(b *testing.B, program string, args ...string) {
	b.Helper()
	out, err := exec.Command("python3", append([]string{"-c", measure, program}, args...)...).Output()
	if err != nil {
		var failed *exec.ExitError
		errors.As(err, &failed)
		b.Fatalf("%s: %v: %s", program, err, failed.Stderr)
	}
	var seconds float64
	var memory int64
	if _, err := fmt.Sscan(string(out), &seconds, &memory); err != nil {
		b.Fatal(err)
	}
	u.wall += time.Duration(seconds * float64(time.Second))
	u.memory = max(u.memory, memory)
}

func write(b *testing.B, config *bootstrapv3.Bootstrap, format string) string {
	b.Helper()
	var text []byte
	var err error
	if format == "pb" {
		text, err = proto.Marshal(config)
	} else {
		text, err = protojson.MarshalOptions{UseProtoNames: true, Multiline: true}.Marshal(config)
	}
	if err == nil && format == "yaml" {
		var tree any
		if err = json.Unmarshal(text, &tree); err == nil {
			text, err = yaml.Marshal(tree)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return save(b, b.TempDir(), "envoy."+format, text)
}

// responses writes a folder with one binary DiscoveryResponse for each type.
func responses(b *testing.B, config *bootstrapv3.Bootstrap) string {
	b.Helper()
	folder := b.TempDir()
	byType := map[string][]*anypb.Any{}
	for _, l := range config.GetStaticResources().GetListeners() {
		byType["listener"] = append(byType["listener"], packed(l))
	}
	for _, c := range config.GetStaticResources().GetClusters() {
		byType["cluster"] = append(byType["cluster"], packed(c))
	}
	for name, resources := range byType {
		raw, err := proto.Marshal(&discoveryv3.DiscoveryResponse{VersionInfo: "1", TypeUrl: resources[0].GetTypeUrl(), Resources: resources})
		if err != nil {
			b.Fatal(err)
		}
		save(b, folder, name+".pb", raw)
	}
	return folder
}

func save(b *testing.B, folder, name string, text []byte) string {
	b.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}
