package constraint_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"pgregory.net/rapid"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
)

// The oracle is the Go code that PGV generates. It differs from the C++ code, which decides in Envoy, as follows; the
// generators keep clear of what cannot be compared.
//   - A Duration whose seconds and nanos differ in sign is invalid in Go only: see TestMixedSigns.
//   - A pattern matches a part of the value in Go, the whole one in C++: all of Envoy's are anchored.
//   - Go calls a nil in a repeated field or a oneof missing: C++ and the wire have no such thing.
//   - Neither looks into an Any, nor into a message without PGV code, nor past rules of another type (Skip).

// validator is a message with PGV's generated code.
type validator interface{ ValidateAll() error }

// oracle gives the fields that ValidateAll finds fault with, and its reasons.
func oracle(m proto.Message) []string {
	v, ok := m.(validator)
	if !ok {
		return nil
	}
	return leaves("", v.ValidateAll(), nil)
}

func leaves(path string, err error, all []string) []string {
	var many interface{ AllErrors() []error }
	if errors.As(err, &many) {
		for _, e := range many.AllErrors() {
			all = leaves(path, e, all)
		}
		return all
	}
	var one interface {
		Field() string
		Reason() string
		Cause() error
	}
	if !errors.As(err, &one) {
		return all
	}
	if one.Reason() == "embedded message failed validation" {
		return leaves(path+one.Field()+".", one.Cause(), all)
	}
	return append(all, complaint(path+one.Field(), one.Reason()))
}

// complaint makes Go names and proto names alike, and what the Go and the C++ code word differently.
func complaint(path, reason string) string {
	if s, ok := strings.CutSuffix(reason, " runes, inclusive"); ok {
		reason = strings.Replace(s, "value length must be between", "value must have between", 1) + " characters inclusive"
	}
	reason = strings.ReplaceAll(reason, " runes", " characters")
	return strings.ToLower(strings.ReplaceAll(path, "_", "")) + ": " + reason
}

// complaints gives ours, in the same form.
func complaints(all []found) []string {
	list := make([]string, len(all))
	for i, f := range all {
		reason := f.Upstream
		if f.Oneof != nil {
			reason = "value is required"
		}
		list[i] = complaint(f.path, reason)
	}
	return list
}

func set(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// disagreement compares a message's verdicts, "" if they agree.
func disagreement(m proto.Message) (diff string, violations int) {
	ours := collect(m.ProtoReflect())
	theirs, mine := set(oracle(m)), set(complaints(ours))
	if !slices.Equal(theirs, mine) { // cmp.Diff is too slow to call for nothing
		diff = cmp.Diff(theirs, mine)
	}
	return diff, len(ours)
}

// messageTypes lists all linked messages that PGV generated code for, sorted.
func messageTypes() []protoreflect.MessageType {
	var types []protoreflect.MessageType
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		if _, ok := mt.Zero().Interface().(validator); ok {
			types = append(types, mt)
		}
		return true
	})
	slices.SortFunc(types, func(a, b protoreflect.MessageType) int {
		return strings.Compare(string(a.Descriptor().FullName()), string(b.Descriptor().FullName()))
	})
	return types
}

func TestAgreesOnRandomMessages(t *testing.T) {
	each := 20
	if testing.Short() {
		each = 2
	}
	random := rand.New(rand.NewPCG(1, 2))
	types := messageTypes()
	messages, violations, broken := 0, 0, 0
	for _, mt := range types {
		for range each {
			m := mt.New()
			fill(m, random.IntN, 1+random.IntN(3))
			diff, n := disagreement(m.Interface())
			if diff != "" {
				t.Errorf("%s (-oracle +ours):\n%s", mt.Descriptor().FullName(), diff)
			}
			messages++
			violations += n
			if n > 0 {
				broken++
			}
		}
	}
	t.Logf("%d types, %d messages, %d of them broken, %d violations", len(types), messages, broken, violations)
	if len(types) < 1300 || broken < messages/3 {
		t.Error("too few to prove anything")
	}
}

