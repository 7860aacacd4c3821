//! Published networks, one family per file, with the names that their checkpoints give to tensors.

mod alexnet;
mod convnext;
mod efficientnet;
mod mobilenet;
mod resnet;
mod resnet_cifar;
mod squeezenet;
mod vgg;
mod vit;

use std::collections::BTreeMap;

use tch::Device;

use super::layer::Layer;
use super::module::Module;
use super::weights::Weights;
use crate::core::{Error, Result, suggestion};
use crate::data::Filter;

/// A network that `arch` can name.
pub struct Architecture {
    pub name: &'static str,
    pub layers: fn(classes: i64) -> Layer,
    /// Classes of the data set that it was published for.
    pub classes: i64,
    /// The tensor whose first size is the number of classes.
    pub head: &'static str,
    /// `[C, H, W]` that it was published for.
    pub input: [i64; 3],
    /// Names of tensors in files that others publish, each with the name here.
    pub spellings: fn() -> Vec<Spelling>,
    /// How its published weights want images, where that is the same of all.
    pub sees: Option<Sees>,
    /// Other networks whose tensors have the same names and sizes, and which are not here.
    pub alike: Option<&'static str>,
}

/// How a network wants images: less their mean, divided by their deviation, and brought to its size by this filter.
#[derive(Debug, Clone, Copy)]
pub struct Sees {
    pub mean: [f64; 3],
    pub std: [f64; 3],
    pub filter: Filter,
}

/// The name here of every tensor of a file.
pub type Spelling = BTreeMap<String, String>;

fn no_other() -> Vec<Spelling> {
    vec![]
}

const IMAGENET: [i64; 3] = [3, 224, 224];
/// What torchvision's networks were trained on, and timm's of TensorFlow.
const TORCHVISION: Sees = Sees { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], filter: Filter::Bilinear };
const CIFAR: [i64; 3] = [3, 32, 32];

