package check

import "github.com/xdslint/xdslint/internal/tree"

// Render is the help for a template.
const Render = "render it and lint the result, or leave it out of the paths"

// ValueHelp returns the help for a wrong value. One that a template must fill in is not wrong by itself.
func ValueHelp(value, help string) string {
	if tree.IsPlaceholder(value) {
		return "this looks like a template: " + Render
	}
	return help
}
