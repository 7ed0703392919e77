package boringssl

import (
	"strings"
	"time"
)

// parse reads a certificate (RFC 5280). It returns nil for one that it does not understand, which BoringSSL may.
func parse(text []byte) *Certificate {
	d := der(text)
	outer, ok := d.get(tagSequence)
	if !ok {
		return nil
	}
	t, ok := outer.get(tagSequence)
	if !ok {
		return nil
	}
	t.skip(tagExplicit) // the version
	c := &Certificate{}
	serial, ok := t.get(tagInteger)
	if !ok {
		return nil
	}
	c.Serial = serial
	signature, ok := t.get(tagSequence)
	if !ok {
		return nil
	}
	c.signature, _ = signature.get(tagOID)
	if c.Issuer, ok = t.whole(); !ok {
		return nil
	}
	validity, ok := t.get(tagSequence)
	if !ok || !c.validity(validity) {
		return nil
	}
	if c.Subject, ok = t.whole(); !ok {
		return nil
	}
	key, ok := t.get(tagSequence)
	if !ok || !c.publicKey(key) {
		return nil
	}
	if c.CommonNames, ok = commonNames(c.Subject); !ok {
		return nil
	}
	c.IssuerNames, _ = commonNames(c.Issuer)
	t.skip(tagContext | 1)
	t.skip(tagContext | 2)
	if wrapped, ok := t.get(tagExplicit | 3); ok {
		extensions, ok := wrapped.get(tagSequence)
		if !ok || !c.extensions(extensions) {
			return nil
		}
	}
	return c
}

func (c *Certificate) validity(d der) (ok bool) {
	if c.NotBefore, ok = d.time(); !ok {
		return false
	}
	c.NotAfter, ok = d.time()
	return ok
}

// time takes a UTCTime or a GeneralizedTime.
func (d *der) time() (time.Time, bool) {
	tag, text, ok := d.any()
	if !ok {
		return time.Time{}, false
	}
	layout := "060102150405Z0700"
	if tag == tagGeneralizedTime {
		layout = "20060102150405Z0700"
	} else if tag != tagUTCTime {
		return time.Time{}, false
	}
	t, err := time.Parse(layout, string(text))
	if tag == tagUTCTime && t.Year() >= 2050 {
		t = t.AddDate(-100, 0, 0)
	}
	return t, err == nil
}

// publicKey reads a SubjectPublicKeyInfo.
func (c *Certificate) publicKey(d der) bool {
	algorithm, ok := d.get(tagSequence)
	if !ok {
		return false
	}
	oid, ok := algorithm.get(tagOID)
	if !ok {
		return false
	}
	c.algorithm = oid
	if curve, ok := algorithm.get(tagOID); ok {
		c.curve = curve
	}
	c.key, ok = d.bits()
	return ok
}

// bits takes a BIT STRING of whole bytes.
func (d *der) bits() ([]byte, bool) {
	content, ok := d.get(tagBitString)
	if !ok || len(content) == 0 || content[0] != 0 {
		return nil, false
	}
	return content[1:], true
}

// commonNames reads the common names of a subject or an issuer.
func commonNames(of der) (names []string, ok bool) {
	sequence, ok := of.get(tagSequence)
	if !ok {
		return nil, false
	}
	for len(sequence) > 0 {
		set, ok := sequence.get(tagSet)
		if !ok {
			return nil, false
		}
		for len(set) > 0 {
			attribute, ok := set.get(tagSequence)
			if !ok {
				return nil, false
			}
			oid, ok := attribute.get(tagOID)
			if !ok {
				return nil, false
			}
			_, value, ok := attribute.any()
			if !ok {
				return nil, false
			}
			if string(oid) == oidCommonName {
				names = append(names, string(value))
			}
		}
	}
	return names, true
}

// Object identifiers in DER.
const (
	oidCommonName       = "\x55\x04\x03"
	oidKeyUsage         = "\x55\x1d\x0f"
	oidAlternativeName  = "\x55\x1d\x11"
	oidBasicConstraints = "\x55\x1d\x13"
	oidPolicies         = "\x55\x1d\x20"
	oidWebsite          = "\x67\x81\x0c\x01" // and more
	oidTLSFeature       = "\x2b\x06\x01\x05\x05\x07\x01\x18"
	oidRSA              = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01"
	oidEC               = "\x2a\x86\x48\xce\x3d\x02\x01"
	oidEd25519          = "\x2b\x65\x70"
)

// outdated are the algorithms of signatures with broken hashes, and these hashes.
var outdated = map[string]string{
	"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04": "MD5", "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05": "SHA-1", // with RSA
	"\x2a\x86\x48\xce\x3d\x04\x01": "SHA-1", // with ECDSA
}

func (c *Certificate) extensions(d der) bool {
	for len(d) > 0 {
		e, ok := d.get(tagSequence)
		if !ok {
			return false
		}
		oid, ok := e.get(tagOID)
		if !ok {
			return false
		}
		e.skip(0x01) // critical
		value, ok := e.get(tagOctetString)
		if !ok || !c.extension(string(oid), value) {
			return false
		}
	}
	return true
}

func (c *Certificate) extension(oid string, value der) bool {
	switch oid {
	case oidKeyUsage:
		bits, ok := value.get(tagBitString)
		if !ok || len(bits) < 1 {
			return false
		}
		c.keyUsage = bits[1:]
	case oidBasicConstraints:
		constraints, ok := value.get(tagSequence)
		if !ok {
			return false
		}
		ca, _ := constraints.get(0x01)
		c.CA = len(ca) == 1 && ca[0] != 0
	case oidTLSFeature:
		c.MustStaple = string(value) == "\x30\x03\x02\x01\x05" // as Envoy compares it
	case oidAlternativeName:
		return c.alternativeNames(value)
	case oidPolicies:
		c.Website = forWebsites(value)
	}
	return true
}

// forWebsites reports whether one of some policies is of the CA/Browser Forum.
func forWebsites(policies der) bool {
	policies, _ = policies.get(tagSequence)
	for {
		policy, ok := policies.get(tagSequence)
		if !ok {
			return false
		}
		if oid, _ := policy.get(tagOID); strings.HasPrefix(string(oid), oidWebsite) {
			return true
		}
	}
}

func (c *Certificate) alternativeNames(d der) bool {
	names, ok := d.get(tagSequence)
	if !ok {
		return false
	}
	for len(names) > 0 {
		tag, value, ok := names.any()
		if !ok {
			return false
		}
		switch tag {
		case tagContext | 2:
			c.DNSNames = append(c.DNSNames, string(value))
		case tagContext | 6, tagContext | 7:
			c.OtherNames++
		}
	}
	return true
}
