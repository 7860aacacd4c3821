//! Adds to every token what was learned for its place.

use serde::{Deserialize, Serialize};

use super::step::{Mode, Node, See, Step, detached, node};
use super::text::call;
use super::{Kind, Layer, Shape, Site};
use crate::core::{Error, Result, Tensor};
use crate::model::supply::Init;

#[derive(Serialize, Deserialize)]
pub struct Positions {}

/// The deviation of fresh ones (Dosovitskiy et al. 2021).
const DEVIATION: f64 = 0.02;

impl Layer {
    pub fn positions() -> Self {
        Positions {}.into()
    }
}

impl Kind for Positions {
    fn script(&self) -> String {
        call("positions", &[], &[])
    }

    fn tensors(&self) -> Vec<&'static str> {
        vec![""]
    }

    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        let [count, width] = shape.tokens("positions", &site.at)?;
        let places = site.tensor("", &[Some(1), count, width], None, Init::Normal(DEVIATION))?;
        let [_, count, width] = places.size()[..] else { return Err(Error::internal("positions without tokens")) };
        Ok((node(Places { places }), Shape::Tokens { count: Some(count), width: Some(width) }))
    }
}

struct Places {
    places: Tensor,
}

impl Step for Places {
    fn forward(&self, x: &Tensor, _: Mode) -> Result<Tensor> {
        let (here, wanted) = (x.size(), self.places.size());
        if here[1..] != wanted[1..] {
            return Err(Error::model(format!(
                "there are positions for {} tokens of {}, got {:?}",
                wanted[1],
                wanted[2],
                &here[1..]
            ))
            .hint("the images are of another size than the network was made for"));
        }
        Ok(x.f_add(&self.places)?)
    }

    fn visit(&self, at: &str, see: &mut See) {
        see(at.into(), &self.places, true);
    }

    fn frozen(&self, _: bool) -> Result<Option<Node>> {
        Ok(Some(node(Self { places: detached(&self.places)? })))
    }

    fn gives_fresh(&self) -> bool {
        true
    }
}
