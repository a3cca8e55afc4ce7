// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Tests the wire types with the project's golden traces.

use std::mem::{size_of, MaybeUninit};

use ktrace_core::{v1, v2, DumpHeader, EventType, TraceRecord};

fn golden(name: &str) -> Vec<u8> {
    let path = format!("{}/../../test/golden/{name}", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Returns bytes of a file as a wire structure.
fn at<T: Copy>(file: &[u8], offset: usize) -> T {
    assert!(offset + size_of::<T>() <= file.len());
    unsafe { file.as_ptr().add(offset).cast::<T>().read_unaligned() }
}

#[test]
fn version_1_dump_has_its_records() {
    let file = golden("ktread/v1.ktrx");
    let header: DumpHeader = at(&file, 0);
    let slots = (header.num_cpus * header.ring_size) as usize;
    let records: Vec<TraceRecord> =
        (0..slots).map(|n| at(&file, 64 + 32 * n)).filter(|r: &TraceRecord| r.tsc != 0).collect();
    let count = |id| records.iter().filter(|r| r.event() == id).count();

    assert_eq!((header.magic, header.version, header.entry_size), (v1::MAGIC, 1, 32));
    assert_eq!(header.tsc_freq_hz, 1_000_000);
    assert_eq!(records.len(), 10);
    assert_eq!(
        (count(EventType::SYSCALL_ENTER), count(EventType::SYSCALL_EXIT), count(EventType::PAGE_FAULT)),
        (4, 4, 1)
    );
    assert_eq!(records.iter().filter(|r| r.pid() == 5).count(), 8);
    assert!(records.iter().any(|r| r.event() == EventType(777) && r.cpu() == 1));
}

#[test]
fn version_2_dump_has_its_sections() {
    let file = golden("ktread/v2.ktrx");
    let root: v2::Root = at(&file, 0);
    let section = |kind| *root.section.iter().find(|s| s.kind == kind).expect("the section");
    let rings = section(v2::section::RINGS);
    let events = section(v2::section::EVENTS);
    let row: v2::EventRow = at(&file, events.address as usize);

    assert_eq!((root.magic, root.version, root.slot_size as usize), (v1::MAGIC, 2, v2::SLOT_SIZE));
    assert_eq!(&root.tag, b"ktrace2\n");
    assert_eq!(root.flags & v2::FLAG_DUMP, v2::FLAG_DUMP);
    assert_eq!(row.magic, v2::EVENT_MAGIC);
    for n in 0..rings.length as usize / size_of::<v2::Ring>() {
        let ring: v2::Ring = at(&file, rings.address as usize + n * size_of::<v2::Ring>());
        if ring.place == v2::place::FILE {
            assert_eq!(ring.length, (ring.mask as u64 + 1) * v2::SLOT_SIZE as u64);
            assert!((ring.address + ring.length) as usize <= file.len());
        }
    }
}

/// Checks the offsets of members, which C asserts in `include/ktrx`.
macro_rules! offsets {
    ($type:ty: $($field:ident $offset:literal),*) => { $({
        let place = MaybeUninit::<$type>::uninit();
        let field = unsafe { std::ptr::addr_of!((*place.as_ptr()).$field) };
        assert_eq!(field as usize - place.as_ptr() as usize, $offset, stringify!($field));
    })* };
}

#[test]
fn member_offsets_match_c() {
    offsets!(DumpHeader: tsc_freq_hz 8, num_cpus 16, ring_size 20, entry_size 24, _reserved 32);
    offsets!(TraceRecord: header 8, data 12);
    offsets!(v2::Section: address 16);
    offsets!(v2::Root: frequency 8, tag 32, machine 48, checksum 52, nonce 56, length 80, outcome 104);
    offsets!(v2::Root: sequence 112, kernel 128, section 192);
    offsets!(v2::Ring: mask 16, deadline 24, first 64, extents 88, cpu 96, head_address 104, head 120);
    offsets!(v2::EventRow: header 8, line 16, count 24, field_type 32);
}
