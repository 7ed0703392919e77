package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/nearest"
)

// JSON reads a JSON value into a struct whose fields are the known keys, and says in plain words what is wrong with it.
func JSON(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errors.New("the text is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, after := d.Token(); after != io.EOF {
			return errors.New("there is more than one value")
		}
		return nil
	}
	if quoted, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name, names := strings.Trim(quoted, `"`), Names(reflect.TypeOf(into).Elem())
		near := nearest.DidYouMean(name, names)
		if near == "" {
			near = "; known keys: " + strings.Join(names, ", ")
		}
		return fmt.Errorf("unknown key %q%s", name, near)
	}
	return Plain(err)
}

// Plain returns an error of encoding/json in plain words.
func Plain(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return errors.New(mismatch(wrong))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON is not complete")
	}
	return err
}

// Names returns the names in JSON of the fields of a struct.
func Names(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func mismatch(wrong *json.UnmarshalTypeError) string {
	want := map[reflect.Kind]string{
		reflect.String: "a text", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Array: "a list", reflect.Struct: "a map", reflect.Map: "a map",
		reflect.Float64: "a number",
	}[wrong.Type.Kind()]
	if want == "" {
		want = "a whole number"
	}
	text := fmt.Sprintf("got %s, want %s", strings.Replace(wrong.Value, "object", "map", 1), want)
	if wrong.Field != "" {
		text = wrong.Field + ": " + text
	}
	return text
}

// Pair reads a list of a name and a value.
func Pair(text []byte) (pair [2]string, err error) {
	var all []string
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 2 {
		return pair, fmt.Errorf("got %s, want [name, value]", text)
	}
	return [2]string(all), nil
}
