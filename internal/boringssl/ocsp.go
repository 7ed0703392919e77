package boringssl

import (
	"bytes"
	"fmt"
	"time"
)

// Staple is what Envoy looks at in an OCSP response.
type Staple struct {
	Serial     []byte    // of the certificate that it is about
	NextUpdate time.Time // zero: it has none
}

// wording is an error in Envoy's own words, which users search for.
type wording string

func (w wording) Error() string { return string(w) }

// Matches reports whether a response is about a certificate. Envoy compares nothing else.
func (s *Staple) Matches(c *Certificate) bool { return bytes.Equal(s.Serial, c.Serial) }

// OCSP reads a response, or returns why Envoy rejects it, with the gist of its message (OcspResponseWrapperImpl::create in
// source/common/tls/ocsp/ocsp.cc). Envoy verifies no signature.
func OCSP(text []byte) (*Staple, error) {
	d := der(text)
	response, ok := d.get(tagSequence)
	switch {
	case len(d) > 0:
		return nil, wording("Data contained more than a single OCSP response")
	case !ok:
		return nil, wording("OCSP Response is not a well-formed ASN.1 SEQUENCE")
	}
	status, ok := response.get(tagEnumerated)
	if !ok || len(status) == 0 {
		return nil, wording("OCSP ResponseStatus is not a well-formed ASN.1 ENUMERATED")
	}
	body, hasBody := response.get(tagExplicit)
	var singles []der
	if hasBody {
		var err error
		if singles, err = basicResponse(body); err != nil {
			return nil, err
		}
	}
	switch {
	case status[0] == 4 || status[0] > 6:
		return nil, wording("Unknown OCSP Response Status variant")
	case status[0] != 0:
		return nil, wording("OCSP response was unsuccessful")
	case !hasBody:
		return nil, wording("OCSP response has no body")
	}
	made := &Staple{}
	for _, one := range singles {
		if err := made.single(one); err != nil {
			return nil, err
		}
	}
	if len(singles) != 1 {
		return nil, wording("OCSP Response must be for one certificate only")
	}
	return made, nil
}

// basicResponse returns the responses for single certificates.
func basicResponse(d der) ([]der, error) {
	const basic = "\x2b\x06\x01\x05\x05\x07\x30\x01\x01"
	outer, ok := d.get(tagSequence)
	if !ok {
		return nil, wording("OCSP ResponseBytes is not a well-formed SEQUENCE")
	}
	oid, ok := outer.get(tagOID)
	if !ok {
		return nil, wording("Input is not a well-formed ASN.1 OBJECT")
	}
	packed, ok := outer.get(tagOctetString)
	if !ok {
		return nil, wording("Expected ASN.1 OCTETSTRING for response")
	}
	if string(oid) != basic {
		return nil, wording("Unknown OCSP Response type with OID")
	}
	response, ok := packed.get(tagSequence)
	if !ok {
		return nil, wording("OCSP BasicOCSPResponse is not a wellf-formed ASN.1 SEQUENCE")
	}
	data, ok := response.get(tagSequence)
	if !ok {
		return nil, wording("OCSP ResponseData is not a well-formed ASN.1 SEQUENCE")
	}
	return responses(data)
}

// responses reads a ResponseData (RFC 6960).
func responses(data der) (all []der, err error) {
	if version, ok := data.get(tagExplicit); ok {
		if number, ok := version.get(tagInteger); !ok || string(number) != "\x00" {
			return nil, wording("OCSP ResponseData version")
		}
	}
	if byName, byKey := data.skip(tagExplicit|1), data.skip(tagExplicit|2); !byName && !byKey {
		return nil, wording("Unknown choice for Responder ID")
	}
	if !data.skip(tagGeneralizedTime) {
		return nil, wording("Failed to parse ASN.1 element")
	}
	list, ok := data.get(tagSequence)
	if !ok {
		return nil, wording("Expected sequence of ASN.1 elements")
	}
	for len(list) > 0 {
		one, ok := list.get(tagSequence)
		if !ok {
			return nil, wording("OCSP SingleResponse is not a well-formed ASN.1 SEQUENCE")
		}
		all = append(all, one)
	}
	return all, nil
}

// single reads a SingleResponse.
func (s *Staple) single(d der) error {
	id, ok := d.get(tagSequence)
	if !ok {
		return wording("OCSP CertID is not a well-formed ASN.1 SEQUENCE")
	}
	if !id.skip(tagSequence) || !id.skip(tagOctetString) || !id.skip(tagOctetString) {
		return wording("Failed to parse ASN.1 element")
	}
	if s.Serial, ok = id.get(tagInteger); !ok {
		return wording("Input is not a well-formed ASN.1 INTEGER")
	}
	good, revoked, unknown := d.skip(tagContext), d.skip(tagExplicit|1), d.skip(tagContext|2)
	if !good && !revoked && !unknown {
		return wording("Unknown OcspCertStatus tag")
	}
	if _, err := d.generalizedTime(); err != nil {
		return err
	}
	next, ok := d.get(tagExplicit)
	if !ok {
		return nil
	}
	var err error
	s.NextUpdate, err = next.generalizedTime()
	return err
}

func (d *der) generalizedTime() (time.Time, error) {
	text, ok := d.get(tagGeneralizedTime)
	if !ok {
		return time.Time{}, wording("Input is not a well-formed ASN.1 GENERALIZEDTIME")
	}
	t, err := time.Parse("20060102150405Z", string(text))
	if err != nil {
		return t, fmt.Errorf("GENERALIZEDTIME: %w", err)
	}
	return t, nil
}
