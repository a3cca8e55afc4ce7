// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! Tests that the transport that a feature selects is set up at the first byte. The C library is a fake.
#![cfg(all(not(feature = "bundled"), feature = "transport-x86-64", target_arch = "x86_64"))]

use core::ffi::c_void;
use std::sync::Mutex;

use ktrace_core::transport::{self, Debugcon, Error, Transport};

static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static SET: Mutex<bool> = Mutex::new(false);

fn called(call: String) {
    CALLS.lock().unwrap().push(call);
}

#[no_mangle]
extern "C" fn ktrace_debugcon_init(debugcon: *mut Debugcon, port: u16) -> *mut Transport {
    called(format!("init {port:#x}"));
    debugcon.cast()
}

#[no_mangle]
extern "C" fn ktrace_transport_set(_: *mut Transport) -> i32 {
    called("set".to_string());
    *SET.lock().unwrap() = true;
    0
}

#[no_mangle]
extern "C" fn ktrace_write_bytes(_: *const c_void, bytes: usize) -> i32 {
    called(format!("write {bytes}"));
    match (*SET.lock().unwrap(), bytes) {
        (false, _) => -1,
        (_, 2) => -5,
        _ => 0,
    }
}

#[test]
fn first_byte_sets_up_the_transport_of_the_feature() {
    assert_eq!(transport::write_byte(1), Ok(()));
    assert_eq!(transport::write_bytes(&[1, 2, 3]), Ok(()));
    assert_eq!(transport::write_bytes(&[1, 2]), Err(Error::Full));
    assert_eq!(*CALLS.lock().unwrap(), ["write 1", "init 0xe9", "set", "write 1", "write 3", "write 2"]);
}
