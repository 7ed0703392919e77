// Package boringssl knows what BoringSSL accepts as Envoy uses it: names of algorithms, certificates, keys and revocation
// lists in PEM, PKCS #12 files, and OCSP responses, which Envoy reads with it. It reads what BoringSSL reads before Envoy
// starts, tries the passwords of keys, and verifies no signatures. Where it cannot follow BoringSSL to the end, it reports
// nothing. The smaller engine of the playground links no cryptography, and so tries no passwords.
package boringssl