static ARCHITECTURES: &[Architecture] = &[
    entry("alexnet", alexnet::alexnet, "classifier.6.weight"),
    Architecture {
        spellings: convnext::of_tiny,
        ..entry("convnext_tiny", convnext::convnext_tiny, "classifier.2.weight")
    },
    Architecture {
        spellings: convnext::of_small,
        ..entry("convnext_small", convnext::convnext_small, "classifier.2.weight")
    },
    Architecture {
        spellings: convnext::of_base,
        ..entry("convnext_base", convnext::convnext_base, "classifier.2.weight")
    },
    Architecture {
        spellings: convnext::of_large,
        ..entry("convnext_large", convnext::convnext_large, "classifier.2.weight")
    },
    efficientnet("efficientnet_b0", efficientnet::torchvision::<0>, efficientnet::timm::<0>, 224),
    efficientnet("efficientnet_b1", efficientnet::torchvision::<1>, efficientnet::timm::<1>, 240),
    efficientnet("efficientnet_b2", efficientnet::torchvision::<2>, efficientnet::timm::<2>, 288),
    efficientnet("efficientnet_b3", efficientnet::torchvision::<3>, efficientnet::timm::<3>, 300),
    efficientnet("efficientnet_b4", efficientnet::torchvision::<4>, efficientnet::timm::<4>, 380),
    efficientnet("efficientnet_b5", efficientnet::torchvision::<5>, no_other, 456),
    efficientnet("efficientnet_b6", efficientnet::torchvision::<6>, no_other, 528),
    efficientnet("efficientnet_b7", efficientnet::torchvision::<7>, no_other, 600),
    noisy_student("tf_efficientnet_b0_ns", efficientnet::tensorflow::<0>, efficientnet::lukemelas::<0>, 224),
    noisy_student("tf_efficientnet_b1_ns", efficientnet::tensorflow::<1>, efficientnet::lukemelas::<1>, 240),
    noisy_student("tf_efficientnet_b2_ns", efficientnet::tensorflow::<2>, efficientnet::lukemelas::<2>, 260),
    noisy_student("tf_efficientnet_b3_ns", efficientnet::tensorflow::<3>, efficientnet::lukemelas::<3>, 300),
    noisy_student("tf_efficientnet_b4_ns", efficientnet::tensorflow::<4>, efficientnet::lukemelas::<4>, 380),
    noisy_student("tf_efficientnet_b5_ns", efficientnet::tensorflow::<5>, efficientnet::lukemelas::<5>, 456),
    noisy_student("tf_efficientnet_b6_ns", efficientnet::tensorflow::<6>, efficientnet::lukemelas::<6>, 528),
    noisy_student("tf_efficientnet_b7_ns", efficientnet::tensorflow::<7>, efficientnet::lukemelas::<7>, 600),
    entry("mobilenet_v2", mobilenet::mobilenet_v2, "classifier.1.weight"),
    resnet("resnet18", resnet::resnet18),
    resnet("resnet34", resnet::resnet34),
    resnet("resnet50", resnet::resnet50),
    resnet("resnet101", resnet::resnet101),
    resnet("resnet152", resnet::resnet152),
    entry("squeezenet1_0", squeezenet::squeezenet1_0, "classifier.1.weight"),
    Architecture {
        spellings: squeezenet::gluon,
        ..entry("squeezenet1_1", squeezenet::squeezenet1_1, "classifier.1.weight")
    },
    entry("vgg11", vgg::vgg11, "classifier.6.weight"),
    entry("vgg11_bn", vgg::vgg11_bn, "classifier.6.weight"),
    entry("vgg13", vgg::vgg13, "classifier.6.weight"),
    entry("vgg13_bn", vgg::vgg13_bn, "classifier.6.weight"),
    entry("vgg16", vgg::vgg16, "classifier.6.weight"),
    entry("vgg16_bn", vgg::vgg16_bn, "classifier.6.weight"),
    entry("vgg19", vgg::vgg19, "classifier.6.weight"),
    entry("vgg19_bn", vgg::vgg19_bn, "classifier.6.weight"),
    Architecture { spellings: vit::older_base, ..entry("vit_b_16", vit::vit_b_16, "heads.head.weight") },
    Architecture { spellings: vit::older_base, ..entry("vit_b_32", vit::vit_b_32, "heads.head.weight") },
    Architecture { spellings: vit::older_large, ..entry("vit_l_16", vit::vit_l_16, "heads.head.weight") },
    Architecture { spellings: vit::older_large, ..entry("vit_l_32", vit::vit_l_32, "heads.head.weight") },
    varied("vit_tiny_patch16_224", vit::vit_tiny_patch16_224),
    varied("vit_small_patch16_224", vit::vit_small_patch16_224),
    varied("vit_base_patch16_224", vit::vit_base_patch16_224),
    varied("vit_large_patch16_224", vit::vit_large_patch16_224),
    cifar("cifar_resnet20", resnet_cifar::resnet20, "linear.weight"),
    cifar("cifar_resnet32", resnet_cifar::resnet32, "linear.weight"),
    cifar("cifar_resnet44", resnet_cifar::resnet44, "linear.weight"),
    cifar("cifar_resnet56", resnet_cifar::resnet56, "linear.weight"),
    cifar("cifar_resnet110", resnet_cifar::resnet110, "linear.weight"),
    cifar("cifar_resnet1202", resnet_cifar::resnet1202, "linear.weight"),
    cifar("abcrown_resnet2b", resnet_cifar::resnet2b, "linear2.weight"),
    cifar("abcrown_resnet4b", resnet_cifar::resnet4b, "linear2.weight"),
];

const fn entry(name: &'static str, layers: fn(i64) -> Layer, head: &'static str) -> Architecture {
    Architecture {
        name,
        layers,
        classes: 1000,
        head,
        input: IMAGENET,
        spellings: no_other,
        sees: Some(TORCHVISION),
        alike: None,
    }
}

