//! Memory that this process and a Python see: numbers are written into it once, and Python maps it.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use tch::{Device, Kind};

use crate::core::{Error, Result, Tensor};

pub(super) struct SharedMemory(File);

/// A file that lies in memory and that nobody can cut off below those who map it.
#[cfg(target_os = "linux")]
fn nameless() -> std::io::Result<File> {
    use std::os::fd::FromRawFd;
    // SAFETY: the name is a string that lives as long as the program; the number, if there is one, is nobody else's.
    unsafe {
        let number = libc::memfd_create(c"viva".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if number < 0 {
            return Err(std::io::Error::last_os_error());
        }
        let file = File::from_raw_fd(number);
        match libc::fcntl(number, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) {
            0 => Ok(file),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> std::io::Result<File> {
    tempfile::tempfile()
}

fn failed(what: &str, error: std::io::Error) -> Error {
    Error::model(format!("memory that is shared with Python can't be {what}: {error}"))
}

impl SharedMemory {
    pub fn new() -> Result<Self> {
        Ok(Self(nameless().map_err(|e| failed("had", e))?))
    }

    /// Has a program that is started find it under a number that is its last argument.
    pub fn hand_to(&self, command: &mut Command) {
        let number = self.0.as_raw_fd();
        command.arg(number.to_string());
        // SAFETY: between fork and exec only a call that is safe there, on a file that is open as long as the command is not started.
        unsafe {
            command.pre_exec(move || match libc::fcntl(number, libc::F_SETFD, 0) {
                -1 => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            });
        }
    }

    /// Puts float32 numbers of the CPU at its begin.
    pub fn write(&self, numbers: &Tensor) -> Result<()> {
        let dense = numbers.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
        // SAFETY: a dense tensor on the CPU, which lives to the end of this function, holds so many bytes from there.
        let bytes =
            unsafe { std::slice::from_raw_parts(dense.data_ptr().cast::<u8>(), dense.numel() * size_of::<f32>()) };
        self.0.write_all_at(bytes, 0).map_err(|e| failed("written", e))
    }

    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.0.read_exact_at(bytes, at).map_err(|e| failed("read", e))
    }

    pub fn floats(&self, at: u64, shape: &[i64]) -> Result<Tensor> {
        let count = shape.iter().try_fold(1i64, |n, &side| n.checked_mul(side).filter(|_| side >= 0));
        // What the file can't hold is no answer, whatever its shape says.
        let held = self.0.metadata().map_err(|e| failed("read", e))?.len();
        let bytes =
            count.and_then(|n| (n as u64).checked_mul(4)).filter(|n| n.checked_add(at).is_some_and(|end| end <= held));
        let Some(bytes) = bytes else { return Err(Error::internal("numbers that are not there")) };
        let tensor = Tensor::f_empty(shape, (Kind::Float, Device::Cpu))?;
        if bytes > 0 {
            // SAFETY: a dense tensor on the CPU that was just made and nobody else has, of so many bytes.
            let held = unsafe { std::slice::from_raw_parts_mut(tensor.data_ptr().cast::<u8>(), bytes as usize) };
            self.read(at, held)?;
        }
        Ok(tensor)
    }
}
