// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Tests events that are recorded in Rust with the C core on this machine and dumped through a transport in Rust.
//! If the environment has KTRACE_TEST_DUMP, the dump is written to that file, for other readers.
#![cfg(feature = "bundled")]

use core::ffi::c_void;
use core::mem::size_of;
use std::sync::Mutex;

use ktrace_core::transport::{self, Transport, Version};
use ktrace_core::{event, name, record, v1, v2, DumpHeader, EventType, TraceRecord};

event!(SWITCH: test.switch = EventType::CTX_SWITCH, "%u -> %u after %llu ns", prev: u32, next: u32, ran_ns: u64);
event!(OPEN: vfs.open, "%s is %d, %p", path: &str, result: i32, inode: *const u8);
event!(BARE: boot.done, "done");

static SENT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

unsafe extern "C" fn probe(_: *mut Transport) -> i32 {
    0
}

/// Takes at most 1000 bytes, to test short writes.
unsafe extern "C" fn send(_: *mut Transport, data: *const c_void, bytes: usize) -> i64 {
    let taken = bytes.min(1000);
    let data = std::slice::from_raw_parts(data.cast::<u8>(), taken);
    SENT.lock().unwrap().extend_from_slice(data);
    taken as i64
}

fn sent() -> Vec<u8> {
    std::mem::take(&mut SENT.lock().unwrap())
}

/// Returns bytes of a dump as a wire structure.
fn at<T: Copy>(dump: &[u8], offset: usize) -> T {
    assert!(offset + size_of::<T>() <= dump.len());
    unsafe { dump.as_ptr().add(offset).cast::<T>().read_unaligned() }
}

fn section(root: &v2::Root, kind: u32) -> v2::Section {
    *root.section.iter().find(|s| s.kind == kind && s.place == v2::place::FILE).expect("the section")
}

fn check_v2(dump: &[u8]) {
    let root: v2::Root = at(dump, 0);
    let events = section(&root, v2::section::EVENTS);
    let ring: v2::Ring = at(dump, section(&root, v2::section::RINGS).address as usize);
    let rows = &dump[events.address as usize..][..events.length as usize];

    assert_eq!((root.magic, root.version), (v1::MAGIC, 2));
    assert_eq!(root.flags & v2::FLAG_DUMP, v2::FLAG_DUMP);
    assert_eq!(root.length as usize, dump.len());
    for name in [
        "test\0switch\0%u -> %u after %llu ns\0",
        "vfs\0open\0",
        "path\0\0result\0\0inode\0\0",
        "boot\0done\0",
    ] {
        assert!(rows.windows(name.len()).any(|w| w == name.as_bytes()), "{name:?} is in the event table");
    }
    assert_eq!(ring.place, v2::place::FILE);
    let slots = &dump[ring.address as usize..][..ring.length as usize];
    assert!(slots.windows(11).any(|w| w == b"\x09\0/etc/motd"), "the string was recorded");
}

fn check_v1(dump: &[u8]) {
    let header: DumpHeader = at(dump, 0);
    let first: TraceRecord = at(dump, size_of::<DumpHeader>());

    assert_eq!((header.magic, header.version, header.entry_size), (v1::MAGIC, 1, 32));
    assert_eq!(dump.len(), 64 + 32 * (header.num_cpus * header.ring_size) as usize);
    assert_eq!(first.event(), EventType::CTX_SWITCH);
    assert_eq!(first.data, [1, 2, 0x89abcdef, 0x01234567, 0]);
}

/// All checks are in one test, because a program has only one trace and one transport.
#[test]
fn events_are_recorded_and_dumped() {
    let driver = Box::leak(Box::new(Transport::new(name!("vec"), probe, send)));
    let mut evaluated = 0;

    assert_eq!(transport::write_byte(1), Err(transport::Error::Absent));
    assert_eq!(transport::set(driver), Ok(()));
    record!(SWITCH, 1, 2, 0x0123_4567_89ab_cdef);
    record!(OPEN, "/etc/motd", -2, std::ptr::null());
    record!(OPEN, &"long/".repeat(100), 0, std::ptr::null());
    record!(BARE);
    record!(
        SWITCH,
        {
            evaluated += 1;
            2
        },
        1,
        0
    );
    assert_eq!(evaluated, 1);

    assert_eq!(transport::dump(Version::V2, false), Ok(()));
    let dump = sent();
    check_v2(&dump);
    if let Some(path) = std::env::var_os("KTRACE_TEST_DUMP") {
        std::fs::write(path, &dump).unwrap();
    }
    assert_eq!(transport::dump(Version::V1, true), Ok(()));
    check_v1(&sent());

    let single = TraceRecord {
        tsc: 7,
        header: TraceRecord::pack_header(EventType::CTX_SWITCH, 1, 2051, 0xab),
        data: [1, 2, 3, 4, 5],
    };
    assert_eq!(transport::write_record(&single), Ok(()));
    let bytes = sent();
    assert_eq!(at::<TraceRecord>(&bytes, 0), single);
    assert_eq!(&bytes, single.as_bytes());
    assert_eq!((single.event(), single.cpu(), single.pid()), (EventType::CTX_SWITCH, 1, 3));
    assert_eq!(single.flags(), 0xab);
}
