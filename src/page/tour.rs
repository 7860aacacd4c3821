//! The tour, a text in Markdown, as a page: names of functions lead to their entries, code is coloured.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};

use super::code;
use super::prose::{Links, inline};

pub static TOUR: &str = include_str!("../../docs/tour.md");

/// The text below its title, and the titles of its parts with their anchors.
pub fn page(text: &str, links: Links) -> (Markup, Vec<(String, String)>) {
    let (mut parts, mut events, mut block, mut heading) = (Vec::new(), Vec::new(), None::<String>, None::<String>);
    let (mut in_title, mut linked) = (false, false);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => in_title = true,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => in_title = false,
            _ if in_title => {}
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let title = heading.take().unwrap_or_default();
                let kept = |sign: &char| sign.is_ascii_alphanumeric() || *sign == ' ';
                let anchor = title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
                events.push(Event::Html(html! { h2 id=(anchor) { (title) } }.into_string().into()));
                parts.push((anchor, title));
            }
            Event::Text(text) if heading.is_some() => heading.iter_mut().for_each(|title| *title += &text),
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => {
                let text = block.take().unwrap_or_default();
                events.push(Event::Html(code::plain(text.trim_end()).into_string().into()));
            }
            Event::Text(text) if block.is_some() => block.iter_mut().for_each(|code| *code += &text),
            Event::Code(name) => {
                events.push(Event::InlineHtml(inline(&format!("`{name}`"), links).into_string().into()))
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                // On its page the tour stands among those that it leads to; no page leads elsewhere.
                if let Some(page) = dest_url.strip_prefix("reference/") {
                    let dest_url = page.to_string().into();
                    events.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                    linked = true;
                }
            }
            Event::End(TagEnd::Link) if !std::mem::take(&mut linked) => {}
            other => events.push(other),
        }
    }
    let mut shown = String::new();
    push_html(&mut shown, events.into_iter());
    (html! { div .tour { (PreEscaped(shown)) } }, parts)
}
