package envoytest

// AccessLogs is a bootstrap whose last lines are about access logs. The list, with ten spaces before each item, follows.
const AccessLogs = `
static_resources:
  clusters:
  - {name: shop, load_assignment: {cluster_name: shop}}
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: 1}}
    filter_chains:
    - filters:
      - name: proxy
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: proxy
          cluster: shop
          access_log:
`
