// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! ktrace for kernels written in Rust: the same rings, the same event table and the same transports as in C.
//!
//! ```
//! use ktrace_core::{event, record};
//!
//! event!(SWITCH: sched.switch, "%u -> %u after %llu ns", prev: u32, next: u32, ran_ns: u64);
//!
//! fn switch_to(prev: u32, next: u32, ran_ns: u64) {
//!     record!(SWITCH, prev, next, ran_ns);
//! }
//! # switch_to(1, 2, 3);
//! ```
//!
//! No allocation, no dependencies, no initialisation: an event goes to a static ring from the first instruction on.
//! What steers tracing (`ktrace_init` and the like) is C, see `include/ktrace/control.h`.
#![no_std]
#![warn(missing_docs)]

mod event;
mod name;
pub mod transport;
pub mod v1;
pub mod v2;

#[doc(hidden)]
pub use event::{conversions, Row};
pub use event::{Event, Field, Packer};
pub use name::Name;

// As core::ffi has them since Rust 1.64.
#[allow(non_camel_case_types)]
type c_int = i32;
#[allow(non_camel_case_types)]
type c_uint = u32;
