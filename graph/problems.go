package graph

// ProblemsAt returns the problems with a field of the resource, or with the whole message there. Rules ask for each message, and a resource can have very
// many messages and problems.
func (r *Resource) ProblemsAt(path *Path) []Problem {
	if r.sortProblems(); len(r.problemsAt) == 0 {
		return nil
	}
	return r.problemsAt[path.String()]
}

// ProblemsIn returns the problems with fields of a message of the resource, also with those that the message does not have.
func (r *Resource) ProblemsIn(message *Path) []Problem {
	if r.sortProblems(); len(r.problemsIn) == 0 {
		return nil
	}
	return r.problemsIn[message.String()]
}

func (r *Resource) sortProblems() {
	r.problemsOnce.Do(func() {
		r.problemsAt, r.problemsIn = map[string][]Problem{}, map[string][]Problem{}
		for _, p := range r.Problems {
			at := p.Path.String()
			r.problemsAt[at] = append(r.problemsAt[at], p)
			if p.Path != nil {
				in := p.Path.Parent().String()
				r.problemsIn[in] = append(r.problemsIn[in], p)
			}
		}
	})
}
