//! Custom rules for xdslint, the linter for Envoy's xDS configuration: a crate with `crate-type = ["cdylib"]` becomes a plugin that
//! `xdslint --plugin rules.wasm` runs. Build it for `wasm32-unknown-unknown`.
//!
//! A rule is data and one function. It declares the fields that it reads of a message in Envoy's API, with their numbers in the proto; prost skips all others.
//!
//! ```
//! use xdslint_plugin::{At, Pass, Rule, Severity, each};
//!
//! #[derive(Clone, PartialEq, prost::Message)]
//! struct Cluster {
//!     #[prost(string, tag = "1")]
//!     name: String,
//! }
//!
//! fn rules() -> Vec<Rule> {
//!     vec![Rule {
//!         id: "acme/no-test-clusters",
//!         severity: Severity::Error,
//!         summary: "a cluster for tests is in the configuration",
//!         why: "",
//!         links: &[],
//!         check: each("envoy.config.cluster.v3.Cluster", |pass: &mut Pass, at: &At, cluster: &Cluster| {
//!             if cluster.name.starts_with("test-") {
//!                 pass.report(&at.field("name"), "clusters for tests stay at home");
//!             }
//!         }),
//!     }]
//! }
//!
//! xdslint_plugin::plugin!(rules);
//! ```
//!
//! The findings of a rule depend only on its input: a plugin has no files, no network, no clock and no randomness. If it panics, xdslint
//! reports the message as a finding about the plugin, and continues with all other rules.

mod abi;
mod finding;
mod graph;
#[doc(hidden)]
pub mod guest;
mod rule;

pub use finding::{At, Edit, Finding, Fix, Value};
pub use graph::{Reference, Resource};
pub use rule::{Check, Pass, Rule, Severity, each, whole};
