//! What stands behind a test of independence beside its outcomes: that it was registered, and how far its changes were found to keep
//! label and density.

use std::rc::Rc;

use super::bias::RiskCalibration;
use super::protocol::TestOutcomes;
use super::registration::{Fixed, Registered};
use crate::core::{Cx, Digest, Error, Object, Result, Value, significant};

/// Nothing, unless a script says so.
#[derive(Default)]
pub struct Backing {
    pub registered: Option<Registered>,
    pub calibrated: Option<Rc<RiskCalibration>>,
    /// p corrected for the number of tests registered together, of several.
    pub adjusted: Option<f64>,
}

impl Backing {
    /// Refuses a registration or a calibration of another test.
    pub fn check(
        cx: &Cx,
        registered: Option<&str>,
        calibrated: Option<Rc<RiskCalibration>>,
        fixed: &Fixed,
    ) -> Result<Self> {
        if let (Some(calibrated), Some(way)) = (&calibrated, fixed.ways.first()) {
            calibrated.check(&way.identity, (&way.search, &way.space))?;
            if calibrated.data.1 == fixed.data.digest() {
                return Err(Error::argument(format!(
                    "the calibration is of the images that are tested ({}), which can't be fresh",
                    fixed.data.name
                ))
                .hint("calibrate on images that the model can't have seen"));
            }
        }
        let registered = registered.map(|file| Registered::check(cx, file, fixed)).transpose()?;
        Ok(Self { registered, calibrated, adjusted: None })
    }

    /// Adds to the outcomes what they must be cautioned of.
    pub fn caution(&mut self, cx: &Cx, tests: &mut TestOutcomes, model: &Digest) -> Result<()> {
        if let Some(calibrated) = &self.calibrated {
            tests.cautions.extend(&calibrated.said_of(model, tests.difference));
        }
        let Some(registered) = &self.registered else { return Ok(()) };
        tests.cautions.extend(&registered.cautions());
        let asked = registered.tests();
        if asked > 1 {
            let protocol = tests.protocol;
            let p = (tests.p_among(cx, protocol.test, asked, protocol.delta)? * asked as f64).min(1.0);
            self.adjusted = Some(p);
            tests.cautions.add(format!(
                "one of {asked} tests that were registered together: corrected for them p is {} at most, and risk::holm on all of them may say less",
                significant(p, 3)
            ));
        }
        Ok(())
    }

    /// The end of a one-line summary.
    pub fn ending(&self) -> String {
        self.registered.as_ref().map_or(String::new(), |registered| format!("; {}", registered.short()))
    }

    /// Lines for the long form.
    pub fn lines(&self) -> Vec<String> {
        let registered = self.registered.as_ref().map(Registered::sentence);
        let calibrated = self.calibrated.as_ref().map(|calibrated| calibrated.sentence());
        registered.into_iter().chain(calibrated).collect()
    }

    /// What was registered, as scripts see it.
    pub fn registered(&self) -> Value {
        let Some(registered) = &self.registered else { return Value::Unit };
        let text = |text: &str| Value::Str(text.into());
        let before = registered.registration.scored_before.as_deref();
        Value::Map(super::verdict::fields([
            ("file", text(&registered.file)),
            ("sha256", text(&registered.sha256)),
            ("registered", text(&registered.registration.registered)),
            ("tests", Value::Int(registered.tests() as i64)),
            ("adjusted_p", self.adjusted.map_or(Value::Unit, Value::Float)),
            ("scored_before", before.map_or(Value::Unit, text)),
        ]))
    }

    /// What of it a digest must know.
    pub fn digest(&self) -> Option<Digest> {
        let registered = self.registered.as_ref().map_or("", |registered| &registered.sha256);
        let calibrated = self.calibrated.as_ref().map(|calibrated| crate::core::Object::digest(&**calibrated).hex());
        let known = self.registered.is_some() || self.calibrated.is_some();
        known.then(|| Digest::of_parts(&[registered.as_bytes(), calibrated.unwrap_or_default().as_bytes()]))
    }
}
