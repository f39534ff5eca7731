//! System calls that a confined command gets no answer to: the network, other processes, the kernel's own
//! furniture. What Landlock cannot see is closed here. Must not touch files.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Refused with "not permitted".
const REFUSED: &[libc::c_long] = &[
    // The network, and sockets that reach daemons of this machine. `socketpair` stays.
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // A second door to all of these.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Memory and queues that outlive processes and are shared with others of the user.
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
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_fanotify_init,
    // Keys and the kernel.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_quotactl,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
];

/// Requests of `ioctl` that put input into a terminal.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Applies the filters to this process and all that it becomes or starts.
pub(super) fn apply() -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // New user namespaces would bring back what was taken.
    let flag = libc::CLONE_NEWUSER.unsigned_abs().into();
    let masked = SeccompCmpOp::MaskedEq(flag);
    let condition =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, masked, flag).map_err(|error| said(&error))?;
    let rule = SeccompRule::new(vec![condition]).map_err(|error| said(&error))?;
    rules.insert(libc::SYS_clone, vec![rule]);
    // The limits of another process: the kernel asks no more than that the user is the same.
    let another = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)
        .map_err(|error| said(&error))?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![another]).map_err(|error| said(&error))?]);
    // Typing into a terminal in somebody's place.
    let mut typing = Vec::new();
    for request in [TIOCSTI, TIOCLINUX] {
        let condition = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, request);
        typing.push(
            SeccompRule::new(vec![condition.map_err(|error| said(&error))?]).map_err(|error| said(&error))?,
        );
    }
    rules.insert(libc::SYS_ioctl, typing);
    let refused = filter(rules, libc::EPERM).map_err(|error| said(&error))?;
    // The flags of `clone3` cannot be looked at; where it is missing, libraries use `clone`.
    let missing = filter(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
        .map_err(|error| said(&error))?;
    seccompiler::apply_filter(&refused).map_err(|error| said(&error))?;
    seccompiler::apply_filter(&missing).map_err(|error| said(&error))
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> Result<BpfProgram, seccompiler::Error> {
    let architecture = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        architecture,
    )?;
    Ok(filter.try_into()?)
}
