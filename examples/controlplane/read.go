package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

const listeners = resource.ListenerType

// read returns a snapshot of the files in a folder, and a version of their content. If there is an error, the version identifies the error.
func read(ctx context.Context, folder string) (*cachev3.Snapshot, string, error) {
	resources, err := lintedResources(ctx, folder)
	if err != nil {
		return nil, err.Error(), err
	}
	hash := sha256.New()
	for _, url := range slices.Sorted(maps.Keys(resources)) {
		for _, m := range resources[url] {
			raw, err := cachev3.MarshalResource(m)
			if err != nil {
				return nil, err.Error(), err
			}
			fmt.Fprintf(hash, "%s %d %s\n", url, len(raw), raw)
		}
	}
	version := hex.EncodeToString(hash.Sum(nil)[:6])
	s, err := cachev3.NewSnapshot(version, resources)
	return s, version, err
}

// lintedResources reads a folder as xdslint does, and returns its errors if there are any.
func lintedResources(ctx context.Context, folder string) (map[resource.Type][]types.Resource, error) {
	input, err := load.Paths(ctx, []string{folder}, load.Options{})
	if err != nil {
		return nil, err
	}
	if len(input.Snapshots) != 1 {
		return nil, fmt.Errorf("%s contains %d snapshots, but must contain one: write bare resources into the files", folder, len(input.Snapshots))
	}
	var wrong []error
	for _, d := range lint.Run(ctx, input.Snapshots, lint.Config{Rules: rules.Builtin()}).Diagnostics {
		if d.Severity == lint.Error {
			wrong = append(wrong, fmt.Errorf("%s %q: %s", d.Resource.Kind, d.Resource.Name, d.Message))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	resources := map[resource.Type][]types.Resource{}
	for _, r := range input.Snapshots[0].Resources {
		url := graph.TypeURL(r.Kind)
		resources[url] = append(resources[url], r.Message)
	}
	return resources, nil
}
