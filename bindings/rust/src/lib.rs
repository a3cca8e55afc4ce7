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
//! # #[cfg(feature = "bundled")]
//! # switch_to(1, 2, 3);
//! ```
//!
//! No allocation, no dependencies, no initialisation: an event goes to a static ring from the first instruction on.
//!
//! - [`event!`] declares an event, [`record!`] records it; groups can be left out at compile time.
//! - [`init`] and [`cpu_online`] give each CPU a ring of its own.
//! - [`facts!`] declares the standard events with the state that `ktrace why` reasons from; [`state`] has what is
//!   state alone.
//! - [`transport`] sends dumps, or single [`TraceRecord`]s, where the host cannot read the machine's memory.
//!
//! # Features
//!
//! - `bundled`: compiles the C library along with the crate, with the flags that kernel code needs. `CC`, `AR` and
//!   `CFLAGS` are those of the environment; `CFLAGS=-I<folder>` is where `ktrace_port.h` lies, by which C asks the
//!   kernel for its CPU and thread numbers. Without this feature the kernel's own build links the library.
//! - `transport-x86-64`: QEMU's debug console is the transport, unless [`transport::set`] set another.
//! - `transport-arm64`: likewise semihosting.
//!
//! # Targets
//!
//! Kernel code leaves vector registers alone: of AArch64's targets that is `aarch64-unknown-none-softfloat`;
//! `x86_64-unknown-none` and `riscv64imac-unknown-none-elf` do so as they are.
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

// As core::ffi has them since Rust 1.64.
#[allow(non_camel_case_types)]
type c_int = i32;
#[allow(non_camel_case_types)]
type c_uint = u32;
