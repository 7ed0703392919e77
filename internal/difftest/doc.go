// Package difftest compares the verdicts of xdslint and the real Envoy about many configurations: good bootstraps that
// it mutates as their descriptors allow. Where the two disagree, it writes the smallest bootstrap that still shows the
// disagreement.
//
// `make agree N=300 SEED=1` runs it. The same seed and number give the same cases: the random choices of a case depend
// only on the seed and its index.
//
// [Run] goes through these steps:
//
//  1. loadCorpus gathers bootstraps: the seeds of this package, the good examples of all rules, and the files of a
//     folder. keepAccepted drops those that one of the two rejects.
//  2. maker.make mutates one of them (mutations.go). What a mutation adds comes from elsewhere in the corpus (pool), or
//     is made to fit its field (plausible): a value that is wrong in an obvious way shows little.
//  3. judges.ask asks both. outcome compares: a miss is what only Envoy rejects, a false reject what only xdslint
//     rejects.
//  4. newReport groups equal disagreements. normalise removes from a message what differs by configuration: names,
//     numbers, quoted texts.
//  5. shrink removes what the disagreement does not need, in halves, quarters and so on, as long as it stays the same
//     one. It asks xdslint first, which costs little, and asks Envoy a limited number of times.
//
// A false reject is a bug. A miss is a rule to write, from Envoy's code and not from the case.
package difftest
