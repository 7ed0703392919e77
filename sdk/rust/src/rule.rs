use prost::Message;

use crate::abi;
use crate::finding::{At, Finding};
use crate::graph::{Resource, Snapshot};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl From<Severity> for abi::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => abi::Severity::Info,
            Severity::Warning => abi::Severity::Warning,
            Severity::Error => abi::Severity::Error,
        }
    }
}

/// A rule: data and one function.
pub struct Rule {
    /// `GROUP/NAME`, both of `a-z`, `0-9` and `-`; not a group of built-in rules.
    pub id: &'static str,
    pub severity: Severity,
    /// What it finds, in one line without a full stop.
    pub summary: &'static str,
    /// Why that is wrong, in Markdown; may be empty.
    pub why: &'static str,
    /// URLs of further reading; may be empty.
    pub links: &'static [&'static str],
    pub check: Check,
}

impl Rule {
    pub(crate) fn describe(&self) -> abi::Rule {
        abi::Rule {
            id: self.id.to_owned(),
            severity: abi::Severity::from(self.severity).into(),
            summary: self.summary.to_owned(),
            why: self.why.to_owned(),
            links: self.links.iter().map(|&link| link.to_owned()).collect(),
        }
    }
}

type Run = Box<dyn for<'s> Fn(&mut Pass<'s>)>;

/// What a rule does: made by [`each`] or [`whole`].
pub struct Check {
    pub(crate) types: Vec<&'static str>,
    pub(crate) run: Run,
}

/// Runs `f` for every message of a type, wherever it is nested. The type is a full name such as `envoy.config.cluster.v3.Cluster`; `M` has the fields
/// that the rule reads.
///
/// # Panics
///
/// The check panics if a field of `M` has another type than Envoy's.
pub fn each<M: Message + Default>(type_name: &'static str, f: impl for<'s> Fn(&mut Pass<'s>, &At<'s>, &M) + 'static) -> Check {
    let run = move |pass: &mut Pass| {
        for resource in pass.resources() {
            for (at, message) in pass.messages::<M>(resource, type_name) {
                f(pass, &at, &message);
            }
        }
    };
    Check { types: vec![type_name], run: Box::new(run) }
}

/// Runs `f` once for a snapshot. `types` are the full names of the messages that it reads with [`Pass::messages`].
pub fn whole(types: &[&'static str], f: impl for<'s> Fn(&mut Pass<'s>) + 'static) -> Check {
    Check { types: types.to_vec(), run: Box::new(f) }
}

/// One run of one rule over one snapshot.
pub struct Pass<'s> {
    snapshot: &'s Snapshot,
    rule: &'s Rule,
    findings: &'s mut Vec<abi::Finding>,
}

impl<'s> Pass<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, rule: &'s Rule, findings: &'s mut Vec<abi::Finding>) -> Self {
        Pass { snapshot, rule, findings }
    }

    /// The data plane to judge for: `envoy:1.40`.
    pub fn target(&self) -> &'s str {
        &self.snapshot.target
    }

    /// All resources, in the order of the files.
    pub fn resources(&self) -> impl Iterator<Item = Resource<'s>> + use<'s> {
        let snapshot = self.snapshot;
        (0..snapshot.resources.len()).map(move |index| Resource::new(snapshot, index))
    }

    /// The messages of a type in a resource, wherever they are nested.
    ///
    /// # Panics
    ///
    /// If the rule's check does not name the type, or if a field of `M` has another type than Envoy's.
    pub fn messages<M: Message + Default>(&self, resource: Resource<'s>, type_name: &str) -> impl Iterator<Item = (At<'s>, M)> + use<'s, M> {
        let rule = self.rule;
        let of_type = rule.check.types.iter().find(|&&name| name == type_name);
        let type_name = *of_type.unwrap_or_else(|| panic!("rule {} does not read {type_name}: name it in its check", rule.id));
        resource.messages().filter(move |message| message.r#type == type_name).map(move |message| {
            let decoded = M::decode(&message.value[..]);
            let decoded = decoded.unwrap_or_else(|e| panic!("rule {} declares {type_name} otherwise than Envoy's API: {e}", rule.id));
            (At::new(resource, &message.path), decoded)
        })
    }

    /// Adds a finding at a place; a string is a finding with only a message.
    pub fn report(&mut self, at: &At, finding: impl Into<Finding>) {
        self.findings.push(finding.into().encode(self.rule.id, at));
    }
}
