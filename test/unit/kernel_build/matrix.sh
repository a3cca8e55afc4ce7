#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The kernel library builds freestanding, with gcc and clang, for each CPU, under the flags that kernels use, and
# needs nothing from anywhere: a linked program has no undefined symbol, and holds its events. MATRIX=all (make soak): at
# every level and setting, not only at those that differ most.
. test/tap.sh
. test/unit/kernel_build/common.sh

sources="$(make -s ktrace-sources) $(make -s ktrace-proc-sources)"
samples='test/unit/kernel_build/sample.c test/unit/kernel_build/proc.c test/unit/kernel_build/hwt.c'

# build NAME COMPILER ARCH FLAGS…: compiles and links everything in one go, then looks at the result
build() {
	name=$1 command=$(compiler_of "$2" "$3") for=$3
	shift 3
	out=$tmp/program
	rm -f "$out"
	# shellcheck disable=SC2046,SC2086
	if ! $command -std=c11 -ffreestanding -nostdlib -static $c_warnings $(flags_of "$for") "$@" \
		-Iinclude "-Ikernel/arch/$for" -Wl,-e,kernel_main -Wl,--build-id=none -o "$out" $samples $sources $(make -s "ktrace-hwt-sources-$for") \
		>"$tmp/log" 2>&1; then
		fail "$name" "$(head -n 20 "$tmp/log")"
	elif [ -n "$(nm -u "$out")" ]; then
		fail "$name" "undefined: $(nm -u "$out" | head)"
	elif ! readelf -SW "$out" | grep -q ktrace_events; then
		fail "$name" "no section ktrace_events"
	else
		pass "$name"
	fi
}

settings='-DKTRACE_DISABLE=1 -DKTRACE_STATE=0'
[ "${MATRIX-}" = all ] &&
	settings="$settings -DKTRACE_MAX_CPUS=1 -DKTRACE_MAX_CPUS=4096 -DKTRACE_BOOT_SLOTS=512 -DKTRACE_STRING_MAX=200"

# levels COMPILER
levels() {
	case ${MATRIX-}-$1 in
	all-*) echo -O0 -O1 -O2 -O3 -Os ;;
	*-gcc) echo -O0 -Os ;;
	*-clang) echo -O2 ;;
	esac
}

# ways ARCH COMPILER: how kernels are built beside a plain level
ways() {
	build "$1 $2 -flto" "$2" "$1" -O2 -flto -fno-pie -no-pie
	build "$1 $2 with frame pointers" "$2" "$1" -O2 -fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1 -fno-pie -no-pie
	build "$1 $2 PIE" "$2" "$1" -O2 -fPIE -static-pie -Wl,--no-dynamic-linker
	build "$1 $2 --gc-sections" "$2" "$1" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections -fno-pie -no-pie
}

for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		for level in $(levels $compiler); do
			build "$arch $compiler $level" $compiler $arch "$level" -fno-pie -no-pie
		done
		case ${MATRIX-}-$arch-$compiler in
		all-* | *-x86_64-gcc) ways $arch $compiler ;;
		esac
	done
done
for compiler in gcc clang; do
	build "x86_64 $compiler -mcmodel=kernel" $compiler x86_64 -O2 -mcmodel=kernel -fno-pie -no-pie
done

for setting in $settings; do
	build "x86_64 gcc $setting" gcc x86_64 -O2 $setting -fno-pie -no-pie
done
build "x86_64 gcc with its predefined macros" gcc x86_64 -O2 -std=gnu11 -fno-pie -no-pie
build "aarch64 gcc with its own atomics" gcc aarch64 -O2 -march=armv8.1-a -fno-pie -no-pie

done_testing