const fn resnet(name: &'static str, layers: fn(i64) -> Layer) -> Architecture {
    let alike = Some("ResNets with other pooling (timm's resnetaa and resnetblur), strides or activations");
    Architecture { alike, ..entry(name, layers, "fc.weight") }
}

/// Several weights of these were published, which want images in several ways.
const fn varied(name: &'static str, layers: fn(i64) -> Layer) -> Architecture {
    let alike = Some("ViTs of timm with average pooling or quick GELU");
    Architecture { sees: None, alike, ..entry(name, layers, "head.weight") }
}

const fn efficientnet(
    name: &'static str,
    layers: fn(i64) -> Layer,
    spellings: fn() -> Vec<Spelling>,
    side: i64,
) -> Architecture {
    let sees = Some(Sees { filter: Filter::Bicubic, ..TORCHVISION });
    Architecture { input: [3, side, side], sees, spellings, ..entry(name, layers, "classifier.1.weight") }
}

const fn noisy_student(
    name: &'static str,
    layers: fn(i64) -> Layer,
    spellings: fn() -> Vec<Spelling>,
    side: i64,
) -> Architecture {
    let alike = Some("EfficientNets that timm trained itself, with other borders and batch norms");
    Architecture { head: "classifier.weight", alike, ..efficientnet(name, layers, spellings, side) }
}

const fn cifar(name: &'static str, layers: fn(i64) -> Layer, head: &'static str) -> Architecture {
    Architecture { name, layers, classes: 10, head, input: CIFAR, spellings: no_other, sees: None, alike: None }
}

/// The names that `arch` takes.
pub fn archs() -> impl Iterator<Item = &'static str> + Clone {
    ARCHITECTURES.iter().map(|arch| arch.name)
}

pub fn find(name: &str) -> Result<&'static Architecture> {
    // As timm calls these weights since version 0.9.
    let here = name.strip_suffix(".ns_jft_in1k").map_or(name.into(), |plain| format!("{plain}_ns"));
    ARCHITECTURES.iter().find(|arch| arch.name == here).ok_or_else(|| {
        Error::model(format!("there is no network called {name:?}"))
            .hint(format!("{}; or write the layers down: arch: [net::conv(32, 3), ...]", suggestion(name, archs())))
    })
}

/// The networks whose tensors have just these names; among those that differ in sizes, the ones that they fit; and among these the one that the file is
/// called after, as published files are.
pub fn recognise(weights: &Weights, file: &str) -> Vec<&'static Architecture> {
    let mut names: Vec<&str> =
        weights.keys().map(String::as_str).filter(|name| !name.ends_with("num_batches_tracked")).collect();
    names.sort_unstable();
    let called = |arch: &&Architecture| {
        let mut wanted = (arch.layers)(arch.classes).tensor_names();
        wanted.sort_unstable();
        if wanted.iter().map(String::as_str).eq(names.iter().copied()) {
            return true;
        }
        (arch.spellings)().iter().any(|spelling| spelling.keys().eq(names.iter().copied()))
    };
    let found: Vec<&Architecture> = ARCHITECTURES.iter().filter(called).collect();
    let fitting: Vec<&Architecture> =
        found.iter().copied().filter(|arch| found.len() > 1 && arch.fits(weights)).collect();
    let called_so = fitting.iter().find(|arch| arch.is_called(file));
    match (called_so, fitting.is_empty()) {
        (Some(arch), _) => vec![arch],
        (None, true) => found.into_iter().take(1).collect(),
        (None, false) => fitting,
    }
}

