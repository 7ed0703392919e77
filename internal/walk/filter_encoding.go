package walk

import (
	"slices"
	"strings"

	compressorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/compressor/v3"
	decompressorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/decompressor/v3"
	headertometadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_to_metadata/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
)

const acceptEncoding = "accept-encoding"

// compressor follows CompressorFilter::decodeHeaders, which can keep accept-encoding from the upstream.
func compressor(j *journey, v visit) bool {
	config, _ := v.Config.(*compressorv3.Compressor)
	response := config.GetResponseDirectionConfig()
	enabled := response.GetCommonConfig().GetEnabled()
	on, removes := match.Yes, response.GetRemoveAcceptEncodingHeader()
	if enabled != nil {
		on = certain(j.runtime.Integer(enabled.GetRuntimeKey(), boolean(enabled.GetDefaultValue().GetValue())) != 0)
	}
	if own, ok := v.own.(*compressorv3.CompressorPerRoute); ok {
		if own.GetDisabled() || own.GetOverrides().GetResponseDirectionConfig() != nil {
			on = certain(!own.GetDisabled())
		}
		if remove := own.GetOverrides().GetResponseDirectionConfig().GetRemoveAcceptEncodingHeader(); remove != nil {
			removes = remove.GetValue()
		}
	}
	if removes && on == match.Yes {
		j.headers.change(acceptEncoding)
		j.headers.remove(acceptEncoding)
	}
	if request := config.GetRequestDirectionConfig(); request != nil && j.request.BodyBytes > 0 {
		j.answer.doubt("added.content-encoding", "the filter "+v.Message.GetName()+" can compress the body")
	}
	return true
}

func boolean(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// decompressor follows DecompressorFilter::decodeHeaders, which adds to accept-encoding what the filter takes.
func decompressor(j *journey, v visit) bool {
	config, _ := v.Config.(*decompressorv3.Decompressor)
	enabled := config.GetResponseDirectionConfig().GetCommonConfig().GetEnabled()
	advertise := config.GetRequestDirectionConfig().GetAdvertiseAcceptEncoding()
	if enabled != nil && j.runtime.Integer(enabled.GetRuntimeKey(), boolean(enabled.GetDefaultValue().GetValue())) == 0 || advertise != nil && !advertise.GetValue() {
		return true
	}
	own := encodings[config.GetDecompressorLibrary().GetTypedConfig().GetTypeUrl()]
	if own == "" {
		j.answer.doubt("added."+acceptEncoding, "the library of the filter "+v.Message.GetName()+" is not known")
		return true
	}
	var all []string
	for each := range strings.SplitSeq(j.headers.value(acceptEncoding), ",") {
		each = strings.TrimSpace(each)
		if name, _, _ := strings.Cut(each, ";"); each != "" && strings.TrimSpace(name) != own {
			all = append(all, each)
		}
	}
	j.headers.change(acceptEncoding)
	j.headers.set(acceptEncoding, strings.Join(append(all, own), ","))
	return true
}

const compressionTypes = "type.googleapis.com/envoy.extensions.compression."

var encodings = map[string]string{
	compressionTypes + "gzip.decompressor.v3.Gzip": "gzip", compressionTypes + "brotli.decompressor.v3.Brotli": "br",
	compressionTypes + "zstd.decompressor.v3.Zstd": "zstd",
}

// grpcWeb follows GrpcWebFilter::decodeHeaders.
func grpcWeb(j *journey, _ visit) bool {
	given := j.headers.value(contentType)
	if j.pathless || !slices.Contains([]string{"application/grpc-web", "application/grpc-web+proto", "application/grpc-web-text", "application/grpc-web-text+proto"}, given) {
		return true
	}
	for _, h := range []Header{{contentType, "application/grpc"}, {"te", "trailers"}, {"grpc-accept-encoding", "identity"}} {
		if h[0] == "grpc-accept-encoding" && j.headers.has(h[0]) {
			continue
		}
		j.headers.change(h[0])
		j.headers.set(h[0], h[1])
	}
	j.headers.remove("content-length")
	return true
}

// headerToMetadata follows HeaderToMetadataFilter::decodeHeaders, as far as headers change.
func headerToMetadata(j *journey, v visit) bool {
	for _, rule := range settings[*headertometadatav3.Config](v).GetRequestRules() {
		if name := ascii.Lower(rule.GetHeader()); rule.GetRemove() && name != "" && j.headers.has(name) {
			j.headers.change(name)
			j.headers.remove(name)
		}
	}
	return true
}
