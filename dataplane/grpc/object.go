package grpc

import (
	"fmt"
	"math"
	"regexp"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"
)

// object is a JSON object that Go's encoding/json reads into a struct: a field that is null counts as absent.
type object struct{ *structpb.Struct }

// field returns a field that is present and not null.
func (o object) field(name string) (*structpb.Value, bool) {
	v, ok := o.GetFields()[name]
	if _, null := v.GetKind().(*structpb.Value_NullValue); null {
		return nil, false
	}
	return v, ok
}

// float returns a number, or the given one if the field is absent.
func (o object) float(name string, absent float64) (float64, error) {
	v, ok := o.field(name)
	if !ok {
		return absent, nil
	}
	if _, is := v.GetKind().(*structpb.Value_NumberValue); !is {
		return 0, fmt.Errorf("%s is not a number", name)
	}
	return v.GetNumberValue(), nil
}

// number returns a whole number of 0 or more.
func (o object) number(name string, absent float64) (float64, error) {
	n, err := o.float(name, absent)
	if err == nil && (n < 0 || n != math.Trunc(n)) {
		err = fmt.Errorf("%s is not a whole number of 0 or more", name)
	}
	return n, err
}

func (o object) bools(names ...string) error {
	for _, name := range names {
		if v, ok := o.field(name); ok {
			if _, is := v.GetKind().(*structpb.Value_BoolValue); !is {
				return fmt.Errorf("%s is not true or false", name)
			}
		}
	}
	return nil
}

func (o object) texts(names ...string) error {
	for _, name := range names {
		if v, ok := o.field(name); ok {
			if _, is := v.GetKind().(*structpb.Value_StringValue); !is {
				return fmt.Errorf("%s is not a text", name)
			}
		}
	}
	return nil
}

var seconds = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[0-9]*(\.[0-9]*)?s$`) })

func (o object) durations(names ...string) error {
	for _, name := range names {
		if v, ok := o.field(name); ok && !seconds().MatchString(v.GetStringValue()) {
			return fmt.Errorf("%s is not a duration such as 10s", name)
		}
	}
	return nil
}
