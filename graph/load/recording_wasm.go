package load

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
)

// The playground does not open recordings: reading them would make its engine 2 % larger.

func isRecording(*source.File) bool { return false }

func (l *loader) recorded([]*graph.Snapshot) ([]*graph.Snapshot, error) { return nil, nil }
