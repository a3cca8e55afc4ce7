// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Sets up and controls ktrace; `include/ktrace/control.h` has the details. Unless stated otherwise, a function may be
//! called from any context and never waits.

use core::ffi::c_void;
use core::fmt::{self, Write};
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::{c_int, Name};

/// Errors; `enum ktrace_error`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A parameter or a member of [`Config`] is out of range.
    Argument = -1,
    /// The memory that the kernel provides is too small, or the required table does not exist.
    Memory = -2,
    /// [`init`] has not been called, or has been called already.
    State = -3,
    /// The pattern matches no event.
    NoEvent = -4,
    /// The text has a syntax error.
    Syntax = -5,
    /// No setting has that name.
    NoSetting = -7,
    /// The setting can only be read.
    ReadOnly = -8,
}

fn result(code: c_int) -> Result<(), Error> {
    match code {
        0 => Ok(()),
        -2 => Err(Error::Memory),
        -3 => Err(Error::State),
        -4 => Err(Error::NoEvent),
        -5 => Err(Error::Syntax),
        -7 => Err(Error::NoSetting),
        -8 => Err(Error::ReadOnly),
        _ => Err(Error::Argument),
    }
}

#[repr(C)]
struct Memory {
    base: *mut u8,
    size: usize,
}

/// The configuration; `struct ktrace_config` describes the members. If a member is 0, its feature is off, or
/// the library chooses the value.
#[repr(C)]
pub struct Config {
    size: u32,
    /// Number of CPUs to make rings for.
    pub cpus: u32,
    /// Number of slots of each ring, a power of two; 0: as many as fit.
    pub slots: u32,
    /// 0: a full ring overwrites its oldest records; 1: a full ring rejects new records.
    pub policy: u32,
    /// Maximum number of thread names.
    pub threads: u32,
    /// Maximum number of threads whose state ktrace stores: the locks that they hold, and what they wait for.
    pub holders: u32,
    /// 1: each event has a counter for each CPU; 0: each event has one counter, which all CPUs share.
    pub counters: u32,
    blocks: u32,
    build_id_size: u32,
    /// 1: a panic does not stop recording.
    pub panic_goes_on: u32,
    memory: *const Memory,
    build_id: *const u8,
    /// Name and version of the kernel.
    pub kernel: Name,
    /// Clock ticks per second; 0: unknown.
    pub frequency: u64,
    /// Current Unix time in ns; 0: unknown.
    pub wall_ns: u64,
    physical: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    /// Names of the kernel's system calls, one per line, such as "0 read".
    pub syscalls: Name,
    /// `enum ktrace_clocks`.
    pub clocks: u32,
    /// Sends an interrupt to a CPU. The handler of that CPU must soon call `ktrace_clock_serve()`.
    pub interrupt: Option<extern "C" fn(u32)>,
    /// Number of entries for each CPU in which repetitions are counted.
    pub folds: u32,
    /// Number of slots of the ring for rare events, a power of two.
    pub rare_slots: u32,
    /// Number of earlier boots whose trace stays readable after a reset.
    pub keep: u32,
}

// mirror.c makes the same assertions about the C structure.
const _: () = assert!(size_of::<Config>() == 128);

impl Config {
    /// Returns a configuration with rings for `cpus` CPUs, and without any other feature.
    pub const fn new(cpus: u32) -> Config {
        Config {
            size: size_of::<Config>() as u32,
            cpus,
            slots: 0,
            policy: 0,
            threads: 0,
            holders: 0,
            counters: 0,
            blocks: 0,
            build_id_size: 0,
            panic_goes_on: 0,
            memory: ptr::null(),
            build_id: ptr::null(),
            kernel: Name::NONE,
            frequency: 0,
            wall_ns: 0,
            physical: None,
            syscalls: Name::NONE,
            clocks: 0,
            interrupt: None,
            folds: 0,
            rare_slots: 0,
            keep: 0,
        }
    }

    /// Sets the kernel's GNU build id.
    pub fn build_id(mut self, id: &'static [u8]) -> Config {
        self.build_id = id.as_ptr();
        self.build_id_size = id.len() as u32;
        self
    }

    /// Sets the function that returns the physical address of a virtual one, for memory that is not physically
    /// contiguous.
    ///
    /// # Safety
    /// Requires: the function returns correct addresses. A host reads memory at them.
    pub unsafe fn physical(mut self, address: unsafe extern "C" fn(*const c_void) -> u64) -> Config {
        self.physical = Some(address);
        self
    }
}

/// The mode of a CPU: `KTRX_MODE_*`.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The CPU waits for work.
    Idle = 1,
    /// The CPU runs kernel code.
    Kernel = 2,
    /// The CPU runs a user program.
    User = 3,
}

