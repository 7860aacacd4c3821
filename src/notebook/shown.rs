//! A value in the forms that a notebook can show, each under its MIME type: text always, beside it pictures and tables.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use crate::core::{Cx, Result, ShownTable, Value, quoted, visible, with_tables};
use crate::page;
use crate::plot::{Animation, Figure, Layer, Pictured, pictured};

/// Columns of text in a notebook.
pub const WIDTH: usize = 88;

/// Longer drawings are shown as pixels alone.
const LARGEST_SVG: usize = 2 << 20;

/// Pixels of a page that a figure is wide at most: notebooks cut off what is wider than their column.
const PAGE: f64 = 860.0;

/// A figure's letters are for a paper's column; on a screen it is shown so much smaller.
const SMALLER: f64 = 2.0 / 3.0;

/// One thing in several forms, by MIME type.
#[derive(Clone)]
pub struct Bundle {
    pub data: Map<String, Json>,
    pub metadata: Map<String, Json>,
}

impl Bundle {
    pub fn text(text: &str) -> Self {
        Self { data: Map::from_iter([("text/plain".to_string(), json!(text))]), metadata: Map::new() }
    }

    /// With the pixels, and the lines where it has any, of a figure.
    fn drawn(mut self, figure: &Figure) -> Result<Self> {
        let (width, height) = figure.dimensions();
        let is_sheet = figure.panels.iter().all(|panel| matches!(panel.layers.first(), Some(Layer::Tiles(_))));
        let scale = (PAGE / f64::from(width)).min(if is_sheet { 1.0 } else { SMALLER });
        let [wide, high] = [width, height].map(|pixels| (f64::from(pixels) * scale).round() as u32);
        self.data.insert("image/png".into(), STANDARD.encode(figure.png()?).into());
        self.metadata.insert("image/png".into(), json!({ "width": wide, "height": high }));
        if !is_sheet {
            let [own, shown] =
                [(width, height), (wide, high)].map(|(width, height)| format!("width=\"{width}\" height=\"{height}\""));
            let svg = figure.svg()?.replacen(&own, &shown, 1);
            if svg.len() <= LARGEST_SVG {
                self.data.insert("image/svg+xml".into(), svg.into());
            }
        }
        Ok(self)
    }
}

/// A value's long form, with the tables in it.
pub fn detailed(value: &Value) -> (String, Vec<ShownTable>) {
    with_tables(|| value.details(WIDTH).trim_end_matches('\n').to_string())
}

/// The same of a line's value: a string stands in quotes, unless it has several lines.
pub fn answered(value: &Value) -> (String, Vec<ShownTable>) {
    match value {
        Value::Str(text) if !text.trim_end().contains('\n') => (visible(&quoted(text)).into_owned(), vec![]),
        other => detailed(other),
    }
}

/// A value alone.
pub fn bundle_of(cx: &Cx, value: &Value) -> Bundle {
    shown(cx, value, &answered(value)).1
}

/// What is shown for a value of which this is the text, with its tables: pictures that stand before it, and the value itself.
pub fn shown(cx: &Cx, value: &Value, (text, tables): &(String, Vec<ShownTable>)) -> (Vec<Bundle>, Bundle) {
    let mut own = Bundle::text(text);
    if let Some(animation) = value.downcast::<Animation>() {
        if let Ok(gif) = animation.gif(cx) {
            own.data.insert("image/gif".into(), STANDARD.encode(gif).into());
        }
        return (vec![], own);
    }
    // A picture that can't be drawn is no reason to show nothing.
    let pictures = pictured(value).unwrap_or_default();
    if let ([only], true) = (&pictures[..], is_picture(value, &pictures)) {
        return (vec![], own.clone().drawn(&only.figure).unwrap_or(own));
    }
    if let Some(table) = page::with_tables(text, tables) {
        own.data.insert("text/html".into(), table.into());
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
    Bundle::text(&visible(&text)).drawn(&shown.figure).ok()
}
