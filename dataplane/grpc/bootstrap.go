package grpc

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/graph"
)

// Bootstrap is what resources need to know of the file that GRPC_XDS_BOOTSTRAP names.
type Bootstrap struct {
	Providers   map[string]bool   // certificate providers
	Authorities map[string]string // for names that begin with xdstp: the templates of their listeners, which may be empty
	Clients     string            // client_default_listener_resource_name_template
	Servers     string            // server_listener_resource_name_template
}

// ReadBootstrap reads what is valid in a bootstrap.
func (c Client) ReadBootstrap(s *structpb.Struct) *Bootstrap {
	b := &Bootstrap{
		Providers: map[string]bool{}, Authorities: map[string]string{},
		Clients: s.GetFields()["client_default_listener_resource_name_template"].GetStringValue(),
		Servers: s.GetFields()["server_listener_resource_name_template"].GetStringValue(),
	}
	for name, p := range s.GetFields()["certificate_providers"].GetStructValue().GetFields() {
		b.Providers[name] = c.named(certificatePlugs, p.GetStructValue().GetFields()["plugin_name"].GetStringValue())
	}
	for name, a := range s.GetFields()["authorities"].GetStructValue().GetFields() {
		b.Authorities[name] = a.GetStructValue().GetFields()["client_listener_resource_name_template"].GetStringValue()
	}
	return b
}

// ListenerName returns the name of the listener that a client asks for, given the authority and the service in the target of its channel. It
// reports false if the bootstrap does not declare the authority (sanityChecksOnBootstrapConfig, bootstrap.PopulateResourceTemplate, gRFC A47).
func (b *Bootstrap) ListenerName(authority, service string) (string, bool) {
	template := cmp.Or(b.Clients, "%s")
	if authority != "" {
		declared, ok := b.Authorities[authority]
		if !ok {
			return "", false
		}
		template = cmp.Or(declared, "xdstp://"+url.PathEscape(authority)+"/envoy.config.listener.v3.Listener/%s")
	}
	if strings.HasPrefix(template, "xdstp:") {
		service = strings.ReplaceAll(url.PathEscape(service), "%2F", "/")
	}
	return strings.ReplaceAll(template, "%s", service), true
}

// listensOn returns the address of the server that asks for a listener of a name (GRPCServer.Serve). It reports false if the name does not say it.
func (b *Bootstrap) listensOn(name string) (netip.AddrPort, bool) {
	if b == nil || strings.HasPrefix(b.Servers, "xdstp:") {
		return netip.AddrPort{}, false
	}
	before, after, ok := strings.Cut(b.Servers, "%s")
	if !ok || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) || len(name) < len(before)+len(after) {
		return netip.AddrPort{}, false
	}
	address, err := netip.ParseAddrPort(name[len(before) : len(name)-len(after)])
	return address, err == nil
}

// spot is a JSON object in a bootstrap, and its place.
type spot struct {
	object
	at graph.At
}

// inner returns an object in a field. It is nil if the field is absent, and a fault if the field is something else.
func (s spot) inner(name string) (in *spot, faults []Fault) {
	v, ok := s.field(name)
	if !ok {
		return nil, nil
	}
	if v.GetStructValue() == nil {
		return nil, s.wrong(name, "an object")
	}
	return &spot{object{v.GetStructValue()}, s.at.Field(name)}, nil
}

// items returns the objects in a list.
func (s spot) items(name string) (all []spot, faults []Fault) {
	v, ok := s.field(name)
	if !ok {
		return nil, nil
	}
	if _, list := v.GetKind().(*structpb.Value_ListValue); !list {
		return nil, s.wrong(name, "a list")
	}
	for i, item := range v.GetListValue().GetValues() {
		if item.GetStructValue() == nil {
			return nil, s.wrong(name, "a list of objects")
		}
		all = append(all, spot{object{item.GetStructValue()}, s.at.Item(name, i)})
	}
	return all, nil
}

func (s spot) wrong(name, want string) []Fault {
	return rejected(s.at.Field(name), fmt.Sprintf("%s is not %s", name, want), "json: cannot unmarshal", "write "+want)
}

// strings checks that fields are strings.
func (s spot) strings(names ...string) (all []Fault) {
	for _, name := range names {
		if s.texts(name) != nil {
			all = append(all, s.wrong(name, "a string")...)
		}
	}
	return all
}

// text returns the string in a field.
func (s spot) text(name string) string { return s.GetFields()[name].GetStringValue() }

