package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/internal/words"
)

// share is the part of the traffic that a cluster gets.
type share struct {
	cluster string
	weight  uint64
}

// shares describes which clusters get which part of the traffic. In exact, renamed clusters have their new names.
func (s *side) shares(all []share) (value, exact string) {
	if len(all) == 0 {
		return "nowhere", "nowhere"
	}
	if len(all) == 1 {
		return "cluster " + all[0].cluster, "1 " + s.cluster(all[0].cluster)
	}
	slices.SortStableFunc(all, func(a, b share) int {
		switch {
		case a.weight != b.weight && a.weight > b.weight:
			return -1
		case a.weight != b.weight:
			return 1
		}
		return strings.Compare(a.cluster, b.cluster)
	})
	total, divisor := uint64(0), uint64(0)
	for _, one := range all {
		total += one.weight
		divisor = gcd(one.weight, divisor)
	}
	divisor = max(divisor, 1)
	var values, exacts []string
	for _, one := range all {
		values = append(values, percent(one.weight, total)+" "+one.cluster)
		exacts = append(exacts, fmt.Sprint(one.weight/divisor, " ", s.cluster(one.cluster)))
	}
	slices.Sort(exacts)
	return strings.Join(values, ", "), strings.Join(exacts, "\n")
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func percent(part, of uint64) string {
	if of == 0 {
		return "0 %"
	}
	return strconv.FormatFloat(float64(part)/float64(of)*100, 'g', 4, 64) + " %"
}

// duration formats a time for people: 15 s, 250 ms, 2 min.
func duration(d *durationpb.Duration) string {
	t := d.AsDuration()
	switch {
	case t == 0:
		return "0 s"
	case t%time.Second == 0 && t >= time.Minute && t%time.Hour == 0:
		return fmt.Sprintf("%d h", t/time.Hour)
	case t%time.Minute == 0:
		return fmt.Sprintf("%d min", t/time.Minute)
	case t%time.Second == 0:
		return fmt.Sprintf("%d s", t/time.Second)
	case t%time.Millisecond == 0 && t < time.Second && t > -time.Second:
		return fmt.Sprintf("%d ms", t/time.Millisecond)
	}
	return strconv.FormatFloat(t.Seconds(), 'f', -1, 64) + " s"
}

// list joins names, and shortens long lists.
func list(names []string) string { return words.Few(names, 6) }

func sortedTexts(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return all
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
