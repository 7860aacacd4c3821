//! The images that a task asks about, from wherever viva has images.

use std::collections::BTreeMap;

use tch::Device;

use crate::core::{Cautions, Cx, Error, Object, Result, Tensor, Value};
use crate::data::Dataset;
use crate::plot::Picture;
use crate::search::{GeneratedTests, PerturbedTests, Transcript};

/// Images with what is known of them.
#[derive(Clone)]
pub struct ShownImages {
    pub pictures: Vec<Picture>,
    /// What each was before it was changed.
    pub originals: Option<Vec<Picture>>,
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    /// By column, what is known of each; empty where it is not.
    pub about: BTreeMap<String, Vec<String>>,
    /// Where they come from: what, its name, its hash where that is known.
    pub of: Vec<[String; 3]>,
    pub cautions: Cautions,
}

/// The pictures of a data set, in its order.
pub fn pictures(cx: &Cx, set: &Dataset) -> Result<Vec<Picture>> {
    const TOGETHER: usize = 64;
    if set.leaves_unit_range() {
        return Err(Error::data(format!(
            "the images of {} need not lie in [0, 1]: people would not see what models do",
            set.name
        ))
        .hint("give the images before centre(), standardise() or scale_pixels()"));
    }
    let mut all = vec![];
    for from in (0..set.len()).step_by(TOGETHER) {
        cx.check()?;
        let rows: Vec<usize> = (from..set.len().min(from + TOGETHER)).collect();
        all.extend(Picture::of_tensor(&set.images(&rows, Device::Cpu)?)?);
    }
    Ok(all)
}

impl ShownImages {
    pub fn of_data(cx: &Cx, set: &Dataset) -> Result<Self> {
        Ok(Self {
            pictures: pictures(cx, set)?,
            originals: None,
            labels: set.labels().to_vec(),
            classes: set.classes().to_vec(),
            about: BTreeMap::new(),
            of: vec![["data".into(), set.name.clone(), set.digest().short()]],
            cautions: set.noticed(),
        })
    }

    pub fn of_generated(cx: &Cx, tests: &GeneratedTests) -> Result<Self> {
        let mut shown = Self::of_data(cx, &tests.images)?;
        let target = shown.class_or(tests.target, "any");
        shown.about.insert("target".into(), vec![target; shown.labels.len()]);
        shown.about.insert("answered".into(), shown.names(&tests.predictions));
        shown.cautions.extend(&tests.cautions());
        shown.of = vec![["tests".into(), tests.summary(), Object::digest(tests).short()]];
        Ok(shown)
    }

    pub fn of_perturbed(cx: &Cx, tests: &PerturbedTests) -> Result<Self> {
        let Some(images) = &tests.images else {
            return Err(Error::data("no seed became a test: there is nothing to ask about"));
        };
        let mut shown = Self::of_data(cx, images)?;
        if let Some(Value::Object(originals)) = tests.field("originals")?
            && let Some(originals) = Value::Object(originals).downcast::<Dataset>()
        {
            shown.originals = Some(pictures(cx, &originals)?);
        }
        let numbers = |name: &str| -> Result<Vec<Option<i64>>> {
            let Some(Value::Array(values)) = tests.field(name)? else { return Ok(vec![]) };
            Ok(values.iter().map(|value| if let Value::Int(i) = value { Some(*i) } else { None }).collect())
        };
        // What is known of seeds that became no test is not of these images.
        for (column, field) in [("target", "targets"), ("answered", "predictions")] {
            let found = numbers(field)?;
            if found.len() == shown.labels.len() {
                let named = found.into_iter().map(|class| shown.class_or(class, "any")).collect();
                shown.about.insert(column.into(), named);
            }
        }
        shown.of = vec![["tests".into(), tests.summary(), Object::digest(tests).short()]];
        shown.cautions.extend(&tests.cautions());
        Ok(shown)
    }

    /// Where the search left the images, and what they were.
    pub fn of_transcript(cx: &Cx, transcript: &Transcript) -> Result<Self> {
        let of = &transcript.of;
        let images = |after: bool| -> Result<Vec<Picture>> {
            if of.data.leaves_unit_range() {
                return pictures(cx, &of.data);
            }
            let images: Tensor = transcript.images(cx, after)?;
            Picture::of_tensor(&images)
        };
        let mut shown = Self {
            pictures: images(true)?,
            originals: Some(images(false)?),
            labels: transcript.rows.iter().map(|row| i64::from(row.label)).collect(),
            classes: of.data.classes().to_vec(),
            about: BTreeMap::new(),
            of: vec![
                ["model".into(), of.model.0.clone(), of.model.1.short()],
                ["data".into(), of.data.name.clone(), of.data.digest().short()],
                ["search".into(), format!("{} over {}", of.search, of.space), String::new()],
            ],
            cautions: of.cautions.clone(),
        };
        let after: Vec<i64> = transcript.rows.iter().map(|row| i64::from(row.after)).collect();
        shown.about.insert("answered".into(), shown.names(&after));
        let target = transcript.rows.iter().map(|row| shown.class_or(row.target.map(i64::from), "any"));
        let target = target.collect();
        shown.about.insert("target".into(), target);
        if transcript.rows.iter().any(|row| row.level.is_some()) {
            let level = transcript.rows.iter().map(|row| row.level.map_or(String::new(), |level| format!("{level}")));
            shown.about.insert("level".into(), level.collect());
        }
        Ok(shown)
    }

    fn class_or(&self, class: Option<i64>, none: &str) -> String {
        match class {
            None => none.into(),
            Some(class) => {
                let name = usize::try_from(class).ok().and_then(|class| self.classes.get(class));
                name.cloned().unwrap_or_else(|| class.to_string())
            }
        }
    }

    fn names(&self, classes: &[i64]) -> Vec<String> {
        classes.iter().map(|class| self.class_or(Some(*class), "")).collect()
    }

    /// The name of what each was to show.
    pub fn intended(&self, place: usize) -> String {
        self.class_or(Some(self.labels[place]), "")
    }
}
