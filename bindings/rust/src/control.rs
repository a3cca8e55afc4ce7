// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Sets ktrace up and controls it, as `include/ktrace/control.h` says in full. Unless a function says otherwise it
//! may be called from any context and never waits.

use core::ffi::c_void;
use core::fmt::{self, Write};
use core::mem::size_of;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::{c_int, Name};

/// What goes wrong; `enum ktrace_error`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A field or parameter is out of range.
    Argument = -1,
    /// The memory lent is too small, or there is no table for it.
    Memory = -2,
    /// [`init`] has not been called, or has been called already.
    State = -3,
    /// The pattern matches no event.
    NoEvent = -4,
    /// The text cannot be understood.
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

/// How to set up; `struct ktrace_config`, which explains the fields. 0 leaves a thing out, or to the library.
#[repr(C)]
pub struct Config {
    size: u32,
    /// CPUs to make rings for.
    pub cpus: u32,
    /// Slots of each ring, a power of two; 0: as many as fit.
    pub slots: u32,
    /// 0: rings are overwritten; 1: they stop when they are full.
    pub policy: u32,
    /// Most threads to keep names of.
    pub threads: u32,
    /// Most threads to keep what they hold and wait for.
    pub holders: u32,
    /// 1: counts a CPU and event; 0: one shared count an event.
    pub counters: u32,
    blocks: u32,
    build_id_size: u32,
    /// 1: a panic does not stop recording.
    pub panic_goes_on: u32,
    memory: *const Memory,
    build_id: *const u8,
    /// Name and version of the kernel.
    pub kernel: Name,
    /// The clock's frequency in ticks a second.
    pub frequency: u64,
    /// Unix time now in ns.
    pub wall_ns: u64,
    physical: Option<unsafe extern "C" fn(*const c_void) -> u64>,
    /// The kernel's system calls, "0 read" a line.
    pub syscalls: Name,
    /// `enum ktrace_clocks`.
    pub clocks: u32,
    /// Has a CPU measure its clock soon, by an interrupt.
    pub interrupt: Option<extern "C" fn(u32)>,
    /// Rows a CPU in which repetitions are counted.
    pub folds: u32,
    /// Slots of the ring for rare events, a power of two.
    pub rare_slots: u32,
    /// How many earlier boots stay readable after a reset.
    pub keep: u32,
}

// As asserted of the C structure in mirror.c.
const _: () = assert!(size_of::<Config>() == 128);

impl Config {
    /// Rings for so many CPUs, and nothing else.
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

    /// With the kernel's GNU build id.
    pub fn build_id(mut self, id: &'static [u8]) -> Config {
        self.build_id = id.as_ptr();
        self.build_id_size = id.len() as u32;
        self
    }

    /// For memory that is not physically contiguous: the physical address of a virtual one.
    ///
    /// # Safety
    /// The addresses that it returns are right; a host reads what lies there.
    pub unsafe fn physical(mut self, address: unsafe extern "C" fn(*const c_void) -> u64) -> Config {
        self.physical = Some(address);
        self
    }
}

/// What a CPU does; `KTRX_MODE_*`.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It waits for work.
    Idle = 1,
    /// It runs the kernel.
    Kernel = 2,
    /// It runs a program.
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

/// Gives each CPU a ring of its own in this memory. Requires: CPU numbers work. Until then, and after an error, events
/// go into the boot ring. Returns [`Error::State`] if a call has succeeded before or is under way on another CPU.
pub fn init(memory: &'static mut [u8], config: Config) -> Result<(), Error> {
    static BEGUN: AtomicBool = AtomicBool::new(false);

    if BEGUN.swap(true, Ordering::Acquire) {
        return Err(Error::State);
    }
    let memory = Memory { base: memory.as_mut_ptr(), size: memory.len() };
    // SAFETY: one call at a time; the memory is lent for ever; the rest is read during the call.
    let done = result(unsafe { ktrace_init(&Config { memory: &memory, blocks: 1, ..config }) });
    if done.is_err() {
        BEGUN.store(false, Ordering::Release);
    }
    done
}

/// Starts this CPU's own ring, after [`init`].
///
/// # Safety
/// It is called on the CPU that has this number, with interrupts off.
pub unsafe fn cpu_online(cpu: u32) -> Result<(), Error> {
    result(ktrace_cpu_online(cpu))
}

/// A text that ends with a zero byte. Bytes beyond `N - 1` are dropped.
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

/// Names a thread; 27 bytes are kept. Calls for one thread must not run at the same time.
pub fn thread_name(thread: u32, name: &str) -> Result<(), Error> {
    let mut text = Text::<28>::EMPTY;
    let _ = text.write_str(name);
    // SAFETY: the name is copied during the call.
    result(unsafe { ktrace_thread_name(thread, text.bytes.as_ptr()) })
}

/// From the tick of each CPU: it is alive, and was interrupted at `pc`.
pub fn heartbeat(pc: u64) {
    // SAFETY: any context, as all below.
    unsafe { ktrace_heartbeat(pc) }
}

/// Says what this CPU does from now on.
pub fn mode(mode: Mode) {
    unsafe { ktrace_mode(mode as u8) }
}

/// Resumes recording everywhere. It is on from the start.
pub fn start() {
    unsafe { ktrace_start() }
}

/// Stops recording everywhere.
pub fn stop() {
    unsafe { ktrace_stop() }
}

/// Sets events and settings by name: `control(name!("vfs=off,sched.*=both"))`. Changes nothing else; two calls must not
/// run at the same time.
pub fn control(text: Name) -> Result<(), Error> {
    result(unsafe { ktrace_control(text) })
}

/// The same from the kernel's command line.
///
/// # Safety
/// The text ends with a zero byte.
pub unsafe fn boot_argument(command_line: *const u8) -> Result<(), Error> {
    result(ktrace_boot_argument(command_line))
}

/// Ticks that a thousand events cost, measured here and now. A kernel calls this once, at boot.
pub fn probe_cost() -> u64 {
    unsafe { ktrace_probe_cost() }
}

/// Says that the kernel ends with a panic; from a panic handler, `panic(info)`.
pub fn panic(message: &dyn fmt::Display) {
    let mut text = Text::<200>::EMPTY;
    let _ = write!(text, "{}", message);
    // SAFETY: the message is copied during the call.
    unsafe { ktrace_panic(text.bytes.as_ptr()) }
}

/// Says that the kernel ends, with this status.
pub fn exit(status: i32) {
    unsafe { ktrace_exit(status) }
}
