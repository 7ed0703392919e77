package tree

import (
	"math"
	"strconv"
	"strings"
)

// Word returns the value that Envoy reads from a bare word of YAML (parseYamlNode in yaml_utility.cc): a boolean or integer of yaml-cpp, or a string.
func Word(text string) Node {
	n := Node{Kind: String, Text: text, Plain: true}
	switch text {
	case "", "~", "null", "Null", "NULL":
		n.Kind, n.Text = Null, ""
		return n
	}
	if b, ok := yamlBool(text); ok {
		n.Kind, n.Text = Bool, strconv.FormatBool(b)
	} else if i, ok := yamlInt(text); ok {
		n.Text = strconv.FormatInt(i, 10)
		if math.MinInt32 <= i && i <= math.MaxInt32 {
			n.Kind = Number
		}
	}
	return n
}

// IsString reports whether Envoy reads a bare word of YAML as a string with this text.
func IsString(word string) bool {
	n := Word(word)
	return n.Kind == String && n.Text == word
}

// yamlBool accepts the words of YAML 1.1 in lower, upper and title case (yaml-cpp, convert.cpp).
func yamlBool(s string) (value, ok bool) {
	if len(s) > 5 || (s != strings.ToLower(s) && s != strings.ToUpper(s) && s[1:] != strings.ToLower(s[1:])) {
		return false, false
	}
	switch strings.ToLower(s) {
	case "y", "yes", "true", "on":
		return true, true
	case "n", "no", "false", "off":
		return false, true
	}
	return false, false
}

// yamlInt accepts what a C++ stream reads without a fixed base: decimal, 0x… and 0… (octal), with a sign.
func yamlInt(s string) (int64, bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || strings.Trim(digits, "0123456789abcdefABCDEFxX") != "" {
		return 0, false
	}
	if len(digits) > 1 && strings.IndexByte("oObB", digits[1]) >= 0 { // Go's prefixes, not C++'s
		return 0, false
	}
	i, err := strconv.ParseInt(s, 0, 64)
	return i, err == nil
}
