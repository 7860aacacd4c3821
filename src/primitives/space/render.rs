//! `space::render`.

use std::rc::Rc;

use crate::core::{Cx, Error, Result, Value};
use crate::data::scenery;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::render::{VIEW_FACTORS, ViewFactor};
use crate::space::{AnySpace, FactorChange, Render};

pub static RENDER: Primitive = Primitive {
    path: "space::render",
    purpose: "Views of objects: camera, light, material and backdrop, twelve factors, and others where they are asked for.",
    params: &[],
    options: &[
        Param::new(
            "factors",
            Kind::Either(&[Kind::Map, Kind::Array]),
            "a map from names to ranges `[min, max]`, arrays of choices, or one value to stay at; or an array of the names of those \
             that vary while the others stay canonical",
        )
        .or(Fallback::Absent("twelve, in their default ranges")),
        Param::new("backgrounds", Kind::Object("Dataset"), "photographs that may stand behind the object: 1 to 256 images in 1 or 3 channels")
            .or(Fallback::Absent("built-in backdrops alone")),
        Param::new("occluders", Kind::Object("Dataset"), "data::objects(..) that may stand in front of the object, 1 to 256")
            .or(Fallback::Absent("none")),
    ],
    returns: "a Space of data::objects(..); its `levels` are shares of the way from the canonical view to the ends of the ranges",
    notes: "| factor | default range | canonical | |\n\
            | --- | --- | --- | --- |\n\
            | azimuth | 0 to 360 degrees | 35 | of the camera around the object, 0 in front |\n\
            | elevation | -30 to 60 degrees | 20 | of the camera above the horizon |\n\
            | distance | 1.5 to 4 radii | 2.5 | of the camera, at least 1.1 |\n\
            | roll | -30 to 30 degrees | 0 | clockwise in the picture |\n\
            | shift_x, shift_y | -0.2 to 0.2 of the side | 0 | to the right and down |\n\
            | light_azimuth | 0 to 360 degrees | 70 | of the light around the object |\n\
            | light_elevation | 0 to 90 degrees | 50 | |\n\
            | light_energy | 0.2 to 3, even in its logarithm | 1 | multiplies what is lit, in numbers of the picture |\n\
            | light | sun, point, area | sun | |\n\
            | material | matte, glossy, metal | matte | |\n\
            | background | white, grey, black, sky, sunset, checks, stripes | white | black is 8 of 255 |\n\
            | *shadows* | none, cast | none | of the object on itself |\n\
            | *ambient_occlusion* | none, cast | none | shadows of the object on itself in the light from everywhere |\n\
            | *lamps* | 4, 9, 16, 25 | 4 | points that an area light is seen through |\n\
            | *exposure* | -2 to 2 stops | 0 | all light doubled as often, by sRGB: 0.37 becomes 0.51 |\n\
            | *blur* | 0 to 0.02 of the side | 0 | standard deviation of a Gaussian |\n\
            | *noise* | 0 to 0.1 | 0 | standard deviation of what is added to every pixel |\n\
            | *jpeg* | 10 to 95 | not saved | quality, rounded to a whole number as the picture is saved |\n\
            | *hue* | -180 to 180 degrees | 0 | colours of the object, turned around grey |\n\
            | *roughness* | 0.2 to 0.9 | 0.447 glossy, 0.614 metal | of highlights; without meaning for matte |\n\
            | *occluder* | none, and the names of `occluders` | none | what stands in front |\n\
            | *occluder_x*, *occluder_y* | -0.4 to 0.4 of the side | 0 | where its middle is seen, right and down of the picture's |\n\
            | *occluder_size* | 0.1 to 0.5 of the side | 0.3 | the diameter of the ball around it |\n\n\
            Those in italics stay as they are unless they are named: `factors: #{ shadows: \"cast\", jpeg: [20, 90] }` also lets the others vary, and \
            an array of names only those. A picture is exposed, cut off at 1, blurred (as if its border went on beyond), made noisy and saved as JPEG, in this order; \
            the noise is a pure function of the view. A roughness r stands for the exponent 2 / r^4 - 2 of Blinn and Phong's highlights (Walter, Marschner, Li \
            and Torrance, EGSR 2007, with alpha = r^2), without change of their height. Shadows are looked up in maps of at least 128 x 128 places from every lamp, of which \
            edges are as sharp as these. *ambient_occlusion* is the share of the half ball above a face, weighted by the cosine, that the object leaves open \
            (Zhukov, Iones and Kronin, EGWR 1998), by depth maps from 64 sides. With both, a matte object lies 0.007 (of 1) from Mitsuba's direct light on average, \
            mostly along edges; light that one surface throws on another is not drawn.\n\n\
            With `backgrounds` the backdrop is one of these photographs, `photograph 0` the first row (the square in its middle, held at 256 x 256), unless \
            `factors` names built-in ones. With `occluders` their four factors vary as well: the object stands half-way between the camera and the nearest \
            place that the examined one may reach, upright, matte and in the light of the sun; neither casts a shadow on the other. A view in which nothing of \
            the object can be seen is no fault of a classifier, and results say so: an `occluder_size` below that of the object keeps some of it in sight.\n\n\
            Factors that a map does not name vary in their default ranges. The paper names such factors without their ranges: these are \
            this program's own. Below level 1 choices stay at the canonical one. Pictures are drawn in software on all cores: perspective, depth \
            buffer, textures, Lambert and Blinn-Phong light, four samples per pixel; shades are products of numbers of the picture (in sRGB), not of light; the same on one machine whatever the threads, to \
            whole multiples of 1/255.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020",
    examples: &[
        Example {
            code: "space::render(#{ factors: [\"azimuth\", \"light_energy\"] })",
            result: "space render(#{ factors: #{ azimuth: [0.0, 360.0], elevation: 20.0, distance: 2.5, roll: 0.0, shift_x: 0.0, shift_y: 0.0, light_azimuth: 70.0, light_elevation: 50.0, light_energy: [0.2, 3.0], light: \"sun\", material: \"matte\", background: \"white\" } })",
        },
        Example {
            code: "let ds = data::objects([\"mug\", \"lamp\"], #{ n: 4, size: 32, seed: 1 });\n\
                   let f = model::train(data::views(ds, #{ seed: 1 }), #{ arch: [net::flatten(), net::linear(2)], epochs: 2, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::render(#{ factors: #{ background: [\"white\", \"sky\"], roll: 0 } }), search: search::random(#{ questions: 20 }) });\n\
                   t[0].point.keys().len()",
            result: "11",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let (backgrounds, occluders) = (args.optional_object("backgrounds"), args.optional_object("occluders"));
    let asked = |factor: &ViewFactor| !factor.asked || (occluders.is_some() && factor.name.starts_with("occluder"));
    let given = |name: &str, wanted: FactorChange| (name.to_string(), wanted);
    let wanted: Vec<(String, FactorChange)> = match args.get("factors") {
        None => VIEW_FACTORS.iter().filter(|f| asked(f)).map(|f| given(f.name, FactorChange::Default)).collect(),
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| match name {
                Value::Str(name) => Ok(given(name, FactorChange::Default)),
                other => Err(Error::argument(format!("`factors` must hold names of factors, got {}", other.kind()))),
            })
            .collect::<Result<_>>()?,
        _ => {
            let map = args.map("factors");
            let mut wanted: Vec<(String, FactorChange)> = map
                .iter()
                .map(|(name, value)| Ok((name.clone(), self::wanted(name, value)?)))
                .collect::<Result<_>>()?;
            let others = VIEW_FACTORS.iter().filter(|factor| asked(factor) && !map.contains_key(factor.name));
            wanted.extend(others.map(|factor| given(factor.name, FactorChange::Default)));
            wanted
        }
    };
    let scenery = scenery(cx, backgrounds.as_deref(), occluders.as_deref())?;
    Ok(Value::object(AnySpace(Rc::new(Render::new(&wanted, scenery)?))))
}

/// What is asked of a factor: `[min, max]`, an array of choices, or one value.
pub(in crate::primitives) fn wanted(name: &str, value: &Value) -> Result<FactorChange> {
    let number = |value: &Value| match value {
        Value::Int(x) => Some(*x as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    let unfit = || {
        Error::argument(format!(
            "factor {name:?}: wanted a range [min, max], an array of the names of choices, or one value, got {}",
            value.summary()
        ))
    };
    let Value::Array(values) = value else {
        return match value {
            Value::Int(_) | Value::Float(_) | Value::Str(_) => Ok(FactorChange::Fixed(value.clone())),
            _ => Err(unfit()),
        };
    };
    let names: Option<Vec<String>> =
        values.iter().map(|value| if let Value::Str(name) = value { Some(name.clone()) } else { None }).collect();
    match (names, &values[..]) {
        (Some(names), [_, ..]) => Ok(FactorChange::Choices(names)),
        (None, [min, max]) => {
            let (min, max) = number(min).zip(number(max)).ok_or_else(unfit)?;
            Ok(FactorChange::Range(min, max))
        }
        _ => Err(unfit()),
    }
}
