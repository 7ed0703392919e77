// Package load reads snapshots from files and texts: bootstraps and the files that they name, discovery responses, bare
// resources, config_dumps, recordings of xDS streams and Kubernetes manifests. It detects the type of an input from its
// content.
//
// [Paths] reads the disk, [Texts] only what it is given. Both go the same way:
//
//  1. find lists the files of paths, and readAll parses them in parallel: a text into trees, a binary file into a
//     message.
//  2. recognise determines what each file is, by its first document that is xDS.
//  3. snapshots makes one snapshot of each bootstrap (booted), of each config_dump (dumped) and of each client of a
//     recording (recorded), and one of all loose resources (loose). manifest makes those of Kubernetes objects.
//  4. An assembly collects the parts of a snapshot, which are decoded in parallel, and finish adds them.
//  5. graph.Snapshot.Build finds the references.
//
// A problem in a file never fails the load. It becomes a Problem of a resource, or of a resource of kind File if no
// resource has it, and so a finding like any other.
//
// follow reads the files that ConfigSources name, and the files that those name in turn. servers.complete then declares
// of which kinds the snapshot holds everything: those of which every source was read. That decides which missing names
// are mistakes.
//
// The static resources are taken out of a bootstrap (split), decoded alone, and put back into its message (merge): so
// their problems have paths that begin in them, and thousands can be decoded in parallel. Of a plain YAML file they are even
// parsed there, and their values are not kept (outline.go).
//
// An input that is edited is loaded again with the same [Earlier]: a static resource whose text is the same is not parsed
// and decoded again (earlier.go). That is for bootstraps in plain YAML. Everything else is read again, and so are resources
// with problems, which hold places, and those that name a file.
//
// Kubernetes objects (manifest.go): a ConfigMap or Secret is read if it has the [Label]. The text of each key is parsed
// by itself, and then its nodes are moved to their places in the file (object.text). Each patch of an EnvoyFilter, and
// each message in a patch of an EnvoyPatchPolicy, becomes a snapshot of its own (patched): two patches can be for
// different proxies. A patch is read as its controller reads it: JSON as Istio or as Envoy Gateway takes it, and the
// controllers' own validation (envoyfilter.go, patchpolicy.go). A value that is not a message becomes the only field of
// one (patchValue.value).
//
// A workload that runs a bootstrap becomes a resource of its snapshot (workload.go). What is on the command line of its container is read in the same
// way as the text of a ConfigMap (commandline.go).
//
// Package gocp below this one does the same for the snapshots of go-control-plane.
package load
