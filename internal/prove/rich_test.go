package prove_test

// rich is a bootstrap with what other configurations of the tests do not have: kinds of matchers, policies of routes, TLS, EDS-like endpoints.
const rich = `
node: {id: edge-1, cluster: edge, locality: {region: eu, zone: a}}
layered_runtime: {layers: [{name: static, static_layer: {feature: true}}]}
static_resources:
  secrets:
  - {name: server, tls_certificate: {certificate_chain: {filename: /c.pem}, private_key: {filename: /k.pem}}}
  - {name: clients, validation_context: {trusted_ca: {filename: /ca.pem}, match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: client}}]}}
  listeners:
  - name: in
    address: {socket_address: {address: 127.0.0.1, port_value: 443}}
    listener_filters:
    - {name: inspect, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector}}
    - {name: proxied, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol, allow_requests_without_proxy_protocol: true}}
    filter_chains:
    - name: one
      filter_chain_match: {server_names: [a.test, "*.b.test"], source_prefix_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}], application_protocols: [h2], transport_protocol: tls}
      transport_socket:
        name: tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          require_client_certificate: true
          common_tls_context:
            alpn_protocols: [h2]
            tls_params: {tls_minimum_protocol_version: TLSv1_2}
            tls_certificate_sds_secret_configs: [{name: server}]
            validation_context_sds_secret_config: {name: clients}
      filters:
      - {name: limit, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit, stat_prefix: x, max_connections: 100}}
      - name: http
        typed_config: &manager
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          codec_type: AUTO
          use_remote_address: true
          xff_num_trusted_hops: 1
          server_name: edge
          via: edge
          internal_address_config: {cidr_ranges: [{address_prefix: 10.0.0.0, prefix_len: 8}]}
          common_http_protocol_options: {idle_timeout: 30s, headers_with_underscores_action: REJECT_REQUEST}
          http_protocol_options: {accept_http_10: true, default_host_for_http_10: a.test}
          http2_protocol_options: {max_concurrent_streams: 100}
          upgrade_configs: [{upgrade_type: websocket}]
          local_reply_config:
            mappers: [{filter: {status_code_filter: {comparison: {op: EQ, value: {default_value: 404, runtime_key: x}}}}, status_code: 410, body: {inline_string: none}}]
          http_filters:
          - {name: fault, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault, abort: {http_status: 503, percentage: {numerator: 1}}}}
          - {name: cors, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors}}
          - {name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, suppress_envoy_headers: true}}
          route_config:
            name: table
            internal_only_headers: [x-internal]
            most_specific_header_mutations_wins: true
            virtual_hosts:
            - name: a
              domains: [a.test, "*.b.test"]
              require_tls: EXTERNAL_ONLY
              virtual_clusters: [{name: v, headers: [{name: ":path", string_match: {prefix: /v}}]}]
              rate_limits: [{actions: [{generic_key: {descriptor_value: all}}]}]
              retry_policy: {retry_on: 5xx, num_retries: 2, per_try_timeout: 1s}
              hedge_policy: {initial_requests: 1}
              routes:
              - match:
                  prefix: /one
                  headers: [{name: x-a, range_match: {start: 1, end: 9}}, {name: x-b, string_match: {contains: b, ignore_case: true}, invert_match: true}]
                  query_parameters: [{name: q, string_match: {suffix: z}}]
                  cookies: [{name: c, string_match: {exact: d}}]
                  runtime_fraction: {default_value: {numerator: 30, denominator: HUNDRED}, runtime_key: share}
                  dynamic_metadata: [{filter: f, path: [{key: k}], value: {string_match: {exact: v}}}]
                route:
                  cluster: shop
                  timeout: 3s
                  idle_timeout: 4s
                  prefix_rewrite: /two
                  hash_policy: [{header: {header_name: x-user}, terminal: true}, {cookie: {name: c, ttl: 3s}}]
                  request_mirror_policies: [{cluster: cart, runtime_fraction: {default_value: {numerator: 10}}}]
                  internal_redirect_policy: {max_internal_redirects: 2, redirect_response_codes: [302]}
                  max_stream_duration: {max_stream_duration: 9s}
                  metadata_match: {filter_metadata: {envoy.lb: {stage: prod}}}
              - match: {safe_regex: {regex: "/r[0-9]+"}, tls_context: {presented: true}}
                redirect: {host_redirect: b.test, path_redirect: /p, response_code: FOUND, strip_query: true}
              - match: {path_separated_prefix: /sep, grpc: {}}
                route: {weighted_clusters: {clusters: [{name: shop, weight: 3, request_headers_to_add: [{header: {key: x-w, value: w}}]}, {name: cart, weight: 1}], runtime_key_prefix: w}}
                request_headers_to_remove: [x-gone]
                response_headers_to_add: [{header: {key: x-r, value: "%REQ(x-a)%"}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}]
              - match: {path: /direct}
                direct_response: {status: 200, body: {inline_string: hello}}
              - match: {prefix: /}
                route: {cluster_header: x-cluster}
                typed_per_filter_config:
                  cors: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy, allow_origin_string_match: [{exact: "https://x.test"}], allow_methods: GET}
                  fault: {"@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}
    - name: plain
      filter_chain_match: {transport_protocol: raw_buffer}
      filters:
      - {name: tcp, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy, stat_prefix: tcp, cluster: tcp, idle_timeout: 3s}}
  clusters:
  - name: shop
    connect_timeout: 1s
    lb_policy: LEAST_REQUEST
    least_request_lb_config: {choice_count: 3}
    circuit_breakers: {thresholds: [{max_connections: 10}]}
    outlier_detection: {consecutive_5xx: 3}
    health_checks: [{timeout: 1s, interval: 5s, unhealthy_threshold: 2, healthy_threshold: 1, http_health_check: {path: /health}}]
    lb_subset_config: {fallback_policy: ANY_ENDPOINT, subset_selectors: [{keys: [stage]}]}
    common_lb_config: {locality_weighted_lb_config: {}}
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {"@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {max_concurrent_streams: 10}}}
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: shop.test
        common_tls_context: {validation_context: {trusted_ca: {filename: /ca.pem}}, tls_certificate_sds_secret_configs: [{name: server}]}
    load_assignment:
      cluster_name: shop
      policy: {overprovisioning_factor: 150}
      endpoints:
      - {locality: {region: eu, zone: a}, priority: 0, load_balancing_weight: 3, lb_endpoints: [{load_balancing_weight: 2, health_status: HEALTHY, metadata: {filter_metadata: {envoy.lb: {stage: prod}}}, endpoint: {hostname: h, address: {socket_address: {address: 127.0.0.1, port_value: 81}}}}]}
      - {locality: {region: eu, zone: b}, priority: 1, load_balancing_weight: 1, lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 82}}}}]}
  - {name: cart, connect_timeout: 1s, type: STRICT_DNS, dns_refresh_rate: 9s, load_assignment: {cluster_name: cart, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: cart.test, port_value: 82}}}}]}]}}
  - {name: tcp, connect_timeout: 1s, load_assignment: {cluster_name: tcp, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 83}}}}]}]}}
`