impl Architecture {
    /// Whether a file has its name, as it was published: those of other weights begin otherwise.
    pub fn is_called(&self, file: &str) -> bool {
        let newer = self.name.strip_suffix("_ns").map(|plain| format!("{plain}.ns_jft_in1k"));
        let rest = newer.iter().map(String::as_str).chain([self.name]).find_map(|name| file.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
    }

    pub fn is_for_imagenet(&self) -> bool {
        self.input[1] > CIFAR[1]
    }

    /// Whether tensors of its names have its sizes.
    fn fits(&self, weights: &Weights) -> bool {
        let weights = self.respell(weights.iter().map(|(name, t)| (name.clone(), t.shallow_clone())).collect());
        let Some(&[classes, ..]) = weights.get(self.head).map(|head| head.size()).as_deref() else { return false };
        Module::load(&(self.layers)(classes), None, weights, Device::Cpu).is_ok()
    }

    /// Gives the tensors of a published file the names they have here.
    pub fn respell(&self, weights: Weights) -> Weights {
        let known = |spelling: &Spelling| weights.keys().filter(|name| spelling.contains_key(*name)).count();
        let Some(spelling) = (self.spellings)().into_iter().max_by_key(known) else { return weights };
        // Of two spellings of one tensor neither is lost: the other is found to belong to no layer.
        let here = |name: &String| spelling.get(name).filter(|ours| !weights.contains_key(*ours)).cloned();
        let names: Vec<String> = weights.keys().map(|name| here(name).unwrap_or(name.clone())).collect();
        names.into_iter().zip(weights.into_values()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that torchvision's documentation states (`num_params`), and those counted with PyTorch for the CIFAR ones.
    #[test]
    fn networks_have_the_published_number_of_parameters() -> Result<()> {
        let published = [
            ("alexnet", 61_100_840),
            ("resnet18", 11_689_512),
            ("resnet34", 21_797_672),
            ("resnet50", 25_557_032),
            ("resnet101", 44_549_160),
            ("resnet152", 60_192_808),
            ("convnext_tiny", 28_589_128),
            ("convnext_small", 50_223_688),
            ("convnext_base", 88_591_464),
            ("convnext_large", 197_767_336),
            ("efficientnet_b0", 5_288_548),
            ("efficientnet_b1", 7_794_184),
            ("efficientnet_b2", 9_109_994),
            ("efficientnet_b3", 12_233_232),
            ("efficientnet_b4", 19_341_616),
            ("efficientnet_b5", 30_389_784),
            ("efficientnet_b6", 43_040_704),
            ("efficientnet_b7", 66_347_960),
            ("tf_efficientnet_b0_ns", 5_288_548),
            ("tf_efficientnet_b4.ns_jft_in1k", 19_341_616),
            ("tf_efficientnet_b7_ns", 66_347_960),
            ("mobilenet_v2", 3_504_872),
            ("squeezenet1_0", 1_248_424),
            ("squeezenet1_1", 1_235_496),
            ("vgg11", 132_863_336),
            ("vgg11_bn", 132_868_840),
            ("vgg13", 133_047_848),
            ("vgg13_bn", 133_053_736),
            ("vgg16", 138_357_544),
            ("vgg16_bn", 138_365_992),
            ("vgg19", 143_667_240),
            ("vgg19_bn", 143_678_248),
            ("vit_b_16", 86_567_656),
            ("vit_b_32", 88_224_232),
            ("vit_l_16", 304_326_632),
            ("vit_l_32", 306_535_400),
            // timm 1.0.31 counted these.
            ("vit_tiny_patch16_224", 5_717_416),
            ("vit_small_patch16_224", 22_050_664),
            ("vit_base_patch16_224", 86_567_656),
            ("vit_large_patch16_224", 304_326_632),
            // Table 6 of He et al. 2016: 0.27, 0.46, 0.66, 0.85, 1.7 and 19.4 million.
            ("cifar_resnet20", 269_722),
            ("cifar_resnet32", 464_154),
            ("cifar_resnet44", 658_586),
            ("cifar_resnet56", 853_018),
            ("cifar_resnet110", 1_727_962),
            ("cifar_resnet1202", 19_421_274),
        ];
        for (name, count) in published {
            let arch = find(name)?;
            let mut supply = Count { total: 0, weights: Weights::new() };
            Module::build(&(arch.layers)(arch.classes), Some(arch.input), tch::Device::Cpu, &mut supply)?;
            assert_eq!(supply.total, count, "{name}");
        }
        Ok(())
    }

    /// What a file of the network would hold, without its numbers.
    fn file(layers: &Layer, input: [i64; 3]) -> Result<Weights> {
        let mut supply = Count { total: 0, weights: Weights::new() };
        Module::build(layers, Some(input), Device::Cpu, &mut supply)?;
        Ok(supply.weights)
    }

    #[test]
    fn files_are_recognised_by_names_and_sizes() -> Result<()> {
        for arch in ARCHITECTURES {
            let weights = file(&(arch.layers)(7), arch.input)?;
            assert!(recognise(&weights, "").iter().any(|found| found.name == arch.name));
            for spelling in (arch.spellings)() {
                if spelling.values().any(|name| !weights.contains_key(name)) {
                    continue;
                }
                let published = |(there, here): (&String, &String)| (there.clone(), weights[here].shallow_clone());
                let published = spelling.iter().map(published).collect();
                assert!(recognise(&published, "").iter().any(|found| found.name == arch.name));
            }
        }
        Ok(())
    }

    /// timm gave both the same names, and they are two networks.
    #[test]
    fn efficientnets_of_timm_are_recognised_as_either() -> Result<()> {
        let names = |arch: &str, called: &str| -> Result<Vec<&str>> {
            let arch = find(arch)?;
            Ok(recognise(&file(&(arch.layers)(7), arch.input)?, called).iter().map(|found| found.name).collect())
        };
        assert_eq!(names("tf_efficientnet_b0_ns", "weights")?, ["efficientnet_b0", "tf_efficientnet_b0_ns"]);
        assert_eq!(names("tf_efficientnet_b0_ns", "tf_efficientnet_b0_ns-c0e6a31c")?, ["tf_efficientnet_b0_ns"]);
        assert_eq!(names("tf_efficientnet_b0_ns", "efficientnet_b0_ra-3dd342df")?, ["efficientnet_b0"]);
        assert_eq!(names("tf_efficientnet_b0_ns", "tf_efficientnet_b0.ns_jft_in1k")?, ["tf_efficientnet_b0_ns"]);
        for other in ["tf_efficientnet_b0_aa-827b6e33", "tf_efficientnet_b0.in1k", "my_efficientnet_b0"] {
            assert_eq!(names("tf_efficientnet_b0_ns", other)?.len(), 2, "{other}");
        }
        assert_eq!(
            (names("efficientnet_b0", "")?, names("tf_efficientnet_b6_ns", "")?),
            (vec!["efficientnet_b0"], vec!["tf_efficientnet_b6_ns"])
        );
        Ok(())
    }

    /// Counts what would be learned, without filling 138 million numbers.
    struct Count {
        total: i64,
        weights: Weights,
    }

    impl super::super::supply::Supply for Count {
        fn tensor(
            &mut self,
            name: &str,
            size: &[Option<i64>],
            _fan_in: Option<i64>,
            _init: super::super::supply::Init,
        ) -> Result<crate::core::Tensor> {
            let size: Vec<i64> = size.iter().map(|d| d.unwrap_or(0)).collect();
            if !name.contains("running_") {
                self.total += size.iter().product::<i64>();
            }
            let tensor =
                crate::core::Tensor::f_empty([1], (tch::Kind::Float, tch::Device::Cpu))?.f_expand(size, false)?;
            self.weights.insert(name.into(), tensor.shallow_clone());
            Ok(tensor)
        }
    }

    #[test]
    fn a_slip_in_a_name_gets_the_nearest() {
        let hint = find("resnet_18").err().and_then(|e| e.hint).unwrap_or_default();
        assert!(hint.contains("resnet18"), "{hint}");
    }
}
