# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Bare-metal programs use UARTs in the state after a reset, and the safe probe for semihosting, in every CPU
# mode in which a kernel may start.
. test/tap.sh

# bare NAME KERNEL QEMU ARGUMENT…: runs the kernel once with semihosting and once without.
bare() {
	name=$1 kernel=$2
	shift 2
	rm -f "$tmp/file"
	timeout -k 2 $kill_limit "$@" -kernel "build/test/bare/$kernel.elf" -display none -monitor none -serial "file:$tmp/on" \
		-semihosting-config "enable=on,target=native,arg=ktrace-file=$tmp/file" </dev/null >"$tmp/qemu" 2>&1
	equal "$name: the program ends with status 0" 0 $?
	check "$name: the UART works without initialization" grep -q '^uart: works without initialization' "$tmp/on"
	check "$name: the probe finds semihosting" grep -q '^semihosting: found again' "$tmp/on"
	build/bin/ktrace show --form bare --frequency 1000000 --calls linux "$tmp/file" >"$tmp/shown" 2>"$tmp/err"
	same "$name: show prints the streamed records" "$tmp/expected" "$tmp/shown"

	timeout -k 2 $kill_limit "$@" -kernel "build/test/bare/$kernel.elf" -display none -monitor none -serial "file:$tmp/off" \
		</dev/null >"$tmp/qemu" 2>&1
	equal "$name, no semihosting: the program ends with status 0" 0 $?
	check "$name, no semihosting: the probe reports its absence" grep -q '^semihosting: absent' "$tmp/off"
}

cat >"$tmp/expected" <<'END'
[    0.000000] CPU0 PID=6    SYSCALL_ENTER    nr=59 (execve) a1=0x1000 a2=0x0
[    0.001000] CPU0 PID=6    CTX_SWITCH       from_pid=6 to_pid=7
[    0.002000] CPU1 PID=6    SYSCALL_EXIT     nr=59 (execve) result=-2
END

bare "aarch64 EL1" aarch64 qemu-system-aarch64 -M virt -cpu cortex-a57
bare "aarch64 EL2" aarch64 qemu-system-aarch64 -M virt,virtualization=on -cpu cortex-a57
bare "riscv64 machine mode" riscv64 qemu-system-riscv64 -M virt -bios none
bare "riscv64 supervisor mode" riscv64_sbi qemu-system-riscv64 -M virt -bios default

done_testing
