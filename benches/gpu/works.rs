//! What is measured: each work as a script that viva runs, and the sizes that `gpu.py` does the same work at.

use std::path::Path;

use serde_json::{Value as Json, json};

/// One work, in viva's words and for the peer.
pub struct Work {
    pub name: String,
    pub unit: &'static str,
    /// How many of them one run does.
    pub items: f64,
    /// Done once.
    pub setup: String,
    /// What is measured.
    pub once: String,
    /// The same sort of work scored in bfloat16, and in float32 again where that decides; it tells how many items it did, and how many
    /// of them twice.
    pub low: Option<String>,
    /// A tensor that the peer works out as well from the same files.
    pub tells: Option<&'static str>,
    /// A tensor that the peer reads: its expression, and the file.
    pub given: Option<(&'static str, String)>,
    pub peer: Json,
    /// Whether it begins with a file that the peer makes.
    pub needs_peer: bool,
}

/// All works, small enough for a CPU or large enough for a GPU. Files lie in a folder, which is the scripts' own.
pub fn all(folder: &Path, small: bool) -> Vec<Work> {
    let sweeps: &[(&str, i64)] =
        if small { &[("resnet18", 1)] } else { &[("resnet50", 6), ("vgg16", 3), ("vit_b_16", 3)] };
    // What takes least comes first, so that there is most to see where the time is short.
    let mut works =
        vec![curve_of_digits(folder, small), latent(small), training(small), finetuning(small), biggan(folder, small)];
    works.extend(sweeps.iter().map(|(arch, n)| sweep(folder, arch, *n, small)));
    if !small {
        works.push(curve_of_photographs(folder));
    }
    works
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Of the sweeps in bfloat16, which many images make worth their margin.
const LOW_RADIUS: i64 = 5;

/// A network of a thousand classes as it is before it learns, and pictures that it takes for what they are labelled as.
fn network(arch: &str, n: i64, crop: i64, margin: i64) -> String {
    let drawn = |n: i64, margin: i64| {
        format!(
            "data::glyphs(#{{ n: {n}, size: {crop}, channels: 3, position: \"centred\", margin: {margin}, seed: 1 }})"
        )
    };
    let (drawn, many) = (drawn(n, margin), drawn(if crop > 64 { 64 } else { 2 }, 3 * LOW_RADIUS));
    format!(
        "let names = []; for i in 0..1000 {{ names.push(`class ${{i}}`); }}
         let blank = data::from(tensor::uniform([2, 3, {crop}, {crop}]), [0, 1], #{{ classes: names }});
         let f = model::train(blank, #{{ arch: \"{arch}\", epochs: 1, batch: 2, optimiser: \"sgd\", lr: 0.0001, seed: 1 }});
         f.save(\"{arch}.safetensors\");
         let known = |drawn| {{
             let said = f.predict(drawn).to(\"cpu\").values();
             drawn.relabel(|row| said[row.index])
         }};
         let ds = known.call({drawn});
         let many = known.call({many});"
    )
}

/// Every crop of every image: 441 of them, or 9.
fn sweep(folder: &Path, arch: &str, n: i64, small: bool) -> Work {
    let (crop, radius) = if small { (64, 1) } else { (224, 10) };
    let crops = (2 * radius + 1) * (2 * radius + 1);
    let (weights, images) = (path(folder, &format!("{arch}.safetensors")), path(folder, "canvases"));
    Work {
        name: format!("sweep, {arch}, {crops} crops of {crop} x {crop}"),
        unit: "images",
        items: (n * crops) as f64,
        setup: network(arch, n, crop, radius),
        once: format!("examine(f, ds, #{{ space: space::translate({radius}), search: search::strongest() }})"),
        low: Some(format!(
            "let low = risk::estimate(f, many, #{{ radius: {LOW_RADIUS}, search: search::strongest(), precision: \"bfloat16\" }});
             [low.scored, low.guarded.again + low.guarded.checked]"
        )),
        tells: Some("f.logits(ds)"),
        given: Some(("ds", images.clone())),
        peer: json!({ "work": "sweep", "arch": arch, "weights": weights, "images": images, "n": n, "channels": 3,
                      "crop": crop, "side": crop + 2 * radius }),
        needs_peer: false,
    }
}

/// A tolerance curve: every step of BIM is a point of it.
fn curve(steps: i64) -> String {
    format!(
        "tolerance::measure(f, ds, #{{ space: space::pixels(\"linf\"), search: search::bim(#{{ steps: {steps}, step: 0.01 }}) }})"
    )
}

const DIGITS: &str = "position: \"centred\", margin: 0, polarity: \"light\", seed: 1";

/// The small network of `attacks.rs` and `latent.rs`.
const LENET: &str = "[net::conv(32, 3, #{ pad: 1 }), net::relu(), net::max_pool(2), net::conv(64, 3, #{ pad: 1 }), net::relu(), \
    net::max_pool(2), net::flatten(), net::linear(200), net::relu(), net::linear(10)]";

fn lenet(n: i64) -> String {
    format!(
        "let ds = data::glyphs(#{{ n: {n}, size: 28, {DIGITS} }});
         let f = model::train(ds, #{{ arch: {LENET}, epochs: 2, seed: 1 }});
         f.save(\"lenet.safetensors\");"
    )
}

fn curve_of_digits(folder: &Path, small: bool) -> Work {
    let (n, steps) = if small { (32, 4) } else { (2048, 40) };
    let images = path(folder, "canvases");
    Work {
        name: format!("tolerance curve, small network, 28 x 28, {steps} steps"),
        unit: "images x steps",
        items: (n * steps) as f64,
        setup: lenet(n),
        once: curve(steps),
        low: None,
        tells: Some("f.logits(ds)"),
        given: Some(("ds", images.clone())),
        peer: json!({ "work": "curve", "arch": "lenet", "weights": path(folder, "lenet.safetensors"), "images": images,
                      "n": n, "channels": 1, "side": 28, "crop": 28, "steps": steps, "step": 0.01 }),
        needs_peer: false,
    }
}

fn curve_of_photographs(folder: &Path) -> Work {
    let (n, steps) = (64, 40);
    let images = path(folder, "canvases");
    Work {
        name: format!("tolerance curve, resnet50, 224 x 224, {steps} steps"),
        unit: "images x steps",
        items: (n * steps) as f64,
        setup: network("resnet50", n, 224, 0),
        once: curve(steps),
        low: None,
        tells: Some("f.logits(ds)"),
        given: Some(("ds", images.clone())),
        peer: json!({ "work": "curve", "arch": "resnet50", "weights": path(folder, "resnet50.safetensors"), "images": images,
                      "n": n, "channels": 3, "side": 224, "crop": 224, "steps": steps, "step": 0.01 }),
        needs_peer: false,
    }
}

/// An epoch of a small classifier with batch norm.
fn training(small: bool) -> Work {
    let (n, batch) = if small { (100, 20) } else { (12_800, 64) };
    let layers = LENET.replace("net::relu(), net::max_pool", "net::batch_norm(), net::relu(), net::max_pool");
    Work {
        name: format!("training of a small classifier, 28 x 28, batch {batch}"),
        unit: "images",
        items: n as f64,
        setup: format!(
            "let ds = data::glyphs(#{{ n: {n}, size: 28, {DIGITS} }}); let set = data::from(ds.images(), ds.labels);"
        ),
        once: format!("model::train(set, #{{ arch: {layers}, epochs: 1, batch: {batch}, seed: 1 }})"),
        low: None,
        tells: None,
        given: None,
        peer: json!({ "work": "train", "n": n, "batch": batch }),
        needs_peer: false,
    }
}

/// Steps of a generator and its discriminator, with both objectives at every step.
fn finetuning(small: bool) -> Work {
    let (n, batch, steps) = if small { (100, 8, 3) } else { (6000, 64, 300) };
    Work {
        name: format!("finetuning of a generator, 28 x 28, batch {batch}"),
        unit: "images",
        items: (batch * steps) as f64,
        // As tensors, so that drawing them is not measured.
        setup: format!(
            "{} let set = data::from(ds.images(), ds.labels);
             let g = generator::train(set, #{{ steps: 2, batch: {batch}, seed: 1 }});",
            lenet(n)
        ),
        once: format!(
            "generator::finetune(g, f, set, #{{ steps: {steps}, batch: {batch}, rate: 1, note: 1000000, seed: 1 }})"
        ),
        low: None,
        tells: None,
        given: None,
        peer: json!({ "work": "finetune", "n": n, "batch": batch, "steps": steps }),
        needs_peer: false,
    }
}

/// Steps of Adam on the activations of a generator; a lead that can't be reached keeps all seeds going to the end.
fn latent(small: bool) -> Work {
    let (batch, steps) = if small { (8, 5) } else { (256, 100) };
    Work {
        name: format!("latent search, 28 x 28, batch {batch}"),
        unit: "seeds x steps",
        items: (batch * steps) as f64,
        setup: format!(
            "{} let g = generator::train(ds, #{{ steps: 5, batch: 8, seed: 1 }});
             let drawn = g.sample(#{{ n: 40 * {batch}, seed: 1 }});
             let said = f.predict(drawn).to(\"cpu\").values();
             let labels = drawn.labels;
             let right = [];
             for i in 0..drawn.len() {{ if said[i] == labels[i] && right.len() < {batch} {{ right.push(i); }} }}
             if right.len() < {batch} {{ throw \"too few seeds that the classifier reads rightly\"; }}
             let seeds = drawn.select(right);
             let by = search::adam(#{{ lr: 0.004, steps: {steps}, first_radius: 0.1, increment: 0.001 }});",
            lenet(100)
        ),
        once: format!(
            "examine(f, seeds, #{{ space: space::latent(g, #{{ layers: [1, 2, 3, 4] }}), search: by, batch: {batch}, \
             objective: objective::shift(1).confident(1000000.0) }})"
        ),
        low: None,
        tells: None,
        given: None,
        peer: json!({ "work": "latent", "batch": batch, "steps": steps }),
        needs_peer: false,
    }
}

/// Images of BigGAN-deep with random weights.
fn biggan(folder: &Path, small: bool) -> Work {
    let (side, width, n, classes) = if small { (128, 4, 2, 10) } else { (256, 128, 128, 1000) };
    let (weights, latents, batch) = (path(folder, "biggan.pth"), path(folder, "latents"), n.min(32));
    Work {
        name: format!("BigGAN-deep, {side} x {side}"),
        unit: "images",
        items: n as f64,
        setup: format!(
            "let g = generator::load(\"{weights}\", #{{ arch: \"biggan-deep-{side}\" }});
             let z = tensor::normal([4, 128]) * 0.3;"
        ),
        once: format!("g.sample(#{{ n: {n}, seed: 1 }})"),
        low: None,
        tells: Some("g.images(z)"),
        given: Some(("z", latents.clone())),
        peer: json!({ "work": "biggan", "weights": weights, "latents": latents, "side": side, "width": width, "latent": 128,
                      "classes": classes, "n": n, "batch": batch }),
        needs_peer: true,
    }
}
