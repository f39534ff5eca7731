//! The inert WASI base: what a compiled standard library needs to start, and nothing that reaches out.
//! Closed input, empty environment and arguments, no preopened directory; output goes to the log, bounded.
//! Must never inherit anything from the host.

use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{WasiCtx, WasiView};

use crate::capability::GuestState;

/// Most bytes that one run may write to each of standard output and standard error.
const OUTPUT_BYTES: usize = 64 * 1024;
/// Most random bytes of one call.
const RANDOM_BYTES: u64 = 64 * 1024;

/// The interfaces that are linked, without their versions.
const LINKED: &[&str] = &[
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
];

/// True where the base holds the interface (named with or without its version).
pub(super) fn is_linked(import: &str) -> bool {
    let (name, version) = import.split_once('@').unwrap_or((import, "0.2.0"));
    LINKED.contains(&name) && version.starts_with("0.2.")
}

/// A run's WASI state, and where its output is kept until the run ends.
pub(super) fn context() -> (WasiCtx, Output) {
    let output =
        Output { stdout: MemoryOutputPipe::new(OUTPUT_BYTES), stderr: MemoryOutputPipe::new(OUTPUT_BYTES) };
    let context = WasiCtx::builder()
        .stdout(output.stdout.clone())
        .stderr(output.stderr.clone())
        .max_random_size(RANDOM_BYTES)
        .allow_ip_name_lookup(false)
        .allow_tcp(false)
        .allow_udp(false)
        .build();
    (context, output)
}

/// What a guest wrote. Bounded: a guest that writes more gets an error.
#[derive(Clone, Debug)]
pub(super) struct Output {
    stdout: MemoryOutputPipe,
    stderr: MemoryOutputPipe,
}

impl Output {
    /// What was written to standard output and standard error, lossily as text.
    pub(super) fn text(&self) -> String {
        let mut bytes = self.stdout.contents().to_vec();
        bytes.extend_from_slice(&self.stderr.contents());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Where the `wasi:io` functions keep their streams.
struct Io;

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

/// Adds the base to a linker: exactly the interfaces of [`LINKED`].
pub(super) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    use bindings::{cli, clocks, filesystem, random};
    type T = GuestState;

    wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<T, Io>(linker, |t| t.ctx().table)?;
    wasmtime_wasi_io::bindings::wasi::io::poll::add_to_linker::<T, Io>(linker, |t| t.ctx().table)?;
    wasmtime_wasi_io::bindings::wasi::io::streams::add_to_linker::<T, Io>(linker, |t| t.ctx().table)?;
    clocks::wall_clock::add_to_linker::<T, WasiClocks>(linker, T::clocks)?;
    clocks::monotonic_clock::add_to_linker::<T, WasiClocks>(linker, T::clocks)?;
    random::random::add_to_linker::<T, WasiRandom>(linker, |t| t.wasi.random())?;
    random::insecure::add_to_linker::<T, WasiRandom>(linker, |t| t.wasi.random())?;
    random::insecure_seed::add_to_linker::<T, WasiRandom>(linker, |t| t.wasi.random())?;
    cli::environment::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::exit::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::stdin::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::stdout::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::stderr::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_input::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_output::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_stdin::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_stdout::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    cli::terminal_stderr::add_to_linker::<T, WasiCli>(linker, T::cli)?;
    filesystem::types::add_to_linker::<T, WasiFilesystem>(linker, T::filesystem)?;
    filesystem::preopens::add_to_linker::<T, WasiFilesystem>(linker, T::filesystem)?;
    Ok(())
}
