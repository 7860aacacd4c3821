//! A value in the forms that a notebook can show, each under its MIME type: text always, beside it pictures and tables.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use crate::core::{Cx, Result, Value, quoted, visible};
use crate::page::table_of;
use crate::plot::{Animation, Figure, Layer, Pictured, pictured};

/// Columns of text in a notebook.
pub const WIDTH: usize = 100;

/// Longer drawings are shown as pixels alone.
const LARGEST_SVG: usize = 2 << 20;

/// One thing in several forms, by MIME type.
pub type Bundle = Map<String, Json>;

pub fn text_bundle(text: &str) -> Bundle {
    Map::from_iter([("text/plain".to_string(), json!(text))])
}

/// The text of a line's value: a string stands in quotes, unless it has several lines.
pub fn answered(value: &Value) -> String {
    match value {
        Value::Str(text) if !text.trim_end().contains('\n') => visible(&quoted(text)).into_owned(),
        other => other.details(WIDTH).trim_end_matches('\n').into(),
    }
}

/// A value alone.
pub fn bundle_of(cx: &Cx, value: &Value) -> Bundle {
    shown(cx, value, &answered(value)).1
}

/// What is shown for a value of which this is the text: pictures that stand before it, and the value itself.
pub fn shown(cx: &Cx, value: &Value, text: &str) -> (Vec<Bundle>, Bundle) {
    let mut own = text_bundle(text);
    if let Some(animation) = value.downcast::<Animation>() {
        if let Ok(gif) = animation.gif(cx) {
            own.insert("image/gif".into(), STANDARD.encode(gif).into());
        }
        return (vec![], own);
    }
    // A picture that can't be drawn is no reason to show nothing.
    let pictures = pictured(value).unwrap_or_default();
    if let ([only], true) = (&pictures[..], is_picture(value, &pictures)) {
        own.extend(drawn(&only.figure).unwrap_or_default());
        return (vec![], own);
    }
    if let Some(table) = table_of(value) {
        own.insert("text/html".into(), table.into());
    }
    (pictures.iter().filter_map(titled).collect(), own)
}

/// Whether a picture is all that there is of a value.
fn is_picture(value: &Value, pictures: &[Pictured]) -> bool {
    !matches!(value, Value::Array(_)) && pictures.iter().all(|shown| shown.name.is_none())
}

/// A figure under the name that it has among others.
fn titled(shown: &Pictured) -> Option<Bundle> {
    let said = Value::object(shown.figure.clone()).summary();
    let text = shown.name.as_ref().map_or(said.clone(), |name| format!("{name}: {said}"));
    let mut bundle = text_bundle(&visible(&text));
    bundle.extend(drawn(&shown.figure).ok()?);
    Some(bundle)
}

/// Pixels of everything, lines of what has lines.
fn drawn(figure: &Figure) -> Result<Bundle> {
    let mut bundle = Map::from_iter([("image/png".to_string(), json!(STANDARD.encode(figure.png()?)))]);
    let is_sheet = figure.panels.iter().all(|panel| matches!(panel.layers.first(), Some(Layer::Tiles(_))));
    if !is_sheet {
        let svg = figure.svg()?;
        if svg.len() <= LARGEST_SVG {
            bundle.insert("image/svg+xml".into(), svg.into());
        }
    }
    Ok(bundle)
}
