package envoytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecords: Envoy is asked again when the text or the version changes, and when no record is trusted.
func TestRecords(t *testing.T) {
	Need(t)
	version, err := Newest.Full()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "records.txt")
	open := func(update, all bool) *Records {
		t.Helper()
		r, err := OpenRecords(path, update)
		if err != nil {
			t.Fatal(err)
		}
		r.all = all
		return r
	}
	asked := 0
	says := func(o Outcome) func() (Verdict, error) {
		return func() (Verdict, error) {
			asked++
			return Verdict{o, "it says so: " + strings.Repeat("x", maxRecorded)}, nil
		}
	}
	q := Question{"bad.yaml", "validate", Digest(map[string]string{"bad.yaml": "a"})}
	r := open(true, false)
	if v, err := r.Ask(Newest, q, says(Reject)); v.Outcome != Reject || err != nil || asked != 1 {
		t.Fatal(v, err, asked)
	}
	if err := r.Write(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	if !strings.Contains(string(text), "\nbad.yaml validate "+q.Digest+"\n  reject "+version+": it says so: xxx") {
		t.Errorf("written:\n%s", text)
	}
	if v, err := open(true, false).Ask(Newest, q, says(Accept)); v.Outcome != Reject || err != nil || asked != 1 {
		t.Error("an update asks again what is known", v, err, asked)
	}
	if _, err := open(false, true).Ask(Newest, q, says(Accept)); err == nil || asked != 2 {
		t.Error("Envoy says another thing than its record, without an error", asked)
	}
	if v, err := open(false, true).Ask(Newest, q, says(Reject)); v.Outcome != Reject || err != nil || asked != 3 {
		t.Error(v, err, asked)
	}
	other := Question{"bad.yaml", "validate", Digest(map[string]string{"bad.yaml": "b"})}
	if v, err := open(false, true).Ask(Newest, other, says(Accept)); v.Outcome != Accept || err == nil || asked != 4 {
		t.Error("a changed text has no record", v, err, asked)
	}
	if v, err := open(false, false).Ask(Newest, q, says(Accept)); v.Outcome != Reject || err != nil || asked != 4 {
		t.Error("a record is not believed", v, err, asked)
	}
	if v, err := open(false, false).Ask(Newest, other, says(Accept)); v.Outcome != Accept || err != nil || asked != 5 {
		t.Error("what is not recorded is not asked", v, err, asked)
	}
}
