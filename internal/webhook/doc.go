// Package webhook answers the AdmissionReviews that a Kubernetes API server sends before it stores an object. It does
// not depend on HTTP: [Reviewer.Review] gets a review and returns the response, and a [Linter] judges.
//
// The object goes through manifest, which gives it to the linter as a text. A ConfigMap is written as YAML, with its
// texts as literal blocks: so suppression comments in them count, and the webhook does not reject what the command line
// accepts. Any other object stays JSON.
//
// Errors deny the object, everything else is a warning. Two exceptions keep the webhook from being an outage:
//
//   - An update may keep the errors that the object had. split compares with the old object, which is linted only if
//     there are errors. The old object gets the labels of the new one first (relabelled): adding the label that turns
//     checks on must not deny the update for old errors. Errors are the same by rule, resource, place and message
//     without numbers, since both lists and lines shift; equal errors are counted.
//   - An object that could not be judged is allowed, with a warning. failurePolicy covers only calls that fail.
//
// A denial is Forbidden and not Invalid: on Invalid, some clients delete and recreate the object. Texts have limits,
// because an API server cuts long warnings and people read denials in a terminal (text.go).
package webhook
