//! The system calls that a confined command has to do without, held by seccomp: everything that speaks to
//! the network or to processes outside, and what changes the machine. Must not know files.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// Refused whatever their arguments, with "operation not permitted".
const REFUSED: &[c_long] = &[
    // Sockets of every family. What a program makes for its own children (`socketpair`) stays.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // A second way to make all other calls, past this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes: their memory, their descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Channels between processes that no file rule covers.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Other views of the file system, and files by number.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keys of the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The kernel and the machine.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
];

/// Flags of `clone` that open a new namespace: in a new user namespace everything else would be allowed.
const NAMESPACES: &[i32] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// The terminal requests "simulate input" and "console subcode", the same number on every architecture here.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// On x86-64 the same calls have second numbers (the x32 ABI), some of them apart.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: (c_long, &[c_long]) = (0x4000_0000, &[521, 528, 539, 540]);

/// Puts the filter on this thread and all that it starts.
///
/// # Errors
/// In words, where the machine cannot enforce it: nothing may be run then.
pub(super) fn confine() -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp refused: {error}");
    for program in programs().map_err(|error| failed(&error))? {
        apply_filter(&program).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn programs() -> Result<[BpfProgram; 2], seccompiler::BackendError> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    let filter = |rules, action| {
        SeccompFilter::new(with_second_numbers(rules), SeccompAction::Allow, action, architecture)
            .and_then(BpfProgram::try_from)
    };

    let mut refused: BTreeMap<c_long, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    refused.insert(
        libc::SYS_clone,
        NAMESPACES.iter().map(|flag| masked(0, u64::from(flag.cast_unsigned()))).collect::<Result<_, _>>()?,
    );
    // A pair of datagram sockets can be pointed at another address; pairs of streams cannot.
    refused.insert(
        libc::SYS_socketpair,
        vec![SeccompRule::new(vec![SeccompCondition::new(
            1,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(0xf),
            u64::from(libc::SOCK_DGRAM.cast_unsigned()),
        )?])?],
    );
    // The limits of another process: the kernel asks no more than that the user is the same.
    let another = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
    refused.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![another])?]);
    // Keys typed into a terminal that somebody else reads.
    refused.insert(libc::SYS_ioctl, vec![equal(1, TIOCSTI)?, equal(1, TIOCLINUX)?]);

    // A filter cannot see the flags of `clone3`; told that there is none, every libc takes `clone`.
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    Ok([
        filter(refused, SeccompAction::Errno(libc::EPERM.cast_unsigned()))?,
        filter(absent, SeccompAction::Errno(libc::ENOSYS.cast_unsigned()))?,
    ])
}

fn masked(argument: u8, flag: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    let set = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
    SeccompRule::new(vec![set])
}

fn equal(argument: u8, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?])
}

#[cfg(target_arch = "x86_64")]
fn with_second_numbers(mut rules: BTreeMap<c_long, Vec<SeccompRule>>) -> BTreeMap<c_long, Vec<SeccompRule>> {
    let (bit, apart) = SECOND_NUMBERS;
    let seconds: Vec<_> = rules.iter().map(|(call, rule)| (call | bit, rule.clone())).collect();
    rules.extend(seconds);
    rules.extend(apart.iter().map(|call| (call | bit, Vec::new())));
    rules
}

#[cfg(not(target_arch = "x86_64"))]
fn with_second_numbers(rules: BTreeMap<c_long, Vec<SeccompRule>>) -> BTreeMap<c_long, Vec<SeccompRule>> {
    rules
}
