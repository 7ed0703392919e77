// Generates configurations of any size: listeners with TLS, routes over RDS, clusters over EDS, and some routes to missing clusters.
import type { Text } from "../src/project/project.ts";

const type = (name: string) => `"@type": type.googleapis.com/${name}`;
const ads = "{ads: {}, resource_api_version: V3}";
const range = (n: number, from = 0, step = 1) => Array.from({ length: Math.max(0, Math.ceil((n - from) / step)) }, (_, i) => from + i * step);

/** Texts with about so many names in them, and how many there are. */
export function estate(about: number): { texts: Text[]; names: number } {
  const listeners = Math.max(1, Math.round(about / 200));
  const routes = Math.max(2, Math.round(about / 50));
  const clusters = Math.round((about - listeners - routes) / 2);
  const lost = range(routes, 0, 10);
  const texts = Object.entries({
    lds: range(listeners).map((i) => listener(i, range(routes, i, listeners))),
    rds: range(routes).map((i) => routeConfiguration(i, [...range(clusters, i, routes).map(String), "0", String((i * 7) % clusters)], lost.includes(i))),
    cds: range(clusters).map(cluster),
    eds: range(clusters).map(assignment),
  });
  return {
    texts: texts.map(([name, resources]) => ({ side: "after", name: `${name}.yaml`, text: `resources:\n${resources.join("\n")}\n` })),
    names: listeners + routes + 2 * clusters + lost.length,
  };
}

const listener = (i: number, routes: number[]) => `- ${type("envoy.config.listener.v3.Listener")}
  name: listener-${i}
  address: {socket_address: {address: 0.0.0.0, port_value: ${8000 + i}}}
  listener_filters:
  - name: envoy.filters.listener.tls_inspector
    typed_config: {${type("envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector")}}
  filter_chains:
${routes.map(chain).join("\n")}`;

const chain = (route: number) => `  - name: chain-${route}
    filter_chain_match: {server_names: ["shop-${route}.example"]}
    filters:
    - name: envoy.filters.network.http_connection_manager
      typed_config:
        ${type("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager")}
        stat_prefix: shop
        http_filters:
        - name: envoy.filters.http.router
          typed_config: {${type("envoy.extensions.filters.http.router.v3.Router")}}
        rds: {route_config_name: routes-${route}, config_source: ${ads}}`;

const routeConfiguration = (i: number, clusters: string[], lost: boolean) => `- ${type("envoy.config.route.v3.RouteConfiguration")}
  name: routes-${i}
  virtual_hosts:
  - name: all
    domains: ["*"]
    routes:
${[...clusters.map((c) => `cluster-${c}`), ...(lost ? [`missing-${i}`] : [])].map((name, at) => `    - match: {prefix: /${at}/}\n      route: {cluster: ${name}}`).join("\n")}`;

const cluster = (i: number) => `- ${type("envoy.config.cluster.v3.Cluster")}
  name: cluster-${i}
  type: EDS
  connect_timeout: 1s
  eds_cluster_config: {eds_config: ${ads}}`;

const assignment = (i: number) => `- ${type("envoy.config.endpoint.v3.ClusterLoadAssignment")}
  cluster_name: cluster-${i}
  endpoints:
  - lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.0.${i >> 8}.${i & 255}, port_value: 8080}}}`;
