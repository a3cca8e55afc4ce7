# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A kernel ends QEMU itself, without ktrace_exit(). ktrace knows QEMU's status, whatever program started QEMU,
# and that program receives the status, too. Before version 8.2, QEMU sends no event about this end; later
# versions report status 0 as a guest that powers off.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/minimal_support.sh

# guest NAME WORD: builds a variant of the minimal kernel that ends by writing the 32-bit value WORD to
# QEMU's test device.
guest() {
	cp -r examples/minimal "$tmp/$1"
	sed "/ktrace_exit/d; s/0x5555;/$2;/" examples/minimal/kernel.c >"$tmp/$1/kernel.c"
	check "the kernel '$1' builds" minimal_kernel "$tmp/$1" "$PWD/build/test/minimal"
}

guest off 0x5555
guest failing 0x73333
qemu="qemu-system-riscv64 -M virt -bios none -smp 4 -display none -serial null -kernel"

# ended NAME STATUS: checks that run succeeded, and that its messages and the trace have the guest's status.
ended() {
	end="the guest ended QEMU with status $2"
	[ "$2" != 0 ] || grep -q "$end" "$tmp/err" || end='the guest powered off'
	equal "$1: status" 0 "$status"
	message_has "$end"
	check "$1: there is a trace" test -s "$out"
	check "$1: summary has the guest's status" sh -c "'$ktrace' summary '$out' | grep -qx 'ended     $end'"
	check "$1: summary --json has the guest's status" \
		sh -c "'$ktrace' summary --json '$out' | grep -q '\"ended\":\"$end\"'"
	rm -f "$out"
}

printf 'qemu:\n\t@%s %s\n' "$qemu" "$tmp/off/build/kernel.elf" >"$tmp/Makefile"
run -- make -f "$tmp/Makefile" qemu
ended "make" 0
run -- sh -c "$qemu $tmp/off/build/kernel.elf; true"
ended "sh" 0
run -- sh -c "exec $qemu $tmp/off/build/kernel.elf"
ended "sh with exec" 0
run -- sh -c "$qemu $tmp/off/build/kernel.elf &"
ended "sh that ends first" 0
run -- timeout $kill_limit $qemu "$tmp/off/build/kernel.elf"
ended "timeout" 0
run -- sh -c "$qemu $tmp/failing/build/kernel.elf; echo status \$?"
ended "a status" 7
check "a script receives the status of its QEMU" grep -qx "status 7" "$tmp/console"
run -- sh -c "cat | $qemu $tmp/off/build/kernel.elf | cat"
ended "a pipe" 0

# The script knows the pid of the process that ktrace started in place of QEMU, but not QEMU's own pid.
# Signals that the script sends to this process must reach QEMU.
line="$(demo x86_64 1) -append 'debug=ktrace run=forever' -name only-here-$$"
booted="until grep -q 'demo: 1 CPU' '$tmp/console'; do sleep 0.1; done"
run -- sh -c "$line & $booted; kill \$!; wait \$!; echo status \$?"
equal "kill by a script: status" 14 "$status"
message_has "QEMU was ended by a signal"
check "kill by a script: QEMU ends with status 0" grep -qx "status 0" "$tmp/console"
run -- sh -c "$line & $booted; kill -KILL \$!; wait \$!; echo status \$?"
message_has "signal 9"
check "kill -KILL by a script: the script receives status 137" grep -qx "status 137" "$tmp/console"
check "kill -KILL by a script: QEMU has ended" sh -c "! grep -l 'name.*only-[h]ere-$$' /proc/[0-9]*/cmdline 2>/dev/null"

done_testing
