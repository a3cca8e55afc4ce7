# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# If a kernel selects one driver, the library compiles only this one, and needs no other symbol.
# kernel_build/matrix.sh tests the library with all drivers.
. test/tap.sh
. test/unit/kernel_build/common.sh

# sources DRIVERS: prints the sources of a library with these drivers.
sources() { make -s KTRACE_TRANSPORTS="$1" transport-sources-x86_64 | tr ' ' '\n' | sort; }

# objects SOURCE…: compiles each source that has no object yet. Prints the names of the objects of all
# sources.
objects() {
	for source; do
		object=$tmp/$(echo "$source" | tr / _).o
		[ -e "$object" ] || compile gcc x86_64 "$source" "$object" -O0 -fno-pie || return
		echo "$object"
	done
}

for driver in debugcon uart16550 virtio-mmio virtio-pci ivshmem; do
	sources $driver >"$tmp/sources"
	# shellcheck disable=SC2046
	check "$driver alone: the library compiles" objects $(cat "$tmp/sources")
	# shellcheck disable=SC2046
	check "$driver alone: the program links" gcc -nostdlib -static -no-pie -Wl,-e,kernel_main -Wl,--build-id=none \
		-o "$tmp/program" $(objects test/unit/kernel_build/sample.c $(cat "$tmp/sources"))
	equal "$driver alone: no symbol is undefined" "" "$(nm -u "$tmp/program" | head)"
done

# An architecture that ktrace does not support itself: the kernel supplies the clock, and kernel/arch/generic
# everything else.
mkdir "$tmp/port" "$tmp/generic"
cat >"$tmp/port/ktrace_port.h" <<'END'
unsigned long long clock_of_the_kernel(void);
#define ktrace_arch_clock ktrace_arch_clock
static inline __UINT64_TYPE__ ktrace_arch_clock(void)
{
	return clock_of_the_kernel();
}
END
generic() {
	for source in $(make -s transport-sources-unknown); do
		gcc -std=c11 -ffreestanding -fno-pie -fno-stack-protector -mgeneral-regs-only -O1 -Wall -Wextra -Werror -Iinclude -I"$tmp/port" \
			-Ikernel/arch/generic -c -o "$tmp/generic/$(echo "$source" | tr / _).o" "$source" || return
	done
	gcc -nostdlib -no-pie -r -o "$tmp/generic.o" "$tmp"/generic/*.o
}
check "a CPU without a directory: the library compiles" generic
equal "a CPU without a directory: only the clock is undefined" clock_of_the_kernel \
	"$(nm -u "$tmp/generic.o" | awk '{ print $2 }' | grep -vx -e memcpy -e memset -e memmove -e memcmp -e __start_ktrace_events -e __stop_ktrace_events -e __start_ktrace_settings -e __stop_ktrace_settings | paste -sd ' ')"

done_testing
