package redact_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

func redacted(t *testing.T, text, message string) string {
	t.Helper()
	docs, err := syntax.ParseJSON(&source.File{Name: "x.json", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return string(redact.JSON([]byte(text), docs[0], decode.TypeName(message), types.Envoy))
}

func TestJSON(t *testing.T) {
	const config = "envoy.config.core.v3.TypedExtensionConfig"
	for _, c := range []struct{ name, message, text, want string }{
		{
			"a secret, by its annotations", "envoy.extensions.transport_sockets.tls.v3.Secret",
			`{"name": "edge", "tls_certificate": {"certificate_chain": {"inline_string": "CERT"}, "private_key": {"inline_string": "S3CRET"}, "password": {"filename": "/p"}}}`,
			`{"name": "edge", "tls_certificate": {"certificate_chain": {"inline_string": "CERT"}, "private_key": {"inline_string": "[redacted]"}, "password": {"filename": "/p"}}}`,
		},
		{
			"bytes stay bytes, in either spelling", "envoy.extensions.transport_sockets.tls.v3.Secret",
			`{"tlsCertificate": {"privateKey": {"inlineBytes": "UzNDUkVU"}}}`,
			`{"tlsCertificate": {"privateKey": {"inlineBytes": "W3JlZGFjdGVkXQ=="}}}`,
		},
		{
			"in an Any; a duration stays", config,
			`{"name": "x", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.private_key_providers.cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig", "private_key": {"inline_string": "S3CRET"}, "poll_delay": "0.1s"}}`,
			`{"name": "x", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.private_key_providers.cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig", "private_key": {"inline_string": "[redacted]"}, "poll_delay": "0.1s"}}`,
		},
		{
			"an Any that is sensitive as a whole", "envoy.extensions.transport_sockets.tls.v3.PrivateKeyProvider",
			`{"provider_name": "p", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.private_key_providers.cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig", "private_key": {"filename": "/k"}, "poll_delay": "0.1s"}}`,
			`{"provider_name": "p", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.private_key_providers.cryptomb.v3alpha.CryptoMbPrivateKeyMethodConfig", "private_key": {"filename": "/k"}, "poll_delay": "0.1s"}}`,
		},
		{
			"a TypedStruct, by the type that it names", config,
			`{"typed_config": {"@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "type.googleapis.com/envoy.extensions.filters.http.basic_auth.v3.BasicAuth", "value": {"users": {"inline_string": "S3CRET"}}}}`,
			`{"typed_config": {"@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "type.googleapis.com/envoy.extensions.filters.http.basic_auth.v3.BasicAuth", "value": {"users": {"inline_string": "[redacted]"}}}}`,
		},
		{
			"a type that nobody knows, by the names of its keys", config,
			`{"typed_config": {"@type": "type.googleapis.com/acme.Filter", "api_key": "S3CRET", "users": {"filename": "/u", "inline_string": "S3CRET"}, "mode": "fast"}}`,
			`{"typed_config": {"@type": "type.googleapis.com/acme.Filter", "api_key": "[redacted]", "users": {"filename": "/u", "inline_string": "[redacted]"}, "mode": "fast"}}`,
		},
		{
			"metadata is a Struct", "envoy.config.cluster.v3.Cluster",
			`{"name": "c", "metadata": {"filter_metadata": {"acme": {"token": "S3CRET", "zone": "a"}}}}`,
			`{"name": "c", "metadata": {"filter_metadata": {"acme": {"token": "[redacted]", "zone": "a"}}}}`,
		},
		{
			"a number can be a password", "envoy.config.cluster.v3.Cluster",
			`{"metadata": {"filter_metadata": {"acme": {"password": 12345678, "port": 80, "max_token": 5}}}}`,
			`{"metadata": {"filter_metadata": {"acme": {"password": "[redacted]", "port": 80, "max_token": 5}}}}`,
		},
		{
			"the environment of a Wasm VM", "envoy.extensions.wasm.v3.EnvironmentVariables",
			`{"host_env_keys": ["API_TOKEN"], "key_values": {"API_TOKEN": "S3CRET", "HOST": "h"}}`,
			`{"host_env_keys": ["API_TOKEN"], "key_values": {"API_TOKEN": "[redacted]", "HOST": "h"}}`,
		},
		{
			"JSON in a text, as Wasm plugins have it", "envoy.extensions.wasm.v3.PluginConfig",
			`{"configuration": {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "{\"client_secret\": \"S3CRET\", \"zone\": \"a\"}"}}`,
			`{"configuration": {"@type": "type.googleapis.com/google.protobuf.StringValue", "value": "{\"client_secret\": \"[redacted]\", \"zone\": \"a\"}"}}`,
		},
		{
			"headers whose names end in what they are", "envoy.config.core.v3.GrpcService",
			`{"initial_metadata": [{"key": "dd-api-key", "value": "S3CRET"}, {"key": "X-Goog-Api-Key", "value": "S3CRET"}, {"key": "lightstep-access-token", "value": "S3CRET"}, {"key": "idempotency-key", "value": "a"}]}`,
			`{"initial_metadata": [{"key": "dd-api-key", "value": "[redacted]"}, {"key": "X-Goog-Api-Key", "value": "[redacted]"}, {"key": "lightstep-access-token", "value": "[redacted]"}, {"key": "idempotency-key", "value": "a"}]}`,
		},
		{
			"headers", "envoy.config.route.v3.RouteConfiguration",
			`{"request_headers_to_add": [{"header": {"key": "Authorization", "value": "S3CRET"}}, {"header": {"key": "cookie", "value": "%REQ(x)%"}}, {"header": {"key": "x-zone", "value": "a"}}]}`,
			`{"request_headers_to_add": [{"header": {"key": "Authorization", "value": "[redacted]"}}, {"header": {"key": "cookie", "value": "%REQ(x)%"}}, {"header": {"key": "x-zone", "value": "a"}}]}`,
		},
		{
			"by their looks, wherever they stand", "envoy.config.core.v3.DataSource",
			`{"inline_string": "a\n-----BEGIN EC PRIVATE KEY-----\nS3CRET\n-----END EC PRIVATE KEY-----\nb"}`,
			`{"inline_string": "a\n[redacted]\nb"}`,
		},
		{
			"by their looks in bytes", "envoy.config.core.v3.DataSource",
			`{"inline_bytes": "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tClMzQ1JFVAo="}`,
			`{"inline_bytes": "W3JlZGFjdGVkXQ=="}`,
		},
		{
			"fields that the message does not have", "envoy.config.cluster.v3.Cluster",
			`{"name": "c", "from_the_future": {"password": "S3CRET", "port": 1}}`,
			`{"name": "c", "from_the_future": {"password": "[redacted]", "port": 1}}`,
		},
		{
			"shapes that do not fit", "envoy.extensions.transport_sockets.tls.v3.Secret",
			`{"tls_certificate": [{"private_key": {"inline_string": "S3CRET"}}], "name": null, "session_ticket_keys": 3}`,
			`{"tls_certificate": [{"private_key": {"inline_string": "[redacted]"}}], "name": null, "session_ticket_keys": 3}`,
		},
		{
			"what Envoy has redacted already", "envoy.admin.v3.ConfigDump",
			`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "static_secrets": [{"name": "s", "secret": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "generic_secret": {"secret": {"inline_bytes": "W3JlZGFjdGVkXQ=="}}}}]}]}`,
			`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "static_secrets": [{"name": "s", "secret": {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret", "generic_secret": {"secret": {"inline_bytes": "W3JlZGFjdGVkXQ=="}}}}]}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := redacted(t, c.text, c.message)
			if got != c.want || strings.Contains(got, "S3CRET") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if again := redacted(t, got, c.message); again != got {
				t.Errorf("redacting twice: %s", again)
			}
		})
	}
}
