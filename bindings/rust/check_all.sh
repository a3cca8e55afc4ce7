#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The Rust crate with both toolchains, also for two more bare-metal targets.
RUST_TOOLCHAINS=all RUST_TARGETS="aarch64-unknown-none riscv64gc-unknown-none-elf" exec sh bindings/rust/check.sh
