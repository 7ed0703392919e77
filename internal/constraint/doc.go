// Package constraint checks the field constraints that Envoy's protos state with protoc-gen-validate (PGV):
// (validate.rules) on fields, (validate.required) on oneofs, (validate.disabled) and (validate.ignored) on messages.
// Envoy rejects a configuration that violates one: it runs the C++ that PGV generates over every resource and over
// every message that an Any holds. So the meaning of a rule here is that of PGV's C++ templates (v1.3.3), which differ
// from its Go ones: a pattern has to match the whole string, and a Duration whose seconds and nanos differ in sign
// passes.
//
// [For] returns the checker of a message type. compile makes it from the options of the descriptor on the first use of
// the type, so that constraints also hold for dynamic messages and for types from a user's descriptors. [ForVersion]
// compiles with the options that fields have in another version of the API: the descriptors are those of the newest
// one.
//
// [Checker.Check] checks one message at a time, in the order in which Envoy would meet the violations: fields as
// declared, then those with explicit presence, then oneofs. The caller walks; [Skip] reports the fields whose messages
// PGV does not look into. Whether Envoy validates a message at all depends on its place, which package dataplane/envoy
// knows.
//
// A Violation has two texts: Message for the user, and Upstream as Envoy prints it. Message never quotes a string, and
// nothing of a sensitive field.
package constraint
