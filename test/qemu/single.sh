# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests the kernel side as two files, build/single/ktrace.c and ktrace.h. They compile for each architecture
# with gcc and clang without a warning, and need no symbols except the bounds of their sections.
# examples/minimal records with them as with the separate sources.
. test/tap.sh
. test/unit/kernel_build/common.sh

single=build/single
bounds='__start_ktrace_events __start_ktrace_settings __stop_ktrace_events __stop_ktrace_settings'

# compiles COMPILER ARCH FLAGS…: compiles build/single/ktrace.c without linking.
compiles() {
	single_compiler=$1 single_arch=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	$(compiler_of $single_compiler $single_arch) -std=c11 -ffreestanding -pedantic $c_warnings $(flags_of $single_arch) "$@" \
		-c $single/ktrace.c -o "$tmp/ktrace.o"
}

for arch in x86_64 aarch64 riscv64; do
	for compiler in gcc clang; do
		have $compiler $arch || {
			skip "$arch $compiler" "not installed"
			continue
		}
		case $compiler-$arch in
		gcc-*) level='-O1 -DKTRACE_FRAME_POINTERS=1 -fno-omit-frame-pointer' ;;
		clang-x86_64) level=-O1 ;; # may replace loops by calls of functions, on each CPU alike; takes long
		clang-*) level=-O0 ;;
		esac
		# shellcheck disable=SC2086
		check "$arch $compiler $level: ktrace.c compiles without a warning" compiles $compiler $arch $level
		equal "$arch $compiler: ktrace.c needs only the bounds of its sections" "$bounds" "$(nm -u "$tmp/ktrace.o" | awk '{ print $2 }' | sort | xargs)"
	done
done

cat >"$tmp/event.cc" <<'E'
#include "ktrace.h"
KTRACE_EVENT(sample, event, "%u", (uint32_t, number));
void sample(uint32_t number) { KTRACE(sample, event, number); }
E
check "ktrace.h compiles as C++" g++ -std=c++17 -ffreestanding $warnings $(flags_of x86_64) -I$single -c "$tmp/event.cc" -o "$tmp/event.o"

# A kernel needs only two files, one line of a makefile and one include.
cp examples/minimal/kernel.c examples/minimal/kernel.ld examples/minimal/ktrace_port.h $single/ktrace.c $single/ktrace.h "$tmp"
sed -i 's|"ktrace/ktrace.h"|"ktrace.h"|' "$tmp/kernel.c"
check "examples/minimal builds with the two files" riscv64-linux-gnu-gcc -O1 -ffreestanding -fno-pic -mcmodel=medany \
	-march=rv64imac_zicsr_zifencei -mabi=lp64 -nostdlib -static -no-pie -Wl,-n -Wl,--build-id=none -Wl,--no-warn-rwx-segments \
	-T "$tmp/kernel.ld" -o "$tmp/kernel.elf" "$tmp/kernel.c" "$tmp/ktrace.c"
build/bin/ktrace run -q --timeout $limit --out "$tmp/trace" -- qemu-system-riscv64 -M virt -bios none -smp 4 \
	-nographic -kernel "$tmp/kernel.elf" >"$tmp/console" 2>"$tmp/err" </dev/null
equal "examples/minimal ends with status 0" 0 $?
build/bin/ktrace show "$tmp/trace" >"$tmp/shown" 2>>"$tmp/err"
equal "every count of every hart is shown" 4000 "$(grep -c 'example.count' "$tmp/shown")"
equal "the event that every hart recorded before it had a ring is shown" 4 "$(grep -c 'example.hello.*from hart' "$tmp/shown")"
done_testing
