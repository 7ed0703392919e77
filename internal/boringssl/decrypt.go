//go:build !engine

package boringssl

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
)

var hashes = map[string]func() hash.Hash{"MD5": md5.New, "SHA1": sha1.New, "SHA256": sha256.New, "SHA384": sha512.New384, "SHA512": sha512.New}

// open decrypts a key. plain is nil if the password is not the right one.
func (l *locked) open(password []byte) (plain []byte, known bool) {
	key, err := l.key(password)
	if err != nil {
		return nil, false
	}
	var c cipher.Block
	switch l.how.cipher {
	case "AES":
		c, err = aes.NewCipher(key)
	case "3DES":
		c, err = des.NewTripleDESCipher(key)
	case "DES":
		c, err = des.NewCipher(key)
	}
	if err != nil || c == nil || len(l.iv) != c.BlockSize() || len(l.text) == 0 || len(l.text)%c.BlockSize() != 0 {
		return nil, false
	}
	plain = make([]byte, len(l.text))
	cipher.NewCBCDecrypter(c, l.iv).CryptBlocks(plain, l.text)
	padding := int(plain[len(plain)-1])
	if padding < 1 || padding > c.BlockSize() || !bytes.HasSuffix(plain, bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, true
	}
	return plain[:len(plain)-padding], true
}

// key derives the key: by PBKDF2, or as EVP_BytesToKey does for the header of a PEM block.
func (l *locked) key(password []byte) (key []byte, err error) {
	if l.how.hash != "MD5" {
		return pbkdf2.Key(hashes[l.how.hash], string(password), l.salt, l.iterations, l.how.size)
	}
	var last []byte
	for len(key) < l.how.size {
		h := md5.New()
		h.Write(last)
		h.Write(password)
		h.Write(l.salt)
		last = h.Sum(nil)
		key = append(key, last...)
	}
	return key[:l.how.size], nil
}

// verifies reports whether a password is that of a PKCS #12 file: the MAC of its content is right (RFC 7292, appendix B).
func (l *locked) verifies(password []byte) (right, known bool) {
	h, ok := hashes[l.how.hash]
	if !ok {
		return false, false
	}
	size := h().Size()
	mac := hmac.New(h, derive(h, password, l.salt, l.iterations)[:size])
	mac.Write(l.text)
	return hmac.Equal(mac.Sum(nil), l.mac), true
}

// derive makes the key of a MAC. It is as long as a hash, so one round is enough.
func derive(h func() hash.Hash, password, salt []byte, iterations int) []byte {
	const purpose = 3 // a key for a MAC
	block := h().BlockSize()
	fill := func(text []byte) []byte {
		if len(text) == 0 {
			return nil
		}
		n := (len(text) + block - 1) / block * block
		return bytes.Repeat(text, n/len(text)+1)[:n]
	}
	round := h()
	round.Write(bytes.Repeat([]byte{purpose}, block))
	round.Write(fill(salt))
	round.Write(fill(password))
	key := round.Sum(nil)
	for range iterations - 1 {
		round.Reset()
		round.Write(key)
		key = round.Sum(key[:0])
	}
	return key
}
