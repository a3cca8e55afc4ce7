// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! KTRX version 2: `include/ktrx/v2.h`, `state.h` and `slot.h`. The normative text, `spec/ktrx.md`,
//! describes the members.
#![allow(missing_docs)]

use core::mem::size_of;

pub const SLOT_SIZE: usize = 32;
pub const SECTIONS: usize = 16;
pub const EVENT_MAGIC: u16 = 0x5645;
pub const EVENT_FIELDS: usize = 16;
pub const FLAG_DUMP: u32 = 1;

/// Kinds of addresses of a section or a ring.
pub mod place {
    pub const NONE: u16 = 0;
    pub const VIRTUAL: u16 = 1;
    pub const PHYSICAL: u16 = 2;
    pub const FILE: u16 = 3;
}

/// Types of sections.
pub mod section {
    pub const RINGS: u32 = 1;
    pub const EVENTS: u32 = 2;
    pub const THREADS: u32 = 3;
    pub const CPUS: u32 = 4;
}

/// Types of an event's fields.
pub mod field {
    pub const U8: u8 = 1;
    pub const U16: u8 = 2;
    pub const U32: u8 = 3;
    pub const U64: u8 = 4;
    pub const I8: u8 = 5;
    pub const I16: u8 = 6;
    pub const I32: u8 = 7;
    pub const I64: u8 = 8;
    pub const POINTER: u8 = 9;
    pub const STRING: u8 = 10;
    pub const BOOL: u8 = 11;
    pub const CHAR: u8 = 12;
    /// Flag in a string's length: the string was truncated.
    pub const STRING_CUT: u16 = 0x8000;
}

/// States of an event.
pub mod state {
    pub const OFF: u8 = 0;
    pub const RECORD: u8 = 1;
    pub const COUNT: u8 = 2;
    pub const STOP: u8 = 4;
    pub const SLOW: u8 = 0x80;
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Section {
    pub kind: u32,
    pub place: u16,
    pub entry_size: u16,
    pub extents: u32,
    pub index: u32,
    pub address: u64,
    pub length: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Root {
    pub magic: [u8; 4],
    pub version: u32,
    pub frequency: u64,
    pub cpus: u32,
    pub slots: u32,
    pub slot_size: u16,
    /// How a reader detects that several writers wrote a slot: 0: by a second copy of the generation; 1: by a
    /// check value.
    pub slot_format: u16,
    pub flags: u32,
    pub tag: [u8; 8],
    pub root_size: u32,
    pub sections: u32,
    pub machine: u16,
    pub table: u16,
    pub checksum: u32,
    pub nonce: u64,
    pub self_address: u64,
    pub self_physical: u64,
    pub length: u64,
    pub wall_stamp: u64,
    pub wall_ns: u64,
    pub outcome: u32,
    pub status: i32,
    pub sequence: u32,
    pub v1_omitted: u32,
    pub lost_events: u64,
    pub kernel: [u8; 64],
    pub section: [Section; SECTIONS],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    pub word: u64,
    pub base: u64,
    pub mask: u32,
    pub shift: u32,
    pub deadline: u64,
    pub anchor_stamp: u64,
    pub anchor_index: u64,
    pub dropped: u64,
    pub lapped: u64,
    pub first: u64,
    pub address: u64,
    pub length: u64,
    pub extents: u32,
    pub place: u16,
    pub kind: u16,
    pub cpu: u32,
    pub policy: u32,
    pub head_address: u64,
    pub head_place: u16,
    pub reserved0: u16,
    pub reserved1: u32,
    pub head: u64,
}

/// An event descriptor; its strings follow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EventRow {
    pub magic: u16,
    pub size: u16,
    pub state: u8,
    pub wanted: u8,
    pub id: u16,
    pub header: u32,
    pub v1_id: u16,
    pub fields: u8,
    pub flags: u8,
    pub line: u32,
    pub reserved: u32,
    pub count: u64,
    pub field_type: [u8; EVENT_FIELDS],
}

const _: () = {
    assert!(size_of::<Section>() == 32);
    assert!(size_of::<Root>() == 704);
    assert!(size_of::<Ring>() == 128);
    assert!(size_of::<EventRow>() == 48);
};
