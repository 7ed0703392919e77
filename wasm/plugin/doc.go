// Package plugin runs rules that users have compiled to WebAssembly: [Open] compiles a module and asks it for its
// rules, and those run like the built-in ones.
//
// A plugin is assumed to be hostile. CI lints pull requests of strangers, whose .xdslint.yaml can name a module in the
// same pull request: a sha256 does not help, because the stranger writes it too. So a plugin has no files, no network,
// no real clock and no randomness, and its memory and time are limited. Whatever it does, the outcome is an error from
// Open, or one finding that says that it cannot judge.
//
// Opening: sanitize (module.go) reads the module before wazero does, compile gives it to wazero, checkInterface looks
// at imports and exports, and understand turns the plugin's Description into rules. All of them have one check, so a
// run asks the plugin once for each snapshot.
//
// Judging: newQuestion (snapshot.go) makes the question, judge starts an instance, writes the question into its memory
// and reads the answer, and report turns the answer into findings. If one finding is wrong, none is reported.
//
// What wazero does not contain, this package does:
//
//   - A count in a module takes a few bytes, and wazero allocates by it. sanitize checks each count against a limit and
//     against the bytes that are left, limits the growth of tables, allows no imports but WASI, and drops custom
//     sections.
//   - wazero's compiler can panic, and cannot be stopped. compile turns a panic into an error, and after MaxCompile
//     leaves the compiler to itself.
//   - An empty message takes two bytes in an answer, and a hundred in memory. unmarshal (bounded.go) counts the fields
//     before protobuf decodes them.
//   - Locating thousands of edits in a large text can take minutes. So reading an answer has a time limit too.
//
// Each call runs in a new instance. Nothing that an earlier call left in memory changes what the next one finds:
// findings depend only on the snapshot. The clock and the random numbers of WASI are wazero's defaults, which are the
// same in every instance.
//
// A plugin gets a copy of the messages without secrets ([redact.Place]), because it could put what it reads into a
// finding. If the snapshot has a Kubernetes Secret, the plugin's own words are dropped as well (discreet).
package plugin
