// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! KTRX version 1: `include/ktrx/v1.h`, normative text in `spec/ktrx1.md`.

use core::mem::size_of;

/// First bytes of a dump of version 1 or 2.
pub const MAGIC: [u8; 4] = *b"KTRX";

/// Header of a dump. The rings follow it, one for each CPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpHeader {
    /// [`MAGIC`]
    pub magic: [u8; 4],
    /// 1
    pub version: u32,
    /// Counter ticks per second.
    pub tsc_freq_hz: u64,
    /// Number of rings that follow, in the order of CPU numbers.
    pub num_cpus: u32,
    /// Number of records in each ring, a power of two.
    pub ring_size: u32,
    /// 32
    pub entry_size: u32,
    /// 0
    pub flags: u32,
    /// 0
    pub _reserved: [u8; 32],
}

/// One record.
///
/// ```
/// use ktrace_core::{EventType, TraceRecord};
///
/// let (tsc, cpu, pid) = (1, 0, 42);
/// let record =
///     TraceRecord { tsc, header: TraceRecord::pack_header(EventType::SYSCALL_ENTER, cpu, pid, 0), data: [0; 5] };
/// assert_eq!((record.event(), record.pid()), (EventType::SYSCALL_ENTER, 42));
/// ```
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Raw counter value; 0 marks an empty slot.
    pub tsc: u64,
    /// See [`TraceRecord::pack_header`].
    pub header: u32,
    /// Values whose meaning depends on the event.
    pub data: [u32; 5],
}

impl TraceRecord {
    /// Returns the header word of a record: event below 1024, CPU modulo 8, process modulo 2048.
    pub const fn pack_header(event: EventType, cpu: u32, pid: u32, flags: u8) -> u32 {
        (flags as u32) << 24 | (pid & 0x7ff) << 13 | (cpu & 7) << 10 | (event.0 as u32 & 0x3ff)
    }

    /// Returns the event's id.
    pub const fn event(&self) -> EventType {
        EventType((self.header & 0x3ff) as u16)
    }

    /// Returns the number of the CPU, modulo 8.
    pub const fn cpu(&self) -> u32 {
        self.header >> 10 & 7
    }

    /// Returns the number of the process, modulo 2048.
    pub const fn pid(&self) -> u32 {
        self.header >> 13 & 0x7ff
    }

    /// Returns the flags.
    pub const fn flags(&self) -> u8 {
        (self.header >> 24) as u8
    }

    /// Returns the record as bytes, as it is sent.
    pub fn as_bytes(&self) -> &[u8; 32] {
        // SAFETY: the structure has 32 bytes and no padding.
        unsafe { &*(self as *const Self).cast() }
    }
}

/// Id of an event in version 1, below 1024. The well-known ids have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType(pub u16);

#[allow(missing_docs)]
impl EventType {
    /// An event without an id in version 1.
    pub const NONE: EventType = EventType(0xffff);
    pub const SYSCALL_ENTER: EventType = EventType(0);
    pub const SYSCALL_EXIT: EventType = EventType(1);
    pub const CTX_SWITCH: EventType = EventType(5);
    pub const PAGE_FAULT: EventType = EventType(10);
    pub const PTE_MAP: EventType = EventType(11);
    pub const PTE_MAP_EXISTING: EventType = EventType(12);
    pub const PAGE_CONTENT: EventType = EventType(13);
    pub const SIGNAL_SEND: EventType = EventType(20);
    pub const SIGNAL_CHECK: EventType = EventType(21);
    pub const SIGNAL_DELIVER: EventType = EventType(22);
    pub const WAITQ_SLEEP: EventType = EventType(70);
    pub const WAITQ_WAKE: EventType = EventType(71);
    pub const NET_CONNECT: EventType = EventType(193);
    pub const NET_SEND: EventType = EventType(197);
    pub const NET_RECV: EventType = EventType(198);
    pub const NET_POLL: EventType = EventType(199);
    pub const NET_RX_PACKET: EventType = EventType(201);
    pub const NET_TX_PACKET: EventType = EventType(202);
    pub const NET_TCP_STATE: EventType = EventType(203);
    pub const NET_DNS_QUERY: EventType = EventType(204);
}

const _: () = {
    assert!(size_of::<DumpHeader>() == 64);
    assert!(size_of::<TraceRecord>() == 32);
};
