//! Mathematics in the texts of a figure, between dollars: `$\epsilon_\infty \leq 10^{-3}$`. A small part of TeX: sub- and superscripts, groups, Greek
//! letters and the signs below. `\$` is a dollar; a text with a single dollar holds none.

use super::glyphs::glyphs_width;
use crate::core::{Error, Result, suggestion};

/// Words of TeX and what stands for them.
const SIGNS: &[(&str, &str)] = &[
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("varepsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("upsilon", "υ"),
    ("phi", "φ"),
    ("varphi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Xi", "Ξ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
    ("infty", "∞"),
    ("pm", " ± "),
    ("times", " × "),
    ("cdot", " · "),
    ("leq", " ≤ "),
    ("le", " ≤ "),
    ("geq", " ≥ "),
    ("ge", " ≥ "),
    ("neq", " ≠ "),
    ("approx", " ≈ "),
    ("sim", " ∼ "),
    ("ll", " ≪ "),
    ("gg", " ≫ "),
    ("in", " ∈ "),
    ("to", " → "),
    ("rightarrow", " → "),
    ("leftarrow", " ← "),
    ("mid", " | "),
    ("partial", "∂"),
    ("nabla", "∇"),
    ("sum", "∑"),
    ("prod", "∏"),
    ("int", "∫"),
    ("sqrt", "√"),
    ("ell", "ℓ"),
    ("prime", "′"),
    ("degree", "°"),
    ("log", "log "),
    ("ln", "ln "),
    ("exp", "exp "),
    ("max", "max "),
    ("min", "min "),
    ("ldots", "…"),
    ("dots", "…"),
    ("quad", "  "),
    ("mathrm", ""),
    ("left", ""),
    ("right", ""),
];

/// How much smaller a script is than what it belongs to.
const SCRIPT: f64 = 0.72;

/// A part of a text with its place beside the start of the baseline, in ems of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelPiece {
    pub text: String,
    pub x: f64,
    pub rise: f64,
    pub scale: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum LabelPart {
    Text(String),
    Scripts { below: Vec<LabelPart>, above: Vec<LabelPart> },
}

/// The first mistake in a label.
pub fn check(label: &str) -> Result<()> {
    parse(label).map(|_| ())
}

/// The pieces of a label and its width, in ems. A label with a mistake stands as it was written.
pub fn laid_out(label: &str, bold: bool) -> (Vec<LabelPiece>, f64) {
    let parts = parse(label).unwrap_or_else(|_| vec![LabelPart::Text(label.into())]);
    let mut pieces = Vec::new();
    let width = place(&parts, bold, (0.0, 0.0, 1.0), &mut pieces);
    (pieces, width)
}

/// The label in letters alone: scripts are Unicode's where it has all of them.
pub fn plain(label: &str) -> String {
    parse(label).map_or_else(|_| label.into(), |parts| parts.iter().map(letters).collect())
}

/// Words that a line may be broken between: none within mathematics.
pub fn words(label: &str) -> Vec<&str> {
    if !has_maths(label) {
        return label.split_whitespace().collect();
    }
    let (mut words, mut start, mut inside, mut escaped) = (Vec::new(), None, false, false);
    for (at, sign) in label.char_indices() {
        inside ^= sign == '$' && !escaped;
        escaped = sign == '\\' && !escaped;
        match (sign.is_whitespace() && !inside, start) {
            (true, Some(from)) => {
                words.push(&label[from..at]);
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    words.extend(start.map(|from| &label[from..]));
    words
}

/// Whether dollars stand in pairs.
fn has_maths(label: &str) -> bool {
    let mut escaped = false;
    let dollars = label.chars().filter(|sign| {
        let counts = *sign == '$' && !escaped;
        escaped = *sign == '\\' && !escaped;
        counts
    });
    let dollars = dollars.count();
    dollars > 0 && dollars.is_multiple_of(2)
}

fn parse(label: &str) -> Result<Vec<LabelPart>> {
    if !has_maths(label) {
        return Ok(vec![LabelPart::Text(label.replace("\\$", "$"))]);
    }
    let mut parts = Vec::new();
    let mut signs = label.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if signs.peek() == Some(&'$') => {
                signs.next();
                put(&mut parts, "$");
            }
            '$' => {
                let inside: String = signs.by_ref().take_while(|sign| *sign != '$').collect();
                let mut maths = Maths { label, signs: inside.chars().collect(), at: 0 };
                for part in maths.group(None)? {
                    match part {
                        LabelPart::Text(text) => put(&mut parts, &text),
                        scripts => parts.push(scripts),
                    }
                }
            }
            sign => put(&mut parts, sign.encode_utf8(&mut [0; 4])),
        }
    }
    Ok(parts)
}

fn put(parts: &mut Vec<LabelPart>, text: &str) {
    match parts.last_mut() {
        Some(LabelPart::Text(last)) => {
            // Signs that stand between bring their own room.
            let text = if last.ends_with(' ') { text.trim_start() } else { text };
            *last += text;
        }
        _ => parts.push(LabelPart::Text(text.into())),
    }
}

struct Maths<'a> {
    label: &'a str,
    signs: Vec<char>,
    at: usize,
}

impl Maths<'_> {
    fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::argument(format!("{what} in the label {:?}", self.label))
    }

    fn next(&mut self) -> Option<char> {
        let sign = self.signs.get(self.at).copied();
        self.at += 1;
        sign
    }

    fn group(&mut self, end: Option<char>) -> Result<Vec<LabelPart>> {
        let mut parts = Vec::new();
        loop {
            match self.next() {
                None if end.is_none() => return Ok(parts),
                None => return Err(self.error("a { has no }")),
                sign if sign == end => return Ok(parts),
                Some('}') => return Err(self.error("a } has no {")),
                Some(mark @ ('_' | '^')) => {
                    let script = self.one()?;
                    let both = matches!(parts.last(), Some(LabelPart::Scripts { below, above })
                        if if mark == '_' { below.is_empty() } else { above.is_empty() });
                    if !both {
                        parts.push(LabelPart::Scripts { below: vec![], above: vec![] });
                    }
                    if let Some(LabelPart::Scripts { below, above }) = parts.last_mut() {
                        *(if mark == '_' { below } else { above }) = script;
                    }
                }
                Some(sign) => {
                    self.at -= 1;
                    let inner = self.one()?;
                    match (&inner[..], sign) {
                        ([LabelPart::Text(text)], _) => put(&mut parts, text),
                        _ => parts.extend(inner),
                    }
                }
            }
        }
    }

    /// One letter, sign or group.
    fn one(&mut self) -> Result<Vec<LabelPart>> {
        let text = match self.next() {
            None => return Err(self.error("nothing follows a _ or ^")),
            Some('{') => return self.group(Some('}')),
            Some('\\') => {
                let start = self.at;
                while self.signs.get(self.at).is_some_and(char::is_ascii_alphabetic) {
                    self.at += 1;
                }
                let word: String = self.signs[start..self.at].iter().collect();
                if word.is_empty() {
                    match self.next() {
                        Some(sign @ ('{' | '}' | '%' | '_' | '&' | '#')) => sign.into(),
                        Some(',' | ' ' | ';' | ':') => " ".into(),
                        other => return Err(self.error(format!("no sign \\{}", other.unwrap_or(' ')))),
                    }
                } else {
                    let known = SIGNS.iter().find(|(name, _)| *name == word).map(|(_, sign)| String::from(*sign));
                    let names = SIGNS.iter().map(|(name, _)| *name);
                    known.ok_or_else(|| self.error(format!("no sign \\{word}")).hint(suggestion(&word, names)))?
                }
            }
            Some(sign @ ('-' | '+')) => {
                let sign = if sign == '-' { '−' } else { '+' };
                // Between two terms it has room on both sides.
                let before = self.signs[..self.at - 1].iter().rev().find(|sign| **sign != ' ');
                let between = before.is_some_and(|sign| !"({[_^=<>,".contains(*sign));
                if between { format!(" {sign} ") } else { sign.into() }
            }
            Some('\'') => "′".into(),
            Some(sign @ ('=' | '<' | '>')) => format!(" {sign} "),
            // As TeX has it; `\ ` is a space.
            Some(' ') => String::new(),
            Some(sign) => sign.into(),
        };
        Ok(vec![LabelPart::Text(text)])
    }
}

