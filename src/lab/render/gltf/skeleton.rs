//! Skeletons, as their nodes stand in the file.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use glam::{Mat4, Vec4};
use serde_json::Value;

use super::Gltf;
use crate::core::Result;
use crate::render::parts::Parts;

/// Where each joint of a skeleton takes what hangs on it, and how far off the frames are that this goes through.
pub(super) struct Skin {
    joints: Vec<Mat4>,
    pub(super) far: f32,
}

/// What skeletons asked for so far.
#[derive(Default)]
pub(super) struct Skeletons {
    /// From a node's own frame to the file's.
    frames: RefCell<HashMap<u64, Mat4>>,
    /// The node that each hangs on.
    parents: OnceCell<HashMap<u64, u64>>,
    skins: RefCell<HashMap<u64, Rc<Skin>>>,
}

impl Gltf<'_> {
    /// From a node's own frame to the file's.
    fn frame_of(&self, node: u64) -> Result<Mat4> {
        let none = vec![];
        let nodes = self.root["nodes"].as_array().unwrap_or(&none);
        if self.skeletons.parents.get().is_none() {
            let mut parents = HashMap::new();
            for (parent, node) in nodes.iter().enumerate() {
                for child in self.places(node, "children")? {
                    self.budget.step()?;
                    parents.entry(child).or_insert(parent as u64);
                }
            }
            let _ = self.skeletons.parents.set(parents);
        }
        let parents = self.skeletons.parents.get().expect("they were just found");
        let mut frames = self.skeletons.frames.borrow_mut();
        let (mut above, mut at) = (vec![], Some(node));
        while let Some(node) = at.filter(|node| !frames.contains_key(node)) {
            self.budget.step()?;
            if above.len() > nodes.len() {
                return Err(self.bad(format!("node {node} hangs in itself")));
            }
            above.push(node);
            at = parents.get(&node).copied();
        }
        let mut frame = at.map_or(Mat4::IDENTITY, |node| frames[&node]);
        for node in above.into_iter().rev() {
            frame *= self.frame(self.item("nodes", node)?)?;
            frames.insert(node, frame);
        }
        Ok(frame)
    }

    /// A skeleton as its nodes stand in the file.
    pub(super) fn skin(&self, number: u64) -> Result<Rc<Skin>> {
        if let Some(known) = self.skeletons.skins.borrow().get(&number) {
            return Ok(known.clone());
        }
        let skin = self.item("skins", number)?;
        let joints = self.places(skin, "joints")?;
        self.budget.items::<[Mat4; 2]>(joints.len(), "its joints")?;
        let back: Vec<Mat4> = match skin.get("inverseBindMatrices") {
            None => vec![Mat4::IDENTITY; joints.len()],
            Some(number) => {
                let (numbers, _) = self.numbers(number, "inverseBindMatrices", &["MAT4"])?;
                let matrix = |own: &[f64; 16]| Mat4::from_cols_array(&own.map(|x| x as f32));
                numbers.as_chunks::<16>().0.iter().take(joints.len()).map(matrix).collect()
            }
        };
        if back.len() < joints.len() {
            return Err(self.bad(format!("{} `inverseBindMatrices` for {} joints", back.len(), joints.len())));
        }
        if back.iter().any(|back| !back.is_finite()) {
            return Err(self.bad("`inverseBindMatrices` that are not finite"));
        }
        let mut far = 0f32;
        let mut placed = Vec::with_capacity(joints.len());
        for (&joint, back) in joints.iter().zip(&back) {
            let frame = self.frame_of(joint)?;
            for frame in [&frame, back] {
                far = far.max(frame.w_axis.truncate().abs().max_element());
            }
            placed.push(frame * *back);
        }
        let skin = Rc::new(Skin { joints: placed, far });
        self.skeletons.skins.borrow_mut().insert(number, skin.clone());
        Ok(skin)
    }

    /// What takes each vertex of a primitive to its place: what its joints say, each by its weight.
    pub(super) fn placed_by(
        &self,
        attributes: &Value,
        skin: &Skin,
        count: usize,
        parts: &mut Parts,
    ) -> Result<Vec<Mat4>> {
        let given = |name: &str| {
            let number = attributes.get(name).ok_or_else(|| self.bad(format!("a skeleton without `{name}`")))?;
            self.vectors(number, name)
        };
        let (joints, weights) = (given("JOINTS_0")?, given("WEIGHTS_0")?);
        if joints.len() != count || weights.len() != count {
            return Err(self.bad(format!(
                "{} joints and {} weights for {count} vertices",
                joints.len(),
                weights.len()
            )));
        }
        if attributes.get("JOINTS_1").is_some() {
            parts.remark("of the joints of its skeleton four are kept for each vertex");
        }
        self.budget.items::<Mat4>(count, "its vertices")?;
        let mut loose = false;
        let mut of = |(joints, weights): (&Vec4, &Vec4)| {
            self.budget.step()?;
            let mut sum = Mat4::ZERO;
            for (joint, weight) in joints.to_array().into_iter().zip(weights.to_array()) {
                if weight != 0.0 {
                    let joint = skin.joints.get(joint as usize);
                    sum += *joint.ok_or_else(|| self.bad("a vertex hangs on a joint that is not there"))? * weight;
                }
            }
            let all = weights.element_sum();
            if all == 0.0 {
                loose = true;
                return Ok(Mat4::IDENTITY);
            }
            match sum * all.recip() {
                placed if all > 0.0 && placed.is_finite() => Ok(placed),
                _ => Err(self.bad(format!("a vertex whose joints have the weights {weights}"))),
            }
        };
        let placed = joints.iter().zip(&weights).map(&mut of).collect();
        if loose {
            parts.remark("vertices that hang on no joint of its skeleton stand where its file has them");
        }
        placed
    }
}
