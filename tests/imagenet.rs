//! What was published for ImageNet and its like: checkpoints in the layouts of their authors, generators by style and by latent diffusion,
//! each against what its original gives of the same small weights.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::rc::Rc;

use tch::{Device, Kind};
use viva::core::{Cx, Object, Tensor};
use viva::generator::{Generator, Site};
use viva::model::weights::{self, Contents, Weights};
use viva::model::{Arch, Layer};
use viva::script::Session;
use viva::space::{Differentiable, Latent, LatentOptions};
use viva::{generator, model};

/// Float32 sums in another order, as a share of the largest number.
const TOLERANCE: f64 = 1e-4;

fn golden(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file)
}

fn tensors(file: &Path) -> Weights {
    match weights::read(&Cx::default(), file).unwrap() {
        Contents::Weights(weights) => weights,
        Contents::TorchScript { .. } => panic!("{} is TorchScript", file.display()),
    }
}

#[track_caller]
fn near(what: &str, found: &Tensor, wanted: &Tensor) {
    assert_eq!(found.size(), wanted.size(), "{what}");
    let off = (found - wanted).abs().max().double_value(&[]) / wanted.abs().max().double_value(&[]);
    println!("{what}: {off:.1e} of the largest");
    assert!(off < TOLERANCE, "{what}: off by {off}");
}

/// Tensors whose names begin so, by the rest of their names.
fn part(all: &Weights, prefix: &str) -> Vec<(String, Tensor)> {
    let of =
        |(name, tensor): (&String, &Tensor)| Some((name.strip_prefix(prefix)?.to_string(), tensor.shallow_clone()));
    all.iter().filter_map(of).collect()
}

fn run_in(folder: &Path, script: &str) -> Result<String, String> {
    let mut cx = Cx::default();
    cx.set_folder(folder.to_path_buf());
    let mut session = Session::new(Rc::new(cx));
    session.run(Path::new("script.rhai"), script).map(|v| v.summary()).map_err(|error| error.render(false))
}

fn small() -> Arch {
    let bn = Layer::batch_norm();
    Arch::Layers(Layer::named([
        ("conv1", Layer::conv_bare(4, 3, 2, 1)),
        ("bn1", bn),
        ("relu", Layer::relu()),
        ("pool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("fc", Layer::linear(5)),
    ]))
}

/// tests/golden/checkpoints.py: a network with its normaliser and its attacker, optimiser, schedule and arguments.
#[test]
fn robust_checkpoints_are_read_as_they_come() {
    let kept = tensors(&golden("checkpoints.safetensors"));
    let load = |file: &str, options: model::Options| {
        model::load(&Cx::default(), &golden(file), model::Options { arch: Some(small()), ..options })
    };
    for file in ["robustness_zip.pt", "robustness_legacy.pt"] {
        let f = load(file, model::Options::default()).unwrap();
        near(file, &f.logits(&kept["images"]).unwrap(), &kept["logits"]);
        assert!(f.cautions().is_empty());
        // What the caller says takes the place of what the file says, whole.
        let other = model::Options { mean: Some(vec![0.5]), std: Some(vec![0.5]), ..Default::default() };
        let moved = (&kept["images"] - 0.5) / 0.5;
        let plain = model::Options { mean: Some(vec![0.0]), std: Some(vec![1.0]), ..Default::default() };
        let plain = load(file, plain).unwrap().logits(&moved).unwrap();
        near("said", &load(file, other).unwrap().logits(&kept["images"]).unwrap(), &plain);
        let half = model::Options { mean: Some(vec![0.5]), ..Default::default() };
        assert!(load(file, half).map(drop).unwrap_err().hint.unwrap().contains("say both"));
    }
    let said = || model::Options {
        mean: Some(vec![0.485, 0.456, 0.406]),
        std: Some(vec![0.229, 0.224, 0.225]),
        ..Default::default()
    };
    near("fast", &load("fast_at.pth", said()).unwrap().logits(&kept["images"]).unwrap(), &kept["logits"]);
}

/// An attacker that was not saved with the model that it attacks.
#[test]
fn a_robust_checkpoint_with_two_networks_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.safetensors");
    let mut all: Vec<(String, Tensor)> = tensors(&golden("robustness_zip.pt")).into_iter().collect();
    for (name, tensor) in &mut all {
        if name == "attacker.model.fc.bias" {
            *tensor = &*tensor + 1.0;
        }
    }
    Tensor::write_safetensors(&all, &path).unwrap();
    let options = model::Options { arch: Some(small()), ..Default::default() };
    let error = model::load(&Cx::default(), &path, options).map(drop).unwrap_err();
    assert!(error.message.contains("differ in model.fc.bias"), "{error}");
}

#[test]
fn a_pickle_of_nvidia_is_refused_with_the_line_that_converts_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ffhq.pkl");
    let bytes: &[u8] =
        b"\x80\x04}\x8c\x05G_ema\x8c\x17torch_utils.persistence\x8c\x1b_reconstruct_persistent_obj\x93}\x85Rs.";
    std::fs::write(&path, bytes).unwrap();
    let options = generator::Options { arch: Some("stylegan2".into()), ..Default::default() };
    let error = generator::load(&Cx::default(), &path, &options).map(drop).unwrap_err();
    assert!(error.message.contains("torch_utils.persistence._reconstruct_persistent_obj"), "{error}");
    assert!(error.hint.unwrap().contains("[\"G_ema\"].state_dict()"));
}

/// A published network of ImageNet that is shown pixels as they are says so, and `published` knows better.
#[test]
fn published_networks_know_how_they_want_images() {
    let folder = tempfile::tempdir().unwrap();
    let layers = (model::zoo::find("squeezenet1_1").unwrap().layers)(7);
    let fresh = model::Module::fresh(&layers, [3, 64, 64], 1, Device::Cpu).unwrap();
    Tensor::write_safetensors(&fresh.state(), folder.path().join("net.safetensors")).unwrap();
    let f = |options: &str| {
        run_in(
            folder.path(),
            &format!(
                "let f = model::load(\"net.safetensors\", #{{ {options} }}); [f.cautions.len(), f.input, f.cautions]"
            ),
        )
    };
    let said = f("").unwrap();
    assert!(said.contains("[0.485, 0.456, 0.406]") && said.starts_with("[1, ()"), "{said}");
    assert_eq!(f("mean: [0]"), Ok("[0, (), []]".into()));
    assert_eq!(f("published: true"), Ok("[0, [3, 224, 224], []]".into()));
    assert_eq!(f("published: true, input: [3, 96, 96]"), Ok("[0, [3, 96, 96], []]".into()));
    let error =
        run_in(folder.path(), "model::load(\"net.safetensors\", #{ published: true, arch: \"cifar_resnet20\" })")
            .unwrap_err();
    assert!(error.contains("cifar_resnet20 is not known here"), "{error}");
}

/// As libtorch's antialiased filters, which are Pillow's.
#[test]
fn a_model_for_other_sizes_sees_what_pillow_would_show_it() {
    let layers = Layer::sequence([Layer::flatten(), Layer::linear(3)]);
    let module = model::Module::fresh(&layers, [3, 8, 6], 1, Device::Cpu).unwrap();
    let f = model::Model::of_module("f", module).unwrap();
    let images = viva::core::with_stream(1, 0, || Tensor::rand([2, 3, 21, 13], (Kind::Float, Device::Cpu)));
    for filter in [viva::data::Filter::Bilinear, viva::data::Filter::Bicubic] {
        let g = f.resized([3, 21, 13], None, filter, Device::Cpu).unwrap();
        let seen = match filter {
            viva::data::Filter::Bicubic => {
                images.internal_upsample_bicubic2d_aa([8, 6], false, None::<f64>, None::<f64>)
            }
            _ => images.internal_upsample_bilinear2d_aa([8, 6], false, None::<f64>, None::<f64>),
        };
        near(filter.name(), &g.logits(&images).unwrap(), &f.logits(&seen.clamp(0.0, 1.0)).unwrap());
        assert_eq!(g.input(), Some([3, 21, 13]));
        assert_ne!(Object::digest(&g), Object::digest(&f));
    }
    assert!(f.resized([1, 21, 13], None, viva::data::Filter::Bilinear, Device::Cpu).is_err());
}

fn stylegan2(name: &str, psi: Option<f64>) -> (Generator, Weights) {
    let kept = tensors(&golden("stylegan2.safetensors"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network.safetensors");
    Tensor::write_safetensors(&part(&kept, &format!("{name}.g.")), &path).unwrap();
    let asked = generator::zoo::Asked { psi, ..Default::default() };
    let options = generator::Options { arch: Some("stylegan2".into()), asked, ..Default::default() };
    (generator::load(&Cx::default(), &path, &options).unwrap(), kept)
}

/// tests/golden/stylegan2.py: NVIDIA's own networks, layer by layer.
#[test]
fn stylegan2_draws_as_the_original_does() {
    for (name, classes) in [("plain", None), ("labelled", Some(4))] {
        let labels = Tensor::from_slice(&[2i64, 0, 3]);
        for (psi, said) in [(None, "1"), (Some(1.0), "1"), (Some(0.7), "0.7")] {
            let (g, kept) = stylegan2(name, psi);
            assert_eq!((g.latent(), g.classes()), (10, classes));
            let activations = g.activations(&kept[&format!("{name}.z")], Some(&labels)).unwrap();
            near(&format!("{name} w {said}"), &activations[1], &kept[&format!("{name}.{said}.w")]);
            let wanted = &kept[&format!("{name}.{said}.image")];
            near(&format!("{name} image {said}"), &activations[activations.len() - 2], wanted);
            let image = activations.last().unwrap();
            near("in [0, 1]", image, &(wanted * 0.5 + 0.5).clamp(0.0, 1.0));
            if psi == Some(0.7) {
                for (stage, x) in g.stages().iter().zip(&activations[1..]).filter(|(stage, _)| stage.contains(".conv"))
                {
                    let wanted = &kept[&format!("{name}.seen.{stage}")];
                    near(&format!("{name} {stage}"), &x.narrow(1, 0, wanted.size()[1]), wanted);
                }
            }
        }
        let (g, _) = stylegan2(name, None);
        let stages = [
            "mapping",
            "b4.conv1",
            "b4.torgb",
            "b8.conv0",
            "b8.conv1",
            "b8.torgb",
            "b16.conv0",
            "b16.conv1",
            "b16.torgb",
            "image",
        ];
        assert_eq!(g.stages(), stages);
        let (half, _) = stylegan2(name, Some(0.5));
        assert_ne!(g.digest(), half.digest());
        assert_eq!(half.to(Device::Cpu).unwrap().digest(), half.digest());
    }
}

/// The points that change layers of a generator, at 0, and the latent vectors and labels that it starts from.
fn space(g: &Generator, layers: &[usize], before_activation: bool) -> Latent {
    let options = LatentOptions { layers: layers.to_vec(), before_activation, samples: Some(20), within: None };
    Latent::new(&Cx::default(), g, &options).unwrap()
}

/// A change of w changes the style of every layer behind it, and its gradient is that of the original.
#[test]
fn changes_of_styles_go_to_all_layers() {
    let name = "labelled";
    let (g, kept) = stylegan2(name, Some(0.7));
    let n = 3;
    let data = g.drawn(
        &Cx::default(),
        &g.images_of(&kept[&format!("{name}.z")], Some(&[2, 0, 3])).unwrap(),
        &kept[&format!("{name}.z")],
        vec![2, 0, 3],
    );
    let data = data.unwrap();
    let sigma = g.deviations(&Cx::default(), &[Site { layer: 1, before_activation: false }], 20).unwrap().remove(0);
    for layers in [&[1][..], &[0, 1, 3], &[1, 4, 9]] {
        let space = space(&g, layers, false);
        let base = space.base(&data, &[0, 1, 2], &data.images(&[0, 1, 2], Device::Cpu).unwrap()).unwrap();
        let still = space.start(&base).unwrap();
        let unchanged = space.draw(&base, &still).unwrap();
        near("unchanged", &unchanged, &(&kept[&format!("{name}.0.7.image")] * 0.5 + 0.5).clamp(0.0, 1.0));
        // p_1 of one, in units of sigma, is w + sigma.
        let from = if layers[0] == 0 { 10 } else { 0 };
        let points = still.copy();
        let _ = points.narrow(1, from, 12).fill_(1.0);
        let changed = space.draw(&base, &points).unwrap();
        let w = &kept[&format!("{name}.0.7.w")] + &sigma;
        let mut x = w.shallow_clone();
        for stage in 1..g.stages().len() {
            x = g.stage(stage, &x, &vec![w.shallow_clone()]).unwrap();
        }
        near("changed", &changed, &x);
    }
    // The gradient of what the original gives, before it is cut to [0, 1].
    let leaf = kept[&format!("{name}.0.7.w")].copy().set_requires_grad(true);
    let condition = vec![leaf.shallow_clone()];
    let mut x = leaf.shallow_clone();
    for stage in 1..g.stages().len() - 1 {
        x = g.stage(stage, &x, &condition).unwrap();
    }
    let weigh = Tensor::linspace(-1, 1, x.numel() as i64, (Kind::Float, Device::Cpu)).reshape(x.size());
    let found = Tensor::run_backward(&[(x * weigh).sum(Kind::Float)], &[&leaf], false, false).remove(0);
    near("gradient", &found, &kept[&format!("{name}.gradient")]);
    // In front of an activation function too.
    let space = space(&g, &[2, 4], true);
    let base = space.base(&data, &[0, 1, 2], &data.images(&[0, 1, 2], Device::Cpu).unwrap()).unwrap();
    let drawn = space.draw(&base, &space.start(&base).unwrap()).unwrap();
    near("before", &drawn, &(&kept[&format!("{name}.0.7.image")] * 0.5 + 0.5).clamp(0.0, 1.0));
    assert_eq!(drawn.size()[0], n);
}

#[test]
fn a_stylegan_makes_tests_and_is_saved() {
    let kept = tensors(&golden("stylegan2.safetensors"));
    let folder = tempfile::tempdir().unwrap();
    Tensor::write_safetensors(&part(&kept, "labelled.g."), folder.path().join("g.safetensors")).unwrap();
    let script = r#"
        let g = generator::load("g.safetensors", #{ arch: "stylegan2", psi: 0.7 });
        let f = model::train(g.sample(#{ n: 200 }), #{ arch: [net::flatten(), net::linear(4)], epochs: 20 });
        let t = generator::perturb(g, f, #{ n: 4, steps: 60, samples: 20, lr: 0.1, first_radius: 0.3, increment: 0.2, polish: 5 });
        g.save("again.safetensors");
        let again = generator::load("again.safetensors");
        let whole = generator::load("again.safetensors", #{ psi: 1.0 });
        let asked = generator::load("g.safetensors", #{ arch: "stylegan2", psi: 1.0 });
        let same = |a, b| (a.sample(#{ n: 4, seed: 1 }).images() - b.sample(#{ n: 4, seed: 1 }).images()).abs().max() == 0.0;
        [t.share > 0, again.hash == g.hash, again.layers.len(), same.call(whole, asked), same.call(again, whole), `${again}`.contains("at psi 0.7")]
    "#;
    assert_eq!(run_in(folder.path(), script), Ok("[true, true, 11, true, false, true]".into()));
}

fn autoencoder(rename: &dyn Fn(&str) -> String) -> (Generator, Weights) {
    let kept = tensors(&golden("autoencoder_kl.safetensors"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vae.safetensors");
    let all: Vec<(String, Tensor)> =
        part(&kept, "vae.").into_iter().map(|(name, tensor)| (rename(&name), tensor)).collect();
    Tensor::write_safetensors(&all, &path).unwrap();
    let asked = generator::zoo::Asked { image: Some([3, 12, 16]), ..Default::default() };
    let options = generator::Options { arch: Some("autoencoder-kl".into()), asked, ..Default::default() };
    (generator::load(&Cx::default(), &path, &options).unwrap(), kept)
}

/// The names of CompVis for those of diffusers.
fn compvis(name: &str) -> String {
    let reversed = |name: &str| name.replace("up_blocks.0.", "up.1.").replace("up_blocks.1.", "up.0.");
    let pairs = [
        ("down_blocks", "down"),
        ("mid_block.resnets.0", "mid.block_1"),
        ("mid_block.resnets.1", "mid.block_2"),
        ("mid_block.attentions.0.group_norm", "mid.attn_1.norm"),
        ("mid_block.attentions.0.to_out.0", "mid.attn_1.proj_out"),
        ("mid_block.attentions.0.to_", "mid.attn_1."),
        ("resnets", "block"),
        ("conv_shortcut", "nin_shortcut"),
        ("upsamplers.0", "upsample"),
        ("downsamplers.0", "downsample"),
        ("conv_norm_out", "norm_out"),
    ];
    let name = pairs.iter().fold(reversed(name), |name, (theirs, ours)| name.replace(theirs, ours));
    format!("first_stage_model.{name}")
}

/// tests/golden/autoencoder_kl.py: diffusers' own network, block by block.
#[test]
fn a_latent_diffusion_decoder_draws_as_the_original_does() {
    for rename in [&|name: &str| name.to_string() as String, &compvis] as [&dyn Fn(&str) -> String; 2] {
        let (g, kept) = autoencoder(rename);
        let latents = kept["latents"].reshape([2, -1]);
        let activations = g.activations(&latents, None).unwrap();
        for (stage, x) in g.stages().iter().zip(&activations[1..]).filter(|(stage, _)| *stage != "image") {
            let mean = x.mean_dim([2i64, 3].as_slice(), false, Kind::Float);
            near(stage, &mean, &kept[&format!("seen.{stage}.mean")]);
            near(stage, &x.std_dim([2i64, 3].as_slice(), true, false), &kept[&format!("seen.{stage}.std")]);
        }
        near("image", activations.last().unwrap(), &(&kept["image"] / 2.0 + 0.5).clamp(0.0, 1.0));
        let encoded = g.network().encode(&kept["images"]).unwrap().unwrap();
        near("encoded", &encoded, &kept["encoded"].reshape([2, -1]));
    }
}

/// A decoder without its encoder, told what to draw by a file as a diffusion model's pipeline would have saved it.
#[test]
fn a_decoder_draws_what_latents_of_a_file_say() {
    let kept = tensors(&golden("autoencoder_kl.safetensors"));
    let folder = tempfile::tempdir().unwrap();
    Tensor::write_safetensors(&part(&kept, "vae."), folder.path().join("vae.safetensors")).unwrap();
    let write = |name: &str, latents: &Tensor, labels: &Tensor| {
        Tensor::write_safetensors(&[("latents", latents), ("labels", labels)], folder.path().join(name)).unwrap();
    };
    let (latents, labels) = (&kept["latents"], Tensor::from_slice(&[1i64, 0]));
    write("drawn.safetensors", latents, &labels);
    write("scaled.safetensors", &(latents * 0.25).to_kind(Kind::Half), &labels);
    write("narrow.safetensors", &latents.narrow(1, 0, 1).contiguous(), &labels);
    write("short.safetensors", latents, &Tensor::from_slice(&[1i64]));
    write("halves.safetensors", latents, &Tensor::from_slice(&[1.0f32, 0.0]));
    write("endless.safetensors", &(latents / 0.0), &labels);
    let go = |line: &str| {
        run_in(
            folder.path(),
            &format!(
                "let g = generator::load(\"vae.safetensors\", #{{ arch: \"autoencoder-kl\", shape: [3, 12, 16] }});\n{line}"
            ),
        )
    };
    let near = r#"
        let h = g.read_latents("drawn.safetensors", ["slug", "cat"]);
        let scaled = g.read_latents("scaled.safetensors", ["slug", "cat"], #{ scaling_factor: 0.25 });
        let s = h.sample(#{ n: 2, seed: 2 });
        let off = (s.images() - scaled.sample(#{ n: 2, seed: 2 }).images()).abs().max();
        [s.labels.sum(), s.classes, h.hash != g.hash, h.hash != scaled.hash, off < 0.01]
    "#;
    assert_eq!(go(near), Ok("[1.0, [slug, cat], true, true, true]".into()));
    // The first latent is labelled 1, the second 0.
    let drawn = go(r#"
        let s = g.read_latents("drawn.safetensors", ["slug", "cat"]).sample(#{ n: 2 });
        [s[0].label, s[0].image.mean(), s[1].label, s[1].image.mean()]
    "#);
    let wanted = (&kept["image"] / 2.0 + 0.5).clamp(0.0, 1.0);
    let said: Vec<f64> = drawn.unwrap().trim_matches(['[', ']']).split(", ").map(|x| x.parse().unwrap()).collect();
    let means = [1, 0].map(|image| wanted.get(image).mean(Kind::Double).double_value(&[]));
    // By ten times what is allowed below.
    assert!((means[0] - means[1]).abs() > 1e-3, "the images can be told apart by their means: {means:?}");
    for pair in said.chunks(2) {
        let mean = means[pair[0] as usize];
        assert!((pair[1] - mean).abs() < 1e-4, "{said:?} for {means:?}");
    }
    for (file, words) in [
        ("narrow", "draws of"),
        ("short", "2 whole numbers"),
        ("halves", "2 whole numbers"),
        ("endless", "not finite"),
        ("vae", "no tensor `latents`"),
    ] {
        let error = go(&format!("g.read_latents(\"{file}.safetensors\", [\"slug\", \"cat\"])")).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    assert!(go("g.read_latents(\"drawn.safetensors\", [\"slug\"])").unwrap_err().contains("label 1"));
}

/// Of normal vectors it draws nothing: it is told what to draw by images, whose labels its tests keep.
#[test]
fn a_decoder_draws_the_images_that_it_is_given() {
    let kept = tensors(&golden("autoencoder_kl.safetensors"));
    let folder = tempfile::tempdir().unwrap();
    Tensor::write_safetensors(&part(&kept, "vae."), folder.path().join("vae.safetensors")).unwrap();
    let begin = r#"
        let g = generator::load("vae.safetensors", #{ arch: "autoencoder-kl", shape: [3, 16, 16] });
        let x = tensor::uniform([30, 3, 16, 16], #{ seed: 3 });
        let labels = [];
        for i in 0..30 { labels.push(i % 3); }
        let ds = data::from(x, labels, #{ classes: ["cat", "dog", "slug"] });
        let h = g.encode(ds);
    "#;
    let go = |line: &str| run_in(folder.path(), &format!("{begin}{line}"));
    for line in ["g.sample(#{ n: 2 })", "space::latent(g, #{ layers: 0..2 }); g.sample(#{ n: 2 })"] {
        assert!(go(line).unwrap_err().contains("g.encode(ds)"), "{line}");
    }
    let near_again = r#"
        let s = h.sample(#{ n: 30, seed: 2 });
        let z = space::latent(h, #{ layers: 0..3, samples: 1000 });
        [s.labels.sum(), s.classes, h.hash != g.hash, g.encode(ds).hash == h.hash]
    "#;
    assert_eq!(go(near_again), Ok("[30.0, [cat, dog, slug], true, true]".into()));
    assert!(go("h.sample(#{ n: 31 })").unwrap_err().contains("30 images were encoded"));
    assert!(go("g.encode(data::glyphs(#{ n: 2 }))").unwrap_err().contains("[3, 16, 16]"));
    let perturbed = r#"
        let f = model::train(h.sample(#{ n: 30 }), #{ arch: [net::flatten(), net::linear(3)], epochs: 200, lr: 0.01 });
        let t = generator::perturb(h, f, #{ n: 20, steps: 100, samples: 30, lr: 0.1, first_radius: 1, increment: 0.5, polish: 0, layers: 0..4 });
        let c = model::train(ds, #{ arch: [net::flatten(), net::linear(3)], epochs: 200, lr: 0.01, seed: 5 });
        let found = generator::latent_search(h, f, #{ n: 1, labels: [1], auxiliary: c, steps: 2, draws: 50 });
        let kinds = t.transcript.column("label");
        [t.share > 0, kinds.len() == 20, t.originals[0].class in ["cat", "dog", "slug"]]
    "#;
    let said = go(perturbed);
    match said {
        Ok(said) => assert_eq!(said, "[true, true, true]"),
        Err(error) => assert!(error.contains("of 10 starts gave a test"), "{error}"),
    }
}

/// tests/golden/stylegan3.py: NVIDIA's own networks, layer by layer, without labels (T) and with (R).
#[test]
fn stylegan3_draws_as_the_original_does() {
    let kept = tensors(&golden("stylegan3.safetensors"));
    let labels = Tensor::from_slice(&[2i64, 0]);
    for (name, classes) in [("t", None), ("r", Some(3))] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.safetensors");
        Tensor::write_safetensors(&part(&kept, &format!("{name}.g.")), &path).unwrap();
        let asked = generator::zoo::Asked { psi: Some(0.7), ..Default::default() };
        let options = generator::Options { arch: Some("stylegan3".into()), asked, ..Default::default() };
        let g = generator::load(&Cx::default(), &path, &options).unwrap();
        assert_eq!((g.latent(), g.classes()), (10, classes));
        let activations = g.activations(&kept[&format!("{name}.z")], Some(&labels)).unwrap();
        near("w", &activations[1], &kept[&format!("{name}.w")]);
        let stages = g.stages();
        for (stage, x) in stages.iter().zip(&activations[1..]) {
            // The last layer's is made smaller behind it.
            let Some(wanted) = kept.get(&format!("{name}.seen.{stage}.mean")).filter(|_| !stage.ends_with("_3")) else {
                continue;
            };
            near(&format!("{name} {stage}"), &x.mean_dim([2i64, 3].as_slice(), false, Kind::Float), wanted);
            near(stage, &x.std_dim([2i64, 3].as_slice(), true, false), &kept[&format!("{name}.seen.{stage}.std")]);
        }
        let wanted = &kept[&format!("{name}.image")];
        near(name, &activations[activations.len() - 2], wanted);
        near("in [0, 1]", activations.last().unwrap(), &(wanted * 0.5 + 0.5).clamp(0.0, 1.0));
        // What perturbs it sees all of it, w included.
        let space = space(&g, &[1, 3], false);
        assert_eq!(space.numbers() as i64, 12 + g.shapes().unwrap()[3].iter().product::<i64>());
    }
}
