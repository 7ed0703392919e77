package grpctest

import (
	"context"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
)

func TestJudge(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c, err := New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 3 {
		rejected, err := c.Judge(ctx, clusterType, pack(&clusterv3.Cluster{Name: "static"}))
		if err != nil || rejected == nil || !strings.Contains(rejected.Error(), "unsupported cluster type") {
			t.Errorf("a static cluster: %v, %v", rejected, err)
		}
		rejected, err = c.Judge(ctx, clusterType, standard(clusterType, "other", "", nil))
		if err != nil || rejected != nil {
			t.Errorf("a cluster of the standard chain: %v, %v", rejected, err)
		}
	}
}
