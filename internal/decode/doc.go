// Package decode turns trees into messages, as Envoy's own readers would, and opens the Anys in them. A part that does
// not fit becomes a [Problem], never an error: the rest is decoded anyway.
//
// [Decoder.Decode] and [Decoder.DecodeAny] fill a message from a [tree.Node]; DecodeBinary and [Decoder.Open] do the
// same for protobuf's wire format and for messages that already exist. message reads a message, fields and field its
// entries, scalar one value (scalar.go), and wellKnown the types with their own JSON form (wellknown.go).
//
// Envoy is not the only reader. [Format] selects whose rules count: YAML and JSON are those of Envoy, Jsonpb those of
// Istio, ProtoJSON those of Envoy Gateway. Some differences: the last of two equal keys counts in YAML, while JSON
// merges two fields; Envoy reads a bare value as a list of one, and readers of Kubernetes objects do not.
//
// Each Any is opened once. Contents keeps what each Any holds, and which message a TypedStruct stands for; walks read
// it, and nothing unmarshals an Any again. An Any that cannot be opened is a blind spot, which a rule reports.
//
// One set of descriptors decodes for all versions of Envoy: that of the newest API (package types). Every type is
// known, but few Go packages are linked in, since registering all of them takes time at each start. A dynamic message
// makes dynamic messages of everything in it. adopt.go puts the Go type in its place wherever one is linked, so that
// rules meet Go types at any depth.
//
// Decoder.Seen collects the messages that say where more resources come from, so that graph/load need not walk again. A
// problem has a path and, for a text, a span. Its Lenient says that Envoy accepts it; Carried that it is in a
// TypedStruct, which only Envoy reads.
package decode
