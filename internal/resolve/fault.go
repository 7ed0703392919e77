package resolve

import (
	"fmt"
	"strconv"
	"time"

	commonfaultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/fault/v3"
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
)

// filter lets the HTTP filters see the RPC, and adds the ways on which one ends it. It reports whether any RPC is left.
func (w *walk) filter(way *Way, levels []grpc.Level) bool {
	for _, f := range w.client.Filters(w.manager, levels...) {
		switch m := f.Config.(type) {
		case *routerv3.Router:
		case *faultv3.HTTPFault:
			if !w.fault(way, m) {
				return false
			}
		default:
			w.answer.Unknown = map[string]string{"code": fmt.Sprintf("the filter %s asks a service", f.Name)}
		}
	}
	return true
}

// fault injects a delay and an abort (fault.interceptor, gRFC A33).
func (w *walk) fault(way *Way, f *faultv3.HTTPFault) bool {
	if f.GetMaxActiveFaults() != nil && f.GetMaxActiveFaults().GetValue() == 0 {
		return true
	}
	if share, by := w.delay(f.GetDelay()); share > 0 && by > 0 {
		way.Delay = &Delay{share, by.String()}
	}
	share, code := w.abort(f.GetAbort())
	if share > 0 {
		aborted := *way
		aborted.Share *= share
		w.add(&aborted, code, "RPC terminated due to fault injection")
	}
	way.Share *= 1 - share
	return share < 1
}

func (w *walk) delay(d *commonfaultv3.FaultDelay) (share float64, by time.Duration) {
	share = shareOf(d.GetPercentage())
	if d.GetHeaderDelay() == nil {
		return share, d.GetFixedDelay().AsDuration()
	}
	ms, _ := w.number("x-envoy-fault-delay-request")
	return w.lower(share, d.GetPercentage(), "x-envoy-fault-delay-request-percentage"), time.Duration(ms) * time.Millisecond
}

// abort returns the share of the RPCs that get a code.
func (w *walk) abort(a *faultv3.FaultAbort) (share float64, code string) {
	share = shareOf(a.GetPercentage())
	switch kind := a.GetErrorType().(type) {
	case *faultv3.FaultAbort_HttpStatus:
		return ofHTTP(share, int64(kind.HttpStatus))
	case *faultv3.FaultAbort_GrpcStatus:
		return share, codeName(int64(kind.GrpcStatus))
	case *faultv3.FaultAbort_HeaderAbort_:
		share = w.lower(share, a.GetPercentage(), "x-envoy-fault-abort-request-percentage")
		if _, sent := w.metadata["x-envoy-fault-abort-request"]; sent { // before the status of gRPC, even if it is not a number
			if status, ok := w.number("x-envoy-fault-abort-request"); ok {
				return ofHTTP(share, status)
			}
		} else if status, ok := w.number("x-envoy-fault-abort-grpc-request"); ok {
			return share, codeName(status)
		}
	}
	return 0, ""
}

// number returns the number in the last value of a header.
func (w *walk) number(header string) (int64, bool) {
	values := w.metadata[header]
	if len(values) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(values[len(values)-1], 10, 64)
	return n, err == nil
}

// lower returns a share, or that in a header if it is lower.
func (w *walk) lower(share float64, p *typev3.FractionalPercent, header string) float64 {
	n, ok := w.number(header)
	if !ok {
		return share
	}
	return min(share, shareOf(&typev3.FractionalPercent{Numerator: uint32(max(0, n)), Denominator: p.GetDenominator()})) //nolint:gosec // a percentage
}

// ofHTTP returns the code of an HTTP status. What is not a status aborts nothing (grpcFromHTTP).
func ofHTTP(share float64, status int64) (float64, string) {
	if status < 200 || status >= 600 {
		return 0, ""
	}
	if code, ok := byStatus[status]; ok {
		return share, code
	}
	return share, "UNKNOWN"
}

var byStatus = map[int64]string{
	400: "INTERNAL", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "UNIMPLEMENTED",
	429: unavailable, 502: unavailable, 503: unavailable, 504: unavailable,
}

// codeNames are the codes of gRPC, from OK.
var codeNames = []string{
	answered, "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", unavailable, "DATA_LOSS", "UNAUTHENTICATED",
}

// codeName returns the name of a code. What is not one is UNKNOWN (sanitizeGRPCCode).
func codeName(code int64) string {
	if code < 0 || code >= int64(len(codeNames)) {
		return "UNKNOWN"
	}
	return codeNames[code]
}
