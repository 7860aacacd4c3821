//! The kernel's part on Linux: Landlock for files, a filter of system calls for the network, programs and the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use caps::{CapSet, Capability};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use super::places;
use crate::core::gpu_driver_is_here;
use crate::core::permissions::{Programs, program};

/// The newest version whose rights are asked for; an older kernel gives those that it has.
const NEWEST: ABI = ABI::V7;

/// Holds files from here on, in this thread and in all that it starts. Answers the version that the kernel has, if any.
pub fn hold_files(
    read: Option<&[PathBuf]>,
    write: &[PathBuf],
    run: &Programs,
    net: bool,
) -> Result<Option<String>, RulesetError> {
    let writing = AccessFs::from_write(NEWEST);
    let reading: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let mut handled = writing;
    if read.is_some() {
        handled |= reading;
    }
    if *run != Programs::Any {
        handled |= AccessFs::Execute;
    }
    let mut rules = Ruleset::default().handle_access(handled)?.scope(Scope::from_all(NEWEST))?;
    if !net {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut rules = rules.create()?.add_rules(path_beneath_rules(write, handled & (writing | reading)))?;
    if let Some(read) = read {
        rules = rules.add_rules(path_beneath_rules(read, reading))?;
    }
    if let Programs::Named(programs) = run {
        let all = programs
            .iter()
            .flat_map(|program| with_interpreters(program))
            .chain(places::LOADERS.iter().map(PathBuf::from));
        rules = rules.add_rules(path_beneath_rules(all, handled & AccessFs::Execute))?;
    }
    // As it begins, a GPU's driver names its threads, by files that it opens to write anew, or CUDA can't be opened. What is open here stays
    // so: the rule is of this very folder, which the system would make anew.
    for folder in places::of_threads(run) {
        if let Ok(folder) = PathFd::new(folder) {
            rules = rules.add_rule(PathBeneath::new(&folder, AccessFs::WriteFile | AccessFs::Truncate))?;
            std::mem::forget(folder);
        }
    }
    let status = rules.restrict_self()?;
    Ok(match status.landlock {
        LandlockStatus::Available { effective_abi, .. } if status.ruleset != RulesetStatus::NotEnforced => {
            Some(effective_abi.to_string())
        }
        _ => None,
    })
}

/// A program, and what its first line says that it is run by.
fn with_interpreters(file: &Path) -> Vec<PathBuf> {
    use std::io::Read;
    let mut start = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(256).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let line =
        text.lines().next().filter(|_| read.is_ok()).and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    let words = line.split_whitespace().filter(|word| !word.starts_with('-')).take(2);
    std::iter::once(file.to_path_buf()).chain(words.filter_map(program)).collect()
}

/// What the superuser may do beyond other users' files, which would lead round the rules: it looks into other processes, and
/// signals, mounts and makes devices.
const POWERS: &[Capability] = &[
    Capability::CAP_BPF,
    Capability::CAP_CHECKPOINT_RESTORE,
    Capability::CAP_KILL,
    Capability::CAP_MKNOD,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_NET_RAW,
    Capability::CAP_PERFMON,
    Capability::CAP_SYS_ADMIN,
    Capability::CAP_SYS_BOOT,
    Capability::CAP_SYS_CHROOT,
    Capability::CAP_SYS_MODULE,
    Capability::CAP_SYS_PTRACE,
    Capability::CAP_SYS_RAWIO,
    Capability::CAP_SYS_TIME,
    Capability::CAP_SYSLOG,
];

/// Gives up powers of the superuser in this thread and in all that it starts; others have none.
pub fn give_up_powers() -> Result<(), String> {
    for set in [CapSet::Effective, CapSet::Permitted] {
        let mut held = caps::read(None, set).map_err(|e| e.to_string())?;
        let before = held.len();
        held.retain(|power| !POWERS.contains(power));
        if held.len() < before {
            caps::set(None, set, &held).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// What no script and no program of a script needs: modes, owners and times of files, which Landlock leaves alone, other
/// processes, keys, new file systems, and calls that go round this filter.
const NEVER: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    libc::SYS_truncate,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_io_uring_setup,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_open_by_handle_at,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
];

/// Such calls that libraries have no names for everywhere; these numbers are the same on all machines: fchmodat2, setxattrat,
/// removexattrat, open_tree_attr, file_setattr.
const NEVER_BY_NUMBER: &[i64] = &[452, 463, 466, 467, 469];

#[cfg(target_arch = "x86_64")]
const NEVER_HERE: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];

#[cfg(not(target_arch = "x86_64"))]
const NEVER_HERE: &[i64] = &[];

/// The same calls under their numbers of the x32 interface.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: Option<i64> = Some(0x4000_0000);

#[cfg(not(target_arch = "x86_64"))]
const SECOND_NUMBERS: Option<i64> = None;

/// Holds what Landlock does not know, in this thread and in all that it starts.
pub fn hold_calls(run: &Programs, net: bool) -> Result<(), String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        NEVER.iter().chain(NEVER_BY_NUMBER).chain(NEVER_HERE).map(|&call| (call, vec![])).collect();
    if *run == Programs::None {
        rules.extend([(libc::SYS_execve, vec![]), (libc::SYS_execveat, vec![])]);
    }
    let is = |argument, operator, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value);
    let all = |conditions: Vec<_>| -> Result<SeccompRule, String> {
        let conditions = conditions.into_iter().collect::<Result<Vec<_>, _>>().map_err(|e| format!("{e}"))?;
        SeccompRule::new(conditions).map_err(|e| e.to_string())
    };
    if !net {
        // Of every kind: a local one reaches services that would start programs or fetch pages.
        let mut sockets = vec![];
        if gpu_driver_is_here() {
            // But as it begins, a GPU's driver listens on one, without which CUDA can't be opened. None reaches anything.
            let kinds = [0, libc::SOCK_CLOEXEC, libc::SOCK_NONBLOCK, libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK];
            let other = |flags: i32| is(1, SeccompCmpOp::Ne, (libc::SOCK_SEQPACKET | flags) as u64);
            sockets.push(all(vec![is(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)])?);
            sockets.push(all(kinds.into_iter().map(other).collect())?);
            rules.insert(libc::SYS_connect, vec![]);
        }
        rules.insert(libc::SYS_socket, sockets);
    }
    // Keys pressed in the user's name at the terminal that viva was started from.
    let keys = [libc::TIOCSTI, libc::TIOCLINUX];
    let keys = keys.map(|request| all(vec![is(1, SeccompCmpOp::Eq, request)]));
    rules.insert(libc::SYS_ioctl, keys.into_iter().collect::<Result<_, _>>()?);
    // Opened for reading a file can be cut off all the same, which Landlock sees from its third version on.
    let cuts = (libc::O_TRUNC | libc::O_ACCMODE) as u64;
    let cutting = |argument| all(vec![is(argument, SeccompCmpOp::MaskedEq(cuts), libc::O_TRUNC as u64)]);
    rules.insert(libc::SYS_openat, vec![cutting(2)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![cutting(1)?]);
    if let Some(offset) = SECOND_NUMBERS {
        let second: Vec<_> = rules.iter().map(|(call, rules)| (call + offset, rules.clone())).collect();
        rules.extend(second);
    }
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let machine = std::env::consts::ARCH.try_into().map_err(|e| format!("{e}"))?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, machine).map_err(|e| e.to_string())?;
    let program: BpfProgram = filter.try_into().map_err(|e: seccompiler::BackendError| e.to_string())?;
    apply_filter(&program).map_err(|e| e.to_string())
}
