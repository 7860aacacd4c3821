//! `space::corruptions`.

use std::rc::Rc;

use crate::core::{Error, Result, Value};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, Words};
use crate::space::{AnySpace, CORRUPTIONS as KINDS, Corruptions, Frost, Scale};

static BENCHMARKS: Words<Option<Scale>, 3> =
    Words::new([("side", None), ("imagenet", Some(Scale::ImageNet)), ("cifar", Some(Scale::Cifar))]);

pub static CORRUPTIONS: Primitive = Primitive {
    path: "space::corruptions",
    purpose: "The common corruptions of ImageNet-C and CIFAR-10-C, at severities from 1 to 5.",
    params: &[],
    options: &[
        Param::new("kinds", Kind::Several(&KINDS), "which corruptions").or(Fallback::Absent("those of the benchmark")),
        Param::new("severities", Kind::Numbers, "how strong they may be, one after the other")
            .or(Fallback::Absent("[1, 2, 3, 4, 5]")),
        Param::new(
            "benchmark",
            BENCHMARKS.kind(),
            "whose numbers they have: those of ImageNet-C for images of any size, those of CIFAR-10-C for 32 x 32 pixels, or \"side\", the \
             latter at that size and the former at any other",
        )
        .or(Fallback::Str("side")),
        Param::new("frost", Kind::Path, "the folder with the photographs of frost, which viva does not have: frost1.png and so on")
            .or(Fallback::Absent("none, and then no frost: 14 of the 15")),
    ],
    returns: "a Space of factors kind, severity and draw; its `levels` are severities",
    notes: "Images need 3 channels and 32 x 32 pixels at least, in [0, 1]. As in the reference, images are worked on in bytes: they are rounded to \
            whole multiples of 1/255 before, and cut off to those below after. Grey images are refused, as the reference answers colours for them. \
            The last four kinds, from speckle_noise on, are no part of the benchmark. Frost needs its photographs, which are \
            somebody else's: the folder `frost` of the Python package imagecorruptions. Without it the space has the other 14, and its \
            results say so; of other photographs as well.\n\n\
            What chance there is follows from the number `draw` alone, the same at every severity and on every device; it has the \
            reference's distribution, not its numbers. Given the same numbers the images are equal to the reference's, with its flaws (of frost and \
            motion_blur up to four values in a hundred are 1/255 beside; where the reference's OpenCV blurs by Intel's IPP, as its wheels for x86 do, \
            4 pictures in a hundred of spatter differ by up to 11/255): \
            glass_blur copies pixels where it means to swap them. Where no drop of spatter falls the image stays as it is, while the reference \
            divides 0 by 0. The images of ImageNet-C differ: they were saved as JPEG once more, and their motion, snow, elastic_transform, \
            fog and frost are of an earlier program, for 224 x 224 pixels alone.\n\n\
            search::sweep() takes each image to the largest severity with one draw, of a kind by chance where there are several; \
            search::random the worst of several.",
    source: "Hendrycks and Dietterich, ICLR 2019; Michaelis et al. 2019 (imagecorruptions 1.1.2), and make_cifar_c.py",
    examples: &[
        Example {
            code: "space::corruptions(#{ kinds: [\"shot_noise\", \"contrast\"], severities: [1, 2, 3] })",
            result: "space corruptions(#{ kinds: [\"shot_noise\", \"contrast\"], severities: [1, 2, 3], benchmark: \"side\" })",
        },
        Example {
            code: "let ds = data::scenes(#{ n: 4, size: 32, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(ds.classes.len())], epochs: 1, seed: 1 });\n\
                   let noise = space::corruptions(#{ kinds: [\"gaussian_noise\"] });\n\
                   examine(f, ds, #{ space: noise, search: search::sweep(), levels: [1, 5], seed: 1 }).column(\"level\")",
            result: "[1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0]",
        },
    ],
    run: |cx, args| {
        let name = |value: &Value| if let Value::Str(name) = value { Some(name.clone()) } else { None };
        let kinds: Vec<String> = match args.get("kinds") {
            None => vec![],
            Some(Value::Array(names)) if names.is_empty() => {
                return Err(Error::argument("`kinds` is empty").hint("leave it out for those of the benchmark"));
            }
            _ => args.array("kinds").iter().filter_map(name).collect(),
        };
        let frost = |name| Frost::read(cx, name, &cx.find(name)?);
        let frost = args.optional_str("frost").map(frost).transpose()?;
        Ok(Value::object(AnySpace(Rc::new(Corruptions::new(&kinds, severities(args)?, BENCHMARKS.of(args, "benchmark"), frost)?))))
    },
};

/// The first and the last of the severities.
fn severities(args: &Args) -> Result<[i32; 2]> {
    if args.get("severities").is_none() {
        return Ok([1, 5]);
    }
    let given = args.numbers("severities");
    let (Some(&first), Some(&last)) = (given.first(), given.last()) else {
        return Err(Error::argument("`severities` is empty").hint("severities: [1, 2, 3, 4, 5]"));
    };
    let follows =
        given.iter().enumerate().all(|(i, &x)| x == first + i as f64 && (1.0..=5.0).contains(&x) && x.fract() == 0.0);
    match follows {
        true => Ok([first as i32, last as i32]),
        false => Err(Error::argument(format!(
            "`severities` are whole numbers from 1 to 5, one after the other, got {given:?}"
        ))
        .hint("`levels` of examine takes any of them: levels: [1, 3, 5]")),
    }
}
