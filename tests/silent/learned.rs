//! Models that were trained in the same run on the images that they are asked about.

use super::truths;

const LEARNED: &str = r#"
    let all = data::glyphs(#{ n: 400, size: 16, seed: 1 });
    let train = all.take(200);
    let fresh = all.select(200..400);
    let arch = [net::flatten(), net::linear(10)];
    let f = model::train(train, #{ arch: arch, epochs: 5, seed: 1 });
    let moved = |f, ds| examine(f, ds, #{ space: space::flip(), search: search::random(#{ questions: 2 }), seed: 1 });
    let told = |result, words| result.cautions.some(|said| said.contains(words));
    let by_heart = "what is found on them need not hold on images that it has not seen";
"#;

#[test]
fn images_that_a_model_learned_from_are_told() {
    truths(&format!(
        r#"{LEARNED}
        let mixed = all.select(150..250);
        let again = data::glyphs(#{{ n: 400, size: 16, seed: 1 }}).take(100);
        let more = model::train(fresh, #{{ from: f, epochs: 1, seed: 2 }});
        let stored = data::from(train.images(), train.labels);
        let g = model::train(stored, #{{ arch: arch, epochs: 1, seed: 3 }});
        #{{
            all: told.call(moved.call(f, train), "trained learned from 200 of the 200 images"),
            part: told.call(moved.call(f, mixed), "learned from 50 of the 100 images"),
            fresh: !told.call(moved.call(f, fresh), by_heart),
            loaded_again: told.call(moved.call(f, again), "learned from 100 of the 100"),
            prepared: told.call(moved.call(f, train.centre()), by_heart),
            joined: told.call(moved.call(f, fresh.join(train)), "learned from 200 of the 400"),
            few: !told.call(moved.call(f, fresh.take(199).join(train.take(1))), by_heart),
            trained_on: told.call(moved.call(more, all), "learned from 400 of the 400"),
            pixels: told.call(moved.call(g, data::from(train.take(50).images(), train.take(50).labels)), "learned from 50 of the 50"),
            wrapped: told.call(moved.call(f.smoothed(#{{ sigma: 0.1, draws: 2, seed: 1 }}), train), by_heart),
            estimate: told.call(risk::estimate(f, train, #{{ space: space::translate(1) }}), by_heart),
            curve: told.call(tolerance::measure(f, train, #{{ space: space::noise(), levels: [1.0] }}), by_heart),
            certified: told.call(robustness::certify(f, train.take(4), #{{ sigma: 0.1, seed: 1 }}), by_heart),
        }}"#
    ));
}

#[test]
fn one_curve_given_twice_is_no_second_model() {
    truths(&format!(
        r#"{LEARNED}
        let curve = |f| tolerance::measure(f, fresh, #{{ space: space::noise(), levels: [0.1, 1, 10], seed: 1 }});
        let other = model::train(train, #{{ arch: arch, epochs: 5, seed: 2 }});
        let one = curve.call(f);
        let two = curve.call(other);
        let copies = "1 of the 2 curves are copies of others";
        #{{
            twice: told.call(tolerance::summary(#{{ linear: [one, one] }})[0], copies),
            two: !told.call(tolerance::summary(#{{ linear: [one, two] }})[0], "copies of others"),
        }}"#
    ));
}
