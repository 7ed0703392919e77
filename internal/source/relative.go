package source

import "path/filepath"

// RelativeTo spells a path as seen from a folder, with slashes.
func RelativeTo(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil { // one of them is absolute, or the folder is above the working directory
		from, errFrom := filepath.Abs(dir)
		to, errTo := filepath.Abs(path)
		if errFrom != nil || errTo != nil {
			return filepath.ToSlash(filepath.Clean(path))
		}
		if rel, err = filepath.Rel(from, to); err != nil {
			return filepath.ToSlash(filepath.Clean(path))
		}
	}
	return filepath.ToSlash(rel)
}
