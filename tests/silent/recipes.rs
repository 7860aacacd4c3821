//! What functions of the script library answer where there is little, nothing or nonsense to answer of.

use super::{refused, truths};

#[test]
fn laws_that_are_none_are_refused() {
    for (script, words) in [
        ("simulation::translations(0.5, 1, 0.59, ())", "a probability must be from 0 to 1"),
        ("simulation::written([1, -1], [0.9, 0.9], -1, 1)", "a probability must be from 0 to 1"),
        ("simulation::written([0.5], [0.5, 0.3], -1, 1)", "1 values and 2 probabilities"),
        ("simulation::written([2.0], [0.1], -1, 1)", "T must be from -1"),
        ("simulation::rejections([[0.1, 0.2, 0.3]], 2, #{ interval: true, lo: -1, hi: 1 })", "looks at losses"),
        ("simulation::rejections([[0.1, 0.2, 0.3]], 2)", "give `lo` and `hi`"),
        ("simulation::rejections([[0.1, 0.2], [0.1, 0.3]], 2, #{ lo: -1, hi: 1, repeats: 1 })", "leave some out"),
        ("simulation::tilted(simulation::written([0.0], [0.5], -1, 1), 0.1)", "can not have the mean"),
        ("simulation::images_needed([#{ m: 10, betting: 0.0 / 0.0 }], \"betting\", 0.5)", "the rate at 10 images is"),
    ] {
        refused(&format!("import \"std/simulation\" as simulation;\n{script}"), words);
    }
}

