// Package boringssl knows what BoringSSL accepts as Envoy uses it: names of algorithms, certificates, keys and revocation
// lists in PEM, and OCSP responses, which Envoy reads with it. It links no cryptography: it reads what BoringSSL reads before Envoy starts, and verifies no signatures. Where it cannot follow BoringSSL to the
// end, it reports nothing.
package boringssl
