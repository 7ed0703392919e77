package explain

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Brief returns what Of needs of an archive: one bad example with its report, and one good example. The rest is for tests. The playground loads only
// this part.
func Brief(archive *txtar.Archive) *txtar.Archive {
	samples, err := SamplesOf(archive)
	if err != nil || len(samples) == 0 {
		return archive
	}
	kept := []string{samples[0].Name}
	if good := nearestGood(samples); good != nil {
		kept = append(kept, good.Name)
	}
	short := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		of := func(s Sample) bool {
			name := strings.TrimPrefix(f.Name, Seen+"/")
			return (name == s.Name || strings.HasPrefix(name, s.Name+"/")) && !slices.Contains(kept, s.Name)
		}
		if strings.HasPrefix(f.Name, "fixed/") || slices.ContainsFunc(samples, of) {
			continue
		}
		if f.Name == "want" {
			f.Data = []byte(reportOf(string(f.Data), samples[0].Name))
		}
		short.Files = append(short.Files, f)
	}
	return short
}
