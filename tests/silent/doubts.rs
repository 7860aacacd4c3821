//! What answers to images as they stand say against a model on them.

use super::truths;

/// Images of one grey each, which a model of 64 classes reads exactly.
const GREYS: &str = r#"
    let greys = [];
    for i in 0..60 { greys.push(i); }
    let classes = [];
    let names = [];
    for i in 0..64 { classes.push(i * 1.0); names.push(`grey ${i}`); }
    let images = tensor::zeros([60, 1, 4, 4]) + tensor::from(greys).reshape([60, 1, 1, 1]) / 64.0;
    let reader = |of| model::from(|x| {
        let seen = x.reshape([x.len(), -1]).mean(1).reshape([-1, 1]) * 64.0;
        let apart = of.call(seen) - tensor::from(classes).reshape([1, 64]);
        apart * apart * -1.0
    }, #{ classes: 64 });
    let asked = #{ space: space::noise(0.001), search: search::random(#{ questions: 2 }), seed: 1 };
    let told = |model, labels, words| examine(model, data::from(images, labels, #{ name: "greys", classes: names }), asked).cautions.some(|said| said.contains(words));
"#;

/// One image of each class, as in a sample of many classes: no class alone shows where labels are counted from.
#[test]
fn labels_that_are_counted_from_another_number_are_told() {
    truths(&format!(
        r#"{GREYS}
        let right = reader.call(|seen| seen);
        let far = reader.call(|seen| seen * 7.0 - (seen * 7.0 / 60.0).floor() * 60.0);
        #{{
            one_more: told.call(right, greys.map(|x| x + 1), "otherwise: its answer is the label less 1 for 60 of 60 images, and the label itself for 0"),
            plus_three: told.call(right, greys.map(|x| if x > 2 {{ x - 3 }} else {{ x + 50 }}), "its answer is the label plus 3 for 57 of 60 images, and the label itself for 0"),
            // Ages that are guessed too low by one, often, and are right else.
            low: !told.call(reader.call(|seen| (seen / 2.0).floor() * 2.0), greys, "to number"),
            right: !told.call(right, greys, "counted from"),
            wrong: !told.call(far, greys, "counted from"),
        }}"#
    ));
}

#[test]
fn a_class_that_is_never_answered_is_told() {
    truths(&format!(
        r#"{GREYS}
        let ten = greys.map(|x| div(x, 10));
        let tenth = reader.call(|seen| (seen / 10.0 + 0.01).floor());
        let blind = reader.call(|seen| {{ let read = (seen / 10.0 + 0.01).floor(); (read == 2.0).where(read + 2.0, read) }});
        #{{
            never: told.call(blind, ten, "never answers 2, which 10 of the 60 images of greys are"),
            always: !told.call(tenth, ten, "never answers"),
        }}"#
    ));
}

/// Other pixels than a model learned from have some classes read as others; that alone is no other numbering.
#[test]
fn classes_that_are_mostly_read_as_others_may_have_two_reasons() {
    truths(&format!(
        r#"{GREYS}
        let ten = greys.map(|x| div(x, 10));
        let read = |map| reader.call(|seen| {{
            let read = (seen / 10.0 + 0.01).floor();
            let all = read * 0.0;
            for class in 0..6 {{ all += (read == class * 1.0).where(read * 0.0 + map[class], read * 0.0); }}
            all
        }});
        let swapped = read.call([1.0, 0.0, 3.0, 2.0, 4.0, 5.0]);
        let inverted = read.call([3.0, 0.0, 0.0, 0.0, 4.0, 4.0]);
        #{{
            another: told.call(swapped, ten, "seems to number the classes of greys otherwise: 4 of 6 classes"),
            either: told.call(inverted, ten, "or be given other pixels than it learned from"),
            hedged: !told.call(inverted, ten, "seems to number"),
        }}"#
    ));
}

