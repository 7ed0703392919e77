
41¹
5type.googleapis.com/envoy.config.listener.v3.Listenerÿ
https
0.0.0.0ûAæ
Zshop.example.com¢
-envoy.filters.network.http_connection_manager"ð
etype.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager†shop*‚
envoy.filters.http.ext_authz"b
Gtype.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz`
€åšw


ext-auth*a
envoy.filters.http.router"D
Btype.googleapis.com/envoy.extensions.filters.http.router.v3.Router
0B

./rds.pbshop2ª
envoy.transport_sockets.tlsŠ
Rtype.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext4
2"h2"http/1.12"
shop-certificate0B

./sds.pbJ}
$envoy.filters.listener.tls_inspectorU
Stype.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"5type.googleapis.com/envoy.config.listener.v3.Listener