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

/// Of more images than a file keeps the smallest numbers tell how many of others are among them.
#[test]
fn a_saved_model_knows_what_it_learned_from() {
    truths(&format!(
        r#"{LEARNED}
        f.save("f.safetensors");
        let many = data::glyphs(#{{ n: 70000, size: 16, seed: 3 }});
        let wide = model::train(many, #{{ arch: arch, epochs: 1, batch: 500, seed: 1 }});
        wide.save("wide.safetensors");
        let loaded = model::load("wide.safetensors");
        let onwards = model::train(data::glyphs(#{{ n: 50, size: 16, seed: 4 }}), #{{ from: loaded, epochs: 1, seed: 1 }});
        let other = data::glyphs(#{{ n: 500, size: 16, seed: 5 }});
        let half = moved.call(loaded, many.take(500).join(other)).cautions.filter(|said| said.contains(by_heart));
        #{{
            small: told.call(moved.call(model::load("f.safetensors"), train), "learned from 200 of the 200 images"),
            fresh: !told.call(moved.call(model::load("f.safetensors"), fresh), by_heart),
            whole: told.call(moved.call(wide, many.take(500)), "learned from 500 of the 500"),
            about: told.call(moved.call(loaded, many.take(500)), "learned from about 500 of the 500"),
            half: half.len() == 1 && half[0].split("about ")[1].split(" ")[0].parse_int() > 350 && half[0].split("about ")[1].split(" ")[0].parse_int() < 650,
            none: !told.call(moved.call(loaded, other), by_heart),
            onwards: told.call(moved.call(onwards, many.take(500)), "learned from about 500 of the 500"),
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
        let copies = "is no second model: of the 2 curves 1";
        #{{
            twice: told.call(tolerance::summary(#{{ linear: [one, one] }})[0], copies),
            two: !told.call(tolerance::summary(#{{ linear: [one, two] }})[0], "no second model"),
        }}"#
    ));
}

/// Images that are drawn do not depend on how many are, and views are of objects.
#[test]
fn drawn_images_and_objects_are_known_again() {
    truths(&format!(
        r#"{LEARNED}
        let more = data::glyphs(#{{ n: 900, size: 16, seed: 1 }});
        let others = data::glyphs(#{{ n: 900, size: 16, seed: 2 }});
        let objects = data::objects(["mug", "lamp"], #{{ n: 6, size: 16, seed: 1 }});
        let taught = model::train(data::views(objects, #{{ n: 3, seed: 1 }}), #{{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 }});
        let noisy = |f, ds| examine(f, ds, #{{ space: space::noise(0.1), search: search::random(#{{ questions: 1 }}), seed: 1 }});
        let scenic = model::train(data::scenes(#{{ n: 40, seed: 3 }}), #{{ arch: [net::flatten(), net::linear(8)], epochs: 1, seed: 1 }});
        let viewed = |ds| examine(taught, ds, #{{ space: space::render(), search: search::random(#{{ questions: 2 }}), seed: 1 }});
        #{{
            of_more: told.call(moved.call(f, more.take(100)), "learned from 100 of the 100"), of_others: !told.call(moved.call(f, others), by_heart),
            objects: told.call(viewed.call(objects), "learned from views of the objects that 100% of the images of objects show"),
            other_views: told.call(viewed.call(objects), by_heart) && told.call(noisy.call(taught, data::views(objects, #{{ n: 2, seed: 7 }})), "learned from views of the objects that 100% of the images"),
            scenes: told.call(noisy.call(scenic, data::scenes(#{{ n: 90, seed: 3 }}).take(20)), "learned from 20 of the 20"),
            other_objects: !told.call(viewed.call(data::objects(["mug", "lamp"], #{{ n: 6, size: 16, seed: 2 }})), by_heart),
        }}"#
    ));
}

/// What a training says of itself stays with the file that keeps the model.
#[test]
fn a_saved_model_says_what_its_training_came_to() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        let arch = [net::flatten(), net::linear(10)];
        let well = model::train(ds, #{ arch: arch, epochs: 20, lr: 0.01, seed: 1 });
        let bad = model::train(ds, #{ arch: arch, epochs: 2, lr: 1000.0, seed: 1 });
        let other = data::from(1 - ds.images(), ds.labels, #{ classes: ds.classes });
        let taught = model::train(other, #{ from: well, epochs: 1, lr: 0.0, seed: 1 });
        bad.save("bad.safetensors");
        taught.save("taught.safetensors");
        let told = |f, ds, said| examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0], seed: 1 }).cautions.some(|it| it.contains(said));
        let of_other = |f| told.call(f, other, "as they are labelled, and");
        let again = model::load("bad.safetensors");
        #{
            bad: told.call(bad, ds, "the training of trained did not converge") && told.call(again, ds, "the training of bad did not converge"),
            well: !told.call(well, ds, "did not converge"),
            kept: again.losses == bad.losses,
            read: of_other.call(well) && !of_other.call(taught) && !of_other.call(model::load("taught.safetensors")),
        }"#,
    );
    // A number says nothing of its own.
    let told = super::warnings(
        r#"
        let ds = data::glyphs(#{ n: 60, size: 16, position: "centred", margin: 0, seed: 1 });
        model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, lr: 1000.0, seed: 1 }).accuracy(ds)"#,
    );
    assert!(told.iter().any(|told| told.contains("the training of trained did not converge")), "{told:?}");
}
