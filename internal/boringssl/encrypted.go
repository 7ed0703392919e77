package boringssl

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// locked is what a password opens: an encrypted private key, or the MAC of a PKCS #12 file.
type locked struct {
	how        method
	salt, iv   []byte
	iterations int
	text       []byte // what is encrypted, or what the MAC is of
	mac        []byte
}

type method struct {
	hash   string // of the derivation of the key: MD5, SHA1, SHA256 …
	cipher string // AES, 3DES or DES; "": the MAC of PKCS #12
	size   int    // of the key, in bytes
}

// block returns the size of a block, and so of an IV, in bytes.
func (m method) block() int {
	if m.cipher == "AES" {
		return 16
	}
	return 8
}

// The most iterations that are tried, which bounds what a password costs: a few milliseconds. OpenSSL writes 2,048, Java 10,000.
const (
	maxKeyIterations  = 4_096
	maxFileIterations = 10_000
)

// Why Envoy cannot decrypt a key.
var (
	ErrPassword = errors.New("the password is wrong")
	ErrMethod   = errors.New("it is encrypted in a way that Envoy does not know")

	errLineBreak  = fmt.Errorf("%w: it ends with a line break, and is right without it", ErrPassword)
	errNoPassword = errors.New("it is encrypted, and there is no password")
	errHeader     = errors.New("its header does not say how it is encrypted")

	errLongPassword = fmt.Errorf("%w: it has more than %d bytes", ErrPassword, maxPassword)
)

// maxPassword is what fits for a key in PEM, in bytes (PEM_def_callback).
const maxPassword = 1023

// The ciphers of the header DEK-Info that BoringSSL knows (cipher_by_name in crypto/pem/pem_lib.cc).
var headerCiphers = map[string]method{
	"DES-CBC":      {"MD5", "DES", 8},
	"DES-EDE3-CBC": {"MD5", "3DES", 24},
	"AES-128-CBC":  {"MD5", "AES", 16},
	"AES-192-CBC":  {"MD5", "AES", 24},
	"AES-256-CBC":  {"MD5", "AES", 32},
}

