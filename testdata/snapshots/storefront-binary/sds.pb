
41—
Dtype.googleapis.com/envoy.extensions.transport_sockets.tls.v3.SecretO
shop-certificate-20256

/etc/envoy/tls/shop.crt
/etc/envoy/tls/shop.key"Dtype.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret