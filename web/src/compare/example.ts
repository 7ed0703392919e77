// The example of a comparison: a shop replaces its blue cart with a green one, and changes the load balancing of orders.
import type { Text } from "../project/project.ts";

const release = (colour: string, subnet: string, orders: string) => `# What the control plane sends to the proxies at the edge of the shop.
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: ingress
  address: {socket_address: {address: 0.0.0.0, port_value: 8080}}
  filter_chains:
  - filters:
    - name: envoy.filters.network.http_connection_manager
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: ingress
        rds:
          route_config_name: shop-${colour}
          config_source: {resource_api_version: V3, ads: {}}
        http_filters:
        - name: envoy.filters.http.router
          typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}

- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: shop-${colour}
  virtual_hosts:
  - name: shop
    domains: [shop.example.com]
    routes:
    - match: {path_separated_prefix: /cart}
      route: {cluster: cart-${colour}, timeout: 5s}
    - match: {path_separated_prefix: /orders}
      route: {cluster: orders, timeout: 10s}

- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: cart-${colour}
  type: EDS
  connect_timeout: 1s
  eds_cluster_config: {eds_config: {resource_api_version: V3, ads: {}}}

- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: orders
  type: EDS
  connect_timeout: 1s
  lb_policy: ${orders}
  eds_cluster_config: {eds_config: {resource_api_version: V3, ads: {}}}

- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: cart-${colour}
  endpoints:
  - lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.20.${subnet}.11, port_value: 8080}}}
    - endpoint: {address: {socket_address: {address: 10.20.${subnet}.12, port_value: 8080}}}

- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: orders
  endpoints:
  - lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.20.7.11, port_value: 8080}}}
    - endpoint: {address: {socket_address: {address: 10.20.7.12, port_value: 8080}}}
`;

export const example: Text[] = [
  { side: "before", name: "edge.yaml", text: release("blue", "1", "ROUND_ROBIN") },
  { side: "after", name: "edge.yaml", text: release("green", "2", "LEAST_REQUEST") },
];
