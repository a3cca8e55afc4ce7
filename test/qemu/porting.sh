# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Single lines of code of doc/porting.md add what the page promises, in a kernel without anything else:
# settings, the mailbox, clocks, callers, the console. The kernel is compiled at several levels of
# optimization because they change stack frames. It has no drivers of transports, which it does not use.
. test/tap.sh

# sets_level: changes the setting debug.level by `ktrace control`. Its value is 2 before that, set by the
# kernel's command line. Stores the output in $tmp/changed.
sets_level() { build/bin/ktrace control --timeout $limit "$ram" debug.level=0 >"$tmp/changed"; }

# is_measured: succeeds if each CPU has handled enough ticks to measure its clock. The guest runs until the
# host changes debug.level.
is_measured() { build/bin/ktrace summary "$ram" 2>/dev/null | grep -q '^clocks *of [0-9]* CPUs corrected'; }

for level in -O0 -O1 -O2 -Os; do
	mkdir -p "$tmp/port$level"
	cp examples/minimal/Makefile examples/minimal/kernel.ld examples/minimal/ktrace_port.h test/qemu/porting/kernel.c \
		"$tmp/port$level"
	check "$level: the kernel builds" make -s -C "$tmp/port$level" KTRACE="$PWD" KTRACE_TRANSPORTS= \
		CC="riscv64-linux-gnu-gcc -Wall -Wextra -Werror -fno-omit-frame-pointer -DKTRACE_FRAME_POINTERS=1" \
		CFLAGS="$level -ffreestanding -fno-pic -mcmodel=medany -march=rv64imac_zicsr_zifencei -mabi=lp64 -I. \
			-I$PWD/include -I$PWD/kernel/arch/riscv64"
	elf=$tmp/port$level/build/kernel.elf
	: >"$tmp/err"
	rm -rf "$tmp/ram" && mkdir "$tmp/ram"
	timeout -k 5 $kill_limit build/bin/ktrace run --timeout $limit --keep-ram --ram-dir "$tmp/ram" --out "$tmp/trace" -- \
		qemu-system-riscv64 -M virt -bios none -smp 2 -display none -serial "file:$tmp/console" -kernel "$elf" \
		>/dev/null 2>"$tmp/err" </dev/null &
	guest=$!
	await grep -q 'the guest runs, its RAM is' "$tmp/err"
	ram=$(sed -n 's/.*the guest runs, its RAM is \(.*\)$/\1/p' "$tmp/err")
	await is_measured
	await sets_level
	equal "$level: the host changes a setting that the command line has set" 'debug.level: 2 -> 0' "$(cat "$tmp/changed")"
	wait $guest
	equal "$level: the kernel ends with status 0" 0 $?

	# Finds the names of the kernel's functions for the addresses on the console.
	riscv64-linux-gnu-nm -n "$elf" | awk '$3 ~ /^(port_|_start)/ { print $1, $3 }' >"$tmp/names"
	sed -n 's/^#[0-9]* 0x/0000000000000000/p' "$tmp/console" | tr -d '\r' | sed 's/.*\(.\{16\}\)$/\1/' |
		while read -r address; do
			awk -v address="$address" '$1 < address { name = $2 } END { print name }' "$tmp/names"
		done >"$tmp/callers"
	equal "$level: the backtrace on the console has the callers" 'port_run port_main _start' "$(xargs <"$tmp/callers")"
	equal "$level: the console shows the records" 50 "$(grep -c '^cpu0 [0-9]*: port_step' "$tmp/console")"
	build/bin/ktrace show --json --event port.step "$tmp/trace" 2>/dev/null | grep port.step >"$tmp/shown"
	equal "$level: the host shows the records with two callers and the site" 50 \
		"$(grep -c '"callers":\[{[^]]*},{[^]]*}\],"site":{' "$tmp/shown")"
	build/bin/ktrace summary "$tmp/trace" >"$tmp/summary" 2>/dev/null
	check "$level: clocks are measured" grep -q '^clocks *of [0-9]* CPUs corrected' "$tmp/summary"
	check "$level: the cost of an event is measured" grep -q '^cost ' "$tmp/summary"
done
done_testing
