//! Figures inside a page. SVG is drawn anew from the few elements that figures are made of; anything else in it could
//! run, load or restyle something, and then the file is shown as an inert picture.

use maud::{Markup, PreEscaped, html};

use super::folder::FolderFile;
use super::{base64, clean, count, size};
use crate::plot::plain_label;

/// Files larger than this stay beside the page.
const LARGEST: u64 = 8 << 20;

const ELEMENTS: [&str; 9] = ["svg", "g", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path"];
const ATTRIBUTES: [&str; 35] = [
    "width",
    "height",
    "viewBox",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "dx",
    "dy",
    "points",
    "d",
    "transform",
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-linejoin",
    "stroke-linecap",
    "stroke-dasharray",
    "opacity",
    "text-anchor",
    "font-family",
    "font-size",
    "font-weight",
    "font-style",
    "preserveAspectRatio",
    "shape-rendering",
];

/// A figure as it goes into a page.
pub struct PageFigure {
    pub markup: Markup,
    /// What the figure itself says it is.
    pub title: Option<String>,
    /// Bytes that it adds to the page.
    pub weight: usize,
    /// Whether it needs the whole width of the page.
    pub wide: bool,
}

/// Wider figures, in pixels, need the whole width.
const WIDE: f64 = 1200.0;

/// The figure of the first of these files that can be shown, or what is wrong with them.
pub fn embed(files: &[&FolderFile], label: &str) -> Result<PageFigure, String> {
    let mut problems = Vec::new();
    for file in files {
        match one(file, label) {
            Ok(shown) => return Ok(shown),
            Err(problem) => problems.push(format!("{}: {problem}", file.name)),
        }
    }
    Err(problems.join("; "))
}

fn one(file: &FolderFile, label: &str) -> Result<PageFigure, String> {
    if file.bytes > LARGEST {
        return Err(format!("{} is too large for the page", size(file.bytes)));
    }
    let bytes = file.bytes(LARGEST).map_err(|error| format!("can't be read: {error}"))?;
    match file.ending().as_str() {
        "svg" => {
            let text = std::str::from_utf8(&bytes).map_err(|_| "not UTF-8".to_string())?;
            svg(text, label)
        }
        "gif" => picture(&bytes, "image/gif", bytes.ends_with(b";"), label),
        "png" => picture(&bytes, "image/png", bytes.ends_with(b"IEND\xaeB`\x82"), label),
        _ => picture(&bytes, "image/jpeg", bytes.ends_with(b"\xff\xd9"), label),
    }
}

fn picture(bytes: &[u8], kind: &str, whole: bool, label: &str) -> Result<PageFigure, String> {
    let format = match kind {
        "image/png" => image::ImageFormat::Png,
        "image/gif" => image::ImageFormat::Gif,
        _ => image::ImageFormat::Jpeg,
    };
    let (width, height) = image::ImageReader::with_format(std::io::Cursor::new(bytes), format)
        .into_dimensions()
        .map_err(|_| format!("not a picture of the kind {kind}"))?;
    if !whole {
        return Err("cut short".into());
    }
    let address = format!("data:{kind};base64,{}", base64(bytes));
    let weight = address.len();
    Ok(PageFigure {
        markup: html! { img src=(address) width=(width) height=(height) alt=(clean(label)); },
        title: None,
        weight,
        wide: f64::from(width) > WIDE,
    })
}

/// An SVG text inside the page, or as an inert picture where it holds more than a figure needs.
pub fn svg(text: &str, label: &str) -> Result<PageFigure, String> {
    let tree = roxmltree::Document::parse(text).map_err(|error| format!("broken or cut short: {error}"))?;
    let root = tree.root_element();
    if root.tag_name().name() != "svg" {
        return Err("not an SVG picture".into());
    }
    let title = title(root);
    let wide = root.attribute("width").and_then(|width| width.parse::<f64>().ok()).is_some_and(|width| width > WIDE);
    let label = match &title {
        Some(title) if title != label => format!("{title} ({label})"),
        _ => label.to_string(),
    };
    let mut drawn = String::new();
    if draw(root, &mut drawn, Some(&label), 0).is_some() {
        let weight = drawn.len();
        return Ok(PageFigure { markup: PreEscaped(drawn), title, weight, wide });
    }
    let address = format!("data:image/svg+xml;base64,{}", base64(text.as_bytes()));
    let weight = address.len();
    Ok(PageFigure { markup: html! { img src=(address) alt=(clean(&label)); }, title, weight, wide })
}

/// The first text in bold.
fn title(root: roxmltree::Node) -> Option<String> {
    let bold = root.descendants().filter(|n| n.has_tag_name("text") || n.tag_name().name() == "text");
    let found = bold.into_iter().find(|n| n.attribute("font-weight") == Some("bold"))?;
    let text: String = found.descendants().filter_map(|n| n.text().filter(|_| n.is_text())).collect();
    Some(clean(text.trim())).filter(|text| !text.is_empty())
}

/// Writes an element and what is in it; `None` where something has no place in a page.
fn draw(node: roxmltree::Node, out: &mut String, label: Option<&str>, depth: usize) -> Option<()> {
    if depth > 32 {
        return None;
    }
    let name = node.tag_name().name();
    let is_text = matches!(name, "text" | "tspan");
    if !(ELEMENTS.contains(&name) || is_text || name == "image") || (name == "svg") != label.is_some() {
        return None;
    }
    let mut attributes = String::new();
    for attribute in node.attributes() {
        let (key, value) = (attribute.name(), attribute.value());
        let written = match key {
            // The style sheet of the page says so for every picture in a figure.
            "style" if value.trim_end_matches(';') == "image-rendering:pixelated" => continue,
            "href" if name == "image" && inert(value) => "href",
            "space" if is_text => continue,
            _ => ATTRIBUTES.iter().find(|known| **known == key)?,
        };
        if value.contains("url(") {
            return None;
        }
        attributes += &html! { (PreEscaped(" ")) (PreEscaped(written)) (PreEscaped("=\"")) (value) (PreEscaped("\"")) }
            .into_string();
    }
    *out += &format!("<{name}{attributes}");
    if let Some(label) = label {
        *out += &html! { (PreEscaped(" role=\"img\" aria-label=\"")) (label) (PreEscaped("\"")) }.into_string();
    }
    *out += ">";
    for child in node.children() {
        if child.is_element() {
            draw(child, out, None, depth + 1)?;
        } else if let Some(text) = child.text().filter(|_| child.is_text()) {
            if is_text {
                *out += &html! { (clean(text)) }.into_string();
            } else if !text.trim().is_empty() {
                return None;
            }
        } else if !child.is_comment() {
            return None;
        }
    }
    *out += &format!("</{name}>");
    Some(())
}

/// An address that holds its picture.
fn inert(address: &str) -> bool {
    ["data:image/png;base64,", "data:image/jpeg;base64,"]
        .iter()
        .filter_map(|start| address.strip_prefix(start))
        .any(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')))
}

/// What a figure of the results shows, in words, from its numbers.
pub fn words(figure: &serde_json::Value) -> String {
    let text = |value: &serde_json::Value| plain_label(value.as_str().unwrap_or(""));
    let mut parts = Vec::new();
    for panel in figure["panels"].as_array().into_iter().flatten() {
        let (x, y) = (text(&panel["x"]["label"]), text(&panel["y"]["label"]));
        let mut layers = Vec::new();
        for layer in panel["layers"].as_array().into_iter().flatten() {
            let (kind, label) = (text(&layer["kind"]), text(&layer["label"]));
            layers.push(match kind.as_str() {
                "images" => count(layer["images"].as_array().map_or(0, Vec::len) as u64, "image"),
                _ if label.is_empty() => kind,
                _ => format!("{kind} {label:?}"),
            });
        }
        let axes = match (x.is_empty(), y.is_empty()) {
            (false, false) => format!("{y} against {x}: "),
            (true, true) => String::new(),
            _ => format!("{x}{y}: "),
        };
        parts.push(format!("{axes}{}", layers.join(", ")));
    }
    let said: Vec<&str> =
        figure["cautions"].as_array().into_iter().flatten().filter_map(|said| said.as_str()).collect();
    let cautions = if said.is_empty() { String::new() } else { format!("; caution: {}", said.join("; ")) };
    format!("{}{}", super::shortened(&parts.join("; "), 400), super::shortened(&cautions, 400))
}
