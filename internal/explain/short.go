package explain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// short is the number of lines up to which examples are not shortened.
const short = 16

// Short shortens an example. It keeps the lines that differ between its two sides or that the report points to, the lines
// around them, and the keys above them.
func (e Example) Short() Example {
	out := e
	out.Bad, out.Good = nil, nil
	for _, f := range e.Bad {
		other := twin(f, e.Bad, e.Good)
		if half := otherHalf(f, e.Bad); half != (File{}) { // a push is about its changes
			other = half
		}
		out.Bad = append(out.Bad, outline(f, append(e.pointed(f), differing(f, other)...)))
	}
	for _, f := range e.Good {
		other := twin(f, e.Good, e.Bad)
		if f.Text != other.Text { // otherwise it is shown already
			out.Good = append(out.Good, outline(f, differing(f, other)))
		}
	}
	if first := strings.SplitN(e.Report, "\n\n", 3); len(first) == 3 {
		out.Report = first[0] + "\n\n" + first[1] + "\n\n…\n"
	}
	return out
}

// pointed lists the lines of a file that the report shows, from 0.
func (e Example) pointed(f File) (lines []int) {
	for _, m := range regexp.MustCompile(`--> `+regexp.QuoteMeta(f.Name)+`:(\d+):`).FindAllStringSubmatch(e.Report, -1) {
		n, _ := strconv.Atoi(m[1]) // digits
		lines = append(lines, n-1)
	}
	return lines
}

// differing lists the lines of a file that another does not have, and those before which the other has additional lines.
func differing(f, other File) (lines []int) {
	a, b := strings.Split(f.Text, "\n"), strings.Split(other.Text, "\n")
	// common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	common := make([][]int, len(a)+1)
	common[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		common[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a); {
		switch {
		case j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j < len(b) && common[i][j+1] >= common[i+1][j]:
			lines = append(lines, i)
			j++
		default:
			lines = append(lines, i)
			i++
		}
	}
	return slices.Compact(lines)
}

func outline(f File, points []int) File {
	lines := strings.Split(strings.TrimRight(f.Text, "\n"), "\n")
	if len(lines) <= short {
		return f
	}
	if len(points) > short {
		points = points[:short]
	}
	keep := make([]bool, len(lines))
	for _, point := range points {
		for i := max(point-1, 0); i <= point+1 && i < len(lines); i++ {
			for above := i; above >= 0; above = parent(lines, above) {
				keep[above] = true
			}
		}
	}
	if !slices.Contains(keep, true) {
		for i := range short {
			keep[i] = true
		}
	}
	var b strings.Builder
	for i, line := range lines {
		switch {
		case keep[i], i > 0 && keep[i-1] && i+1 < len(lines) && keep[i+1]: // an ellipsis would not be shorter
			b.WriteString(line + "\n")
		case i == 0 || keep[i-1]:
			b.WriteString(line[:indent(line)] + "…\n")
		}
	}
	return File{f.Name, b.String()}
}

// parent returns the line of the key that contains a line of YAML, -1 at the top.
func parent(lines []string, i int) int {
	depth, item := indent(lines[i]), isItem(lines[i])
	for i--; i >= 0; i-- {
		if at := indent(lines[i]); strings.TrimSpace(lines[i]) != "" && (at < depth || at == depth && item && !isItem(lines[i])) {
			return i
		}
	}
	return -1
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isItem(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "- ") }
