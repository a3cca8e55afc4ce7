// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! KTRX version 1: `include/ktrx/v1.h`, normative text in `spec/ktrx1.md`.

use core::mem::size_of;

/// First bytes of a dump of either version.
pub const MAGIC: [u8; 4] = *b"KTRX";

/// Head of a dump; one ring a CPU follows.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`MAGIC`]
    pub magic: [u8; 4],
    /// 1
    pub version: u32,
    /// Counter ticks a second.
    pub frequency: u64,
    /// Rings that follow, in CPU order.
    pub cpus: u32,
    /// Records a ring, a power of two.
    pub slots: u32,
    /// 32
    pub record_size: u32,
    /// 0
    pub flags: u32,
    /// 0
    pub reserved: [u8; 32],
}

/// One record.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Raw counter; 0 marks an empty slot.
    pub stamp: u64,
    /// See [`Record::pack_header`].
    pub header: u32,
    /// By event.
    pub data: [u32; 5],
}

impl Record {
    /// Event below 1024, CPU modulo 8, process modulo 2048.
    pub const fn pack_header(event: u32, cpu: u32, pid: u32, flags: u8) -> u32 {
        (flags as u32) << 24 | (pid & 0x7ff) << 13 | (cpu & 7) << 10 | (event & 0x3ff)
    }

    /// The event's id.
    pub const fn event(&self) -> u32 {
        self.header & 0x3ff
    }

    /// The CPU, modulo 8.
    pub const fn cpu(&self) -> u32 {
        self.header >> 10 & 7
    }

    /// The process, modulo 2048.
    pub const fn pid(&self) -> u32 {
        self.header >> 13 & 0x7ff
    }
}

/// Well-known event ids.
#[allow(missing_docs)]
pub mod id {
    pub const SYSCALL_ENTER: u16 = 0;
    pub const SYSCALL_EXIT: u16 = 1;
    pub const CTX_SWITCH: u16 = 5;
    pub const PAGE_FAULT: u16 = 10;
    pub const PTE_MAP: u16 = 11;
    pub const PTE_MAP_EXISTING: u16 = 12;
    pub const PAGE_CONTENT: u16 = 13;
    pub const SIGNAL_SEND: u16 = 20;
    pub const SIGNAL_CHECK: u16 = 21;
    pub const SIGNAL_DELIVER: u16 = 22;
    pub const WAITQ_SLEEP: u16 = 70;
    pub const WAITQ_WAKE: u16 = 71;
    pub const NET_CONNECT: u16 = 193;
    pub const NET_SEND: u16 = 197;
    pub const NET_RECV: u16 = 198;
    pub const NET_POLL: u16 = 199;
    pub const NET_RX_PACKET: u16 = 201;
    pub const NET_TX_PACKET: u16 = 202;
    pub const NET_TCP_STATE: u16 = 203;
    pub const NET_DNS_QUERY: u16 = 204;
}

const _: () = {
    assert!(size_of::<Header>() == 64);
    assert!(size_of::<Record>() == 32);
};
