// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Ways for bytes to leave the machine: the C library's drivers, and drivers written in Rust. The structures
//! mirror `include/ktrace/transport.h`, which says in which contexts what may be called.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use crate::{c_int, c_uint, Name, TraceRecord};

/// What goes wrong; `enum ktrace_output_error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No such device, or no transport set.
    Absent,
    /// Somebody else's output did not end in time.
    Busy,
    /// The device did not become ready in time.
    Stalled,
    /// The device refused, or broke its own protocol.
    Failed,
    /// No room for that much.
    Full,
    /// Rings came or went while they were dumped.
    Changed,
    /// Unusable argument, or a trace that is not set up.
    Argument,
}

fn result(code: c_int) -> Result<(), Error> {
    match code {
        0 => Ok(()),
        -1 => Err(Error::Absent),
        -2 => Err(Error::Busy),
        -3 => Err(Error::Stalled),
        -5 => Err(Error::Full),
        -6 => Err(Error::Changed),
        -7 => Err(Error::Argument),
        _ => Err(Error::Failed),
    }
}

/// The operations of a transport; `struct ktrace_transport`. A driver in Rust puts one first into a `repr(C)`
/// structure of its own.
#[repr(C)]
pub struct Transport {
    /// For messages.
    pub name: Name,
    /// Looks for the device: 0 or a negative error.
    pub probe: Option<unsafe extern "C" fn(*mut Transport) -> c_int>,
    /// Takes some of the bytes: how many, or a negative error.
    pub send: Option<unsafe extern "C" fn(*mut Transport, *const c_void, usize) -> i64>,
    /// Optional: one dump of that many bytes follows.
    pub begin: Option<unsafe extern "C" fn(*mut Transport, u64) -> c_int>,
    /// Polls before a device counts as stalled.
    pub patience: u32,
    /// Set once probing succeeded.
    pub ready: bool,
}

impl Transport {
    /// With these operations, not probed yet.
    pub const fn new(
        name: Name,
        probe: unsafe extern "C" fn(*mut Transport) -> c_int,
        send: unsafe extern "C" fn(*mut Transport, *const c_void, usize) -> i64,
    ) -> Self {
        Transport { name, probe: Some(probe), send: Some(send), begin: None, patience: 1, ready: false }
    }

    const fn unset() -> Self {
        Transport { name: Name::NONE, probe: None, send: None, begin: None, patience: 0, ready: false }
    }
}

/// A device's registers: memory, or x86 I/O ports.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Io {
    /// Virtual address, or port.
    pub base: usize,
    /// Whether it is a port.
    pub ports: bool,
}

/// Debug console of QEMU and Bochs, x86 only.
#[repr(C)]
pub struct Debugcon {
    transport: Transport,
    port: u16,
}

/// Semihosting, AArch64 and RISC-V only.
#[repr(C)]
pub struct Semihosting {
    transport: Transport,
    path: Name,
    handle: i64,
    line: [u8; 512],
}

/// UART of the 8250 family.
#[repr(C)]
pub struct Uart16550 {
    transport: Transport,
    io: Io,
    shift: u8,
}

/// ARM's UART.
#[repr(C)]
pub struct Pl011 {
    transport: Transport,
    io: Io,
}

extern "C" {
    fn ktrace_transport_set(transport: *mut Transport) -> c_int;
    fn ktrace_dump(transport: *mut Transport, how: c_uint) -> c_int;
    fn ktrace_write_bytes(data: *const c_void, bytes: usize) -> c_int;
    #[cfg(target_arch = "x86_64")]
    fn ktrace_debugcon_init(debugcon: *mut Debugcon, port: u16) -> *mut Transport;
    #[cfg(not(target_arch = "x86_64"))]
    fn ktrace_semihosting_init(semihosting: *mut Semihosting, path: Name) -> *mut Transport;
    fn ktrace_uart16550_init(uart: *mut Uart16550, io: Io, shift: u8) -> *mut Transport;
    #[cfg(target_arch = "aarch64")]
    fn ktrace_pl011_init(uart: *mut Pl011, base: usize) -> *mut Transport;
}

// As asserted of the C structures in mirror.c.
const _: () = {
    assert!(size_of::<Transport>() == 40);
    assert!(size_of::<Io>() == 16);
    assert!(size_of::<Debugcon>() == 48);
    assert!(size_of::<Semihosting>() == 568);
    assert!(size_of::<Uart16550>() == 64);
    assert!(size_of::<Pl011>() == 56);
};

