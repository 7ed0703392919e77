//! Two rules of a shop that is named acme.

mod cluster_name;
mod one_team;

use xdslint_plugin::Rule;

fn rules() -> Vec<Rule> {
    vec![cluster_name::rule(), one_team::rule()]
}

xdslint_plugin::plugin!(rules);
