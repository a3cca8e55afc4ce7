# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace doctor on kernels whose linker script puts events or settings where they do not survive: start code
# clears all or some of them, or the booted image does not contain them. Also on kernels whose scripts are
# unusual but correct.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/minimal_support.sh

virt="qemu-system-riscv64 -M virt -bios none -smp 1 -nographic -kernel"

library=$PWD/build/test/minimal
check "the library is built" test -e "$library/ktrace.o"

# kernel NAME "OUTPUT SECTIONS": builds examples/minimal for one hart with these sections in place of .bss.
# Its start code clears the memory between bss_start and bss_end.
kernel() {
	cp -r examples/minimal "$tmp/$1"
	sed -i 's/#define HARTS 4/#define HARTS 1/
		s/"	la	sp, stacks\\n"/&\n"	la	t1, bss_start\\n	la	t2, bss_end\\n1:	sb	zero, 0(t1)\\n"\n"	addi	t1, t1, 1\\n	bltu	t1, t2, 1b\\n"/' \
		"$tmp/$1/kernel.c"
	sed -i '/\.bss :/d; /^}/d' "$tmp/$1/kernel.ld"
	printf '%s\n}\n' "$2" >>"$tmp/$1/kernel.ld"
	check "$1: it builds" minimal_kernel "$tmp/$1" "$library"
}

# doctor NAME [OPTION…]: runs ktrace doctor. Stores the report in $tmp/report and the exit status in
# $status.
doctor() {
	name=$1
	shift
	status=0
	timeout -k 5 $kill_limit "$ktrace" doctor --seconds $limit --out "$tmp/$name.ktrx" "$@" </dev/null >"$tmp/report" 2>"$tmp/err" || status=$?
}

# reported MARK ABOUT TEXT: checks that a line of the report has this mark, this subject and this
# text.
reported() {
	check "$name: the report has a line: $1 $2 $3" grep -qE "^$1 +$2 +.*$3" "$tmp/report"
}

bss='.bss : { *(.bss .bss.* .sbss .sbss.*) }'
events='ktrace_events : { KEEP(*(ktrace_events)) }'
settings='ktrace_settings : { KEEP(*(ktrace_settings)) }'

kernel sound "$events $settings bss_start = .; $bss bss_end = .; end = .;"
doctor sound -- $virt "$tmp/sound/build/kernel.elf"
equal "sound: doctor finds no mistake" 0 "$status"
reported ok ktrace_events 'as in the file'
reported ok ktrace_settings 'as in the file'

kernel cleared "bss_start = .; $events $settings $bss bss_end = .;"
doctor cleared -- $virt "$tmp/cleared/build/kernel.elf"
equal "cleared: doctor finds a mistake" 10 "$status"
reported wrong ktrace_events '([0-9]+) of \1 events .* lost in .* start code clears, from bss_start \(0x[0-9a-f]*\) to bss_end'
reported wrong ktrace_settings '([0-9]+) of \1 settings .* lost'
check "cleared: doctor prints the line that repairs it" \
	grep -qF 'the linker script: ktrace_events : { KEEP(*(ktrace_events)) } before bss_start' "$tmp/report"
"$ktrace" doctor --json "$tmp/cleared.ktrx" >"$tmp/json" 2>>"$tmp/err"
equal "cleared: doctor finds the mistake in the trace alone" 10 $?
check "cleared: doctor --json has the line that repairs it" grep -q '"line":"ktrace_settings : { KEEP.*"where":"the linker script"' "$tmp/json"

kernel settings "$events bss_start = .; $settings $bss bss_end = .;"
doctor settings -- $virt "$tmp/settings/build/kernel.elf"
equal "settings: lost settings are reported as wrong" 10 "$status"
reported ok ktrace_events 'as in the file'
reported wrong ktrace_settings '([0-9]+) of \1 settings .* lost'

# The start code clears only the descriptors of the last events. In practice, this happens if a loader or a
# linker script uses an address that is wrong by a page.
kernel partly "$events $settings bss_start = ADDR(ktrace_events) + 400; $bss bss_end = .;"
doctor partly -- $virt "$tmp/partly/build/kernel.elf"
equal "partly: doctor reports lost events if only some are lost" 10 "$status"
reported wrong ktrace_events '[1-9][0-9]* of [1-9][0-9]* events .* lost .* the first is [a-z]+\.[a-z]+'
check "partly: doctor does not report all events as lost" sh -c "! grep -qE '([0-9]+) of \1 events' '$tmp/report'"

