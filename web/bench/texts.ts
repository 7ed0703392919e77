// The measured texts: bootstraps with as many services as the number of lines needs, and some mistakes.

/** A bootstrap in YAML of at least the given number of lines. */
export function bootstrap(lines: number): string {
  const count = Math.ceil((lines - linesOf(head)) / linesOf(route(0) + cluster(0)));
  const services = Array.from({ length: count }, (_, i) => i);
  return `${head}${services.map(route).join("")}  clusters:\n${services.map(cluster).join("")}`;
}

export const linesOf = (text: string) => text.split("\n").length - 1;

const head = `admin:
  address: {socket_address: {address: 127.0.0.1, port_value: 9901}}
static_resources:
  listeners:
  - name: ingress
    address:
      socket_address: {address: 0.0.0.0, port_value: 8443}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: ingress
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
          route_config:
            name: edge
            virtual_hosts:
`;

const route = (i: number) => `            - name: service-${i}
              domains: ["service-${i}.shop.example", "service-${i}.shop.example:*"]
              routes:
              - match: {prefix: /api/}
                route:
                  cluster: service-${i % 50 === 3 ? `${i}x` : i}
                  timeout: 15s
                  retry_policy:
                    retry_on: connect-failure,refused-stream
                    num_retries: 2
              - match: {path: /healthz}
                direct_response: {status: 200}
`;

const cluster = (i: number) => `  - name: service-${i}
    type: STRICT_DNS
    connect_timeout: 0.5s
    lb_policy: LEAST_REQUEST
    circuit_breakers:
      thresholds:
      - {priority: DEFAULT, max_connections: 1024, max_pending_requests: 256}
    health_checks:
    - timeout: 1s
      interval: 5s
      healthy_threshold: 2
      unhealthy_threshold: 3
      http_health_check: {path: /healthz}
    load_assignment:
      cluster_name: service-${i}
      endpoints:
      - lb_endpoints:
        - endpoint:
            address:
              socket_address: {address: service-${i}.internal, port_value: 8080}
`;
