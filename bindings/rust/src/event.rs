// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Declares and records events. Event descriptors are in the C library's event table, where the linker places them;
//! recording calls a C function.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::{size_of, MaybeUninit};
use core::ptr;

use crate::{v1::EventType, v2};

/// Maximum payload of a record in bytes, `KTRACE_PAYLOAD_MAX` in C.
const PAYLOAD_MAX: usize = 226;
/// Size of a payload buffer: `KTRACE_CAPACITY` of the maximum payload, rounded up to a multiple of 8. The buffer also
/// has room for the rest of the record's last slot, which C clears.
const PAYLOAD_ROOM: usize = 232;
/// Initial `header` of a descriptor, `KTRACE_HEADER_SLOW` in C.
const HEADER_SLOW: u32 = 0x8000_0000;
/// Maximum number of bytes of a string in a record, `KTRACE_STRING_MAX` in C, unless a kernel changed it.
const STRING_MAX: usize = 64;

extern "C" {
    fn ktrace_emit_packed(event: *mut v2::EventRow, payload: *mut c_void, bytes: u32);
}

/// A declared event; made by [`event!`](crate::event!).
#[repr(transparent)]
pub struct Event(UnsafeCell<v2::EventRow>);

// SAFETY: the descriptor is shared with C, which accesses it with single loads and stores, as `is_on` does.
unsafe impl Sync for Event {}

impl Event {
    /// Returns whether the event is recorded or counted. Costs one load.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        // SAFETY: the state is inside the descriptor; the read is volatile, because C may change it at any time.
        unsafe { ptr::read_volatile(ptr::addr_of!((*self.0.get()).state)) != v2::state::OFF }
    }

    /// Returns the descriptor, for C.
    pub(crate) fn row(&self) -> *mut v2::EventRow {
        self.0.get()
    }

    /// Records a packed payload with the C library; the record's call site is the return address of that
    /// call. May be called in any context.
    ///
    /// # Safety
    /// Requires: the event is part of the build, so that its descriptor is in the table.
    #[inline(always)]
    pub unsafe fn emit(&self, packer: &mut Packer) {
        // The payload is aligned, its first `at` bytes are initialised, and the buffer is large enough.
        ktrace_emit_packed(self.0.get(), packer.bytes.as_mut_ptr().cast(), packer.at as u32)
    }
}

/// An event descriptor with its strings, as in the section `ktrace_events`.
#[doc(hidden)]
#[repr(C, align(8))]
pub struct Row<const N: usize> {
    pub event: Event,
    strings: [u8; N],
}

impl<const N: usize> Row<N> {
    /// Returns a new descriptor. Its first record uses the slow path, because the first event that fires in the kernel
    /// must assign the ids of all descriptors.
    pub const fn new(on: bool, v1_id: EventType, line: u32, types: &[u8], strings: &str) -> Self {
        let mut field_type = [0; v2::EVENT_FIELDS];
        let mut bytes = [0; N];
        let mut i = 0;

        while i < types.len() {
            field_type[i] = types[i];
            i += 1;
        }
        i = 0;
        while i < N {
            bytes[i] = strings.as_bytes()[i];
            i += 1;
        }
        let row = v2::EventRow {
            magic: v2::EVENT_MAGIC,
            size: ((size_of::<v2::EventRow>() + N + 7) & !7) as u16,
            state: if on { v2::state::RECORD | v2::state::SLOW } else { v2::state::OFF },
            wanted: v2::state::RECORD,
            id: 0,
            header: HEADER_SLOW,
            v1_id: v1_id.0,
            fields: types.len() as u8,
            flags: 0,
            line,
            reserved: 0,
            count: 0,
            field_type,
        };
        Row { event: Event(UnsafeCell::new(row)), strings: bytes }
    }
}

/// Returns the number of conversions in a printf text, without `%%`. There must be one conversion for each field.
#[doc(hidden)]
pub const fn conversions(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut count = 0;
    let mut i = 0;

    while i < bytes.len() {
        if bytes[i] == b'%' {
            i += 1;
            if i >= bytes.len() || bytes[i] != b'%' {
                count += 1;
            }
        }
        i += 1;
    }
    count
}