extern "C" {
    fn ktrace_init(config: *const Config) -> c_int;
    fn ktrace_cpu_online(cpu: u32) -> c_int;
    fn ktrace_thread_name(thread: u32, name: *const u8) -> c_int;
    fn ktrace_heartbeat(pc: u64);
    fn ktrace_mode(mode: u8);
    fn ktrace_start();
    fn ktrace_stop();
    fn ktrace_control(text: Name) -> c_int;
    fn ktrace_boot_argument(command_line: *const u8) -> c_int;
    fn ktrace_probe_cost() -> u64;
    fn ktrace_panic(message: *const u8);
    fn ktrace_exit(status: c_int);
}

/// Gives each CPU its own ring in this memory. Until then, and after an error, events go into the boot ring. Returns
/// [`Error::State`] if an earlier call succeeded, or if a call is running on another CPU. Requires: the port's
/// functions that return the number of a CPU work already.
pub fn init(memory: &'static mut [u8], config: Config) -> Result<(), Error> {
    static BEGUN: AtomicBool = AtomicBool::new(false);

    if BEGUN.swap(true, Ordering::Acquire) {
        return Err(Error::State);
    }
    let memory = Memory { base: memory.as_mut_ptr(), size: memory.len() };
    // SAFETY: one call at a time; the memory belongs to C for ever; C reads the configuration only during the
    // call.
    let done = result(unsafe { ktrace_init(&Config { memory: &memory, blocks: 1, ..config }) });
    if done.is_err() {
        BEGUN.store(false, Ordering::Release);
    }
    done
}

/// Makes this CPU use its own ring. Call it after [`init`].
///
/// # Safety
/// Requires: called on the CPU with this number, with interrupts disabled.
pub unsafe fn cpu_online(cpu: u32) -> Result<(), Error> {
    result(ktrace_cpu_online(cpu))
}

/// A NUL-terminated text. Bytes beyond `N - 1` are dropped.
struct Text<const N: usize> {
    bytes: [u8; N],
    at: usize,
}

impl<const N: usize> Text<N> {
    const EMPTY: Text<N> = Text { bytes: [0; N], at: 0 };
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.at < N - 1 {
                self.bytes[self.at] = byte;
                self.at += 1;
            }
        }
        Ok(())
    }
}

/// Names a thread; at most 27 bytes are used. Requires: calls for one thread do not run at the same time.
pub fn thread_name(thread: u32, name: &str) -> Result<(), Error> {
    let mut text = Text::<28>::EMPTY;
    let _ = text.write_str(name);
    // SAFETY: the name is copied during the call.
    result(unsafe { ktrace_thread_name(thread, text.bytes.as_ptr()) })
}

/// Reports that this CPU is alive and was interrupted at `pc`. Call it in the timer tick of each CPU.
pub fn heartbeat(pc: u64) {
    // SAFETY: may be called in any context, like the functions below.
    unsafe { ktrace_heartbeat(pc) }
}

/// Sets the mode that this CPU has from now on.
pub fn mode(mode: Mode) {
    unsafe { ktrace_mode(mode as u8) }
}

/// Starts recording on all CPUs. Recording is already on at boot.
pub fn start() {
    unsafe { ktrace_start() }
}

/// Stops recording on all CPUs.
pub fn stop() {
    unsafe { ktrace_stop() }
}

/// Sets events and settings by name: `control(name!("vfs=off,sched.*=both"))`. Events and settings that are not named
/// do not change. Requires: two calls do not run at the same time.
pub fn control(text: Name) -> Result<(), Error> {
    result(unsafe { ktrace_control(text) })
}

/// Applies the kernel's command line; see `ktrace_boot_argument()`.
///
/// # Safety
/// Requires: the text is NUL-terminated.
pub unsafe fn boot_argument(command_line: *const u8) -> Result<(), Error> {
    result(ktrace_boot_argument(command_line))
}

/// Measures on this CPU how many clock ticks a thousand events cost, and returns the number of ticks. Call it once, at
/// boot.
pub fn probe_cost() -> u64 {
    unsafe { ktrace_probe_cost() }
}

/// Records that the kernel ends with a panic. Call it from a panic handler: `panic(info)`.
pub fn panic(message: &dyn fmt::Display) {
    let mut text = Text::<200>::EMPTY;
    let _ = write!(text, "{}", message);
    // SAFETY: the message is copied during the call.
    unsafe { ktrace_panic(text.bytes.as_ptr()) }
}

/// Records that the kernel ends with this exit status.
pub fn exit(status: i32) {
    unsafe { ktrace_exit(status) }
}
