package load

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestManyBootstraps: bootstraps that name the same file cost as much each, however many there are. All of them were
// searched for each name: 800 took nine seconds.
func TestManyBootstraps(t *testing.T) {
	allocations := func(n int) float64 {
		folder := t.TempDir()
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("cds.yaml", "resources: []\n")
		for i := range n {
			write(fmt.Sprintf("bootstrap-%d.yaml", i), "dynamic_resources: {cds_config: {path_config_source: {path: cds.yaml}}}\n")
		}
		return testing.AllocsPerRun(1, func() {
			in, err := Paths(t.Context(), []string{folder}, Options{})
			if err != nil || len(in.Snapshots) != n {
				t.Fatal(len(in.Snapshots), err)
			}
		})
	}
	if few, many := allocations(50), allocations(400); many > 10*few {
		t.Errorf("400 bootstraps take %.0f allocations, and 50 take %.0f", many, few)
	}
}
