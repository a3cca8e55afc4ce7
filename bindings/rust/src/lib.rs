// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//! ktrace for kernels written in Rust, with the rings, the event table and the transports of the C library.
//!
//! ```
//! use ktrace_core::{event, record};
//!
//! event!(SWITCH: sched.switch, "%u -> %u after %llu ns", prev: u32, next: u32, ran_ns: u64);
//!
//! fn switch_to(prev: u32, next: u32, ran_ns: u64) {
//!     record!(SWITCH, prev, next, ran_ns);
//! }
//! # #[cfg(feature = "bundled")]
//! # switch_to(1, 2, 3);
//! ```
//!
//! No allocation, no dependencies, no initialisation: from the first instruction on, events go to a static ring.
//!
//! - [`event!`] declares an event, [`record!`] records it. Groups can be left out at compile time.
//! - [`init`] and [`cpu_online`] give each CPU its own ring.
//! - [`facts!`] declares functions that record the standard events and update the state from which `ktrace why` draws
//!   its conclusions. The functions in [`state`] update the state only.
//! - [`transport`] sends dumps, or single [`TraceRecord`]s, if the host cannot read the machine's memory.
//!
//! # Features
//!
//! - `bundled`: compiles the C library with the crate, with the flags that kernel code needs. `CC`, `AR` and `CFLAGS`
//!   are read from the environment. `CFLAGS=-I<directory>` names the directory with `ktrace_port.h`, through which C gets the
//!   kernel's CPU and thread numbers. Without this feature the kernel's own build links the library.
//! - `transport-x86-64`: the transport is QEMU's debug console, unless [`transport::set`] sets another.
//! - `transport-arm64`: the transport is semihosting, unless [`transport::set`] sets another.
//!
//! # Targets
//!
//! Kernel code must not use vector registers. On AArch64 use `aarch64-unknown-none-softfloat`; `x86_64-unknown-none`
//! and `riscv64imac-unknown-none-elf` do not use them.
#![no_std]
#![deny(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../../../doc/rust.md")]
struct Page;

mod control;
mod event;
mod name;
pub mod state;
pub mod transport;
pub mod v1;
pub mod v2;

pub use control::{
    boot_argument, control, cpu_online, exit, heartbeat, init, mode, panic, probe_cost, start, stop,
    thread_name,
};
pub use control::{Config, Error, Mode};
#[doc(hidden)]
pub use event::{built, conversions, Row, LEFT_OUT};
pub use event::{Event, Field, Packer};
pub use name::Name;
pub use v1::{DumpHeader, EventType, TraceRecord};

// core::ffi has these types since Rust 1.64.
#[allow(non_camel_case_types)]
type c_int = i32;
#[allow(non_camel_case_types)]
type c_uint = u32;
