package boringssl

import (
	"math/big"
	"strings"
)

// ObjectIdentifier reports whether BoringSSL may read a text as an object identifier (OBJ_txt2obj in crypto/obj/obj.cc): numbers with dots, or a
// name, of which it knows some.
func ObjectIdentifier(text string) bool {
	if strings.Trim(text, "0123456789.") != "" {
		return !strings.ContainsAny(text[:1], "0123456789.")
	}
	arcs := strings.Split(text, ".")
	if len(arcs) < 2 {
		return false
	}
	for _, arc := range arcs {
		if n, ok := new(big.Int).SetString(arc, 10); !ok || !n.IsUint64() || len(arc) > 1 && arc[0] == '0' {
			return false
		}
	}
	return validRoot(arcs[0], arcs[1])
}

// validRoot reports whether the first two numbers can be encoded together.
func validRoot(first, second string) bool {
	n, _ := new(big.Int).SetString(second, 10)
	switch first {
	case "0", "1":
		return n.Cmp(big.NewInt(40)) < 0
	case "2":
		return n.Add(n, big.NewInt(80)).IsUint64()
	}
	return false
}
