package evidence

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// config is one file of an example, in which some values are replaced while Envoy runs.
type config struct {
	w       *world
	cluster string // around the value
}

// prepare returns the text of a file, as JSON, for Envoy.
func (c config) prepare(name, text string) (string, error) {
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if err := c.value(tree); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	out, err := json.Marshal(tree)
	return string(out), err
}

func (c config) value(v any) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := c.value(item); err != nil {
				return err
			}
		}
	case map[string]any:
		return c.object(v)
	}
	return nil
}

func (c config) object(m map[string]any) error {
	c.cluster = clusterName(m, c.cluster)
	if endpoint, ok := m["endpoint"].(map[string]any); ok {
		if err := c.endpoint(socket(endpoint)); err != nil {
			return err
		}
	}
	if admin, ok := m["admin"].(map[string]any); ok {
		c.admin(socket(admin))
	}
	if _, isListener := m["filter_chains"]; isListener {
		c.listener(m)
	}
	if err := c.file(m); err != nil {
		return err
	}
	for _, v := range m {
		if err := c.value(v); err != nil {
			return err
		}
	}
	return nil
}

// clusterName returns the name of the cluster that has the endpoints in a message: its own, or that of a load assignment outside of clusters.
func clusterName(m map[string]any, around string) string {
	if _, ok := m["load_assignment"]; ok {
		name, _ := m["name"].(string)
		return name
	}
	if name, ok := m["cluster_name"].(string); ok && around == "" && m["endpoints"] != nil {
		return name
	}
	return around
}

func socket(m map[string]any) map[string]any {
	address, _ := m["address"].(map[string]any)
	s, _ := address["socket_address"].(map[string]any)
	return s
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// endpoint replaces the address of an endpoint by that of a server. An address that is not one stays.
func (c config) endpoint(s map[string]any) error {
	host, _ := s["address"].(string)
	port, hasPort := s["port_value"].(int)
	if !hasPort || net.ParseIP(host) == nil && !hostName.MatchString(host) {
		return nil
	}
	u, err := c.w.upstream(c.cluster, net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return err
	}
	s["address"], s["port_value"] = "127.0.0.1", u.port()
	return nil
}

// listener replaces the port of a listener by a free one, which the system chooses.
func (c config) listener(m map[string]any) {
	s := socket(m)
	name, _ := m["name"].(string)
	if s == nil || name == "" {
		return
	}
	c.w.listeners = append(c.w.listeners, name)
	if !anyAddress(s) {
		s["address"] = "127.0.0.1"
	}
	s["port_value"] = 0
}

// admin notes where the admin interface listens. Its port is the system's choice in any case.
func (c config) admin(s map[string]any) {
	if anyAddress(s) {
		c.w.adminHost, _ = s["address"].(string)
	}
}

// anyAddress reports whether a socket listens on all addresses of the machine.
func anyAddress(s map[string]any) bool {
	host, _ := s["address"].(string)
	return host == "0.0.0.0" || host == "::"
}

// made reports whether a file of an extension is made, and not that of the example.
func made(ext string) bool { return ext == ".crt" || ext == ".key" }

// file replaces the name of a file: a certificate, which is made, or another file of the example.
func (c config) file(m map[string]any) error {
	if name, ok := m["filename"].(string); ok {
		stem, ext := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)), filepath.Ext(name)
		if made(ext) {
			path, err := c.w.certificateFile(stem, ext)
			if err != nil {
				return err
			}
			m["filename"] = path
		}
	}
	if watched, ok := m["watched_directory"].(map[string]any); ok {
		watched["path"] = c.w.dir
	}
	if name, ok := m["path"].(string); ok && c.w.given[filepath.Base(name)] && strings.HasPrefix(name, "./") {
		m["path"] = filepath.Join(c.w.dir, filepath.Base(name))
	}
	return nil
}
