package main

import (
	"fmt"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
)

// types adds the user's descriptors to those that are linked in. It returns nil if there are none to add.
func types(files []string) (decode.Types, error) {
	if len(files) == 0 {
		return nil, nil
	}
	// Concatenated descriptor sets are one descriptor set.
	var all []byte
	for _, name := range files {
		raw, err := source.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, raw...)
	}
	types, err := load.Descriptors(all)
	if err != nil {
		return nil, fmt.Errorf("--proto-descriptors: %w", err)
	}
	return types, nil
}
