package load

import (
	"bytes"
	"errors"
	"maps"
	"os"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// judged are the fields with data sources whose files are read. Others no rule needs.
var judged = map[protoreflect.FullName]bool{
	"envoy.extensions.filters.http.grpc_field_extraction.v3.GrpcFieldExtractionConfig.descriptor_set":    true,
	"envoy.extensions.filters.http.proto_message_extraction.v3.ProtoMessageExtractionConfig.data_source": true,
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.crl":                         true,
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.trusted_ca":                  true,
	"envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain.trust_bundle":       true,
	"envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.trust_bundles":                  true,
	"envoy.extensions.transport_sockets.tls.v3.TlsCertificate.certificate_chain":                         true,
	"envoy.extensions.transport_sockets.tls.v3.TlsCertificate.ocsp_staple":                               true,
	"envoy.extensions.transport_sockets.tls.v3.TlsCertificate.pkcs12":                                    true,
	"envoy.extensions.transport_sockets.tls.v3.TlsCertificate.password":                                  true,
	"envoy.extensions.transport_sockets.tls.v3.TlsCertificate.private_key":                               true,
}

// The limits of what data sources name: of one file, and of all of an input.
const (
	maxDataFile  = 4 << 20
	maxDataFiles = 64 << 20
)

// namedFiles returns the files that data sources name, each once.
func namedFiles(all []decode.Seen) (names []string) {
	known := map[string]bool{"": true}
	add := func(s *corev3.DataSource) {
		if name := s.GetFilename(); !known[name] {
			known[name], names = true, append(names, name)
		}
	}
	for _, seen := range all {
		switch m := seen.Message.Interface().(type) {
		case *corev3.DataSource:
			if judged[seen.Field.FullName()] {
				add(m)
			}
		case *tlsv3.TlsSessionTicketKeys:
			for _, key := range m.GetKeys() {
				add(key)
			}
		}
	}
	return names
}

// dataFiles reads the files that data sources name. Without Options.Root, a missing file is not a fault: the data plane is elsewhere.
func (l *loader) dataFiles(all []decode.Seen, boot *input) map[string]*graph.DataFile {
	var files map[string]*graph.DataFile
	for _, name := range namedFiles(all) {
		path, err := l.locate(name, boot)
		if errors.Is(err, errNotGiven) {
			continue
		}
		f := &graph.DataFile{}
		if err != nil {
			f.Missing = err.Error()
		} else if f = l.dataFile(path); f == nil {
			continue
		}
		if f.Missing != "" && l.opts.Root == "" {
			l.unread[name] = true
			continue
		}
		if files == nil {
			files = map[string]*graph.DataFile{}
		}
		files[name] = f
	}
	return files
}

// dataFile reads a file once. It returns nil for one that is too large.
func (l *loader) dataFile(path string) *graph.DataFile {
	f, known := l.data[path]
	if !known {
		f = l.readData(path)
		l.data[path] = f
	}
	return f
}

func (l *loader) readData(path string) *graph.DataFile {
	if info, err := os.Stat(path); l.given == nil && err == nil && info.Size() > min(maxDataFile, maxDataFiles-l.dataSize) {
		return nil
	}
	data, err := l.bytes(path)
	if err != nil {
		return &graph.DataFile{Missing: plainError(err).Error()}
	}
	l.dataSize += int64(len(data))
	return &graph.DataFile{Data: data}
}

// keepsFiles reports whether the files of a known item are still the same.
func (l *loader) keepsFiles(k *item, boot *input) bool {
	return maps.EqualFunc(l.dataFiles(k.seen, boot), k.resource.Files, func(a, b *graph.DataFile) bool {
		return a.Missing == b.Missing && bytes.Equal(a.Data, b.Data)
	})
}