/// A driver that can be put to use.
pub trait Driver {
    /// Its operations, ready to be probed.
    fn transport(&'static mut self) -> *mut Transport;
}

impl Driver for Transport {
    fn transport(&'static mut self) -> *mut Transport {
        self
    }
}

impl Debugcon {
    /// At that port, usually 0xe9.
    pub const fn new(port: u16) -> Self {
        Debugcon { transport: Transport::unset(), port }
    }
}

impl Semihosting {
    /// Into that file of the host; [`Name::NONE`]: the host's choice.
    pub const fn new(path: Name) -> Self {
        Semihosting { transport: Transport::unset(), path, handle: -1, line: [0; 512] }
    }
}

impl Uart16550 {
    /// Registers at that place, `1 << shift` bytes apart.
    pub const fn new(io: Io, shift: u8) -> Self {
        Uart16550 { transport: Transport::unset(), io, shift }
    }
}

impl Pl011 {
    /// Registers at that virtual address.
    pub const fn new(base: usize) -> Self {
        Pl011 { transport: Transport::unset(), io: Io { base, ports: false } }
    }
}

// SAFETY in the following: the structures mirror those of C field by field, and are lent to it for ever.

#[cfg(target_arch = "x86_64")]
impl Driver for Debugcon {
    fn transport(&'static mut self) -> *mut Transport {
        let port = self.port;
        unsafe { ktrace_debugcon_init(self, port) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Driver for Semihosting {
    fn transport(&'static mut self) -> *mut Transport {
        let path = self.path;
        unsafe { ktrace_semihosting_init(self, path) }
    }
}

impl Driver for Uart16550 {
    fn transport(&'static mut self) -> *mut Transport {
        let (io, shift) = (self.io, self.shift);
        unsafe { ktrace_uart16550_init(self, io, shift) }
    }
}

#[cfg(target_arch = "aarch64")]
impl Driver for Pl011 {
    fn transport(&'static mut self) -> *mut Transport {
        let base = self.io.base;
        unsafe { ktrace_pl011_init(self, base) }
    }
}

/// Probes a transport and makes it the one that everything below goes through.
pub fn set<D: Driver>(driver: &'static mut D) -> Result<(), Error> {
    // SAFETY: the driver lives for ever, and nobody else has it.
    result(unsafe { ktrace_transport_set(driver.transport()) })
}

/// The transport that a feature names, put to use when something is sent and no other was set.
#[cfg(any(
    all(feature = "transport-x86-64", target_arch = "x86_64"),
    all(feature = "transport-arm64", target_arch = "aarch64")
))]
mod chosen {
    use core::cell::UnsafeCell;
    use core::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[cfg(target_arch = "x86_64")]
    type Device = Debugcon;
    #[cfg(target_arch = "x86_64")]
    const DEVICE: Device = Debugcon::new(0xe9);
    #[cfg(target_arch = "aarch64")]
    type Device = Semihosting;
    #[cfg(target_arch = "aarch64")]
    const DEVICE: Device = Semihosting::new(Name::NONE);

    struct Shared(UnsafeCell<Device>);
    // SAFETY: only C uses it, which sends from one CPU at a time; BUSY is held while it is set up.
    unsafe impl Sync for Shared {}
    static SHARED: Shared = Shared(UnsafeCell::new(DEVICE));
    static BUSY: AtomicBool = AtomicBool::new(false);

    pub fn set() -> Result<(), Error> {
        if BUSY.swap(true, Ordering::Acquire) {
            return Err(Error::Busy);
        }
        // SAFETY: as above.
        let done = result(unsafe {
            #[cfg(target_arch = "x86_64")]
            let transport = ktrace_debugcon_init(SHARED.0.get(), 0xe9);
            #[cfg(target_arch = "aarch64")]
            let transport = ktrace_semihosting_init(SHARED.0.get(), Name::NONE);
            ktrace_transport_set(transport)
        });
        BUSY.store(false, Ordering::Release);
        done
    }
}

#[cfg(not(any(
    all(feature = "transport-x86-64", target_arch = "x86_64"),
    all(feature = "transport-arm64", target_arch = "aarch64")
)))]
mod chosen {
    pub fn set() -> Result<(), super::Error> {
        Err(super::Error::Absent)
    }
}

/// Sends, and once more if it took the feature's transport.
fn sent(send: impl Fn() -> c_int) -> Result<(), Error> {
    match result(send()) {
        Err(Error::Absent) => chosen::set().and_then(|()| result(send())),
        other => other,
    }
}

/// Sends all bytes in one piece.
pub fn write_bytes(data: &[u8]) -> Result<(), Error> {
    // SAFETY: the slice's own bytes.
    sent(|| unsafe { ktrace_write_bytes(data.as_ptr().cast(), data.len()) })
}

/// Sends one byte.
pub fn write_byte(byte: u8) -> Result<(), Error> {
    write_bytes(&[byte])
}

/// Streams one version 1 record, without any ring.
pub fn write_record(record: &TraceRecord) -> Result<(), Error> {
    write_bytes(record.as_bytes())
}

/// Which format a dump has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// KTRX version 1.
    V1,
    /// KTRX version 2.
    V2,
}

/// Writes the whole trace. `seize`: all other CPUs are stopped, so take the output even from one that holds it.
pub fn dump(version: Version, seize: bool) -> Result<(), Error> {
    let how = (version == Version::V1) as c_uint | (seize as c_uint) << 1;
    // SAFETY: NULL is the transport that was set.
    sent(|| unsafe { ktrace_dump(ptr::null_mut(), how) })
}
