
41Ã
<type.googleapis.com/envoy.config.route.v3.RouteConfiguration‚
shopù
shopshop.example.com


/images/
images8

	/checkout)'

checkout_

checkout-canaryŒ

/jt
envoy.filters.http.ext_authU
Otype.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRouteB
	catalogue"<type.googleapis.com/envoy.config.route.v3.RouteConfiguration