package walktest

import (
	"strings"
)

// logged is a line of Envoy's access log.
type logged struct {
	status, details, flags, route, cluster, chain string
}

const (
	logMark   = "@walk "
	logFormat = logMark + "%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%\t%RESPONSE_CODE%\t%RESPONSE_CODE_DETAILS%\t%RESPONSE_FLAGS%\t%ROUTE_NAME%\t" +
		"%UPSTREAM_CLUSTER_RAW%\t%FILTER_CHAIN_NAME%\n"
)

// readLog returns the lines of the log by the port of the client.
func readLog(text string) map[string]*logged {
	all := map[string]*logged{}
	for line := range strings.Lines(text) {
		_, line, ok := strings.Cut(strings.TrimSuffix(line, "\n"), logMark)
		fields := strings.Split(line, "\t")
		if !ok || len(fields) != 7 {
			continue
		}
		port := fields[0][strings.LastIndexByte(fields[0], ':')+1:]
		if known := all[port]; known != nil && known.details != "-" {
			continue // the listener logs the end of the connection, too
		}
		all[port] = &logged{fields[1], fields[2], fields[3], dash(fields[4]), dash(fields[5]), dash(fields[6])}
	}
	return all
}

func dash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}
