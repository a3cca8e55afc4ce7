#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Makes the core library of a bare-metal target, if the toolchain has none, from Debian's rust-src and
# librust-compiler-builtins-dev:
#
#	core.sh RUSTC TARGET DIRECTORY
#
# Prints the flags that rustc needs for the target: none, or the sysroot below DIRECTORY. If there is no core library, prints the
# reason and fails.
set -eu
rustc=$1 target=$2 folder=$3

absent() {
	echo "no core library for $target: $1 is absent"
	exit 1
}

sysroot=$("$rustc" --print sysroot)
[ ! -d "$sysroot/lib/rustlib/$target/lib" ] || exit 0
core=$sysroot/lib/rustlib/src/rust/library/core/src/lib.rs
[ -f "$core" ] || absent "rust-src of $("$rustc" --version | cut -d ' ' -f 1-2)"
builtins=$(ls /usr/share/cargo/registry/compiler_builtins-*/src/lib.rs 2>/dev/null | tail -n 1)
[ -n "$builtins" ] || absent librust-compiler-builtins-dev

place=$folder/$("$rustc" --version | cut -d ' ' -f 2)/$target
if [ ! -d "$place" ]; then
	mkdir -p "$folder"
	new=$(mktemp -d "$folder/new.XXXXXX")
	lib=$new/lib/rustlib/$target/lib
	mkdir -p "$lib"
	RUSTC_BOOTSTRAP=1
	export RUSTC_BOOTSTRAP
	build() { "$rustc" --target "$target" --crate-type rlib -C opt-level=0 -C codegen-units=1 -C debug-assertions=no -C panic=abort --cap-lints allow --out-dir "$lib" "$@" >&2; }
	build --edition 2021 --crate-name core "$core"
	build --crate-name compiler_builtins --cfg 'feature="compiler-builtins"' --cfg 'feature="mem"' -L "$lib" "$builtins"
	mkdir -p "${place%/*}"
	mv -T "$new" "$place" 2>/dev/null || rm -r "$new" # another run was faster
fi
echo "--sysroot $(realpath "$place")"
