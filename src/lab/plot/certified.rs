//! Certified accuracy by radius, as Figure 1 of Cohen, Rosenfeld and Kolter (ICML 2019), with attacks above it.

use super::figure::{Axis, Figure, Layer, Panel, ReferenceLine, Series};
use crate::core::{Cautions, Result};
use crate::estimate::certificate::{Accuracy, Attack, Certificate, Share, different};

/// A line per certificate, below which no attack on that smoothed classifier can get, and one per attack, each by the l2 radius of
/// changes; bands are intervals over images. Lines of different classifiers bound nothing of each other, and the figure says so.
pub fn certified(certificates: &[(String, &Certificate)], attacks: &[(String, Attack)]) -> Result<Figure> {
    let mut cautions = said(certificates);
    let mut layers = vec![];
    for (name, certificate) in certificates {
        let label = named(name, &format!("certified: smoothed, sigma {}", certificate.settings.sampling.sigma));
        layers.push(line(label, &certificate.steps()));
    }
    for (name, attack) in attacks {
        // Of the certificates that it may be beside, one of the same classifier.
        let own = certificates.iter().map(|(_, certificate)| *certificate).find(|one| attack.is_on(one));
        let Some(certificate) = own.or(certificates.first().map(|(_, first)| *first)) else { continue };
        let (accuracy, missing) = attack.accuracy(certificate)?;
        if missing > 0 {
            let images = certificate.rows.len();
            cautions.add(format!(
                "{missing} of {images} images are not among those that an attack is known of, and count as standing"
            ));
        }
        said_of(attack, own, &mut cautions);
        let label = match own {
            Some(_) => named(name, "attacked: the same smoothed classifier"),
            None => named(name, &format!("attacked: {}", attack.classifier())),
        };
        layers.push(line(label, &accuracy));
    }
    layers.extend(certificates.iter().filter_map(|(name, certificate)| reach(name, certificate)));
    let all_smoothed = attacks.iter().all(|(_, attack)| matches!(attack, Attack::Votes(_)));
    let label = if all_smoothed { "accuracy of the smoothed classifier" } else { "accuracy" };
    let panel = Panel {
        x: Axis { label: "l2 radius of the change".into(), min: Some(0.0), ..Axis::default() },
        y: Axis { label: label.into(), min: Some(0.0), max: Some(1.03), ..Axis::default() },
        layers,
        ..Panel::default()
    };
    Ok(Figure::new(panel)?.cautioned(&cautions))
}

/// Where a line ends because the samples do, whatever the classifier bears.
fn reach(name: &str, certificate: &Certificate) -> Option<Layer> {
    let at = certificate.largest_radius();
    let ends_there = certificate.rows.iter().any(|row| row.right() && row.radius.is_some_and(|radius| radius >= at));
    let label = named(name, &format!("the most that {} samples can show", certificate.settings.sampling.samples));
    ends_there.then_some(Layer::Rule(ReferenceLine { label, horizontal: false, at }))
}

/// What must be said of an attack beside the certificate of the classifier that it is on, if one is here.
fn said_of(attack: &Attack, own: Option<&Certificate>, cautions: &mut Cautions) {
    cautions.extend(&attack.cautions());
    match (attack, own) {
        (Attack::Votes(votes), Some(certificate)) => {
            if certificate.opaque {
                cautions.add("models that are closures can't be told apart: that both lines are of one is taken on trust");
            }
            if votes.short_statement() != certificate.short_statement() {
                cautions.add(named("of the attack", &votes.short_statement()));
            }
        }
        _ => cautions.add(format!(
            "the attack is on {}, which no line here certifies: it bounds the accuracy of that one from above, and of no other",
            attack.classifier()
        )),
    }
}

/// What every such figure says: what the lines are of, and how surely.
fn said(certificates: &[(String, &Certificate)]) -> Cautions {
    let mut all = Cautions::default();
    for (name, certificate) in certificates {
        all.add(named(name, &certificate.short_statement()));
    }
    all.extend(&Cautions::of_each(certificates.iter().map(|(name, one)| (name.as_str(), &one.cautions))));
    different(certificates.iter().map(|(_, certificate)| *certificate)).into_iter().for_each(|told| all.add(told));
    all
}

fn named(name: &str, what: &str) -> String {
    if name.is_empty() { what.to_string() } else { format!("{name}, {what}") }
}

fn line(label: String, accuracy: &Accuracy) -> Layer {
    let all = |of: fn(&Share) -> f64| accuracy.share.iter().map(of).collect::<Vec<f64>>();
    let line = Series::line(label, accuracy.radius.clone(), all(|share| share.value));
    Layer::Series(Series { markers: Some(false), ..line.within(all(|share| share.lo), all(|share| share.hi)) })
}
