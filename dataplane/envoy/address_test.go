package envoy

import "testing"

func TestMalformedIP(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": false, "::": false, "2001:DB8::1": false, "::ffff:1.2.3.4": false, "fe80::1%eth0": false, "ff02::1%eth0": false,
		"::1%1": false, "::1%4294967295": false, "127.0.0.1\x00rest": false,
		"": true, "localhost": true, "127.1": true, "01.2.3.4": true, "127.0.0.1 ": true, "[::1]": true, "10.0.0.0/8": true, "1::2::3": true,
		"::1%eth0": true, "::1%4294967296": true, "fe80::1%": true, "127.0.0.1%eth0": true, "\x00": true,
	} {
		if got := MalformedIP(text); got != want {
			t.Errorf("MalformedIP(%q) = %t", text, got)
		}
	}
}
