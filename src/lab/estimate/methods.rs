//! What a paper says of a test of independence: the paragraph for its methods, and the entries for its bibliography.

use super::bias::RiskCalibration;
use super::protocol::{TestOutcomes, Which};
use super::registration::Registered;
use crate::core::{Object, number, significant};
use crate::maths::betting::Sides;
use crate::search::{Contrast, Transcript};

const CITATION: &str = include_str!("../../../CITATION.cff");

const WERPACHOWSKI: &str = r#"@inproceedings{werpachowski2019detecting,
  title = {Detecting Overfitting via Adversarial Examples},
  author = {Werpachowski, Roman and Gy{\"o}rgy, Andr{\'a}s and Szepesv{\'a}ri, Csaba},
  booktitle = {Advances in Neural Information Processing Systems 32},
  year = {2019}
}"#;

const WAUDBY_SMITH: &str = r#"@article{waudbysmith2024estimating,
  title = {Estimating means of bounded random variables by betting},
  author = {Waudby-Smith, Ian and Ramdas, Aaditya},
  journal = {Journal of the Royal Statistical Society Series B: Statistical Methodology},
  volume = {86},
  number = {1},
  pages = {1--27},
  year = {2024}
}"#;

const VORACEK: &str = r#"@misc{voracek2025star,
  title = {{STaR}-Bets: Sequential Target-Recalculating Bets for Tighter Confidence Intervals},
  author = {Vor{\'a}{\v{c}}ek, V{\'a}clav and Orabona, Francesco},
  eprint = {2505.22422},
  archiveprefix = {arXiv},
  year = {2025}
}"#;

const HOLM: &str = r#"@article{holm1979simple,
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  author = {Holm, Sture},
  journal = {Scandinavian Journal of Statistics},
  volume = {6},
  number = {2},
  pages = {65--70},
  year = {1979}
}"#;

/// What CITATION.cff says of viva under a key, on the first level.
fn cited(key: &str) -> &'static str {
    let line = CITATION.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.map_or("", |text| text.trim().trim_matches('"'))
}

fn viva() -> String {
    let author = CITATION
        .lines()
        .find_map(|line| line.trim().strip_prefix("- name:"))
        .map_or("", |name| name.trim().trim_matches('"'));
    format!(
        "@software{{viva,\n  title = {{{}}},\n  author = {{{{{author}}}}},\n  version = {{{}}}\n}}",
        cited("title"),
        cited("version")
    )
}

/// A test with what stands behind it.
pub(super) struct Described<'a> {
    pub transcript: &'a Transcript,
    pub tests: &'a TestOutcomes,
    /// R_S and R_g.
    pub risks: (f64, f64),
    pub compared: Contrast,
    pub assumption: &'a str,
    pub registered: Option<&'a Registered>,
    pub calibrated: Option<&'a RiskCalibration>,
}

impl Described<'_> {
    /// The paragraph for the section on methods.
    pub fn methods(&self) -> String {
        let (of, rows, tests) = (&self.transcript.of, &self.transcript.rows, self.tests);
        let protocol = tests.protocol;
        let wrong = rows.iter().filter(|row| row.wrong_before()).count();
        let after = rows.iter().filter(|row| row.wrong_after()).count();
        let test = match protocol.test {
            Which::Betting => format!(
                "a {}-sided betting test on the T_i in an order fixed by the seed {} (after Waudby-Smith and Ramdas 2024, and Voráček and Orabona \
                 2025; its p-value is a level from a ladder in powers of ten)",
                if protocol.sides == Sides::One { "one" } else { "two" },
                tests.order_seed
            ),
            Which::Pairwise => "the pairwise test (Eq. 7 there)".into(),
            Which::Interval => "the test of separate intervals (Section 3.1 there)".into(),
        };
        let short = |x: f64| significant(x, 3);
        let (plain, weighted) = (short(self.risks.0), short(self.risks.1));
        let (way, found) = match self.compared {
            Contrast::Outcome => (
                "the adversarial example generator",
                format!(
                    "and {after} where the generator left them; the error is {plain}, its estimate from adversarial examples weighted by their density \
                     {weighted}"
                ),
            ),
            Contrast::Errors => (
                "all changes alike in place of an adversarial example generator,",
                format!("; the error is {plain}, the mean error of their changes {weighted}"),
            ),
            Contrast::Doubts => (
                "all changes alike in place of an adversarial example generator, and doubts in place of errors,",
                format!(
                    "; the doubt 1 / (1 + exp(-l)), l the best score of another class minus the label's, is {plain} in the mean, that of their changes \
                     {weighted}"
                ),
            ),
        };
        let mut sentences = vec![
            format!(
                "We tested whether the model {} (SHA-256 {}) is independent of the {} images of {} (SHA-256 {}) by the method of Werpachowski, \
                 György and Szepesvári (2019), with {way} {} over {}",
                of.model.0,
                of.model.1.hex(),
                rows.len(),
                of.data.name,
                of.data.digest().hex(),
                of.search,
                of.space
            ),
            format!(
                "Of these images {wrong} are misclassified as they stand{}{found}, and their difference T = {}",
                if self.compared == Contrast::Outcome { " " } else { "" },
                short(tests.difference)
            ),
            format!(
                "The hypothesis that model and images are independent was tested at the level {} by {test}: p = {}, {}",
                number(protocol.delta),
                short(tests.p()),
                if tests.reject() { "rejected" } else { "not rejected" }
            ),
            tests.could_see(),
            format!(
                "This rests on the following: {}; labels are right; {}",
                self.assumption,
                match tests.clusters {
                    Some(n) => format!(
                        "the images lie in {n} clusters, which were drawn independently of each other and count once each, by their mean T_i"
                    ),
                    None => "images were drawn independently of each other".into(),
                }
            ),
        ];
        if let Some(guarded) = &of.guarded {
            sentences.push(guarded.sentence());
        }
        if let Some(calibrated) = self.calibrated {
            sentences.push(format!("As a check of that, {}", calibrated.sentence()));
        }
        match self.registered {
            Some(registered) => {
                let registration = &registered.registration;
                sentences.push(format!(
                    "Model, images, generator, test, level and order had been written into a registration with the SHA-256 {}, dated {}",
                    registered.sha256, registration.registered
                ));
                if registered.tests() > 1 {
                    sentences.push(format!(
                        "It holds {} tests; p-values are to be corrected for their number (Holm 1979), which the p-value above is not",
                        registered.tests()
                    ));
                }
            }
            None => sentences.push("The test was not registered beforehand".into()),
        }
        sentences.extend(tests.cautions.iter().map(|caution| format!("Caution: {caution}")));
        sentences.push(format!("Computed with viva {}", env!("CARGO_PKG_VERSION")));
        sentences.join(". ") + "."
    }

    /// Entries of what was used.
    pub fn bibtex(&self) -> String {
        let mut entries = vec![WERPACHOWSKI.to_string()];
        if self.tests.protocol.test == Which::Betting || self.calibrated.is_some() {
            entries.extend([WAUDBY_SMITH.into(), VORACEK.into()]);
        }
        if self.registered.is_some_and(|registered| registered.tests() > 1) {
            entries.push(HOLM.into());
        }
        entries.push(viva());
        entries.join("\n\n")
    }
}
