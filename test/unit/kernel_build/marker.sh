#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Checks that the marker of the trace unit in software is directly followed by the store of one byte, on the
# same page, with every compiler and option; riscv64 has no marker.
. test/tap.sh
. test/unit/kernel_build/common.sh

# listing ARCH OBJECT: prints address, bytes and assembler text of each instruction of the object
listing() { $(objdump_of "$1") -d -w "$2" | sed -n 's/^ *\([0-9a-f]*\):\t/\1\t/p'; }

# The instruction after each marker must be a store of a byte, on the same page of code.
followed() { # ARCH LISTING
	awk -F'\t' -v arch="$1" '
		BEGIN {
			marker["x86_64"] = "^0f 1f 80 55 52 54 4b *$"; store["x86_64"] = "^movb +\\$0x0,(0x0)?\\(" # with %rbp and %r13 there is a distance
			marker["aarch64"] = "^52896abf *$"; store["aarch64"] = "^strb[ \t]+wzr, \\[x[0-9]+\\]"
		}
		{ text = $3; for (i = 4; i <= NF; i++) text = text " " $i }
		pending { pending = 0; if (text !~ store[arch]) { print "after the marker: " $0; bad = 1 } }
		$2 ~ marker[arch] {
			n++; pending = 1
			if (substr($1, length($1)) !~ (arch == "x86_64" ? "0" : "[08]")) { print "not aligned: " $0; bad = 1 }
		}
		END { if (n < 1) print n + 0 " markers"; exit bad || pending || n < 1 }' "$2"
}

unmarked() { ! grep -E 'nopl? +0x4b545255|52896abf' "$1"; }

for compiler in gcc clang; do
	for arch in x86_64 aarch64 riscv64; do
		have $compiler $arch || { skip "$arch $compiler" "not installed"; continue; }
		for level in -O0 -O2 -Os; do
			check "$arch $compiler $level: the backend compiles" \
				compile $compiler $arch kernel/hwt/qemu.c "$tmp/qemu.o" $level
			listing $arch "$tmp/qemu.o" >"$tmp/listing"
			case $arch in
			riscv64) check "$arch $compiler $level: no marker" unmarked "$tmp/listing" ;;
			*) check "$arch $compiler $level: marker and store" followed $arch "$tmp/listing" ;;
			esac
		done
	done
done
done_testing
