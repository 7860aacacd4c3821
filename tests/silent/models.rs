//! Models and searches that mislead: gradients that vanish, bounds, probabilities, graphs that are not there.

use super::{refused, truths};

/// tests/golden/misleading.py
fn golden(name: &str) -> String {
    format!("{}/tests/golden/{name}.pt", env!("CARGO_MANIFEST_DIR"))
}

fn with_golden(name: &str, script: &str) -> String {
    let path = golden(name);
    format!(
        r#"let ds = data::glyphs(#{{ n: 12, size: 16, seed: 1 }});
           let f = model::load("{path}", #{{ input: [1, 16, 16] }});
           {script}"#
    )
}

#[test]
fn a_network_without_a_graph_is_refused_by_every_search_along_gradients() {
    for search in [
        r#"space: space::pixels("l2"), search: search::bim()"#,
        r#"space: space::pixels("l2"), search: search::adam()"#,
        r#"space: space::deform(), search: search::adef()"#,
    ] {
        let script = with_golden("without_gradients", &format!("examine(f, ds, #{{ {search} }})"));
        refused(&script, "no gradient flows through without_gradients");
        // The same without a graph below it is examined.
        let script = with_golden("softmaxed", &format!("#{{ examined: examine(f, ds, #{{ {search} }}).len() == 12 }}"));
        truths(&script);
    }
}

#[test]
fn a_perturbation_that_nothing_depends_on_is_refused() {
    for search in ["search::adam(#{ steps: 3 })", "search::bim(#{ steps: 3 })"] {
        let path = golden("staged_apart");
        let script = with_golden(
            "softmaxed",
            &format!(
                r#"let g = generator::load("{path}", #{{ latent: 4, classes: 3 }});
                   let space = space::latent(g, #{{ layers: [0], samples: 4 }});
                   examine(f, g.sample(#{{ n: 3 }}), #{{ space: space, search: {search} }})"#
            ),
        );
        refused(&script, "no gradient flows through latent(staged_apart");
    }
}