// BootstrapFile checks a bootstrap (bootstrap.Config.UnmarshalJSON, gRFCs A27, A29, A47 and A65).
func (c Client) BootstrapFile(at graph.At, file *structpb.Struct) (all []Fault) {
	s := spot{object{file}, at}
	all = append(all, s.strings("server_listener_resource_name_template", "client_default_listener_resource_name_template")...)
	servers, faults := s.items("xds_servers")
	all = append(all, faults...)
	if len(servers) == 0 && faults == nil {
		all = append(all, rejected(at, "the bootstrap has no management server", "required field `xds_servers` not found in bootstrap configuration", "write xds_servers, with a server_uri and channel_creds")...)
	}
	all = append(all, c.servers(servers)...)
	all = append(all, node(s)...)
	all = append(all, c.providers(s)...)
	return append(all, c.authorities(s)...)
}

func (c Client) servers(servers []spot) (all []Fault) {
	for _, server := range servers {
		all = append(all, server.strings("server_uri")...)
		if server.text("server_uri") == "" && server.texts("server_uri") == nil {
			all = append(all, rejected(server.at, "a management server has no server_uri", "`server_uri` field in server config cannot be empty", "write the address of the server")...)
		}
		all = append(all, c.credentials(server)...)
		_, faults := server.items("call_creds")
		all = append(all, faults...)
		all = append(all, features(server)...)
	}
	return all
}

func features(server spot) []Fault {
	v, ok := server.field("server_features")
	if !ok {
		return nil
	}
	_, list := v.GetKind().(*structpb.Value_ListValue)
	for _, feature := range v.GetListValue().GetValues() {
		_, text := feature.GetKind().(*structpb.Value_StringValue)
		list = list && text
	}
	if !list {
		return server.wrong("server_features", "a list of strings")
	}
	return nil
}

// credentials checks the credentials of a server: the first that the client supports are used (ServerConfig.UnmarshalJSON).
func (c Client) credentials(server spot) []Fault {
	creds, faults := server.items("channel_creds")
	if faults != nil {
		return faults
	}
	for _, cred := range creds {
		if faults := cred.strings("type"); faults != nil {
			return faults
		}
		switch kind := cred.text("type"); {
		case !c.named(channelCreds, kind):
		case kind == "tls":
			return c.tlsCredentials(cred)
		default:
			return nil
		}
	}
	return rejected(server.at, "a management server has no channel_creds that gRPC supports", "`channel_creds` field in server config cannot be empty", "write channel_creds of the type insecure, tls or google_default")
}

// tlsCredentials checks the configuration of TLS credentials, which may be empty (tlscreds.NewBundle, gRFC A65).
func (c Client) tlsCredentials(cred spot) []Fault {
	config, faults := cred.inner("config")
	if config == nil {
		return faults
	}
	if faults := config.strings(files...); faults != nil {
		return faults
	}
	if !c.namesFile(*config) {
		return nil
	}
	return c.fileWatcher(*config)
}

// files are the fields of a file watcher that name files.
var files = []string{"certificate_file", "private_key_file", "ca_certificate_file", "spiffe_trust_bundle_map_file"}

func (c Client) namesFile(config spot) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		return config.text(name) != "" && (name != "spiffe_trust_bundle_map_file" || c.enabled(spiffe, false))
	})
}

// fileWatcher checks the configuration of a certificate provider that reads files (pemfile.pluginConfigFromJSON).
func (c Client) fileWatcher(config spot) []Fault {
	if faults := config.strings(files...); faults != nil {
		return faults
	}
	certificate, key := config.text("certificate_file"), config.text("private_key_file")
	interval, given := config.field("refresh_interval")
	text, err := interval.MarshalJSON()
	switch {
	case given && (err != nil || protojson.Unmarshal(text, new(durationpb.Duration)) != nil):
		return config.wrong("refresh_interval", "a duration such as 600s")
	case !c.namesFile(config):
		return rejected(config.at, "the certificate provider names no file", "at least one credential file needs to be specified", "write certificate_file and private_key_file, or ca_certificate_file")
	case (certificate == "") != (key == ""):
		return rejected(config.at, "certificate_file and private_key_file need each other", "private key file and identity cert file should be both specified or not specified", "write both, or neither")
	case filepath.Dir(certificate) != filepath.Dir(key):
		return rejected(config.at, "the certificate and its key are in different folders", "certificate and key file must be in the same directory", "put them into one folder")
	}
	return nil
}

func node(s spot) []Fault {
	n, faults := s.inner("node")
	if n == nil {
		return faults
	}
	all := n.strings("id", "cluster")
	if locality, faults := n.inner("locality"); locality != nil {
		all = append(all, locality.strings("region", "zone", "sub_zone")...)
	} else {
		all = append(all, faults...)
	}
	_, faults = n.inner("metadata")
	return append(all, faults...)
}

