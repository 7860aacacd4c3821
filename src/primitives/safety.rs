//! What a stranger's script can and can't do, line by line: one table for `viva doc safety`, the page of the reference and the
//! test that tries each line.

/// Something that a script, a TorchScript file or a program that they start may try.
pub struct Line {
    /// How the test knows it.
    pub name: &'static str,
    pub what: &'static str,
    pub can: Can,
    /// What is to be known besides.
    pub note: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Can {
    Yes,
    /// Unless viva is started with this flag.
    Unless(&'static str),
    No,
}

impl Can {
    pub fn words(self) -> String {
        match self {
            Self::Yes => "yes".into(),
            Self::Unless(flag) => format!("no; with `{flag}`"),
            Self::No => "no".into(),
        }
    }
}

pub const PURPOSE: &str = "What a script, model file or run folder of somebody you do not know can and can't do.";

pub const OPENING: &str = "A TorchScript file is a program, and so is what `model::program`, `model::python` and `data::python` start. On Linux the kernel holds all of it, from before a \
     script's first line until the process ends: Landlock holds files and the starting of programs, a filter of system calls \
     (seccomp) the network and the rest. A run's manifest says under `held` what held it. Where the kernel has no Landlock (before 5.13, \
     other systems), viva says so at the start and refuses TorchScript from files unless `--allow-native` is given; its own checks \
     hold scripts there, not native code.\n\
     Flags stand behind `viva run SCRIPT`, `viva -e 'EXPR'` and `viva`; those that are always to hold stand in \
     `~/.config/viva/permissions`, one a line, where `--allow-read=.` means the working folder. A flag without `=` allows everything of its kind.";

pub const CLOSING: &str = "At a terminal the prompt asks once before a script reads or writes elsewhere, and remembers the answer until it ends. Writing stays \
     held by the kernel all the while: a small process from before does the asking and the writing. Reading there is held by \
     viva's own checks alone, since the kernel's rules can't be widened by an answer: TorchScript at the prompt could read any of your files, but \
     neither send nor write what it read anywhere but the working folder. `viva --allow-read=PATH < script`, without a terminal, asks nothing and has the \
     kernel hold reading too.\n\
     A notebook is held as a run is, in its own folder: nobody is asked, and flags are given to `viva kernel --install`. What scripts show there is text, \
     pictures and tables that hold nothing to be run; native code, though, has the connection to Jupyter in its process, and a notebook's page runs \
     what comes from its kernel: a stranger's TorchScript belongs in a run.\n\
     Where a GPU's driver is, CUDA opens only if a held process may do as the driver does: use its devices below `/dev`, name its own threads below \
     `/proc` (where programs are allowed and the user is not the superuser: write what that user may write there), and listen on a local socket \
     of one kind, which reaches nobody.\n\
     What this does not hold: faults of the kernel, of libtorch and of the graphics driver; that processor time and memory are \
     used up; what a flag allows. A program that is allowed by name can do what its language can: a shell can load other programs through the \
     system's loader, held as it is itself. viva's cache can be filled with wrong numbers by native code; delete it after a stranger's model if in \
     doubt.";

pub static LINES: &[Line] = &[
    Line {
        name: "read-own",
        what: "read its own folder, the run folder, the data folder and what the command line names",
        can: Can::Yes,
        note: "with all that lies below; `viva -e` and the prompt: the working folder. Of the home folder hidden names are left out, and folders above it count for nothing",
    },
    Line {
        name: "read-other",
        what: "read another file or folder of yours, such as keys in your home folder",
        can: Can::Unless("--allow-read=PATH"),
        note: "links are followed: what counts is where a file lies",
    },
    Line {
        name: "read-passwords",
        what: "read the system's settings, such as `/etc/shadow`",
        can: Can::Unless("--allow-read=PATH"),
        note: "",
    },
    Line {
        name: "read-system",
        what: "read the system's programs and libraries, `/proc` and `/sys`, by TorchScript or a program",
        can: Can::Yes,
        note: "nothing runs without; memory and environment of other processes are not among them",
    },
    Line {
        name: "see-names",
        what: "find out that a file is there, its size and its times",
        can: Can::Yes,
        note: "the kernel has no rule for it; what is in it and what a folder lists are held",
    },
    Line {
        name: "write-own",
        what: "write in the run folder (`viva -e` and the prompt: the working folder)",
        can: Can::Yes,
        note: "where that is the home folder: by `save` alone, under names that are not hidden. viva's cache, too, where it keeps measurements; the prompt writes its history",
    },
    Line {
        name: "write-other",
        what: "write another file, or make one elsewhere",
        can: Can::Unless("--allow-write=PATH"),
        note: "",
    },
    Line {
        name: "change-other",
        what: "delete, rename, link or cut off another file, or make a folder elsewhere",
        can: Can::Unless("--allow-write=PATH"),
        note: "",
    },
    Line {
        name: "modes",
        what: "change modes, owners or times of files",
        can: Can::No,
        note: "also not where it may write",
    },
    Line {
        name: "start",
        what: "start a program",
        can: Can::Unless("--allow-run=PROGRAM"),
        note: "that one alone and without a shell between; `--allow-run`: any. Programs are held as the script is",
    },
    Line {
        name: "network",
        what: "send to the network or receive from it",
        can: Can::Unless("--allow-net"),
        note: "only `viva data fetch` needs it, which runs no script",
    },
    Line {
        name: "services",
        what: "talk to services on this machine through sockets",
        can: Can::Unless("--allow-net"),
        note: "they could start programs or fetch pages in its stead",
    },
    Line {
        name: "processes",
        what: "send signals to other processes, read or write their memory, or press keys in your terminal",
        can: Can::No,
        note: "signals: from Linux 6.12 on",
    },
    Line {
        name: "folder",
        what: "do more than that from a run folder that is resumed or repeated",
        can: Can::No,
        note: "a folder says where its script lay; that place can be read only if the very script lies there",
    },
];

/// As plain text.
pub fn page() -> String {
    let mut text = format!("{PURPOSE}\n\n{OPENING}\n\na stranger's script can ...");
    for line in LINES {
        text += &format!("\n  {}: {}", line.what, line.can.words());
        if !line.note.is_empty() {
            text += &format!(" ({})", line.note);
        }
    }
    text + "\n\n" + CLOSING
}
