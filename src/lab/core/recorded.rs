//! Steps of many small kernels, which a GPU has done before the host has asked for the next one: they are recorded once and from then on asked
//! for as a whole (CUDA graphs). `recorded.cpp` is libtorch's side of it.
//!
//! A recording knows addresses, not values: it goes on with what lies where it was. So nothing of the host's may go into it but what is handed
//! over, and before it is trusted it must come to what the step itself comes to, bit for bit.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::resume_unwind;
use std::time::Instant;

use tch::{Device, Kind};

use super::device::{recording, wait_for};
use super::{Error, Result, Tensor, attempt, caught, copied};

/// What a step gives of its inputs. Whatever else it reads must lie on the device, at the same place in every call.
pub type StepWork<'a> = &'a dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>;

/// Calls that go as written before there is a recording: the first makes what libraries keep, the second tells whether the host holds it up.
const WATCHED: u32 = 2;
/// How often the host must be seen not to hold a step up: once it may have been held up itself, as by other programs.
const SEEN: u32 = 2;
/// Recordings that were used less often than this were not worth it, and the next one waits twice as long.
const WORTH: u64 = 32;
/// Inputs of another layout in a row that a recording outlasts.
const OTHERS: u32 = 3;

/// A step that is asked for again and again.
pub struct RecordedStep {
    stage: RecordingStage,
    patience: u32,
    /// How often the host was seen not to hold it up.
    kept_pace: u32,
}

enum RecordingStage {
    /// So many calls with inputs of this layout.
    Watched(u32, Vec<StepLayout>),
    Made(Box<Replayable>),
    /// It is asked for as written, now and later.
    Never,
}

/// Sizes, strides, kind.
type StepLayout = (Vec<i64>, Vec<i64>, Kind);

struct Replayable {
    recording: Recording,
    layout: Vec<StepLayout>,
    inputs: Vec<Tensor>,
    outputs: Vec<Tensor>,
    uses: u64,
    others: u32,
}

impl RecordedStep {
    /// Nothing is recorded but on a GPU, nor with VIVA_RECORD=0 in the environment.
    pub fn on(device: Device) -> Self {
        let wanted = || !NEVER_MORE.get() && std::env::var_os("VIVA_RECORD").is_none_or(|set| set != "0");
        let stage = match device {
            Device::Cuda(_) if wanted() => RecordingStage::Watched(0, vec![]),
            _ => RecordingStage::Never,
        };
        Self { stage, patience: WATCHED, kept_pace: 0 }
    }

    /// Every step goes as written.
    pub fn never() -> Self {
        Self { stage: RecordingStage::Never, patience: WATCHED, kept_pace: 0 }
    }

    /// Whether there is anything to be gained.
    pub fn may_be(&self) -> bool {
        !matches!(self.stage, RecordingStage::Never)
    }

    /// The next step is another one.
    pub fn forget(&mut self) {
        if self.may_be() {
            self.stage = RecordingStage::Watched(0, vec![]);
        }
    }

    /// What `work` gives of these inputs.
    pub fn run(&mut self, inputs: &[&Tensor], work: StepWork) -> Result<Vec<Tensor>> {
        let given = self.lent(inputs, &[], &|| {}, work)?;
        given.iter().map(|lent| self.own(lent)).collect()
    }

    /// As [`Self::run`], for the time until it is asked for again. `changed`: what the work changes in place; `begin` puts random numbers where they
    /// begin once more.
    pub fn lent(
        &mut self,
        inputs: &[&Tensor],
        changed: &[Tensor],
        begin: &dyn Fn(),
        work: StepWork,
    ) -> Result<Vec<Tensor>> {
        let own = || inputs.iter().map(|input| input.shallow_clone()).collect::<Vec<_>>();
        if let RecordingStage::Never = self.stage {
            return work(&own());
        }
        let layout: Vec<StepLayout> = inputs.iter().map(|input| (input.size(), input.stride(), input.kind())).collect();
        match &mut self.stage {
            RecordingStage::Never => {}
            RecordingStage::Made(made) if made.layout == layout => return made.again(inputs),
            // A last batch that is smaller.
            RecordingStage::Made(made) if made.others < OTHERS => made.others += 1,
            RecordingStage::Made(made) => {
                self.patience = if made.uses < WORTH { self.patience.saturating_mul(2) } else { WATCHED };
                self.stage = RecordingStage::Watched(1, layout);
            }
            RecordingStage::Watched(calls, known) if *known != layout => (*calls, *known) = (1, layout),
            RecordingStage::Watched(calls, _) if *calls + 1 < self.patience => *calls += 1,
            RecordingStage::Watched(calls, _) if *calls < self.patience => {
                *calls += 1;
                if let Some(recording) = Recording::new(inputs[0].device()) {
                    let (given, held_up) = recording.watch(|| work(&own()))?;
                    if !held_up {
                        // It is watched once more.
                        *calls -= 1;
                        self.kept_pace += 1;
                        if self.kept_pace == SEEN {
                            self.stage = RecordingStage::Never;
                        }
                    }
                    return Ok(given);
                }
                self.stage = RecordingStage::Never;
            }
            RecordingStage::Watched(..) => {
                let (given, made) = recorded(inputs, (changed, begin), layout, work)?;
                self.stage = made.map_or(RecordingStage::Never, |made| RecordingStage::Made(Box::new(made)));
                return Ok(given);
            }
        }
        work(&own())
    }

    /// Of what was lent last, one for good.
    pub fn own(&self, lent: &Tensor) -> Result<Tensor> {
        match self.stage {
            RecordingStage::Made(_) => copied(lent),
            _ => Ok(lent.shallow_clone()),
        }
    }
}