// lockedByHeader reads what the header of a PEM block says (PEM_get_EVP_CIPHER_INFO). Any byte can be between the cipher and the IV.
func (b *block) lockedByHeader() (*locked, error) {
	_, second, _ := strings.Cut(b.header, "\n")
	info, ok := strings.CutPrefix(second, "DEK-Info: ")
	if !ok {
		return nil, errHeader
	}
	name := info[:len(info)-len(strings.TrimLeft(info, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789"))]
	how, ok := headerCiphers[name]
	if !ok {
		return nil, ErrMethod
	}
	digits, size := info[min(len(name)+1, len(info)):], 2*how.block()
	iv, err := hex.DecodeString(digits[:min(size, len(digits))])
	if err != nil || len(digits) < size {
		return nil, errHeader
	}
	return &locked{how: how, salt: iv[:8], iv: iv, iterations: 1, text: b.data}, nil
}

// Object identifiers of PKCS #5, PKCS #12 and NIST.
const (
	oidPBES2      = "\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d"
	oidPBKDF2     = "\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c"
	oidHMACSHA1   = "\x2a\x86\x48\x86\xf7\x0d\x02\x07"
	oidHMACSHA256 = "\x2a\x86\x48\x86\xf7\x0d\x02\x09"
	oidRC2        = "\x2a\x86\x48\x86\xf7\x0d\x03\x02"
)

// oldMethods are those of PKCS #12 that BoringSSL knows for keys (kBuiltinPBE in crypto/pkcs8/pkcs8.cc): RC4, Triple DES and RC2 of 40 bits.
// They are not tried here.
var oldMethods = map[string]bool{
	"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x01": true,
	"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x03": true,
	"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x06": true,
}

// ciphers of PBES2 (kCipherOIDs in crypto/pkcs8/p5_pbev2.cc), without RC2.
var ciphers = map[string]method{
	"\x2a\x86\x48\x86\xf7\x0d\x03\x07":     {"", "3DES", 24},
	"\x60\x86\x48\x01\x65\x03\x04\x01\x02": {"", "AES", 16},
	"\x60\x86\x48\x01\x65\x03\x04\x01\x16": {"", "AES", 24},
	"\x60\x86\x48\x01\x65\x03\x04\x01\x2a": {"", "AES", 32},
}

// lockedInfo reads an EncryptedPrivateKeyInfo (RFC 5958; pkcs8_pbe_decrypt in crypto/pkcs8/pkcs8.cc). It returns nil if it is malformed or if
// its method is not tried here.
func lockedInfo(d der) (*locked, error) {
	info, _ := d.get(tagSequence)
	algorithm, _ := info.get(tagSequence)
	oid, ok := algorithm.get(tagOID)
	text, whole := info.get(tagOctetString)
	if !ok || !whole || oldMethods[string(oid)] {
		return nil, nil
	}
	if string(oid) != oidPBES2 {
		return nil, ErrMethod
	}
	parameters, _ := algorithm.get(tagSequence)
	derivation, _ := parameters.get(tagSequence)
	cipher, _ := parameters.get(tagSequence)
	l := &locked{text: text}
	if err := l.derivedBy(derivation); err != nil || l.how.hash == "" {
		return nil, err
	}
	name, ok := cipher.get(tagOID)
	if !ok || string(name) == oidRC2 {
		return nil, nil
	}
	how, known := ciphers[string(name)]
	if !known {
		return nil, ErrMethod
	}
	how.hash = l.how.hash
	l.how = how
	l.iv, _ = cipher.get(tagOctetString)
	return l, nil
}

// derivedBy reads the parameters of PBKDF2 (RFC 8018; PKCS5_pbe2_decrypt_init in crypto/pkcs8/p5_pbev2.cc).
func (l *locked) derivedBy(d der) error {
	oid, ok := d.get(tagOID)
	if !ok {
		return nil
	}
	if string(oid) != oidPBKDF2 {
		return ErrMethod
	}
	parameters, _ := d.get(tagSequence)
	salt, ok := parameters.get(tagOctetString)
	iterations, counted := parameters.get(tagInteger)
	if !ok || !counted {
		return nil
	}
	l.salt, l.iterations = salt, number(iterations)
	parameters.skip(tagInteger) // the size of the key
	function, given := parameters.get(tagSequence)
	if !given {
		l.how.hash = "SHA1"
		return nil
	}
	switch name, _ := function.get(tagOID); string(name) {
	case oidHMACSHA1:
		l.how.hash = "SHA1"
	case oidHMACSHA256:
		l.how.hash = "SHA256"
	case "":
	default:
		return ErrMethod
	}
	return nil
}

// number returns a small number that is not negative; anything else is 0.
func number(integer []byte) (n int) {
	if len(integer) > 4 || len(integer) > 0 && integer[0]&0x80 != 0 {
		return 0
	}
	for _, b := range integer {
		n = n<<8 | int(b)
	}
	return n
}

// lock reads how a block is encrypted, or returns why Envoy cannot decrypt it with any password. It returns nil if that is not known.
func (b *block) lock() (l *locked, err error) {
	if b.encrypted() {
		l, err = b.lockedByHeader()
	} else {
		l, err = lockedInfo(b.data)
	}
	if err != nil || l == nil || l.iterations < 1 || l.iterations > maxKeyIterations {
		return nil, err
	}
	return l, nil
}

// unlock opens a key with a password. It returns nil if the outcome is not known.
func (l *locked) unlock(password []byte) (plain []byte, err error) {
	plain, known := l.open(password)
	if !known || plain != nil {
		return plain, nil
	}
	return nil, misfit(password, func(other []byte) bool {
		plain, _ := l.open(other)
		return plain != nil && len(other) > 0 // Envoy does not try an empty one
	})
}

// upToNUL returns what Envoy passes of a password, as a C string.
func upToNUL(password []byte) []byte {
	text, _, _ := bytes.Cut(password, []byte{0})
	return text
}

// misfit returns why a password does not fit.
func misfit(password []byte, fits func(other []byte) bool) error {
	if shorter := bytes.TrimRight(password, "\r\n"); len(shorter) < len(password) && fits(shorter) {
		return errLineBreak
	}
	return ErrPassword
}
