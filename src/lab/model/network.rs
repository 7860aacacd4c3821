//! What a model asks: layers, TorchScript, or a closure, behind one trait.

use std::cell::RefCell;
use std::rc::Rc;

use tch::{Device, IValue};

use super::asked::{Asked, watched};
use super::{Mode, Model, Module};
use crate::core::{Callback, Error, Result, Tensor, Value, with_stream_of};

/// What maps a batch of images to scores.
pub trait Network {
    /// `N x C x H x W` floats, already normalised, to `N x K` scores.
    fn forward(&self, images: &Tensor) -> Result<Tensor>;

    /// Whether gradients flow from the scores to the images.
    fn differentiable(&self) -> bool {
        true
    }

    /// Whether what it does can't be told from its digest.
    fn opaque(&self) -> bool {
        false
    }

    /// Whether it ends in an error where it is asked what it does not take, so that this can be tried.
    fn refuses(&self) -> bool {
        false
    }

    /// Whether an error is what it says of what it was asked, so that it can be asked again: it is still there, and did not run out of time.
    fn raised(&self, _error: &Error) -> bool {
        self.refuses()
    }

    /// Whether it was written elsewhere, so that an answer may go by what was asked before or stands beside it.
    fn foreign(&self) -> bool {
        self.refuses()
    }

    /// The layers and tensors, of a network that is made of them.
    fn module(&self) -> Option<&Module> {
        None
    }

    /// The same in the form that evaluates fastest.
    fn frozen(&self) -> Option<&Module> {
        None
    }

    /// The model of which it is the mean over draws, whose answers say what its own can't: that they are probabilities, or lie on steps.
    fn stands_for(&self) -> Option<&Model> {
        None
    }

    /// Whether its scores are each of a label by itself, above 0 where it is there.
    fn of_binary_labels(&self) -> bool {
        false
    }

    /// What the models learned from that it was seen to ask, where only that tells; `None` where its answers are its own.
    fn asked(&self) -> Option<Asked> {
        None
    }

    /// How many images it makes of each, all of which are held where gradients are.
    fn copies(&self) -> usize {
        1
    }

    /// Where what it works with lies; `None` where it answers wherever images lie.
    fn device(&self) -> Option<Device> {
        self.module().map(Module::device)
    }

    /// The same on another device; `None` where it answers wherever images lie.
    fn on(&self, _device: Device) -> Result<Option<Rc<dyn Network>>> {
        Ok(None)
    }
}

/// A network of layers, which can be saved.
pub struct Layers {
    module: Module,
    frozen: Module,
}

impl Layers {
    pub fn new(module: Module) -> Result<Self> {
        module.set_trainable(false)?;
        let frozen = module.frozen()?;
        Ok(Self { module, frozen })
    }
}

impl Network for Layers {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        self.frozen.forward(images, Mode::Evaluate)
    }

    fn module(&self) -> Option<&Module> {
        Some(&self.module)
    }

    fn frozen(&self) -> Option<&Module> {
        Some(&self.frozen)
    }

    fn on(&self, device: Device) -> Result<Option<Rc<dyn Network>>> {
        Ok(Some(Rc::new(Self::new(self.module.copy_on(device)?)?)))
    }
}

/// A TorchScript program with its weights, which libtorch runs.
pub struct TorchScript(pub tch::CModule);

impl Network for TorchScript {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        // What a program does in place it does to its own copy.
        let mut own = images.f_empty_like()?;
        own.f_copy_(images)?;
        let given = [IValue::Tensor(own)];
        let (what, wanted) = match with_stream_of(images, || Ok(self.0.forward_is(&given)?))? {
            IValue::Tensor(scores) => return Ok(scores),
            IValue::Tuple(answers) => (format!("a tuple of {}", answers.len()), "model(images)[0]"),
            IValue::TensorList(answers) => (format!("a list of {} tensors", answers.len()), "model(images)[0]"),
            IValue::GenericDict(_) => ("a dictionary".to_string(), "model(images)[\"logits\"]"),
            other => {
                (format!("{other:?}").chars().take_while(|letter| letter.is_alphanumeric()).collect(), "the scores")
            }
        };
        Err(Error::model(format!("the program answers {what}, wanted is a tensor N x K of scores"))
            .hint(format!("export a module whose forward gives the scores alone, such as `return {wanted}`")))
    }

    fn refuses(&self) -> bool {
        true
    }

    fn on(&self, _device: Device) -> Result<Option<Rc<dyn Network>>> {
        Err(Error::model("a TorchScript program stays on the device that it was loaded on")
            .hint("choose the device first, device(..), and load it again"))
    }
}

/// A black box: a closure that answers scores.
pub struct Closure {
    answer: Callback,
    /// Models that it was seen to ask.
    asked: RefCell<Asked>,
}

impl Closure {
    pub fn new(answer: Callback) -> Self {
        Self { answer, asked: RefCell::default() }
    }
}

impl Network for Closure {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let (answered, asked) = watched(|| self.answer.call(&[Value::tensor(images.shallow_clone())]));
        self.asked.borrow_mut().extend(asked);
        match answered? {
            Value::Tensor(scores) => Ok(scores.shallow_clone()),
            other => Err(Error::model(format!(
                "a model's closure must answer a tensor N x K of scores, got {}",
                other.kind()
            ))),
        }
    }

    fn differentiable(&self) -> bool {
        false
    }

    fn opaque(&self) -> bool {
        true
    }

    fn asked(&self) -> Option<Asked> {
        Some(self.asked.borrow().clone())
    }
}
