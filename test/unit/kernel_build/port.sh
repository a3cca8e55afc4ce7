# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests that the linker rejects objects that were compiled before a kernel got its ktrace_port.h, together with
# objects that were compiled later.
. test/tap.sh
. test/unit/kernel_build/common.sh

mkdir "$tmp/port"
echo '#define ktrace_arch_thread() 7' >"$tmp/port/ktrace_port.h"
cat >"$tmp/event.c" <<'END'
#include "ktrace/ktrace.h"
KTRACE_EVENT(sample, event, "%u", (uint32_t, number));
void sample(uint32_t number);
void sample(uint32_t number) { KTRACE(sample, event, number); }
END
cat >"$tmp/event.cc" <<'END'
#include "ktrace/ktrace.h"
KTRACE_EVENT(sample, event, "%u", (uint32_t, number));
extern "C" void sample(uint32_t number) { KTRACE(sample, event, number); }
END

# build COMPILER ARCH DIRECTORY FLAGS…: compiles the sources above, and those of the library that define the names
build() {
	build_compiler=$1 build_arch=$2 build_folder=$tmp/$3
	shift 3
	mkdir -p "$build_folder"
	for source in kernel/core/attach.c kernel/core/init.c "$tmp/event.c"; do
		compile $build_compiler $build_arch $source "$build_folder/$(basename $source .c).o" -O1 "$@" || return 1
	done
}

# undefined LIBRARY OBJECT: prints the names of the port that the object needs and the library lacks
undefined() {
	case $arch in x86_64) undefined_linker=ld ;; *) undefined_linker=$arch-linux-gnu-ld ;; esac
	$undefined_linker -r -o "$tmp/linked.o" "$tmp/$1/attach.o" "$tmp/$1/init.o" "$2" &&
		nm -u "$tmp/linked.o" | awk '$2 ~ /_ktrace_port_h$/ { print $2 }' | xargs
}

for arch in x86_64 aarch64 riscv64; do
	compiler=gcc
	have gcc $arch || { have clang $arch && compiler=clang || { skip "$arch" "no compiler"; continue; }; }
	check "$arch: the library compiles without ktrace_port.h" build $compiler $arch without
	check "$arch: the library compiles with ktrace_port.h" build $compiler $arch with "-I$tmp/port"
	for both in with without; do
		equal "$arch: objects $both ktrace_port.h belong together" "" \
			"$(undefined $both "$tmp/$both/event.o")"
	done
	equal "$arch: an old library lacks the rings of a new event" ktrace_ring_with_ktrace_port_h \
		"$(undefined without "$tmp/with/event.o")"
	equal "$arch: a new library lacks the rings of an old event" ktrace_ring_without_ktrace_port_h \
		"$(undefined with "$tmp/without/event.o")"
done

arch=x86_64
if have gcc $arch; then
	build gcc $arch without && build gcc $arch with "-I$tmp/port"
	for both in with without; do
		include=$([ $both = without ] || echo "-I$tmp/port")
		# shellcheck disable=SC2086
		check "C++: an event compiles $both ktrace_port.h" g++ -std=c++17 -ffreestanding $warnings -Iinclude \
			-Ikernel/arch/$arch $include -c "$tmp/event.cc" -o "$tmp/$both/event.o"
		equal "C++: it belongs to a library that was compiled $both it" "" "$(undefined $both "$tmp/$both/event.o")"
	done
	equal "C++: an old library lacks the rings of a new event" ktrace_ring_with_ktrace_port_h \
		"$(undefined without "$tmp/with/event.o")"
	equal "C++: a new library lacks the rings of an old event" ktrace_ring_without_ktrace_port_h \
		"$(undefined with "$tmp/without/event.o")"
fi

# A kernel that uses several CPUs with the MMU off declares that exclusive accesses work.
arch=aarch64
if have gcc $arch; then
	mkdir "$tmp/exclusive-port"
	echo '#define ktrace_arch_mmu_on() 1' >"$tmp/exclusive-port/ktrace_port.h"
	asks() { aarch64-linux-gnu-objdump -d "$tmp/$1/"*.o | grep -c sctlr_el1; }
	check "$arch: the library compiles without ktrace_port.h" build gcc $arch asking
	equal "$arch: the library looks whether the MMU is on" yes "$([ "$(asks asking)" -gt 0 ] && echo yes)"
	check "$arch: ktrace_port.h may define ktrace_arch_mmu_on()" build gcc $arch exclusive "-I$tmp/exclusive-port"
	equal "$arch: the library then does not look" 0 "$(asks exclusive)"
fi
done_testing
