//! Jupyter's kernel: the dialogue of the prompt, asked by messages and answered by them.
//!
//! One thread runs cells. Another one has the sockets, so that a kernel at work is heard: it answers the heartbeat, stops what runs and ends
//! the process. A third one hears signals. Both are started after the process is held, on sockets that were bound before.

mod cell;
mod connection;
mod information;
mod inspect;
mod install;
mod message;
mod progress;
mod serve;
mod sockets;
mod stop;

use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::channel;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::core::{Error, Result};
use crate::dialogue::Dialogue;
use crate::notebook::{CellOutput, WIDTH};
use crate::sandbox::{Confinement, Flags, hold};
use crate::term::{leave_at_once, set_width};
use cell::RunningCell;
use connection::Connection;
use progress::{CellProgress, Told};
use serve::Kernel;
use sockets::{Sockets, Speaker};
use stop::Running;

pub use install::{Place, install};
pub use message::{Message, Messages};

/// Answers what is asked through the sockets that `connection` names, until the kernel is to end. Scripts may do what `flags` say.
pub fn serve(connection: &Path, flags: &Flags) -> Result<()> {
    let connection = Connection::open(connection)?;
    let here = std::env::current_dir().map_err(|e| Error::file(Path::new("."), e))?;
    let home = Some(here.as_path());
    let sandbox =
        hold(Confinement { flags, read: vec![], home, folder: &here, own: vec![], made: vec![], asks: false })?;
    set_width(WIDTH);
    let (shell, asked) = channel();
    let (speaker, said) = Speaker::new(connection.key.clone());
    let progress = CellProgress::new(speaker.clone());
    let cell = RunningCell::new(speaker.clone(), progress.clone());
    let telling = cell.clone();
    let output = CellOutput::new(move |told| telling.tell(told), move || Box::new(Told(progress.clone())));
    let dialogue = Dialogue::new(sandbox, Rc::new(output));
    let running = Running::new(dialogue.cx.stop_flag(), dialogue.cx.activity());
    let sockets = Sockets::start(connection, running.clone(), shell, (speaker.clone(), said))?;
    hear_signals(running.clone(), speaker.clone())?;
    Kernel::new(dialogue, cell, running, speaker).answer(&asked);
    sockets.end();
    Ok(())
}

/// SIGINT stops a cell, as a request to interrupt does; the others end the kernel.
fn hear_signals(running: Running, speaker: Speaker) -> Result<()> {
    let failed = |e: std::io::Error| Error::internal(format!("signals can't be caught: {e}"));
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let listen = move || {
        for signal in signals.forever() {
            if signal != SIGINT {
                leave_at_once(128 + signal);
            }
            if let Some((cell, said)) = running.interrupt() {
                speaker.stream(&cell, "stderr", said);
            }
        }
    };
    std::thread::Builder::new().name("viva signals".into()).spawn(listen).map_err(failed)?;
    Ok(())
}
