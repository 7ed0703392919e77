use std::fmt::Write;

use crate::abi;
use crate::graph::Resource;
use crate::rule::Severity;

/// A place that a finding can point to: a message, or one of its fields. If a field is not set, the finding points to the message around it.
#[derive(Clone)]
pub struct At<'s> {
    resource: Resource<'s>,
    path: String,
}

impl<'s> At<'s> {
    pub(crate) fn new(resource: Resource<'s>, path: &str) -> Self {
        At { resource, path: path.to_owned() }
    }

    /// The resource that the place is in.
    pub fn resource(&self) -> Resource<'s> {
        self.resource
    }

    /// From the resource's message: `virtual_hosts[0].routes[2].route.cluster`. An Any is not a step of the path: its content follows directly.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The place of a field, by its name in the proto.
    pub fn field(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        At { resource: self.resource, path: format!("{}{dot}{name}", self.path) }
    }

    /// The place of an element of a repeated field, from 0.
    pub fn item(&self, name: &str, index: usize) -> Self {
        let mut at = self.field(name);
        at.path += &format!("[{index}]");
        at
    }

    /// The place of the value under a key of a map field.
    pub fn entry(&self, name: &str, key: &str) -> Self {
        let mut at = self.field(name);
        at.path += &format!("[{}]", quoted(key));
        at
    }
}

/// What a rule reports. Texts are single lines, without a full stop.
#[derive(Default)]
pub struct Finding {
    pub message: String,
    /// The consequences.
    pub notes: Vec<String>,
    /// What to write instead; may be empty.
    pub help: String,
    /// `None`: the rule's.
    pub severity: Option<Severity>,
    pub fixes: Vec<Fix>,
}

impl Finding {
    pub(crate) fn encode(self, rule: &str, at: &At) -> abi::Finding {
        abi::Finding {
            rule: rule.to_owned(),
            resource: at.resource.index(),
            path: at.path.clone(),
            message: self.message,
            notes: self.notes,
            help: self.help,
            severity: self.severity.map_or(abi::Severity::Unspecified, abi::Severity::from).into(),
            fixes: self.fixes.into_iter().map(Fix::encode).collect(),
        }
    }
}

impl From<&str> for Finding {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<String> for Finding {
    fn from(message: String) -> Self {
        Finding { message, ..Finding::default() }
    }
}

/// One way to fix a finding, with all of its edits.
pub struct Fix {
    pub message: String,
    /// No request that succeeds today can fail after it: `--fix` applies it without asking.
    pub safe: bool,
    pub edits: Vec<Edit>,
}

impl Fix {
    fn encode(self) -> abi::Fix {
        abi::Fix { message: self.message, safe: self.safe, edits: self.edits.into_iter().map(|edit| edit.0).collect() }
    }
}

/// A change of one field in the finding's resource.
pub struct Edit(abi::Edit);

impl Edit {
    /// Sets a field.
    pub fn set(at: &At, value: impl Into<Value>) -> Self {
        Edit(abi::Edit { path: at.path.clone(), change: Some(abi::edit::Change::Set(value.into().0)) })
    }

    /// Removes a field, or an element of a list.
    pub fn remove(at: &At) -> Self {
        Edit(abi::Edit { path: at.path.clone(), change: Some(abi::edit::Change::Remove(true)) })
    }
}

/// The value of a field: a string, a boolean, a number, or any JSON.
pub struct Value(String);

impl Value {
    /// A value in JSON, such as that of a message: `{"base_interval": "30s"}`.
    pub fn json(text: impl Into<String>) -> Self {
        Value(text.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value(quoted(text))
    }
}

macro_rules! literal {
    ($($type:ty),*) => {
        $(impl From<$type> for Value {
            fn from(literal: $type) -> Self {
                Value(literal.to_string())
            }
        })*
    };
}

literal!(bool, u32, i32, u64, i64, f64);

/// A string in JSON. Paths quote keys in the same way.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes all"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_as_json() {
        assert_eq!(quoted("a\"b\\c\nd\u{85}é"), r#""a\"b\\c\u000ad\u0085é""#);
    }
}
