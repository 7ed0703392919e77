package load

// Known tells whether a file's extension is one of xDS's encodings: in a folder, only such files are read.
func Known(path string) bool { return formatOf(path) != unknownFormat }
