use std::collections::BTreeSet;

use crate::abi;
use crate::finding::At;

/// Snapshot is what xdslint sent, with indexes.
pub(crate) struct Snapshot {
    pub(crate) target: String,
    pub(crate) resources: Vec<Node>,
    references: Vec<abi::Reference>,
}

/// Node is a resource, and the indexes of its references and messages.
pub(crate) struct Node {
    resource: abi::Resource,
    messages: Vec<abi::Message>,
    references: Vec<usize>,
    referrers: Vec<usize>,
}

impl From<abi::Snapshot> for Snapshot {
    fn from(sent: abi::Snapshot) -> Self {
        let node = |resource| Node { resource, messages: vec![], references: vec![], referrers: vec![] };
        let mut resources: Vec<Node> = sent.resources.into_iter().map(node).collect();
        for message in sent.messages {
            resources[message.resource as usize].messages.push(message);
        }
        for (index, reference) in sent.references.iter().enumerate() {
            resources[reference.from as usize].references.push(index);
            if let Some(to) = reference.to {
                resources[to as usize].referrers.push(index);
            }
        }
        Snapshot { target: sent.target, resources, references: sent.references }
    }
}

/// A resource: a listener, a route configuration, a cluster …
#[derive(Clone, Copy)]
pub struct Resource<'s> {
    snapshot: &'s Snapshot,
    index: usize,
}

impl PartialEq for Resource<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<'s> Resource<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, index: usize) -> Self {
        Resource { snapshot, index }
    }

    pub(crate) fn index(self) -> u32 {
        self.index as u32 // as many as xdslint has counted
    }

    fn node(self) -> &'s Node {
        &self.snapshot.resources[self.index]
    }

    /// As xdslint spells it everywhere: `cluster`, `listener`, `route_configuration` …
    pub fn kind(self) -> &'s str {
        &self.node().resource.kind
    }

    pub fn name(self) -> &'s str {
        &self.node().resource.name
    }

    /// The file that it is in.
    pub fn file(self) -> &'s str {
        &self.node().resource.file
    }

    /// Full name of its message.
    pub fn type_name(self) -> &'s str {
        &self.node().resource.r#type
    }

    /// It is part of a bootstrap, not delivered over xDS.
    pub fn in_bootstrap(self) -> bool {
        self.node().resource.bootstrap
    }

    /// The place of its own message.
    pub fn at(self) -> At<'s> {
        At::new(self, "")
    }

    pub(crate) fn messages(self) -> impl Iterator<Item = &'s abi::Message> + use<'s> {
        self.node().messages.iter()
    }

    /// Its fields that name other resources.
    pub fn references(self) -> impl Iterator<Item = Reference<'s>> + use<'s> {
        self.node().references.iter().map(move |&index| Reference { snapshot: self.snapshot, index })
    }

    /// The fields of other resources that name it.
    pub fn referrers(self) -> impl Iterator<Item = Reference<'s>> + use<'s> {
        self.node().referrers.iter().map(move |&index| Reference { snapshot: self.snapshot, index })
    }

    /// The resources of a kind that it refers to, directly or through others, in the order of the files.
    pub fn reaches(self, kind: &str) -> impl Iterator<Item = Resource<'s>> + use<'s, '_> {
        self.follow(kind, |resource| resource.references().filter_map(Reference::to).collect())
    }

    /// The resources of a kind that refer to it, directly or through others, in the order of the files.
    pub fn reached_by(self, kind: &str) -> impl Iterator<Item = Resource<'s>> + use<'s, '_> {
        self.follow(kind, |resource| resource.referrers().map(Reference::from).collect())
    }

    fn follow<'k>(self, kind: &'k str, next: fn(Resource<'s>) -> Vec<Resource<'s>>) -> impl Iterator<Item = Resource<'s>> + use<'s, 'k> {
        let mut found = BTreeSet::new();
        let mut rest = vec![self];
        while let Some(resource) = rest.pop() {
            rest.extend(next(resource).into_iter().filter(|r| found.insert(r.index)));
        }
        found.into_iter().map(move |index| Resource::new(self.snapshot, index)).filter(move |r| r.kind() == kind)
    }
}

/// A field of a resource that names another one.
#[derive(Clone, Copy)]
pub struct Reference<'s> {
    snapshot: &'s Snapshot,
    index: usize,
}

impl<'s> Reference<'s> {
    fn sent(self) -> &'s abi::Reference {
        &self.snapshot.references[self.index]
    }

    /// The resource that the field is in.
    pub fn from(self) -> Resource<'s> {
        Resource::new(self.snapshot, self.sent().from as usize)
    }

    /// The place of the field.
    pub fn at(self) -> At<'s> {
        At::new(self.from(), &self.sent().path)
    }

    /// The kind of the resource that it names.
    pub fn kind(self) -> &'s str {
        &self.sent().kind
    }

    /// The value of the field.
    pub fn name(self) -> &'s str {
        &self.sent().name
    }

    /// The resource with that name; `None`: not known.
    pub fn to(self) -> Option<Resource<'s>> {
        self.sent().to.map(|index| Resource::new(self.snapshot, index as usize))
    }
}
