//! Certified accuracy by radius, as Figure 1 of Cohen, Rosenfeld and Kolter (ICML 2019), with attacks above it.

use super::figure::{Axis, Figure, Layer, Panel, Series};
use crate::core::{Cautions, Result};
use crate::estimate::certificate::{Accuracy, Attack, Certificate, Share};

/// A line per certificate, below which no attack on that smoothed classifier can get, and one per attack and data, each by the l2 radius of
/// changes; bands are intervals over images. Lines of different classifiers bound nothing of each other, and the figure says so.
pub fn certified(certificates: &[(String, &Certificate)], attacks: &[(String, Attack)]) -> Result<Figure> {
    let mut cautions =
        Cautions::of_each(certificates.iter().map(|(name, certificate)| (name.as_str(), &certificate.cautions)));
    let mut layers = vec![];
    for (name, certificate) in certificates {
        let label = named(name, &format!("certified: smoothed, sigma {}", certificate.settings.sampling.sigma));
        layers.push(line(label, &certificate.steps()));
    }
    for (name, attack) in attacks {
        // Of the certificates that it may be beside, one of the same classifier.
        let own = certificates.iter().find(|(_, certificate)| attack.is_on(certificate));
        let Some((_, certificate)) = own.or(certificates.first()) else { continue };
        let (accuracy, missing) = attack.accuracy(certificate)?;
        cautions.extend(attack.cautions());
        if missing > 0 {
            cautions.add(format!(
                "{missing} of {} images were not attacked, and count as standing",
                certificate.rows.len()
            ));
        }
        let label = match own {
            Some(_) => named(name, "attacked: the same smoothed classifier"),
            None => named(name, &format!("attacked: {}", attack.classifier())),
        };
        match own {
            None => cautions.add(format!(
                "the attack is on {}, which no line here certifies: it bounds its own accuracy from above, and not that of a smoothed \
                 classifier",
                attack.classifier()
            )),
            Some((_, certificate)) if certificate.opaque => {
                cautions.add("models that are closures can't be told apart: that both lines are of one is taken on trust");
            }
            Some(_) => {}
        }
        if let (Attack::Votes(votes), Some((_, certificate))) = (attack, own)
            && votes.short_statement() != certificate.short_statement()
        {
            cautions.add(named("of the attack", &votes.short_statement()));
        }
        layers.push(line(label, &accuracy));
    }
    let all_smoothed = attacks.iter().all(|(_, attack)| matches!(attack, Attack::Votes(_)));
    let panel = Panel {
        x: Axis { label: "l2 radius of the change".into(), min: Some(0.0), ..Axis::default() },
        y: Axis {
            label: if all_smoothed { "accuracy of the smoothed classifier" } else { "accuracy" }.into(),
            min: Some(0.0),
            max: Some(1.03),
            ..Axis::default()
        },
        layers,
        ..Panel::default()
    };
    Figure::new(panel).map(|figure| figure.cautioned(&said(certificates, cautions)))
}

/// What every such figure says: what the lines are of, and how surely.
fn said(certificates: &[(String, &Certificate)], cautions: Cautions) -> Cautions {
    let mut all = Cautions::default();
    for (name, certificate) in certificates {
        all.add(named(name, &certificate.short_statement()));
    }
    all.extend(&cautions);
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
