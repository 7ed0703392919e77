package graph

// Kinds lists all kinds that a name can have, as they are spelled in flags.
func Kinds() []Kind {
	return []Kind{
		Bootstrap, Listener, FilterChain, RouteConfiguration, ScopedRouteConfiguration, VirtualHost, Cluster, ClusterLoadAssignment,
		LbEndpoint, Secret, Runtime, ExtensionConfig, HTTPFilter, JWTProvider, DNSCache, InternalListener, ClusterSpecifierPlugin, ResourceMonitor,
	}
}
