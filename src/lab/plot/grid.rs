//! Figures side by side as one.

use super::figure::Figure;
use crate::core::{Cautions, Error, Result};

impl Figure {
    /// All panels of these figures, `columns` in a row.
    pub fn grid(figures: &[&Figure], columns: usize) -> Result<Self> {
        let mut panels = Vec::new();
        for figure in figures {
            for (i, panel) in figure.panels.iter().enumerate() {
                let mut panel = panel.clone();
                if panel.title.is_empty() && i == 0 {
                    panel.title = figure.title.clone();
                }
                panels.push(panel);
            }
        }
        if panels.is_empty() {
            return Err(Error::argument("a grid needs at least one figure"));
        }
        let columns = columns.clamp(1, panels.len());
        Self::of(panels, columns).cautioned(&of_panels(figures)).checked()
    }
}

/// The cautions of figures whose panels stand together: one that is not of all of them says of which.
fn of_panels(figures: &[&Figure]) -> Cautions {
    let title = |figure: &Figure| match (&figure.title, &figure.panels[..]) {
        (title, _) if !title.is_empty() => title.clone(),
        (_, [only]) => only.title.clone(),
        _ => String::new(),
    };
    let own: Vec<String> = figures.iter().map(|figure| title(figure)).collect();
    let (mut before, mut inner) = (0, Vec::new());
    let mut named: Vec<(String, Cautions)> = Vec::with_capacity(own.len());
    for (figure, title) in figures.iter().zip(&own) {
        let (first, last) = (before + 1, before + figure.panels.len());
        let twice = own.iter().filter(|other| *other == title).count() > 1;
        let here = if first == last { format!("panel {first}") } else { format!("panels {first} to {last}") };
        let name = match title.as_str() {
            "" => here,
            title if twice => format!("{title} ({here})"),
            title => title.to_string(),
        };
        // What a grid within this one says of its panels is said of them as they are counted here.
        inner.extend(figure.cautions.iter().filter_map(|caution| counted_from(caution, before)));
        let own = figure.cautions.iter().filter(|caution| counted_from(caution, before).is_none());
        named.push((name, own.collect()));
        before = last;
    }
    let mut cautions = Cautions::of_each(named.iter().map(|(name, cautions)| (name.as_str(), cautions)));
    inner.into_iter().for_each(|caution| cautions.add(caution));
    cautions
}

/// A caution of panels, `panel 2: ...` or `panel 1, panel 2: ...`, with so many panels before them; `None` where it is of no panel by number.
fn counted_from(caution: &str, before: usize) -> Option<String> {
    let (panels, said) = caution.split_once(": ")?;
    let one = |panel: &str| {
        let number: usize = panel.strip_prefix("panel ")?.parse().ok()?;
        Some(format!("panel {}", number.checked_add(before)?))
    };
    let panels: Vec<String> = panels.split(", ").map(one).collect::<Option<_>>()?;
    Some(format!("{}: {said}", panels.join(", ")))
}
