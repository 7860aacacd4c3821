//! Figures: pictures of outcomes for a paper, kept together with every number they show.
//!
//! A [`Figure`] is data; it is laid out once and drawn on a [`canvas`]: SVG by plotters, of which PNG and PDF are made, or the
//! terminal's letters.

mod animation;
mod axes;
mod backend;
mod boundary;
mod canvas;
mod cautions;
mod certified;
mod cut_off;
mod difference;
mod draw;
mod examiner;
mod figure;
mod glyphs;
mod grid;
mod label;
mod legend;
mod marker;
mod palette;
mod papers;
mod picture;
mod pictured;
mod power;
mod question_sheet;
mod reliability;
mod rendering;
mod scale;
mod tiles;
mod tolerance;

pub use animation::Animation;
pub use boundary::boundary;
pub use canvas::{Anchor, Canvas, CanvasPoint, Face, Pen, Rect};
pub use certified::certified;
pub use difference::difference;
pub use examiner::{Examined, examiner};
pub use figure::{
    Axis, Bars, BoxedSample, Boxes, Columns, FEWEST_BOXED, Figure, HeatMap, Layer, Panel, Paper, ReferenceLine, Series,
    SeriesLook, Spread, Tiles, histogram,
};
pub use label::plain as plain_label;
pub use palette::{DASHES, MARKERS, Marker, Rgb, SERIES, viridis};
pub use papers::{pvalues, risks};
pub use picture::Picture;
pub use pictured::{Pictured, pictured};
pub use power::power;
pub use question_sheet::{QUESTION_SHEET, QuestionSheet, question_sheet};
pub use reliability::reliability;
pub use tolerance::{DrawnCurve, PanelMeasure, tolerance};
