//! What a device is asked to tell, and told when more work was asked of it: the host then waits for nothing but what the answer itself needed.

use std::ffi::c_void;
use std::sync::OnceLock;

use tch::{Device, Tensor};

use super::Result;

/// Values of a tensor on their way to the host.
pub struct Late {
    values: Tensor,
    /// When they have arrived; `None` where they are here.
    arrival: Option<Event>,
}

impl Late {
    /// Asks for the values that a tensor has after all that was asked of its device so far.
    pub fn of(tensor: &Tensor) -> Result<Self> {
        let tensor = tensor.f_detach()?;
        let Device::Cuda(number) = tensor.device() else {
            return Ok(Self { values: tensor.f_detach_copy()?, arrival: None });
        };
        if let Some(event) = Event::new(number) {
            // libtorch takes memory for it that the device writes to by itself.
            let values = tensor.f_to_device_(Device::Cpu, tensor.kind(), true, false)?;
            if event.record() {
                return Ok(Self { values, arrival: Some(event) });
            }
        }
        Ok(Self { values: tensor.f_to_device(Device::Cpu)?, arrival: None })
    }

    /// The values, on the CPU, once they are there.
    pub fn told(self) -> Result<Tensor> {
        match &self.arrival {
            // What went wrong with it will be told by the device's next answer.
            Some(event) if !event.wait() => super::wait_for(Device::Cuda(event.device))?,
            _ => {}
        }
        Ok(self.values)
    }
}

/// Of CUDA's runtime, which libtorch_cuda brings along, what tells when a device has come to a place in its work.
struct Runtime {
    device: unsafe extern "C" fn(*mut i32) -> i32,
    set_device: unsafe extern "C" fn(i32) -> i32,
    create: unsafe extern "C" fn(*mut *mut c_void, u32) -> i32,
    record: unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32,
    synchronise: unsafe extern "C" fn(*mut c_void) -> i32,
    destroy: unsafe extern "C" fn(*mut c_void) -> i32,
}

fn runtime() -> Option<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let found = RUNTIME.get_or_init(|| {
        let process = libloading::os::unix::Library::this();
        // SAFETY: functions with the types of their documentation, of a library that stays open.
        unsafe {
            Some(Runtime {
                device: *process.get(b"cudaGetDevice\0").ok()?,
                set_device: *process.get(b"cudaSetDevice\0").ok()?,
                create: *process.get(b"cudaEventCreateWithFlags\0").ok()?,
                record: *process.get(b"cudaEventRecord\0").ok()?,
                synchronise: *process.get(b"cudaEventSynchronize\0").ok()?,
                destroy: *process.get(b"cudaEventDestroy\0").ok()?,
            })
        }
    });
    found.as_ref()
}

/// A place in what was asked of a device.
struct Event {
    runtime: &'static Runtime,
    event: *mut c_void,
    device: usize,
}

/// `cudaEventDisableTiming`: no clock is read.
const NO_TIMING: u32 = 2;

impl Event {
    fn new(device: usize) -> Option<Self> {
        let runtime = runtime()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: the runtime writes the new event's handle.
        let made = on(runtime, device, || unsafe { (runtime.create)(&mut event, NO_TIMING) });
        made.then_some(Self { runtime, event, device })
    }

    /// Comes after all that was asked so far, in the stream that libtorch uses unless it is told otherwise.
    fn record(&self) -> bool {
        // SAFETY: the event is of the device that is chosen, and no stream stands for its first one.
        on(self.runtime, self.device, || unsafe { (self.runtime.record)(self.event, std::ptr::null_mut()) })
    }

    fn wait(&self) -> bool {
        // SAFETY: an event that was recorded.
        unsafe { (self.runtime.synchronise)(self.event) == 0 }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: nothing else has the handle. CUDA keeps what it still needs of it.
        unsafe { (self.runtime.destroy)(self.event) };
    }
}

/// Whether a call of the runtime goes well on a device, which is not chosen for what comes after.
fn on(runtime: &Runtime, device: usize, call: impl FnOnce() -> i32) -> bool {
    let (mut before, Ok(number)) = (0, i32::try_from(device)) else { return false };
    // SAFETY: the runtime writes one number, and takes one.
    unsafe {
        (runtime.device)(&mut before) == 0 && (runtime.set_device)(number) == 0 && {
            let told = call();
            (runtime.set_device)(before) == 0 && told == 0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_was_when_it_was_asked() -> Result<()> {
        let mut tensor = Tensor::from_slice(&[true, false]);
        let late = Late::of(&tensor)?;
        let _ = tensor.f_logical_not_()?;
        assert_eq!(Vec::<bool>::try_from(late.told()?)?, [true, false]);
        Ok(())
    }
}
