//! The tutorial, a notebook that was run, as a page: text, code, and below it what viva answered.

use maud::{Markup, html};
use serde_json::Value as Json;

use super::prose::Links;
use super::{clean, code, figure, tour};
use crate::core::{Error, Result};

static NOTEBOOK: &str = include_str!("../../docs/tutorial/tutorial.ipynb");

/// The tutorial below its title, and the titles of its parts with their anchors.
pub fn page(links: Links) -> Result<(Markup, Vec<(String, String)>)> {
    let broken = |what: &str| Error::internal(format!("docs/tutorial/tutorial.ipynb: {what}"));
    let book: Json = serde_json::from_str(NOTEBOOK).map_err(|error| broken(&error.to_string()))?;
    let (mut shown, mut parts) = (Vec::new(), Vec::new());
    for cell in book["cells"].as_array().ok_or_else(|| broken("no cells"))? {
        let source = text_of(&cell["source"]);
        if cell["cell_type"] == "markdown" {
            let (markup, titles) = tour::page(&source, links);
            shown.push(markup);
            parts.extend(titles);
            continue;
        }
        shown.push(code::plain(&source));
        for output in cell["outputs"].as_array().into_iter().flatten() {
            shown.push(answer(output).map_err(|what| broken(&what))?);
        }
    }
    Ok((html! { @for part in shown { (part) } }, parts))
}

/// Figures as they were drawn, everything else in letters.
fn answer(output: &Json) -> std::result::Result<Markup, String> {
    let data = &output["data"];
    if output["output_type"] == "stream" {
        return Ok(html! { pre .printed { (clean(text_of(&output["text"]).trim_end())) } });
    }
    let words = text_of(&data["text/plain"]);
    let label = words.lines().next().unwrap_or("a figure").to_string();
    if data.get("image/svg+xml").is_some() {
        let drawn = figure::svg(&text_of(&data["image/svg+xml"]), &label)?;
        return Ok(html! { div .figures { figure .wide[drawn.wide] { div .paper { (drawn.markup) } } } });
    }
    if data.get("image/png").is_some() {
        let address =
            format!("data:image/png;base64,{}", text_of(&data["image/png"]).split_whitespace().collect::<String>());
        return Ok(html! { figure { div .paper { img src=(address) alt=(clean(&words)); } } });
    }
    Ok(html! { pre .printed { (clean(words.trim_end())) } })
}

/// Notebooks keep texts whole or line by line.
fn text_of(value: &Json) -> String {
    match value {
        Json::Array(lines) => lines.iter().filter_map(Json::as_str).collect(),
        other => other.as_str().unwrap_or_default().into(),
    }
}