func TestAgreesProperty(t *testing.T) {
	types := messageTypes()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(types).Draw(t, "type").New()
		fill(m, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }, 2)
		if diff, _ := disagreement(m.Interface()); diff != "" {
			t.Fatalf("%s (-oracle +ours):\n%s", m.Descriptor().FullName(), diff)
		}
	})
}

// TestAgreesOnMutations breaks realistic messages at one place at a time.
func TestAgreesOnMutations(t *testing.T) {
	each := 300
	if testing.Short() {
		each = 30
	}
	random := rand.New(rand.NewPCG(3, 4))
	broken := 0
	for _, original := range realistic(t) {
		if found := collect(original.ProtoReflect()); len(found) > 0 {
			t.Errorf("%T is not sound: %s", original, lines(found))
		}
		for range each {
			m := proto.Clone(original)
			mutate(m.ProtoReflect(), random.IntN)
			diff, n := disagreement(m)
			if diff != "" {
				t.Errorf("%T (-oracle +ours):\n%s", m, diff)
			}
			if n > 0 {
				broken++
			}
		}
	}
	t.Logf("%d mutations, %d broken", each*len(realistic(t)), broken)
}

// mutate changes, sets or clears one field somewhere in m.
func mutate(m protoreflect.Message, c choose) {
	var all []protoreflect.Message
	walk("", m, func(_ string, m protoreflect.Message) { all = append(all, m) })
	at := all[c(len(all))]
	fields := at.Descriptor().Fields()
	if fields.Len() == 0 {
		return
	}
	fd := fields.Get(c(fields.Len()))
	at.Clear(fd)
	if c(4) > 0 {
		setField(at, fd, c, 1)
	}
}

// TestDynamicMessages checks that the generated types have no advantage: the same complaints about dynamic messages.
func TestDynamicMessages(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, mt := range messageTypes() {
		m := mt.New()
		fill(m, random.IntN, 2)
		wire, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		dynamic := dynamicpb.NewMessage(mt.Descriptor())
		if err := proto.Unmarshal(wire, dynamic); err != nil {
			t.Fatal(err)
		}
		if linked, twin := sorted(collect(m)), sorted(collect(dynamic)); !slices.Equal(linked, twin) {
			t.Errorf("%s (-linked +dynamic):\n%s", mt.Descriptor().FullName(), cmp.Diff(linked, twin))
		}
	}
}

func sorted(all []found) []string {
	list := make([]string, len(all))
	for i, f := range all {
		list[i] = f.String()
	}
	slices.Sort(list)
	return list
}

// TestMixedSigns pins a difference from the oracle: PGV's C++ compares such a Duration as any other.
func TestMixedSigns(t *testing.T) {
	c := &clusterv3.Cluster{Name: "a", ConnectTimeout: &durationpb.Duration{Seconds: 1, Nanos: -1}}
	if all := collect(c.ProtoReflect()); len(all) > 0 {
		t.Error(lines(all))
	}
	if want := []string{"connecttimeout: value is not a valid duration"}; !slices.Equal(oracle(c), want) {
		t.Errorf("oracle finds %v, want %v", oracle(c), want)
	}
}

func FuzzAgrees(f *testing.F) {
	types := messageTypes()
	for _, m := range realistic(f) {
		wire, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(m.ProtoReflect().Descriptor().FullName()), wire)
	}
	f.Fuzz(func(t *testing.T, name string, wire []byte) {
		mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
		if err != nil { // let a mutated name stand for some other type
			sum := 0
			for _, b := range []byte(name) {
				sum = sum*31 + int(b)
			}
			mt = types[uint(sum)%uint(len(types))]
		}
		m := mt.New().Interface()
		if proto.Unmarshal(wire, m) != nil || hasMixedSigns(m) {
			t.Skip()
		}
		if diff, _ := disagreement(m); diff != "" {
			t.Errorf("%s (-oracle +ours):\n%s", name, diff)
		}
	})
}

func hasMixedSigns(m proto.Message) (mixed bool) {
	walk("", m.ProtoReflect(), func(_ string, m protoreflect.Message) {
		if d, ok := m.Interface().(*durationpb.Duration); ok && (d.Seconds < 0 && d.Nanos > 0 || d.Seconds > 0 && d.Nanos < 0) {
			mixed = true
		}
	})
	return mixed
}