// entries returns the objects of a map, sorted by key.
func (s spot) entries(name string) (all map[string]spot, faults []Fault) {
	in, faults := s.inner(name)
	if in == nil {
		return nil, faults
	}
	all = map[string]spot{}
	for _, key := range slices.Sorted(maps.Keys(in.GetFields())) {
		entry, wrong := in.inner(key)
		faults = append(faults, wrong...)
		if entry != nil {
			all[key] = *entry
		}
	}
	return all, faults
}

func (c Client) providers(s spot) []Fault {
	entries, all := s.entries("certificate_providers")
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		p := entries[name]
		all = append(all, p.strings("plugin_name")...)
		if p.text("plugin_name") != "file_watcher" {
			continue // a plugin that the client does not have is ignored
		}
		config, faults := p.inner("config")
		switch {
		case config != nil:
			all = append(all, c.fileWatcher(*config)...)
		case faults != nil:
			all = append(all, faults...)
		default:
			all = append(all, rejected(p.at, "the certificate provider has no config", "at least one credential file needs to be specified", "write a config with the names of files")...)
		}
	}
	return all
}

func (c Client) authorities(s spot) []Fault {
	entries, all := s.entries("authorities")
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		a := entries[name]
		servers, faults := a.items("xds_servers")
		all = append(all, faults...)
		all = append(all, c.servers(servers)...)
		all = append(all, a.strings("client_listener_resource_name_template")...)
		prefix := "xdstp://" + url.PathEscape(name)
		if template := a.text("client_listener_resource_name_template"); template != "" && !strings.HasPrefix(template, prefix) {
			all = append(all, rejected(a.at.Field("client_listener_resource_name_template"), fmt.Sprintf("the template of the authority %q does not begin with %s", name, prefix), "doesn't start with prefix", "begin it with "+prefix+"/")...)
		}
	}
	return all
}

// known are the fields of the objects in a bootstrap.
var known = map[string][]string{
	"bootstrap":            {"xds_servers", "node", "certificate_providers", "server_listener_resource_name_template", "client_default_listener_resource_name_template", "authorities", "allowed_grpc_services"},
	"management server":    {"server_uri", "channel_creds", "call_creds", "server_features"},
	"node":                 {"id", "cluster", "locality", "metadata"},
	"certificate provider": {"plugin_name", "config"},
	"authority":            {"xds_servers", "client_listener_resource_name_template"},
}

// serverFeatures are the values of server_features that an implementation knows.
var serverFeatures = []string{"xds_v3", "ignore_resource_deletion", "trusted_xds_server", "resource_timer_is_transient_error", "fail_on_data_errors"}

// BootstrapUnread reports what no client reads in a bootstrap: unknown fields and server features, and plugins that the client does not have.
func (c Client) BootstrapUnread(at graph.At, file *structpb.Struct) []Fault {
	s := spot{object{file}, at}
	all := s.unknown("bootstrap")
	if n, _ := s.inner("node"); n != nil {
		all = append(all, n.unknown("node")...)
	}
	servers, _ := s.items("xds_servers")
	authorities, _ := s.entries("authorities")
	for _, name := range slices.Sorted(maps.Keys(authorities)) {
		all = append(all, authorities[name].unknown("authority")...)
		more, _ := authorities[name].items("xds_servers")
		servers = append(servers, more...)
	}
	for _, server := range servers {
		all = append(all, server.unknown("management server")...)
		for i, feature := range server.GetFields()["server_features"].GetListValue().GetValues() {
			if text := feature.GetStringValue(); !slices.Contains(serverFeatures, text) {
				all = append(all, accepted(server.at.Item("server_features", i), Ignores, fmt.Sprintf("gRPC does not know the server feature %q", text), "ignores it", "write one of "+strings.Join(serverFeatures[1:], ", "))...)
			}
		}
	}
	providers, _ := s.entries("certificate_providers")
	for _, name := range slices.Sorted(maps.Keys(providers)) {
		p := providers[name]
		all = append(all, p.unknown("certificate provider")...)
		if plugin := p.text("plugin_name"); !c.named(certificatePlugs, plugin) {
			all = append(all, accepted(p.at, Ignores, fmt.Sprintf("gRPC does not have the certificate provider plugin %q", plugin), "ignores the provider, and rejects resources that name it", "write file_watcher")...)
		}
	}
	return all
}

// unknown reports the fields that an object of a kind does not have. Go compares names without their case.
func (s spot) unknown(kind string) (all []Fault) {
	for _, name := range slices.Sorted(maps.Keys(s.GetFields())) {
		if !slices.ContainsFunc(known[kind], func(field string) bool { return strings.EqualFold(field, name) }) {
			all = append(all, accepted(s.at.Field(name).Key(), Ignores, fmt.Sprintf("a %s does not have the field %q", kind, name), "ignores it", "write one of "+strings.Join(known[kind], ", "))...)
		}
	}
	return all
}
