use std::collections::BTreeMap;

use xdslint_plugin::{Finding, Pass, Rule, Severity, whole};

use crate::cluster_name::team;

pub fn rule() -> Rule {
    Rule {
        id: "acme/one-team",
        severity: Severity::Warning,
        summary: "a listener leads to the services of several teams",
        why: "A listener belongs to the team that owns what is behind it: who changes its filters, certificates or limits changes them for everything there. \
              Where two teams share one, each breaks what the other is called for.",
        links: &[],
        check: whole(&[], check),
    }
}

fn check(pass: &mut Pass) {
    for listener in pass.resources().filter(|r| r.kind() == "listener") {
        let mut teams = BTreeMap::new(); // with the first cluster of each
        for cluster in listener.reaches("cluster") {
            if let Some(team) = team(cluster.name()) {
                teams.entry(team).or_insert(cluster.name());
            }
        }
        if teams.len() < 2 {
            continue;
        }
        let notes = teams
            .iter()
            .map(|(team, cluster)| format!("team {team} owns cluster \"{cluster}\""));
        let finding = Finding {
            message: format!(
                "the listener leads to the services of {} teams",
                teams.len()
            ),
            notes: notes.collect(),
            help: "give each team a listener of its own".to_owned(),
            ..Finding::default()
        };
        pass.report(&listener.at().field("name"), finding);
    }
}