impl Replayable {
    fn again(&mut self, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        (self.uses, self.others) = (self.uses + 1, 0);
        tch::no_grad(|| self.inputs.iter_mut().zip(inputs).try_for_each(|(place, input)| place.f_copy_(input)))?;
        self.recording.replay()?;
        Ok(self.outputs.iter().map(Tensor::shallow_clone).collect())
    }
}

/// What the work gives, and a recording of it that gives the same.
fn recorded(
    inputs: &[&Tensor],
    (changed, begin): (&[Tensor], &dyn Fn()),
    layout: Vec<StepLayout>,
    work: StepWork,
) -> Result<(Vec<Tensor>, Option<Replayable>)> {
    let own = || inputs.iter().map(|input| input.shallow_clone()).collect::<Vec<_>>();
    let copies = |of: &[Tensor]| of.iter().map(copied).collect::<Result<Vec<_>>>();
    let (places, before) = (copies(&own())?, copies(changed)?);
    wait_for(inputs[0].device())?;
    let found = Recording::of(&places, work)?;
    begin();
    let Some((recording, outputs)) = found else { return Ok((work(&own())?, None)) };
    let mut made = Replayable { recording, layout, inputs: places, outputs, uses: 0, others: 0 };
    let replayed = made.again(inputs).and_then(|_| copies(changed));
    tch::no_grad(|| changed.iter().zip(&before).try_for_each(|(now, before)| now.shallow_clone().f_copy_(before)))?;
    let given = work(&own())?;
    let trusted = match replayed {
        Ok(after) => {
            let all = made.outputs.iter().zip(&given).chain(after.iter().zip(changed));
            tch::no_grad(|| same_bits(all))?
        }
        Err(_) => false,
    };
    Ok((given, trusted.then_some(made)))
}

fn same_bits<'t>(pairs: impl Iterator<Item = (&'t Tensor, &'t Tensor)>) -> Result<bool> {
    let mut others = vec![];
    for (a, b) in pairs {
        if a.size() != b.size() || a.kind() != b.kind() {
            return Ok(false);
        }
        let both_none = a.f_isnan()?.f_logical_and(&b.f_isnan()?)?;
        others.push(a.f_eq_tensor(b)?.f_logical_or(&both_none)?.f_all()?);
    }
    match others.is_empty() {
        true => Ok(true),
        false => Ok(Tensor::f_stack(&others, 0)?.f_all()?.f_int64_value(&[])? != 0),
    }
}

thread_local! {
    /// Whether libtorch could not end a recording; it then holds on to memory for one.
    static NEVER_MORE: Cell<bool> = const { Cell::new(false) };
}

unsafe extern "C" {
    fn viva_recording_why() -> *const c_char;
    fn viva_recording_new(device: i8) -> *mut c_void;
    fn viva_recording_free(recording: *mut c_void);
    fn viva_recording_go_beside(recording: *mut c_void) -> bool;
    fn viva_recording_come_back(recording: *mut c_void) -> bool;
    fn viva_recording_begin(recording: *mut c_void) -> bool;
    fn viva_recording_end(recording: *mut c_void) -> bool;
    fn viva_recording_replay(recording: *mut c_void) -> bool;
}

/// `recorded.cpp`'s.
struct Recording {
    made: *mut c_void,
    device: Device,
}

impl Recording {
    fn new(device: Device) -> Option<Self> {
        let Device::Cuda(number) = device else { return None };
        // SAFETY: takes a number.
        let made = unsafe { viva_recording_new(i8::try_from(number).ok()?) };
        (!made.is_null()).then_some(Self { made, device })
    }

    /// What a work gives on the stream beside the usual one, and whether the device waited for the host most of the time.
    fn watch<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(T, bool)> {
        wait_for(self.device)?;
        let start = Instant::now();
        let (given, asked) = self.beside(|| (attempt(work), start.elapsed()))?;
        wait_for(self.device)?;
        let left = start.elapsed().saturating_sub(asked);
        Ok((given?, left < asked / 2))
    }

    /// Does work on that stream; whatever becomes of it, this thread is back on the usual one.
    fn beside<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        self.call(viva_recording_go_beside)?;
        let done = caught(work);
        self.call(viva_recording_come_back)?;
        Ok(done.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// A recording of a work on these inputs, and where what it gives will lie; `None` where it can't be recorded.
    fn of(inputs: &[Tensor], work: StepWork) -> Result<Option<(Self, Vec<Tensor>)>> {
        let Some(made) = Self::new(inputs[0].device()) else { return Ok(None) };
        let outputs = made.beside(|| made.record(inputs, work))?;
        Ok(outputs.ok().map(|outputs| (made, outputs)))
    }

    fn record(&self, inputs: &[Tensor], work: StepWork) -> Result<Vec<Tensor>> {
        self.call(viva_recording_begin)?;
        let outputs = recording(|| caught(|| attempt(|| work(inputs))));
        let ended = self.call(viva_recording_end);
        if ended.is_err() {
            NEVER_MORE.set(true);
        }
        ended.and(outputs.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    fn replay(&self) -> Result<()> {
        self.call(viva_recording_replay)
    }

    fn call(&self, function: unsafe extern "C" fn(*mut c_void) -> bool) -> Result<()> {
        // SAFETY: `self` is what `viva_recording_new` made; the text is this thread's until its next call.
        unsafe {
            match function(self.made) {
                true => Ok(()),
                false => Err(Error::internal(format!(
                    "CUDA graphs: {}",
                    CStr::from_ptr(viva_recording_why()).to_string_lossy()
                ))),
            }
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // SAFETY: the only call of this.
        unsafe { viva_recording_free(self.made) }
    }
}