/// Of several models all come in, whatever the number of samples.
#[test]
fn samples_are_of_all_models() {
    truths(
        r#"
        import "std/simulation" as simulation;
        let flat = [];
        let bad = [];
        for i in 0..40 { flat.push(0.0); bad.push(0.5); }
        let models = [bad, flat, flat, flat];
        let share = |repeats| simulation::rejections(models, 40, #{ lo: -1, hi: 1, repeats: repeats }).betting;
        #{ even: [4, 8, 400].all(|repeats| (share.call(repeats) - 0.25).abs() < 1e-9), odd: (share.call(5) - 0.2).abs() < 1e-9 }"#,
    );
}

#[test]
fn recipes_say_what_their_transcripts_say() {
    truths(
        r#"
        import "std/tolerance" as tolerance;
        import "std/examiner" as examiner;
        import "std/transfer" as transfers;
        let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let f = model::from(|x| tensor::zeros([x.shape[0], 10]));
        let said = |cautions| cautions.some(|s| s.contains("same score"));
        let noise = |name| #{ name: name, levels: [0.1, 0.2], space: |sigma| space::noise(sigma) };
        let map = tolerance::map_of_two(f, ds, noise.call("a"), noise.call("b"));
        let objects = data::objects(#{ n: 3, size: 16 });
        let t = examine(f, objects, #{ space: examiner::views("moderate"), search: search::random(#{ questions: 8 }), seed: 1 });
        let one = t.filter(|row| row.id == 0);
        let g = generator::train(ds, #{ arch: #{ generator: [[net::linear(256), net::reshape(1, 16, 16)]], discriminator: [net::flatten(), net::linear(8)] }, steps: 1, batch: 8, seed: 1 });
        let own = |seed| model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: seed });
        let tests = generator::tests(g, own.call(1), #{ n: 1, seed: 1 });
        let table = transfers::table(#{ one: tests, none: () }, #{ one: own.call(1), other: own.call(2) });
        let two = plot::line([1, 2], [3, 4]).caution(["a", "b"]);
        let refused = |f| { try { f.call(); } catch (e) { return `${e}`; } "" };
        let slice = |slice| refused.call(|| examiner::mass(t, slice));
        #{
            map: said.call(map.cautions) && said.call(map.figure.cautions) && map.hi[0][0] > map.accuracy[0][0],
            marginals: said.call(examiner::marginals(t, ["azimuth"]).cautions), sheet: said.call(examiner::sheet(t, objects, 2).cautions),
            table: said.call(examiner::table(#{ random: t }, 4)[0].cautions),
            one: robustness::marginal(one, "azimuth")[0].cautions.some(|s| s.contains("all is of one of the objects")),
            transfer: table.figure.cautions.some(|s| s.contains("ended with their first test")),
            both: two.cautions == ["a", "b"],
            mass: examiner::mass(t, ["azimuth", -180, 180]).hi <= 1.0 && slice.call(["azimuth", 90, 0]).contains("goes from 90 to 0")
                && slice.call(["material", [0, 0]]).contains("twice") && slice.call(["material", [0.5]]).contains("by their places") && slice.call(["azimuth", [3]]).contains("a slice of it is"),
            zoo: refused.call(|| { import "std/zoo" as zoo; zoo::mobilenet_v1_coral(0.25, 100) }).contains("multiple of 32"),
            scores: refused.call(|| { import "std/corruptions" as corruptions; corruptions::scores(#{ fog: 54.17 }, 0.2) }).contains("from 0 to 1")
                && refused.call(|| { import "std/corruptions" as corruptions; corruptions::scores(#{ fogg: 0.5 }, 0.2) }).contains("no corruption"),
        }"#,
    );
}

/// Where nothing is to be said of a transcript its factors are drawn all the same.
#[test]
fn marginals_of_what_needs_no_caution_are_drawn() {
    truths(
        r#"
        import "std/examiner" as examiner;
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let taught = data::glyphs(#{ n: 600, size: 16, position: "centred", margin: 0, seed: 2 });
        let f = model::train(taught, #{ arch: [net::flatten(), net::linear(48), net::relu(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });
        let t = examine(f, ds, #{ space: space::rotate(20, #{ fill: 0.0 }), search: search::random(#{ questions: 8 }), seed: 1 });
        #{ healthy: t.cautions.is_empty(), drawn: examiner::marginals(t, ["angle"]).cautions.is_empty() }
        "#,
    );
}

/// Cells are told apart by both names, and pairs of pictures are shown.
#[test]
fn answers_of_people_stand_where_they_belong() {
    truths(
        r#"
        import "std/crowd" as crowd;
        let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
        let style = [];
        let form = [];
        for i in 0..40 {
            let first = ds.labels[i] < 5;
            style.push(if first { "thin / bold" } else { "thin" });
            form.push(if first { "round" } else { "bold / round" });
        }
        let answered = |t, choose| {
            let said = [];
            for slot in 0..t.workers { for q in t.asked(slot) {
                said.push(#{ worker: slot, slot: slot, question: q.question, choice: choose.call(t, q, slot), seconds: 2 });
            } }
            people::answers(t, said)
        };
        let t = people::task(ds, #{ kind: "label", gold: 0, instructed: 0, overlap: 3, per_worker: 10, facts: #{ style: style, form: form }, seed: 1 });
        let a = answered.call(t, |t, q, slot| { let own = t.answers.index_of(q.label); if own < 5 { (own + 1 + slot % 3) % 10 } else { own } });
        let k = crowd::kept(a, #{ down: "style", across: "form", seed: 1 });
        let shares = k.table.map(|row| `${row.style}: ${row.share}`);
        let few = ds.take(8);
        let after = data::from(few.images() * 0.9, few.labels, #{ classes: few.classes });
        let p = people::task(after, #{ kind: "keeps_label", folder: "pairs", originals: few, gold: 0, overlap: 3, per_worker: 8, facts: #{ target: [0, 1, 0, 1, 0, 1, 0, 1] }, seed: 1 });
        let pairs = crowd::sheet(answered.call(p, |t, q, slot| 0), #{ n: 3, columns: 3 });
        #{
            table: "thin: 1.0" in shares && "thin / bold: 0.0" in shares,
            sheet: pairs.items.len() == 3 && pairs.sheet.panels == 1,
        }"#,
    );
}
