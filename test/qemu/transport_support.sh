# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions for the transport_*.sh tests: they boot the demo kernel with a device for one transport and check
# the trace.

trace=$tmp/trace
console=$tmp/console
ktrace=build/bin/ktrace

# machine ARCH TRANSPORT: prints QEMU and the arguments for the architecture's machine, without devices.
machine() {
	case $1,$2 in
	x86_64,virtio | x86_64,ivshmem) echo "qemu-system-x86_64 $usual_firmware -device isa-debug-exit,iobase=0xf4" ;;
	x86_64,*) echo "qemu-system-x86_64 $PC_OPTIONS -device isa-debug-exit,iobase=0xf4" ;;
	aarch64,*) echo qemu-system-aarch64 -M virt -cpu cortex-a57 ;;
	riscv64,*) echo qemu-system-riscv64 -M virt -bios none ;;
	esac
}

# device ARCH TRANSPORT: prints QEMU's arguments for the transport's device, which writes to $trace.
device() {
	case $1,$2 in
	*,debugcon) echo "-chardev file,id=k,path=$trace -device isa-debugcon,chardev=k,iobase=0xe9" ;;
	*,semihosting) echo "-semihosting-config enable=on,target=native,arg=ktrace-file=$trace" ;;
	x86_64,virtio) echo "-chardev file,id=k,path=$trace -device virtio-serial-pci -device virtconsole,chardev=k" ;;
	*,virtio) echo "-chardev file,id=k,path=$trace -device virtio-serial-device -device virtconsole,chardev=k" ;;
	*,ivshmem) echo "-object memory-backend-file,id=s,size=4M,mem-path=$trace,share=on -device ivshmem-plain,memdev=s" ;;
	x86_64,uart) echo "-serial file:$trace" ;; # the second one: the first is the console
	esac
}

# boot ARCH TRANSPORT "BOOT ARGUMENTS" [QEMU ARGUMENT…]: runs a guest; stores the exit status in $status, the
# console in $console. If $runner is set, this command runs QEMU.
boot() {
	boot_arch=$1 boot_transport=$2 boot_append="debug=ktrace slots=1024 $3"
	shift 3
	[ "$boot_transport" = none ] || boot_append="$boot_append transport=$boot_transport file="
	rm -f "$trace"
	boot_console="-serial file:$console"
	# Boards with one UART share it between console and trace.
	[ "$boot_arch,$boot_transport" = aarch64,uart ] && boot_console="-serial file:$trace"
	[ "$boot_arch,$boot_transport" = riscv64,uart ] && boot_console="-serial file:$trace"
	# shellcheck disable=SC2046,SC2086
	${runner:-timeout -k 5 $kill_limit} $(machine "$boot_arch" "$boot_transport") $boot_console \
		$(device "$boot_arch" "$boot_transport") \
		-kernel "build/demo/$boot_arch/kernel.elf" -display none -monitor none -no-reboot -smp 2 \
		"$@" -append "$boot_append" </dev/null >"$tmp/qemu" 2>&1
	status=$?
}

# summary PATTERN: succeeds if a line of the trace's summary matches PATTERN.
summary() {
	$ktrace summary "$trace" 2>"$tmp/warnings" | grep -q -e "$1"
}

# exit_status ARCH TRANSPORT STATUS: prints the exit status of QEMU if the kernel ends with STATUS. On aarch64
# a kernel can pass its status on only by semihosting.
exit_status() {
	case $1,$2 in
	x86_64,*) echo $((($3 << 1 | 1) & 255)) ;;
	aarch64,semihosting | riscv64,*) echo "$3" ;;
	*) echo 0 ;;
	esac
}