# The booted image is a flat binary in which the section is missing.
kernel flat "$events bss_start = .; $bss bss_end = .; $settings"
riscv64-linux-gnu-objcopy -O binary -R ktrace_settings "$tmp/flat/build/kernel.elf" "$tmp/flat/build/kernel.bin"
doctor flat --elf "$tmp/flat/build/kernel.elf" -- $virt "$tmp/flat/build/kernel.bin"
equal "flat: doctor reports a section that was not loaded" 10 "$status"
reported ok ktrace_events 'as in the file'
reported wrong ktrace_settings 'lost in .* not loaded'

# Here doctor gets the file of another kernel.
doctor other --elf "$tmp/flat/build/kernel.elf" -- $virt "$tmp/partly/build/kernel.elf"
equal "other: the file of another kernel is reported as wrong" 10 "$status"

# This file is of a build with one more event, in which ktrace_root is at another address.
kernel shifted "$events $settings bss_start = .; $bss bss_end = .; end = .;"
sed -i 's/^	\.data/	. = . + 4096;\n&/' "$tmp/shifted/kernel.ld"
sed -i 's/^KTRACE_EVENT(example, hello/KTRACE_EVENT(example, begin, "%u", (uint32_t, n));\n&/; s/^	KTRACE(example, hello/	KTRACE(example, begin, hart);\n&/' "$tmp/shifted/kernel.c"
check "shifted: it builds with one more event" minimal_kernel "$tmp/shifted" "$library"
doctor shifted --elf "$tmp/shifted/build/kernel.elf" -- $virt "$tmp/sound/build/kernel.elf"
equal "shifted: the file of another build is reported as wrong" 10 "$status"
reported wrong symbols 'is NOT the kernel that was traced'
check "shifted: doctor does not report that events and settings are lost" \
	sh -c "! grep -E '^wrong +ktrace_(events|settings)' '$tmp/report'"

# Events and settings may be in another section if the linker script defines the symbols for their
# bounds.
kernel data '.rows : { . = ALIGN(16); __start_ktrace_events = .; KEEP(*(ktrace_events)) __stop_ktrace_events = .;
	. = ALIGN(16); __start_ktrace_settings = .; KEEP(*(ktrace_settings)) __stop_ktrace_settings = .; }'" bss_start = .; $bss bss_end = .;"
doctor data -- $virt "$tmp/data/build/kernel.elf"
equal "data: doctor finds no mistake" 0 "$status"
reported ok ktrace_events 'as in the file'
reported ok ktrace_settings 'as in the file'

# Start code clears the events, and the kernel never calls ktrace. There is no trace, so doctor finds the
# mistake in the kernel file alone.
kernel silent "bss_start = .; $events $settings $bss bss_end = .;"
sed -i 's/trace_check(ktrace_init(&config));/(void)config;/; s/trace_check(ktrace_cpu_online(hart));//' "$tmp/silent/kernel.c"
check "silent: it builds" minimal_kernel "$tmp/silent" "$library"
doctor silent -- $virt "$tmp/silent/build/kernel.elf"
equal "silent: doctor finds a mistake without a trace" 10 "$status"
reported wrong ktrace_events 'start code clears'

# Start code clears the library's own data. There is no trace, so doctor finds the mistake in the kernel file
# alone.
kernel root "$events $settings bss_start = .; .ours : { *(.data .data.* .sdata .sdata.*) } $bss bss_end = .;"
sed -i '/^	\.data/d' "$tmp/root/kernel.ld"
check "root: it builds without .data" minimal_kernel "$tmp/root" "$library"
doctor root -- $virt "$tmp/root/build/kernel.elf"
equal "root: doctor finds a mistake without a trace" 10 "$status"
reported wrong 'ktrace_root' 'is in memory that start code clears, from bss_start \(0x[0-9a-f]*\) to bss_end'
check "root: doctor prints the line that repairs it" grep -qF '.data : { *(.data .data.*) } before bss_start' "$tmp/report"

done_testing
