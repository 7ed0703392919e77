package kube

import (
	"math/big"
	"strconv"
	"strings"
)

// suffixes are the units of quantities, each a power of 2 or 10.
var suffixes = map[string]struct{ base, exponent int64 }{
	"Ki": {2, 10}, "Mi": {2, 20}, "Gi": {2, 30}, "Ti": {2, 40}, "Pi": {2, 50}, "Ei": {2, 60},
	"n": {10, -9}, "u": {10, -6}, "m": {10, -3}, "": {10, 0}, "k": {10, 3}, "M": {10, 6}, "G": {10, 9}, "T": {10, 12}, "P": {10, 15}, "E": {10, 18},
}

// longest is the number of characters from which a text is not read as a quantity: no one writes one.
const longest = 64

// quantity reads an amount of a resource as Kubernetes does: 500m, 1Gi, 1e9. ok is false if the text is not one.
func quantity(text string) (amount *big.Rat, ok bool) {
	digits := strings.TrimLeft(text, "+-")
	end := len(digits) - len(strings.TrimLeft(digits, "0123456789."))
	number, unit := text[:len(text)-len(digits)]+digits[:end], digits[end:]
	if len(text) > longest || len(text)-len(digits) > 1 || strings.Trim(digits[:end], ".") == "" || strings.Count(number, ".") > 1 {
		return nil, false
	}
	amount, ok = new(big.Rat).SetString(number)
	scale, known := suffixes[unit]
	if !known && (unit[0] == 'e' || unit[0] == 'E') {
		exponent, err := strconv.ParseInt(unit[1:], 10, 16)
		scale.base, scale.exponent, known = 10, exponent, err == nil
	}
	if !ok || !known {
		return nil, false
	}
	factor := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(scale.base), big.NewInt(max(scale.exponent, -scale.exponent)), nil))
	if scale.exponent < 0 {
		factor.Inv(factor)
	}
	return amount.Mul(amount, factor), true
}