# dumps_at_the_end ARCH TRANSPORT: checks a dump at exit and a dump at panic.
dumps_at_the_end() {
	boot "$1" "$2" "run=pingpong,dump exit=7"
	equal "$1 $2: the kernel ends with the status of its boot argument" "$(exit_status "$1" "$2" 7)" "$status"
	check "$1 $2: the dump at exit has the kernel's exit status" summary '^guest *exited with status 7$'
	check "$1 $2: the dump at exit has events" summary '^sched.switch '
	check "$1 $2: the file has the dump on request and the dump at exit" summary '^dumps *2 in the file'

	boot "$1" "$2" "run=pingpong,panic"
	equal "$1 $2: the kernel panics" "$(exit_status "$1" "$2" 101)" "$status"
	check "$1 $2: the dump at panic reports the panic" summary '^guest *panicked$'
	check "$1 $2: the dump at panic lacks at most the record that the stopped CPU was writing" \
		summary '^loss .* [0-9] unreadable\|^loss *none'
	check "$1 $2: the dump at panic has the event of the panic" summary '^ktrace.panic '
}

# dumps_of_version_1 ARCH TRANSPORT: checks three dumps as KTRX version 1: when the transport is enabled, on
# request, and at exit.
dumps_of_version_1() {
	boot "$1" "$2" "dump=v1 dump=start run=pingpong,dump"
	check "$1 $2: the dumps are KTRX version 1" summary 'KTRX version 1$'
	check "$1 $2: the file has three dumps: at the start, on request and at exit" summary '^dumps *3 in the file'
	check "$1 $2: the dumps of version 1 have events with well-known ids" summary '^CTX_SWITCH '
	check "$1 $2: ktrace-decode reads dumps of version 1" build/bin/ktrace-decode --summary "$trace"
}

# without_the_device ARCH TRANSPORT: checks a kernel with a transport whose device is absent.
without_the_device() {
	boot "$1" none "transport=$2 run=ipi exit=3"
	check "$1 without $2: enabling the transport returns an error" \
		grep -q "^transport=$2: error -1" "$console"
	equal "$1 without $2: the kernel continues" "$(exit_status "$1" none 3)" "$status"
}

# the_console_as_fallback ARCH: checks a dump by semihosting if the host cannot open the file for the guest.
the_console_as_fallback() {
	boot "$1" none "transport=semihosting file=/nowhere/to/be/found run=ipi" -chardev "file,id=k,path=$trace" \
		-semihosting-config enable=on,target=native,chardev=k
	check "$1 semihosting without a file: the dump arrives on the semihosting console" summary '^guest *exited with status 0$'
}

# a_full_disk ARCH: checks that the kernel gives up the dump and continues if the host cannot write.
a_full_disk() {
	boot "$1" none "transport=semihosting file=/dev/full run=dump,ipi exit=3" \
		-semihosting-config enable=on,target=native
	equal "$1 semihosting to a full disk: the kernel continues" 3 "$status"
}

# one_uart_for_both ARCH: checks that console and trace can share a UART: the dump does not change the UART's
# state.
one_uart_for_both() {
	boot "$1" uart "dump=start run=ipi"
	check "$1 uart: a dump before text of the console is complete" summary '^dumps *2 in the file'
	check "$1 uart: text of the console after a dump is complete" grep -aq '^ipi: [0-9]* calls' "$trace"
}

# killed_after_dump COMMAND…: runs QEMU, and kills it when a dump has arrived.
killed_after_dump() {
	"$@" &
	await summary '^sched.switch '
	kill -KILL $!
	wait $!
}

# a_machine_that_is_killed ARCH: checks that memory shared with the host keeps the dump of a machine that
# hangs and is killed.
a_machine_that_is_killed() {
	runner=killed_after_dump
	boot "$1" ivshmem "run=pingpong,dump,hang"
	runner=
	equal "$1 ivshmem: the machine hung until it was killed" 137 "$status"
	check "$1 ivshmem: the last dump before the hang is complete" summary '^sched.switch '
}

# a_machine_that_resets ARCH: checks that memory shared with the host keeps the dump of a machine that resets
# itself.
a_machine_that_resets() {
	boot "$1" ivshmem "run=pingpong,dump,triple"
	equal "$1 ivshmem: the machine reset" 0 "$status"
	check "$1 ivshmem: the last dump before the reset is complete" summary '^sched.switch '
}
