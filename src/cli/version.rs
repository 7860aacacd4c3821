//! `viva version`

use super::CommandOutcome;
use crate::BUILD;
use crate::core::record::{libtorch, other_libtorch};
use crate::core::{Error, cuda_available, cuda_failure, numerics};

pub fn main(words: &[String]) -> CommandOutcome {
    if !words.is_empty() {
        return Err(Error::argument("viva version takes nothing more").into());
    }
    println!("viva      {}, revision {}", env!("CARGO_PKG_VERSION"), BUILD.revision);
    println!("libtorch  {}", libtorch());
    if let Some(told) = other_libtorch() {
        println!("          {told}");
    }
    println!("devices   cpu, {} threads", tch::get_num_threads());
    if cuda_available() {
        for device in 0..tch::Cuda::device_count() {
            println!("          cuda:{device}, {}", numerics());
        }
    }
    if let Some(why) = cuda_failure() {
        println!("          no cuda: {why}");
    }
    Ok(())
}
