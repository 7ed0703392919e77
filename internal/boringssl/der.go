package boringssl

// Tags of DER that are read here.
const (
	tagInteger         = 0x02
	tagBitString       = 0x03
	tagOctetString     = 0x04
	tagOID             = 0x06
	tagEnumerated      = 0x0a
	tagUTCTime         = 0x17
	tagGeneralizedTime = 0x18
	tagSequence        = 0x30
	tagSet             = 0x31

	tagContext     = 0x80 // [0] IMPLICIT of a primitive type; + n for others
	tagConstructed = 0x20
	tagExplicit    = tagContext | tagConstructed
)

// der is a sequence of elements in DER, read from the front.
type der []byte

// any takes the next element. It does not know tags above 30 and indefinite lengths.
func (d *der) any() (tag byte, content der, ok bool) {
	b := *d
	if len(b) < 2 || b[0]&0x1f == 0x1f {
		return 0, nil, false
	}
	size, rest := int(b[1]), b[2:]
	if size >= 0x80 {
		n := size & 0x7f
		if n == 0 || n > 4 || len(rest) < n {
			return 0, nil, false
		}
		size = 0
		for _, c := range rest[:n] {
			size = size<<8 | int(c)
		}
		rest = rest[n:]
	}
	if size < 0 || size > len(rest) {
		return 0, nil, false
	}
	*d = rest[size:]
	return b[0], rest[:size], true
}

// get takes the next element if it has the tag.
func (d *der) get(tag byte) (content der, ok bool) {
	before := *d
	found, content, ok := d.any()
	if !ok || found != tag {
		*d = before
		return nil, false
	}
	return content, true
}

// skip takes the next element if it has the tag, and reports whether it has.
func (d *der) skip(tag byte) bool {
	_, ok := d.get(tag)
	return ok
}

// whole takes the next element with its tag and length.
func (d *der) whole() (element der, ok bool) {
	before := *d
	_, _, ok = d.any()
	return before[:len(before)-len(*d)], ok
}

// broken reports whether it is certain that a text is not a SEQUENCE. Indefinite lengths are left open.
func broken(text []byte) bool {
	if len(text) >= 2 && text[0] == tagSequence && text[1] == 0x80 {
		return false
	}
	d := der(text)
	return !d.skip(tagSequence)
}
