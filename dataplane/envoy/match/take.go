package match

import listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

var levelNames = [levels]string{
	"destination port", "destination address", "server name", "transport protocol", "application protocol", "direct source address", "source type",
	"source address", "source port",
}

// Miss returns what of a connection a chain does not fit. It is empty if the chain fits; another one can be more specific.
func (cs *Chains) Miss(conn Connection, chain *listenerv3.FilterChain) string {
	own := cs.Of(chain)
	for l := range levels {
		fits := false
		for _, v := range own.values[l] {
			fits = fits || l.rank(v, conn) > 0
		}
		if !fits {
			return levelNames[l]
		}
	}
	return ""
}

// BySource reports whether the source of a connection matters.
func (cs *Chains) BySource() bool {
	return cs.asked[directSource] || cs.asked[sourceType] || cs.asked[sourceAddress] || cs.asked[sourcePort]
}

// ByDestination reports whether the address to which a client connects matters.
func (cs *Chains) ByDestination() bool { return cs.asked[destination] || cs.asked[sourceType] }

// ByPort reports whether the port to which a client connects matters.
func (cs *Chains) ByPort() bool { return cs.asked[destinationPort] }
