package pull

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

// Dump is the configuration of a running Envoy.
type Dump struct {
	// Config is the config_dump with endpoints, in JSON, as Envoy wrote it but without secrets.
	Config []byte
	// Version is the version of Envoy, such as 1.38.2; empty if it is not known.
	Version string
}

// Admin fetches the configuration of a running Envoy from its admin interface: GET /config_dump?include_eds.
func Admin(ctx context.Context, server Server, known graph.Types) (*Dump, error) {
	if known == nil {
		known = types.Envoy
	}
	c, err := newCaller(server)
	if err != nil {
		return nil, err
	}
	defer c.close()
	text, err := get(ctx, c, "/config_dump?include_eds")
	if err != nil {
		return nil, err
	}
	docs, err := syntax.ParseJSON(&source.File{Name: "config_dump.json", Text: text})
	if err != nil {
		return nil, fmt.Errorf("/config_dump: the answer is not JSON: %w", err)
	}
	if len(docs) != 1 || docs[0].Get("configs") == nil {
		return nil, fmt.Errorf("/config_dump: the answer is not a config_dump: is this Envoy's admin interface?")
	}
	dump := &Dump{Config: redact.JSON(text, docs[0], "envoy.admin.v3.ConfigDump", known)}
	dump.Version = version(ctx, c)
	return dump, nil
}

func get(ctx context.Context, c *caller, path string) ([]byte, error) {
	status, answer, err := c.do(ctx, http.MethodGet, path, nil)
	if err == nil && status != http.StatusOK {
		err = c.statusError(path, status, answer)
	}
	return answer, err
}

// version asks for Envoy's version. Without an answer it is empty: the version is not essential.
func version(ctx context.Context, c *caller) string {
	text, err := get(ctx, c, "/server_info")
	if err != nil {
		return ""
	}
	var info struct {
		Version string `json:"version"` // SHA/1.38.2/Clean/RELEASE/BoringSSL
	}
	if json.Unmarshal(text, &info) != nil {
		return ""
	}
	return shortVersion(info.Version)
}

// shortVersion returns the number in Envoy's description of its build: SHA/1.38.2/Clean/RELEASE/BoringSSL.
func shortVersion(build string) string {
	parts := strings.Split(build, "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}