/// Places parts from `x` on at this height and scale, and gives their width.
fn place(parts: &[LabelPart], bold: bool, (x, rise, scale): (f64, f64, f64), pieces: &mut Vec<LabelPiece>) -> f64 {
    let mut width = 0.0;
    for part in parts {
        match part {
            LabelPart::Text(text) => {
                // Spaces at an end would be lost where pieces are drawn.
                let trimmed = text.trim_start();
                let before = glyphs_width(&text[..text.len() - trimmed.len()], bold) * scale;
                let piece = LabelPiece { text: trimmed.trim_end().into(), x: x + width + before, rise, scale };
                pieces.extend(Some(piece).filter(|piece| !piece.text.is_empty() || parts.len() == 1));
                width += glyphs_width(text, bold) * scale;
            }
            LabelPart::Scripts { below, above } => {
                let small = scale * SCRIPT;
                let low = place(below, bold, (x + width, rise - 0.2 * scale, small), pieces);
                let high = place(above, bold, (x + width, rise + 0.38 * scale, small), pieces);
                width += low.max(high);
            }
        }
    }
    width
}

const ABOVE: (&str, &str) = ("0123456789+−=()nixT′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣᵀ′");
const BELOW: (&str, &str) = ("0123456789+−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ");

fn letters(part: &LabelPart) -> String {
    let (below, above) = match part {
        LabelPart::Text(text) => return text.clone(),
        LabelPart::Scripts { below, above } => (below, above),
    };
    let script = |parts: &[LabelPart], (from, to): (&str, &str), mark: char| {
        let text: String = parts.iter().map(letters).collect();
        let of = |sign: char| from.chars().position(|known| known == sign).and_then(|place| to.chars().nth(place));
        let small: Option<String> = text.chars().map(of).collect();
        match text.chars().count() {
            0 => String::new(),
            n => small.unwrap_or_else(|| if n == 1 { format!("{mark}{text}") } else { format!("{mark}{{{text}}}") }),
        }
    };
    script(below, BELOW, '_') + &script(above, ABOVE, '^')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_maths() {
        assert_eq!(plain("risk $R_S$ at $\\epsilon \\leq 10^{-3}$"), "risk R_S at ε ≤ 10⁻³");
        assert_eq!(plain("$x_1^2 + \\|$"), "$x_1^2 + \\|$");
        assert_eq!(plain("$x_1^2$"), "x₁²");
        assert_eq!(plain("$1-R_S$, $-1 - x$, $10^{-3}$"), "1 − R_S, −1 − x, 10⁻³");
        assert_eq!(plain("costs $5"), "costs $5");
        assert_eq!(plain("\\$5 and \\$6"), "$5 and $6");
        assert_eq!(words("a $b c$ d"), ["a", "$b c$", "d"]);
    }

    #[test]
    fn scripts_stand_over_one_another() {
        let (pieces, width) = laid_out("$R_{S}^{2}x$", false);
        let at = |text: &str| pieces.iter().find(|piece| piece.text == text).expect("a piece");
        assert_eq!(at("S").x, at("2").x);
        assert!(at("S").rise < 0.0 && at("2").rise > 0.0 && at("x").x > at("S").x && width > at("x").x);
        assert_eq!(at("R").scale, 1.0);
        // No piece ends in a space, which would be lost, and none is lost.
        let (pieces, _) = laid_out("$l_2$ radius", false);
        assert_eq!(pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>(), ["l", "2", "radius"]);
        assert!(pieces[2].x > pieces[1].x + SCRIPT * glyphs_width("2", false) + 0.2);
    }

    #[test]
    fn mistakes_are_named() {
        for (label, what) in
            [("$\\epsilom$", "no sign \\epsilom"), ("$a_$", "nothing follows"), ("$a_{b$", "no }"), ("$a}$", "no {")]
        {
            let error = check(label).expect_err("a mistake");
            assert!(error.to_string().contains(what), "{label}: {error}");
        }
    }
}
