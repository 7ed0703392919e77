//! A rule for each thing that the SDK can do, and for each way to go wrong. ../../../sdk_test.go runs them.

use prost::Message;
use xdslint_plugin::{At, Edit, Finding, Fix, Pass, Rule, Severity, Value, each, whole};

const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";
const OUTLIERS: &str = "envoy.config.cluster.v3.OutlierDetection";
const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

#[derive(Clone, PartialEq, Message)]
struct Cluster {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "4")]
    connect_timeout: Option<Duration>,
    #[prost(btree_map = "string, message", tag = "36")]
    options: std::collections::BTreeMap<String, Any>,
}

#[derive(Clone, PartialEq, Message)]
struct Duration {
    #[prost(int64, tag = "1")]
    seconds: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Any {}

#[derive(Clone, PartialEq, Message)]
struct Manager {
    #[prost(string, tag = "2")]
    stat_prefix: String,
    #[prost(message, repeated, tag = "5")]
    filters: Vec<Filter>,
}

#[derive(Clone, PartialEq, Message)]
struct Filter {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Wrong {
    #[prost(uint64, tag = "1")]
    name: u64,
}

fn rules() -> Vec<Rule> {
    let rule = |id, severity, check| Rule { id, severity, summary: "a test", why: "*Because*.", links: &["https://acme.example/"], check };
    vec![
        rule("t/places", Severity::Info, each(MANAGER, places)),
        rule("t/entries", Severity::Warning, each(CLUSTER, entries)),
        rule("t/fixes", Severity::Error, each(CLUSTER, fixes)),
        rule("t/graph", Severity::Info, whole(&[CLUSTER, OUTLIERS], graph)),
        rule("t/panics", Severity::Error, each(CLUSTER, |_: &mut Pass, _: &At, c: &Cluster| panic!("no idea about {:?}", c.name))),
        rule(
            "t/undeclared",
            Severity::Error,
            whole(&[], |pass: &mut Pass| {
                pass.resources().for_each(|r| assert!(pass.messages::<Cluster>(r, CLUSTER).count() > 0));
            }),
        ),
        rule("t/wrong-type", Severity::Error, each(CLUSTER, |pass: &mut Pass, at: &At, _: &Wrong| pass.report(at, "unreachable"))),
        rule(
            "t/endless",
            Severity::Error,
            whole(&[], |_: &mut Pass| {
                loop {
                    std::hint::black_box(0);
                }
            }),
        ),
        rule(
            "t/hungry",
            Severity::Error,
            whole(&[], |_: &mut Pass| {
                let mut all = vec![];
                loop {
                    all.push(std::hint::black_box(vec![1u8; 1 << 24]));
                }
            }),
        ),
    ]
}

fn places(pass: &mut Pass, at: &At, manager: &Manager) {
    for (i, filter) in manager.filters.iter().enumerate() {
        let finding = Finding {
            message: format!("filter {} of {}", filter.name, manager.stat_prefix),
            notes: vec![format!("at {}", at.path()), format!("in {} {}", at.resource().kind(), at.resource().name())],
            help: format!("for {}", pass.target()),
            severity: (i == 1).then_some(Severity::Warning),
            ..Finding::default()
        };
        pass.report(&at.item("http_filters", i).field("name"), finding);
    }
}

fn entries(pass: &mut Pass, at: &At, cluster: &Cluster) {
    for key in cluster.options.keys() {
        pass.report(&at.entry("typed_extension_protocol_options", key), "an entry");
    }
}

fn fixes(pass: &mut Pass, at: &At, cluster: &Cluster) {
    let edits = match cluster.name.as_str() {
        "text" => vec![Edit::set(&at.field("name"), "a \"text\"")],
        "number" => vec![Edit::set(&at.field("per_connection_buffer_limit_bytes"), 32768)],
        "truth" => vec![Edit::set(&at.field("ignore_health_on_host_removal"), true)],
        "message" => vec![Edit::set(&at.field("outlier_detection"), Value::json(r#"{"consecutive_5xx": 3}"#))],
        "slow" if cluster.connect_timeout.as_ref().is_some_and(|t| t.seconds > 5) => {
            vec![Edit::remove(&at.field("connect_timeout")), Edit::set(&at.field("name"), "quick")]
        }
        _ => return,
    };
    let fix = Fix { message: "mend it".to_owned(), safe: false, edits };
    pass.report(&at.field("name"), Finding { message: "to mend".to_owned(), help: "mend it".to_owned(), fixes: vec![fix], ..Finding::default() });
}

fn graph(pass: &mut Pass) {
    for resource in pass.resources() {
        for reference in resource.references() {
            let to = reference.to().map_or("nothing known", |r| r.file());
            pass.report(&reference.at(), format!("{} {} in {to}", reference.kind(), reference.name()));
        }
        if resource.kind() != "cluster" {
            continue;
        }
        let names = |names: Vec<&str>| names.join(", ");
        let watched = pass.messages::<Any>(resource, OUTLIERS).map(|(at, _)| at.path().to_owned()).collect::<Vec<_>>();
        let finding = Finding {
            message: format!("{} {}", resource.type_name(), if resource.in_bootstrap() { "in a bootstrap" } else { "over xDS" }),
            notes: vec![
                format!("referrers: {}", names(resource.referrers().map(|r| r.from().name()).collect())),
                format!("reached by: {}", names(resource.reached_by("listener").map(|r| r.name()).collect())),
                format!("reaches: {}", names(resource.reaches("cluster_load_assignment").map(|r| r.name()).collect())),
                format!("outliers: {}", watched.join(", ")),
                format!("same: {}", pass.resources().filter(|r| *r == resource).count()),
            ],
            ..Finding::default()
        };
        pass.report(&resource.at(), finding);
    }
}

xdslint_plugin::plugin!(rules);
