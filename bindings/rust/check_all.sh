#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Tests the Rust crate with both toolchains, and with four more bare-metal targets.
RUST_TOOLCHAINS=all RUST_TARGETS="x86_64-unknown-none aarch64-unknown-none-softfloat aarch64-unknown-none riscv64gc-unknown-none-elf" exec sh bindings/rust/check.sh
