use xdslint_plugin::{At, Pass, Rule, Severity, each};

pub fn rule() -> Rule {
    Rule {
        id: "acme/cluster-name",
        severity: Severity::Warning,
        summary: "a cluster is not named team-service",
        why: "Alerts are routed by the name of a cluster: the part before the hyphen is the team that is called at night.",
        links: &[],
        check: each("envoy.config.cluster.v3.Cluster", check),
    }
}

/// The fields of a cluster that the rule reads.
#[derive(Clone, PartialEq, prost::Message)]
struct Cluster {
    #[prost(string, tag = "1")]
    name: String,
}

fn check(pass: &mut Pass, at: &At, cluster: &Cluster) {
    if cluster.name.is_empty() || team(&cluster.name).is_some() {
        return;
    }
    pass.report(&at.field("name"), "cluster names are team-service");
}

/// The team that a cluster is of, if its name is TEAM-SERVICE, both of small letters.
pub fn team(cluster: &str) -> Option<&str> {
    let (team, service) = cluster.split_once('-')?;
    let word = |s: &str| !s.is_empty() && s.bytes().all(|c| c.is_ascii_lowercase());
    (word(team) && word(service)).then_some(team)
}
