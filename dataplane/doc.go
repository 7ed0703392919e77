// Package dataplane lists the data planes that xdslint checks for. A [Target] is a build of one, such as envoy:1.40. To
// add a version, add a file.
//
// Each target has a data file builds/PLANE-VERSION.txt, which lists what that build supports: its extensions, and how
// its API differs from xdslint's descriptors, which are those of the newest one. The comment on read explains the
// lines. `make update` writes the files from the binaries of Envoy. A file is parsed when its build is first needed.
//
// So the rules about unknown extensions, new and removed fields and constraints know every version without a list of
// their own. What a version does differently in its code is not data: a rule asks Target.Before. This package knows no
// findings and no messages of resources, and imports nothing of this module.
package dataplane
