package boringssl

import (
	"errors"
	"unicode/utf16"
)

// macHashes are the hashes of MACs by object identifier.
var macHashes = map[string]string{
	"\x2b\x0e\x03\x02\x1a":                 "SHA1",
	"\x60\x86\x48\x01\x65\x03\x04\x02\x01": "SHA256",
	"\x60\x86\x48\x01\x65\x03\x04\x02\x02": "SHA384",
	"\x60\x86\x48\x01\x65\x03\x04\x02\x03": "SHA512",
}

// PKCS12 returns why Envoy cannot read a PKCS #12 file, if that is certain (TlsContext::loadPkcs12; PKCS12_get_key_and_certs in
// crypto/pkcs8/pkcs8_x509.cc). known reports whether the password is known; it is nil if there is none.
func PKCS12(text, password []byte, known bool) error {
	if broken(text) {
		return errors.New("it is not a PKCS #12 file in DER")
	}
	l, err := lockedFile(text)
	if err != nil || l == nil || !known {
		return err
	}
	password = upToNUL(password)
	if right, known := l.verifiesText(password); right || !known {
		return nil
	}
	if len(password) == 0 {
		return errNoPassword
	}
	return misfit(password, func(other []byte) bool {
		right, _ := l.verifiesText(other)
		return right
	})
}

// lockedFile reads the MAC of a PFX (RFC 7292). It returns nil if the file is malformed, or if its MAC is not verified here.
func lockedFile(d der) (*locked, error) {
	pfx, _ := d.get(tagSequence)
	pfx.skip(tagInteger) // the version
	content, _ := pfx.get(tagSequence)
	content.skip(tagOID)
	wrapped, _ := content.get(tagExplicit)
	text, ok := wrapped.get(tagOctetString)
	if !ok {
		return nil, nil
	}
	if len(pfx) == 0 {
		return nil, errors.New("it has no MAC")
	}
	mac, _ := pfx.get(tagSequence)
	digest, _ := mac.get(tagSequence)
	algorithm, _ := digest.get(tagSequence)
	name, _ := algorithm.get(tagOID)
	sum, _ := digest.get(tagOctetString)
	salt, ok := mac.get(tagOctetString)
	iterations, given := mac.get(tagInteger)
	l := &locked{how: method{hash: macHashes[string(name)]}, salt: salt, iterations: 1, text: text, mac: sum}
	if given {
		l.iterations = number(iterations)
	}
	if !ok || l.how.hash == "" || l.iterations < 1 || l.iterations > maxFileIterations {
		return nil, nil
	}
	return l, nil
}

// verifiesText reports whether a password is that of the file. Without one, BoringSSL tries both ways to write that.
func (l *locked) verifiesText(password []byte) (right, known bool) {
	if len(password) == 0 {
		if right, known = l.verifies(nil); right || !known {
			return right, known
		}
	}
	var wide []byte
	for _, unit := range append(utf16.Encode([]rune(string(password))), 0) {
		wide = append(wide, byte(unit>>8), byte(unit))
	}
	return l.verifies(wide)
}