/// A search that asks often finds the worst of many draws, whatever it changed.
#[test]
fn what_a_model_that_draws_fails_at_is_asked_about_again() {
    let path = format!("{}/tests/golden/dropping.pt", env!("CARGO_MANIFEST_DIR"));
    truths(&format!(
        r#"let f = model::load("{path}", #{{ input: [1, 16, 16] }});
        let all = data::glyphs(#{{ n: 80, size: 16, seed: 1 }});
        let answers = f.averaged(#{{ draws: 64, seed: 1 }}).predict(all).values();
        let ds = all.relabel(|row| answers[row.index].to_int());
        // So little that it changes no answer.
        let still = space::pixels("linf", #{{ radius: 0.000001, bounds: [0, 1] }});
        let found = |search| examine(f, ds, #{{ space: still, search: search, seed: 1 }});
        let square = found.call(search::square(#{{ questions: 60 }}));
        let both = found.call(search::worst([search::apgd(#{{ steps: 3 }}), search::square(#{{ questions: 60 }})]));
        let told = |t, words| t.cautions.some(|said| said.contains(words));
        let said = square.cautions.filter(|said| said.contains("askings"))[0];
        let right = parse_int(said.split(" that failed, ")[1].split(" are right")[0]);
        #{{
            fails: square.filter(|row| row.fooled).len() >= 10,
            by_chance: right * 8 >= square.filter(|row| row.fooled).len(),
            of_many: told.call(square, "outcomes are the worst of up to ") && told.call(both, "are right when they are asked about once more"),
            // Each level is asked about once, and nothing is chosen.
            sweep: !told.call(examine(f, ds, #{{ space: space::noise(), search: search::sweep(), levels: [0.0, 0.1] }}), "worst of up to"),
            remedy: told.call(square, "f.averaged(#{{ draws: 32 }}) goes by the mean of draws"),
            risk: risk::estimate(f, ds, #{{ radius: 1, sides: 1 }}).cautions.some(|said| said.contains("outcomes are the worst of up to ")),
            average: !told.call(examine(f, ds, #{{ space: space::translate(1), search: search::average(), seed: 1 }}), "outcomes are the worst"),
            no_gradients: !told.call(both, "gradients hide"),
        }}"#
    ));
}

/// Labels that are moved take the names of their classes along, and images that are called otherwise do not.
#[test]
fn names_of_classes_go_where_their_labels_go() {
    truths(
        r#"
        let ds = data::from(tensor::zeros([6, 1, 2, 2]), [0, 1, 2, 0, 1, 2], #{ classes: ["cat", "dog", "emu", "fox"] });
        let named = |set| set.classes;
        let of = |set, row| set[row]["class"];
        let after = ds.relabel(|row| row.label + 1);
        let some = ds.take(2).relabel(|row| row.label + 1);
        let before = after.relabel(|row| row.label - 1);
        let turned = ds.relabel(|row| [2, 0, 1][row.label]);
        let joined = ds.relabel(|row| if row.label == 2 { 1 } else { row.label });
        let called = ds.relabel(|row| if row.index == 0 { 1 } else { row.label });
        let single = ds.take(3).relabel(|row| if row.index == 0 { 1 } else { row.label });
        let own = ds.relabel(|row| row.label + 1, #{ classes: ["ground", "cat", "dog", "emu", "fox"] });
        #{
            "all move": named.call(after) == ["0", "cat", "dog", "emu", "fox"],
            "also those that none is of": named.call(some) == ["0", "cat", "dog", "emu", "fox"],
            "and back": named.call(before) == ["cat", "dog", "emu", "fox"],
            "in any order": named.call(turned) == ["dog", "emu", "cat", "fox"],
            "every image keeps its name": [0, 1, 2, 3, 4, 5].all(|i| of.call(ds, i) == of.call(after, i) && of.call(ds, i) == of.call(turned, i)),
            "several become one": named.call(joined) == ["cat", "dog or emu", "2", "fox"],
            "one image called otherwise changes no name": named.call(called) == named.call(ds) && of.call(called, 0) == "dog",
            "nor where it is the only one of its class": named.call(single) == named.call(ds),
            "names that are given hold": named.call(own)[0] == "ground",
            "numbers stay numbers": data::glyphs(#{ n: 20, seed: 1 }).relabel(|row| (row.label + 1) % 10).classes[0] == "0",
        }"#,
    );
}

/// Images that were prepared otherwise than a network wants them are told of by what it would read of them.
#[test]
fn pixels_that_a_network_was_not_made_for_are_told() {
    truths(
        r#"
        let of = |n, seed| data::glyphs(#{ n: n, size: 16, position: "centred", margin: 0, seed: seed });
        let ds = of.call(100, 1);
        let f = model::train(of.call(1000, 2), #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let said = |images| {
            let set = data::from(images, ds.labels, #{ classes: ds.classes });
            examine(f, set, #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.filter(|c| c.contains("as they are labelled, and"))
        };
        let images = ds.images();
        let inverted = said.call(1 - images);
        let turned = said.call(tensor::concat([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(|i| images.pick([i], 2).reshape([100, 1, 16, 1])), 3));
        #{
            "as it learned": said.call(images) == [],
            "inverted": inverted.len() == 1 && inverted[0].contains("brightness is inverted"),
            "turned": turned.len() == 1 && turned[0].contains("rows and columns are exchanged"),
            "no images at all": said.call(images * 0) == [],
            "what it learned from, as it was prepared": {
                let other = data::from(1 - images, ds.labels, #{ classes: ds.classes });
                let taught = model::train(other, #{ from: f, epochs: 1, lr: 0.0, seed: 1 });
                taught.accuracy(other) == f.accuracy(other)
                    && examine(taught, other, #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.all(|c| !c.contains("as they are labelled, and"))
            },
            "one class says nothing": ds.labels.values().filter(|label| label == ds.labels[0]).len() >= 10 && {
                let one = data::from(1 - ds.only([ds.labels[0]]).images(), ds.only([ds.labels[0]]).labels, #{ classes: ds.classes });
                examine(f, one, #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.all(|c| !c.contains("as they are labelled, and"))
            },
        }"#,
    );
    let told = super::warnings(
        r#"
        let ds = data::glyphs(#{ n: 300, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        f.accuracy(data::from(1 - ds.images(), ds.labels))"#,
    );
    assert!(
        told.iter().any(|told| told.contains("brightness is inverted (1 - x): it may have been made for such")),
        "{told:?}"
    );
    // Images that it was made to fail on are no proof that it wants others.
    let told = super::warnings(
        r#"
        let ds = data::glyphs(#{ n: 300, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let other = data::glyphs(#{ n: 300, size: 16, position: "centred", margin: 0, seed: 2 });
        let t = examine(f, other, #{ space: space::pixels("linf", #{ radius: 0.3, bounds: [0, 1] }), search: search::bim(#{ step: 0.05, steps: 10 }) });
        f.accuracy(other) + f.accuracy(data::from(t.images(), other.labels))"#,
    );
    assert!(told.iter().any(|told| told.contains("these may be what it was made to fail on, too")), "{told:?}");
    assert!(!told.iter().any(|told| told.contains("made for such")), "{told:?}");
}
