package decode

import "github.com/xdslint/xdslint/internal/tree"

// trail is where a walk is, as steps from its beginning. Most places that it passes have no problem, so a Path is made
// only where one is asked for, and what it shares with later ones is kept.
type trail []crumb

type crumb struct {
	step tree.Step
	made *tree.Path // nil: not made yet
}

// enter goes one step further.
func (t *trail) enter(s tree.Step) { *t = append(*t, crumb{step: s}) }

// leave takes the last step back.
func (t *trail) leave() { *t = (*t)[:len(*t)-1] }

// path returns the path of the place.
func (t trail) path() *tree.Path {
	known := len(t)
	for known > 0 && t[known-1].made == nil {
		known--
	}
	var p *tree.Path
	if known > 0 {
		p = t[known-1].made
	}
	for i := known; i < len(t); i++ {
		p = t[i].step.After(p)
		t[i].made = p
	}
	return p
}
