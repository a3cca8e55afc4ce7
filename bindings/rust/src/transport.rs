// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Sends bytes out of the machine: with the C library's drivers, and with drivers in Rust. The structures
//! mirror those of `include/ktrace/transport.h`. That header states in which contexts each function may be
//! called.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use crate::{c_int, c_uint, Name, TraceRecord};

/// Errors of output; `enum ktrace_output_error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No such device, or no transport set.
    Absent,
    /// Another context did not finish its output in time.
    Busy,
    /// The device did not become ready in time.
    Stalled,
    /// The device reported an error, or did not follow its protocol.
    Failed,
    /// Not enough room.
    Full,
    /// Rings were added or removed during the dump.
    Changed,
    /// Invalid argument, or the trace is not set up.
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

/// The operations of a transport: `struct ktrace_transport` in C. A driver in Rust has this as the first member of its
/// own `repr(C)` structure.
#[repr(C)]
pub struct Transport {
    /// Name in messages.
    pub name: Name,
    /// Finds and initialises the device; returns 0 or a negative error.
    pub probe: Option<unsafe extern "C" fn(*mut Transport) -> c_int>,
    /// Sends some of the bytes; returns their number or a negative error.
    pub send: Option<unsafe extern "C" fn(*mut Transport, *const c_void, usize) -> i64>,
    /// Optional: called before a dump, with the size of the dump in bytes.
    pub begin: Option<unsafe extern "C" fn(*mut Transport, u64) -> c_int>,
    /// Number of polls after which a device that is still not ready has failed.
    pub patience: u32,
    /// True after a successful probe.
    pub ready: bool,
}

impl Transport {
    /// Returns a transport with these operations. It is not probed yet.
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
    /// Virtual address, or number of the first port.
    pub base: usize,
    /// True if `base` is a port.
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

// mirror.c makes the same assertions about the C structures.
const _: () = {
    assert!(size_of::<Transport>() == 40);
    assert!(size_of::<Io>() == 16);
    assert!(size_of::<Debugcon>() == 48);
    assert!(size_of::<Semihosting>() == 568);
    assert!(size_of::<Uart16550>() == 64);
    assert!(size_of::<Pl011>() == 56);
};

/// A driver that can be passed to [`set`].
pub trait Driver {
    /// Initialises the driver, and returns its operations, which can then be probed.
    fn transport(&'static mut self) -> *mut Transport;
}

impl Driver for Transport {
    fn transport(&'static mut self) -> *mut Transport {
        self
    }
}

impl Debugcon {
    /// Returns a driver for this port, usually 0xe9.
    pub const fn new(port: u16) -> Self {
        Debugcon { transport: Transport::unset(), port }
    }
}

impl Semihosting {
    /// Returns a driver that writes to this file on the host; with [`Name::NONE`], the host's semihosting command line
    /// names the file.
    pub const fn new(path: Name) -> Self {
        Semihosting { transport: Transport::unset(), path, handle: -1, line: [0; 512] }
    }
}

impl Uart16550 {
    /// Returns a driver for registers at `io`, `1 << shift` bytes apart.
    pub const fn new(io: Io, shift: u8) -> Self {
        Uart16550 { transport: Transport::unset(), io, shift }
    }
}

impl Pl011 {
    /// Returns a driver for registers at this virtual address.
    pub const fn new(base: usize) -> Self {
        Pl011 { transport: Transport::unset(), io: Io { base, ports: false } }
    }
}

// SAFETY, for the functions below: the structures mirror those of C member by member, and belong to C for
// ever.

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

/// Probes a transport and makes it the one that all functions below use.
pub fn set<D: Driver>(driver: &'static mut D) -> Result<(), Error> {
    // SAFETY: the driver is valid for ever, and the reference to it is exclusive.
    result(unsafe { ktrace_transport_set(driver.transport()) })
}

/// The transport that a feature selects. It is set at the first output, if no transport was set before.
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
    // SAFETY: only C uses the device, and it sends from one CPU at a time; BUSY is true while one CPU sets the device
    // up.
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

/// Sends; if no transport is set, sets up the feature's transport and sends again.
fn sent(send: impl Fn() -> c_int) -> Result<(), Error> {
    match result(send()) {
        Err(Error::Absent) => chosen::set().and_then(|()| result(send())),
        other => other,
    }
}

/// Sends all bytes. Output of other callers does not mix with them.
pub fn write_bytes(data: &[u8]) -> Result<(), Error> {
    // SAFETY: pointer and length are those of the slice.
    sent(|| unsafe { ktrace_write_bytes(data.as_ptr().cast(), data.len()) })
}

/// Sends one byte.
pub fn write_byte(byte: u8) -> Result<(), Error> {
    write_bytes(&[byte])
}

/// Sends one version 1 record, without a ring.
pub fn write_record(record: &TraceRecord) -> Result<(), Error> {
    write_bytes(record.as_bytes())
}

/// Format of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// KTRX version 1.
    V1,
    /// KTRX version 2.
    V2,
}

/// Writes the whole trace. If `seize` is true, takes the transport from a sender that did not finish; this
/// requires that all other CPUs are stopped.
pub fn dump(version: Version, seize: bool) -> Result<(), Error> {
    let how = (version == Version::V1) as c_uint | (seize as c_uint) << 1;
    // SAFETY: NULL is the transport that was set.
    sent(|| unsafe { ktrace_dump(ptr::null_mut(), how) })
}
