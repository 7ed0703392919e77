// Made of internal/pluginabi/plugin.proto by `make update`.

#[derive(Clone, PartialEq, prost::Message)]
pub struct Description {
    #[prost(message, repeated, tag = "1")]
    pub rules: Vec<Rule>,
    #[prost(string, repeated, tag = "2")]
    pub types: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Rule {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(enumeration = "Severity", tag = "2")]
    pub severity: i32,
    #[prost(string, tag = "3")]
    pub summary: String,
    #[prost(string, tag = "4")]
    pub why: String,
    #[prost(string, repeated, tag = "5")]
    pub links: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Snapshot {
    #[prost(string, tag = "1")]
    pub target: String,
    #[prost(string, repeated, tag = "2")]
    pub rules: Vec<String>,
    #[prost(message, repeated, tag = "3")]
    pub resources: Vec<Resource>,
    #[prost(message, repeated, tag = "4")]
    pub references: Vec<Reference>,
    #[prost(message, repeated, tag = "5")]
    pub messages: Vec<Message>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Resource {
    #[prost(string, tag = "1")]
    pub kind: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub file: String,
    #[prost(string, tag = "4")]
    pub r#type: String,
    #[prost(bool, tag = "5")]
    pub bootstrap: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Reference {
    #[prost(uint32, tag = "1")]
    pub from: u32,
    #[prost(string, tag = "2")]
    pub path: String,
    #[prost(string, tag = "3")]
    pub kind: String,
    #[prost(string, tag = "4")]
    pub name: String,
    #[prost(uint32, optional, tag = "5")]
    pub to: Option<u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Message {
    #[prost(uint32, tag = "1")]
    pub resource: u32,
    #[prost(string, tag = "2")]
    pub path: String,
    #[prost(string, tag = "3")]
    pub r#type: String,
    #[prost(bytes = "vec", tag = "4")]
    pub value: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Findings {
    #[prost(message, repeated, tag = "1")]
    pub findings: Vec<Finding>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Finding {
    #[prost(string, tag = "1")]
    pub rule: String,
    #[prost(uint32, tag = "2")]
    pub resource: u32,
    #[prost(string, tag = "3")]
    pub path: String,
    #[prost(string, tag = "4")]
    pub message: String,
    #[prost(string, repeated, tag = "5")]
    pub notes: Vec<String>,
    #[prost(string, tag = "6")]
    pub help: String,
    #[prost(enumeration = "Severity", tag = "7")]
    pub severity: i32,
    #[prost(message, repeated, tag = "8")]
    pub fixes: Vec<Fix>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Fix {
    #[prost(string, tag = "1")]
    pub message: String,
    #[prost(bool, tag = "2")]
    pub safe: bool,
    #[prost(message, repeated, tag = "3")]
    pub edits: Vec<Edit>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Edit {
    #[prost(string, tag = "1")]
    pub path: String,
    #[prost(oneof = "edit::Change", tags = "2, 3")]
    pub change: Option<edit::Change>,
}

pub mod edit {
    #[derive(Clone, PartialEq, prost::Oneof)]
    pub enum Change {
        #[prost(string, tag = "2")]
        Set(String),
        #[prost(bool, tag = "3")]
        Remove(bool),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Severity {
    Unspecified = 0,
    Info = 1,
    Warning = 2,
    Error = 3,
}
