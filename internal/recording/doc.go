// Package recording reads recordings of xDS streams: JSON Lines, which people can read and diff. It is in the browser;
// package recorder, which writes them, is not.
//
// A recording is one or more parts, each a file. The first line of a part says which recording it belongs to, and every
// other line is an event of a stream:
//
//	{"recording": {"version": 1, "id": "…", "part": 1}}
//	{"time": "…", "stream": 1, "opened": {"method": "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources"}}
//	{"time": "…", "stream": 1, "request": {a DiscoveryRequest or a DeltaDiscoveryRequest}}
//	{"time": "…", "stream": 1, "left_out": [0], "response": {a DiscoveryResponse or a DeltaDiscoveryResponse}}
//	{"time": "…", "stream": 1, "unreadable": "why a message is not recorded"}
//	{"time": "…", "stream": 1, "closed": {"code": "Unavailable", "message": "…"}}
//
// A stream is a call of gRPC, or all polls of a node at a path of REST, which is then its method. If the answer to a poll
// is status 304, it is {"not_modified": true}; with any other status but 200, the stream is closed with it.
//
// Messages are in the JSON of protobuf, with the field names of the proto, and without secrets. left_out has the indices
// of resources of which a part is left out, since its type is not known. An event is one line and one write, so a
// recorder that is killed leaves complete lines; a last line without a line break is not read. Lines that begin with #
// are comments.
//
// A log of a client of grpc-go (grpclog.go) has all that a recording of an aggregated stream of SotW has, as the client saw
// it: a request is logged after it was sent, and so perhaps after the response to it.
// A log of Envoy (envoylog.go) has the requests of SotW, and of a response only the type and the version.
package recording