/// A payload under construction: packed fields, in order.
#[repr(C, align(8))]
pub struct Packer {
    bytes: [MaybeUninit<u8>; PAYLOAD_ROOM],
    at: usize,
}

impl Packer {
    /// Returns an empty payload.
    #[inline(always)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Packer { bytes: [MaybeUninit::uninit(); PAYLOAD_ROOM], at: 0 }
    }

    /// Appends bytes. Drops those bytes that do not fit into the maximum payload.
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.at < PAYLOAD_MAX {
                self.bytes[self.at] = MaybeUninit::new(byte);
                self.at += 1;
            }
        }
    }

    /// Appends a string. Truncates the string to the maximum length that the C library records. Truncates it
    /// further if fewer than `reserve` bytes would remain for the fields after it.
    fn put_string(&mut self, text: &str, reserve: usize) {
        let room = PAYLOAD_MAX.saturating_sub(self.at + 2 + reserve);
        let most = text.len().min(STRING_MAX).min(room);
        let cut = if most < text.len() { v2::field::STRING_CUT } else { 0 };

        self.put(&(most as u16 | cut).to_le_bytes());
        self.put(&text.as_bytes()[..most]);
    }
}

/// A type that a field can have.
pub trait Field {
    /// One of [`v2::field`].
    const TYPE: u8;
    /// Minimum size of the field in bytes.
    const SIZE: usize;
    /// Appends the field. `reserve`: minimum size in bytes of the fields after it.
    fn pack(self, packer: &mut Packer, reserve: usize);
}

macro_rules! integer_field {
    ($($type:ty => $code:ident),*) => { $(
        impl Field for $type {
            const TYPE: u8 = v2::field::$code;
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            fn pack(self, packer: &mut Packer, _reserve: usize) {
                packer.put(&self.to_le_bytes());
            }
        }
    )* };
}

integer_field!(u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
               usize => U64, isize => I64);

impl Field for bool {
    const TYPE: u8 = v2::field::BOOL;
    const SIZE: usize = 1;
    #[inline(always)]
    fn pack(self, packer: &mut Packer, _reserve: usize) {
        packer.put(&[self as u8]);
    }
}

impl<T> Field for *const T {
    const TYPE: u8 = v2::field::POINTER;
    const SIZE: usize = 8;
    #[inline(always)]
    fn pack(self, packer: &mut Packer, _reserve: usize) {
        packer.put(&(self as usize as u64).to_le_bytes());
    }
}

impl Field for &str {
    const TYPE: u8 = v2::field::STRING;
    const SIZE: usize = 2;
    fn pack(self, packer: &mut Packer, reserve: usize) {
        packer.put_string(self, reserve);
    }
}

/// Returns whether a list of names, separated by blanks or commas, contains `name`.
const fn has(list: &[u8], name: &[u8]) -> bool {
    let mut at = 0;

    while at < list.len() {
        let mut end = at;
        while end < list.len() && list[end] != b' ' && list[end] != b',' {
            end += 1;
        }
        let mut same = 0;
        while same < name.len() && at + same < end && list[at + same] == name[same] {
            same += 1;
        }
        if same == name.len() && at + same == end {
            return true;
        }
        at = end + 1;
    }
    false
}

/// Returns whether the events of this group are part of the build. `no` and `with` are the values of the environment
/// variables KTRACE_NO and KTRACE_WITH, see [`event!`].
#[doc(hidden)]
pub const fn built(group: &str, no: Option<&str>, with: Option<&str>) -> bool {
    let left_out = match no {
        Some(no) => has(no.as_bytes(), group.as_bytes()),
        None => false,
    };
    let wanted = match with {
        Some(with) => has(with.as_bytes(), group.as_bytes()),
        None => true,
    };
    wanted && !left_out
}

/// Used in place of each event that is left out of the build. It is always off.
#[doc(hidden)]
pub static LEFT_OUT: Row<0> = Row::new(false, EventType::NONE, 0, &[], "");

