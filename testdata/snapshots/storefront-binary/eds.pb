
41ò
Btype.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignmentR
catalogG

	eu-west-1
eu-west-1b



10.20.0.11ê?



10.20.0.12ê?"Btype.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment