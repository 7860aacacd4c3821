//! Which command makes which numbered table and figure of chapters 4 to 7 and of Appendix C of Dunn 2022, and what is absent.

use super::figure;
use super::prose::{Links, inline};
use crate::core::{Error, Result};
use maud::{Markup, html};

/// What makes it.
pub enum Maker {
    /// A script, its arguments, and what its result calls it.
    Script(&'static str, &'static str, &'static str),
    /// Other means, as code between back quotes and words.
    Means(&'static str),
    /// Nothing, because of this.
    Absent(&'static str),
}

/// A numbered table or figure.
pub struct Numbered {
    /// `Figure 4.7`
    pub number: &'static str,
    pub shows: &'static str,
    pub by: Maker,
    /// How it differs here; empty where it does not.
    pub here: &'static str,
}

const fn of(number: &'static str, shows: &'static str, by: Maker, here: &'static str) -> Numbered {
    Numbered { number, shows, by, here }
}

use Maker::{Absent, Means, Script};

/// What finetunes ImageNet's generator, and what it takes.
const FINETUNED: &str = "--generator G_ema.pth --discriminator D.pth --model resnet50.pth --data train";
const WITH_KEEPERS: &str = "with keepers, further classifiers that the generator learns to be read by, and kappa = -1; the thesis has none, and kappa = 0";
const NO_WEIGHTS: &str = "absent here are the published weights of BigGAN and its discriminator, of the classifier, and ImageNet's images, none of which come with viva: with them this command makes it";

/// What tests ImageNet's classifiers.
const PUBLISHED: &str = "--data none --generator biggan-deep-512.bin --generator_arch biggan-deep-512 --model tf_efficientnet_b4_ns.pth,resnet50.pth,imagenet_l2_3_0.pt,imagenet_model_weights_4px.pth";
const ON_OTHER_DATA: &str = "absent here are the published weights of BigGAN-deep-512 and of the classifiers of ImageNet, which don't come with viva: with them this command makes it, judged by networks (`--judges`) where people are not asked; without arguments it runs on glyphs";

/// In the thesis's order.
pub static NUMBERED: &[Numbered] = &[
    of(
        "Figure 4.1",
        "how the gradients of the two objectives stand to each other",
        Script("testgen/ablations.rhai", "", "angles"),
        "",
    ),
    of("Figure 4.2", "images of the training data", Means("`plot::images(data::load(\"mnist\"))`"), ""),
    of(
        "Figure 4.3",
        "images of the pretrained generator",
        Script("testgen/quality.rhai", "", "sheet"),
        "the first row, before finetuning",
    ),
    of(
        "Figure 4.4",
        "a test for every label and target, of a plain classifier",
        Script("testgen/pairs.rhai", "", "figure_4_4"),
        WITH_KEEPERS,
    ),
    of(
        "Figure 4.5",
        "a test for every label and target, of a robust classifier",
        Script("testgen/pairs.rhai", "--robust 0.1", "figure_4_4"),
        WITH_KEEPERS,
    ),
    of(
        "Table 4.1",
        "the classifiers under test",
        Means("`std/zoo` has the networks and says where their weights come from"),
        "other published classifiers",
    ),
    of(
        "Figure 4.6",
        "the page on which people label",
        Means("`people::task` of the kind \"label\", then `viva label`"),
        "wording of its own",
    ),
    of(
        "Figure 4.7",
        "how many judgements see the intended label",
        Script("people/study.rhai", "--asked RUN", "figure_4_7"),
        "with intervals for other people and other tests",
    ),
    of(
        "Table 4.2",
        "how near the most convincing tests come to training images",
        Script("testgen/nearest.rhai", "", "table_4_2"),
        "chosen by networks, not by hand",
    ),
    of("Table 4.3", "those tests", Script("testgen/nearest.rhai", "", "table_4_3"), ""),
    of(
        "Table 4.4",
        "tests of each classifier at the others",
        Script("testgen/transfer.rhai", "", "table_4_4"),
        "with the share of tests that keep their label; with keepers, which lessen how many transfer (`--alone true`: without)",
    ),
    of("Figure 4.8", "online adversarial training", Script("testgen/online.rhai", "", "figure_4_8"), WITH_KEEPERS),
    of("Figure 4.9", "offline adversarial training", Script("testgen/offline.rhai", "", "figure_4_9"), WITH_KEEPERS),
    of(
        "Figure 4.10",
        "adversarial training against latent search",
        Script("testgen/latent.rhai", "", "figure_4_10"),
        "in the thesis's single steps as `single_steps`, and in rounds, as for finetuned generators",
    ),
    of(
        "Figure 4.11",
        "the pages on which people find the made picture",
        Means("`people::task` of the kinds \"odd_one_out\" and \"pair\", then `viva label`"),
        "",
    ),
    of(
        "Figure 4.12",
        "how often the test is not found among ten",
        Script("people/study.rhai", "--asked RUN", "figure_4_12"),
        "with intervals, and d' beside it",
    ),
    of(
        "Figure 4.13",
        "how often the test is not found among two",
        Script("people/study.rhai", "--asked RUN", "figure_4_13"),
        "with intervals, and d' beside it",
    ),
    of(
        "Figure 4.14",
        "as 4.7, of a generator that was not finetuned",
        Script("people/study.rhai", "--rate 0, then --asked RUN", "figure_4_7"),
        "the generator learns on without the attack",
    ),
    of(
        "Figure 4.15",
        "as 4.12, of a generator that was not finetuned",
        Script("people/study.rhai", "--rate 0, then --asked RUN", "figure_4_12"),
        "the generator learns on without the attack",
    ),
    of(
        "Figure 4.16",
        "as 4.13, of a generator that was not finetuned",
        Script("people/study.rhai", "--rate 0, then --asked RUN", "figure_4_13"),
        "the generator learns on without the attack",
    ),
    of(
        "Figure 4.17",
        "the same latent vectors while a generator is finetuned",
        Script("testgen/finetuning.rhai", "", "on the way, mu"),
        WITH_KEEPERS,
    ),
    of("Figure 4.18", "finetuning without pretraining", Script("testgen/ablations.rhai", "", "table"), ""),
    of("Figure 4.19", "other rates mu", Script("testgen/finetuning.rhai", "", "figure mu"), WITH_KEEPERS),
    of("Figure 4.20", "the plain sum of the losses", Script("testgen/ablations.rhai", "", "sheet"), ""),
    of(
        "Figure 4.21",
        "tests of ImageNet, chosen by hand",
        Script("testgen/imagenet_finetuning.rhai", FINETUNED, "sheet"),
        NO_WEIGHTS,
    ),
    of(
        "Figure 4.22",
        "tests of ImageNet as \"tabby cat\"",
        Script("testgen/imagenet_finetuning.rhai", FINETUNED, "sheets"),
        NO_WEIGHTS,
    ),
    of(
        "Figure 4.23",
        "tests of ImageNet as \"slug\"",
        Script("testgen/imagenet_finetuning.rhai", FINETUNED, "sheets"),
        NO_WEIGHTS,
    ),
    of(
        "Figure 4.24",
        "tests of ImageNet as \"orange\"",
        Script("testgen/imagenet_finetuning.rhai", FINETUNED, "sheets"),
        NO_WEIGHTS,
    ),
    of(
        "Figure 4.25",
        "tests of ImageNet as \"church\"",
        Script("testgen/imagenet_finetuning.rhai", FINETUNED, "sheets"),
        NO_WEIGHTS,
    ),
    of(
        "Figure 4.26",
        "that generator some steps on",
        Script("testgen/imagenet_finetuning.rhai", FINETUNED, "looks"),
        NO_WEIGHTS,
    ),
    of(
        "Figure 5.1",
        "how activations are perturbed: a drawing",
        Means("the page of `generator::perturb` says it in words"),
        "",
    ),
    of(
        "Figure 5.2",
        "where perturbations are added: a drawing",
        Means("the page of `space::latent` says it in words"),
        "",
    ),
    of(
        "Table 5.1",
        "the layers of BigGAN-deep",
        Means("`generator::load` of a file with `arch: \"biggan-deep-512\"` prints them"),
        "",
    ),
    of("Table 5.2", "accuracies of plain classifiers of ImageNet", Absent("numbers of others' papers"), ""),
    of("Table 5.3", "accuracies of robust classifiers of ImageNet", Absent("numbers of others' papers"), ""),
    of(
        "Figure 5.3",
        "the page on which people judge seeds and tests",
        Means("`people::task` of the kind \"keeps_label\", then `viva label`"),
        "",
    ),
    of(
        "Table 5.4",
        "how many tests keep their label, by classifier and layers",
        Script("testgen/activations.rhai", PUBLISHED, "table_5_4"),
        ON_OTHER_DATA,
    ),
    of(
        "Table 5.5",
        "seeds that were judged and refused",
        Script("testgen/activations.rhai", PUBLISHED, "table_5_5"),
        ON_OTHER_DATA,
    ),
    of(
        "Figure 5.4",
        "false failures by magnitude",
        Script("testgen/activations.rhai", PUBLISHED, "figure_5_4"),
        ON_OTHER_DATA,
    ),
    of("Figure 5.5", "tests chosen by hand", Script("testgen/samples.rhai", PUBLISHED, "all"), ON_OTHER_DATA),
    of(
        "Figure 5.6",
        "the same seeds changed in other layers",
        Script("testgen/granularities.rhai", PUBLISHED, "figure_5_6"),
        ON_OTHER_DATA,
    ),
    of(
        "Figure 5.7",
        "several labels of faces changed at once",
        Script("testgen/labels.rhai", "", "sheet"),
        "attributes of scenes in place of faces",
    ),
    of(
        "Table 6.1",
        "images of a biased data set",
        Means("`plot::images(data::scenes(#{ biased: \"ground\" }))`"),
        "scenes in place of dogs",
    ),
    of(
        "Table 6.2",
        "tests of classifiers with faults put there on purpose",
        Script("testgen/faults.rhai", "", "table_6_2"),
        "",
    ),
    of(
        "Table 6.3",
        "the eight faults",
        Script("testgen/faults.rhai", "--full true", "table_6_3"),
        "eight attributes of scenes",
    ),
    of(
        "Table 6.4",
        "how many tests show the fault",
        Script("testgen/faults.rhai", "--full true", "table_6_4"),
        "told by regressors",
    ),
    of(
        "Figure 6.1",
        "tests of one class read as another, chosen by hand",
        Script("testgen/samples.rhai", PUBLISHED, "all"),
        "with `--label 698 --target 483`, \"palace\" and \"castle\", as they come; the published weights are absent here",
    ),
    of(
        "Figure 6.2",
        "how far tests lie from their seeds in pixels",
        Script("testgen/pixels.rhai", PUBLISHED, "figure_6_2"),
        ON_OTHER_DATA,
    ),
    of(
        "Table 6.5",
        "tests of plain classifiers at robust ones",
        Script("testgen/pixels.rhai", PUBLISHED, "table_6_5"),
        ON_OTHER_DATA,
    ),
    of(
        "Table 7.1",
        "mean magnitudes by classifier and layers",
        Script("testgen/activations.rhai", PUBLISHED, "table_7_1"),
        ON_OTHER_DATA,
    ),
    of(
        "Figure 7.1",
        "share of seeds that fail by magnitude",
        Script("testgen/activations.rhai", PUBLISHED, "figure_7_1"),
        ON_OTHER_DATA,
    ),
    of(
        "Figure 7.2",
        "the same on MNIST, first and last layers",
        Script("testgen/mnist.rhai", "", "figure_7_2"),
        "published and own classifiers; what keeps its label is told by networks",
    ),
    of(
        "Figure 7.3",
        "tests with label 0 as their target",
        Script("testgen/samples.rhai", "--data mnist", "first"),
        "random targets",
    ),
    of(
        "Figure C.1",
        "the first sixteen seeds and tests",
        Script("testgen/samples.rhai", PUBLISHED, "all"),
        ON_OTHER_DATA,
    ),
    of(
        "Figure C.2",
        "the same seeds changed in other layers: plain classifiers",
        Script("testgen/granularities.rhai", PUBLISHED, "figure_5_6"),
        "of the first file of `--model`, in the same way as Figure 5.6",
    ),
    of(
        "Figure C.3",
        "the same: robust classifiers",
        Script("testgen/granularities.rhai", PUBLISHED, "figure_5_6"),
        "as Figure C.2",
    ),
    of(
        "Figure C.4",
        "the same: plain classifiers, another seed",
        Script("testgen/granularities.rhai", PUBLISHED, "figure_5_6"),
        "as Figure C.2",
    ),
    of(
        "Figure C.5",
        "the same: robust classifiers, another seed",
        Script("testgen/granularities.rhai", PUBLISHED, "figure_5_6"),
        "as Figure C.2",
    ),
    of(
        "Figure C.6",
        "faces whose labels were changed, by layers",
        Script(
            "testgen/samples.rhai",
            "--data none --generator celebahq.pth --generator_arch progressive-gan --model male.pth",
            "first",
        ),
        "absent here are the published weights of Progressive GAN and classifiers of CelebA-HQ's attributes",
    ),
    of(
        "Figure C.7",
        "the same, other faces",
        Script(
            "testgen/samples.rhai",
            "--data none --generator celebahq.pth --generator_arch progressive-gan --model male.pth",
            "first",
        ),
        "as Figure C.6",
    ),
    of(
        "Figure C.8",
        "the same, other faces",
        Script(
            "testgen/samples.rhai",
            "--data none --generator celebahq.pth --generator_arch progressive-gan --model male.pth",
            "all",
        ),
        "as Figure C.6",
    ),
];

/// A picture that a run left.
pub struct Shown {
    /// `Figure 4.7`
    pub number: String,
    /// What was run.
    pub command: String,
    pub svg: String,
}

fn anchor(number: &str) -> String {
    number.replace(' ', "-").to_lowercase()
}

/// The pictures, in the order of the table.
pub(super) fn pictures(shown: &[Shown]) -> Result<Markup> {
    let mut all = vec![];
    for numbered in NUMBERED {
        for shown in shown.iter().filter(|shown| shown.number == numbered.number) {
            let drawn = figure::svg(&shown.svg, &shown.number).map_err(Error::internal)?;
            all.push(html! {
                section .drawing .wide[drawn.wide] id=(format!("{}-picture", anchor(numbered.number))) {
                    h2 { (numbered.number) ": " (numbered.shows) }
                    figure { div .paper { (drawn.markup) } figcaption { code { (shown.command) } } }
                }
            });
        }
    }
    Ok(html! { div .gallery { @for picture in &all { (picture) } } })
}

/// The table, in which code words lead to their pages, and numbers to their pictures.
pub(super) fn table(links: Links, shown: &[Shown]) -> Markup {
    let seen = |number: &str| shown.iter().any(|shown| shown.number == number);
    let made = |numbered: &Numbered| match numbered.by {
        Script(file, arguments, key) => html! {
            code { "viva run scripts/" (file) @if !arguments.is_empty() { " " (arguments) } } ": " code { (key) }
        },
        Means(text) => inline(text, links),
        Absent(why) => html! { "absent: " (inline(why, links)) },
    };
    html! {
        table {
            thead { tr { th scope="col" { "In the thesis" } th scope="col" { "Shows" } th scope="col" { "Made by" } th scope="col" { "Here" } } }
            tbody { @for numbered in NUMBERED { tr id=(anchor(numbered.number)) {
                th scope="row" {
                    @if seen(numbered.number) { a href=(format!("#{}-picture", anchor(numbered.number))) { (numbered.number) } } @else { (numbered.number) }
                }
                td { (numbered.shows) }
                td { (made(numbered)) }
                td { (inline(numbered.here, links)) }
            } } }
        }
    }
}