/// Declares an event descriptor in the enclosing module or function: `event()` returns it, `BUILT` is true if the event
/// is part of the build. An event that is left out occupies no memory.
#[doc(hidden)]
#[macro_export]
macro_rules! row {
    ($group:ident . $name:ident = $v1_id:expr, $text:literal $(, $field:ident: $type:ty)*) => {
        pub const BUILT: bool =
            $crate::built(stringify!($group), option_env!("KTRACE_NO"), option_env!("KTRACE_WITH"));
        const STRINGS: &str = concat!(stringify!($group), "\0", stringify!($name), "\0", $text, "\0", file!(), "\0",
                                      $(stringify!($field), "\0\0",)*);
        const TYPES: &[u8] = &[$(<$type as $crate::Field>::TYPE),*];
        const _: () = assert!($crate::conversions($text) == TYPES.len(), "text and fields differ in number");
        const _: () = assert!(TYPES.len() <= $crate::v2::EVENT_FIELDS, "too many fields");
        #[allow(clippy::declare_interior_mutable_const)]
        const LINKED: $crate::Row<{ STRINGS.len() }> = $crate::Row::new(true, $v1_id, line!(), TYPES, STRINGS);

        #[used]
        #[link_section = "ktrace_events"]
        static ROWS: [$crate::Row<{ STRINGS.len() }>; BUILT as usize] = [LINKED; BUILT as usize];

        #[inline(always)]
        pub fn event() -> &'static $crate::Event {
            match ROWS.first() {
                Some(row) => &row.event,
                None => &$crate::LEFT_OUT.event,
            }
        }
    };
}

/// Declares an event: `event!(NAME: group.name, "printf text", field: type, …);`, optionally with an id for version 1
/// dumps, `event!(NAME: group.name = EventType::CTX_SWITCH, …)`. [`record!`](crate::record!) records the event by
/// `NAME`; readers show `group.name`.
///
/// ```compile_fail
/// ktrace_core::event!(ODD: test.odd, "%u and %u", only_one: u32);
/// ```
///
/// Two environment variables of the kernel's build leave groups out, as `-DKTRACE_NO_<group>=1` and `-DKTRACE_SELECT=1
/// -DKTRACE_WITH_<group>=1` do in C. `KTRACE_NO="vfs mm"` leaves out these groups. `KTRACE_WITH="sched irq"` leaves out
/// all groups except these; with an empty value, it leaves out all groups. Cargo rebuilds when they change, and
/// `.cargo/config.toml` can set them. An event that is left out occupies no memory; its arguments are checked, but not
/// evaluated.
#[macro_export]
macro_rules! event {
    ($id:ident: $group:ident . $name:ident, $text:literal $(, $field:ident: $type:ty)* $(,)?) => {
        $crate::event!($id: $group.$name = $crate::EventType::NONE, $text $(, $field: $type)*);
    };
    ($id:ident: $group:ident . $name:ident = $v1_id:expr, $text:literal $(, $field:ident: $type:ty)* $(,)?) => {
        #[allow(non_snake_case)]
        mod $id {
            #[allow(unused_imports)]
            use super::*;

            $crate::row!($group.$name = $v1_id, $text $(, $field: $type)*);

            #[allow(clippy::too_many_arguments, unused_mut, unused_variables, unused_assignments)]
            pub fn record($($field: $type),*) {
                let mut packer = $crate::Packer::new();
                let mut reserve = 0 $(+ <$type as $crate::Field>::SIZE)*;
                $(
                    reserve -= <$type as $crate::Field>::SIZE;
                    $crate::Field::pack($field, &mut packer, reserve);
                )*
                if BUILT {
                    // SAFETY: the event is part of the build.
                    unsafe { event().emit(&mut packer) }
                }
            }
        }
    };
}

/// Records an event: `record!(NAME, argument, …);`. Arguments are evaluated only while the event is on.
#[macro_export]
macro_rules! record {
    ($id:ident $(, $argument:expr)* $(,)?) => {
        if $id::BUILT && $id::event().is_on() {
            $id::record($($argument),*);
        }
    };
}
