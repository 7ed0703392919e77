package grpc

import (
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-detection-invalid",
	Severity: lint.Error,
	Summary:  "outlier detection with a negative duration, or more than 100 percent",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A50-xds-outlier-detection.md"},
	Run:      resources(grpc.Client.OutlierDetection),
})
