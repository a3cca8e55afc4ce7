# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace why --qmp` for guests without ktrace: a CPU that spins with interrupts disabled, one that is halted for
# ever, one that runs, one that is idle, and guests that QEMU has paused. How long it takes does not matter: why
# waits until each CPU that is not idle has run for a second.
. test/tap.sh
export TMPDIR="$tmp" # a killed run leaves its files here

# boot PROGRAM ARCH [OPTION…]: starts a guest in the background.
boot() {
	name="$1 on $2" program=build/test/bare/$1_$2.elf
	case $2 in
	x86_64) machine= ;;
	aarch64) machine="-M virt -cpu cortex-a57" ;;
	riscv64) machine="-M virt -bios none" ;;
	esac
	arch=$2
	shift 2
	rm -f "$tmp/qmp"
	# shellcheck disable=SC2086
	timeout -k 5 $kill_limit qemu-system-$arch $machine -m 64M -display none -monitor none -serial null -kernel "$program" \
		-qmp "unix:$tmp/qmp,server=on,wait=off" "$@" >"$tmp/qemu" 2>&1 &
	qemu=$!
	await test -S "$tmp/qmp"
}

shut_down() {
	kill $qemu
	wait $qemu 2>/dev/null
}

# why STATUS [OPTION…]: checks the exit status; stores the output in $tmp/report.
why() {
	expected=$1
	shift
	build/bin/ktrace why --qmp "$tmp/qmp" "$@" >"$tmp/report" 2>"$tmp/err"
	equal "$name: the exit status is $expected" "$expected" $?
}

has() { check "$name: the report has $1" grep -qE -- "$1" "$tmp/report"; }
lacks() { check "$name: the report lacks $1" sh -c '! grep -qE -- "$1" "$2"' sh "$1" "$tmp/report"; }

# is_in FUNCTION: succeeds if the guest is executing this function.
is_in() { build/bin/ktrace profile --qmp "$tmp/qmp" --samples 1 2>/dev/null | grep -qw "$1"; }

is_dead() { build/bin/ktrace why --qmp "$tmp/qmp" 2>/dev/null | grep -q '^halted'; }

for arch in x86_64 aarch64; do
	boot stuck $arch
	await is_in lock_acquire
	why 10
	has '^kernel-spin \(likely\): 1 CPU spins with interrupts disabled'
	has 'CPU 0: spins in [0-9]+ bytes from lock_acquire[a-z0-9.]*\+0x[0-9a-f]+ to lock_acquire.*interrupts disabled'
	has 'called from bare_main\+0x'
	why 10 --json
	has '^\{"schema":"ktrace-why/1","strings":"untrusted","version":1,"verdict":"kernel-spin",'
	has '"interrupts":"never"'
	shut_down
done

# On RISC-V, QEMU does not report the mode, so it is unknown whether interrupts are enabled.
boot stuck riscv64
await is_in lock_acquire
why 11
has '^unknown: '
has 'CPU 0: spins in [0-9]+ bytes from lock_acquire'
shut_down

boot halts x86_64
await is_dead
why 10
has '^halted \(certain\): no CPU can continue'
has 'CPU 0: halted with interrupts disabled, at long\+0x'
shut_down

boot shares x86_64
await is_in spin
why 11
has '^unknown: the kernel has no ktrace'
has 'CPU 0: (spins in [0-9]+ bytes .* its registers change|runs, last at )'
check "$name: the guest runs afterwards" is_in spin
shut_down

boot naps riscv64
await is_in bare_main
why 11 --json
has '"verdict":"unknown"'
check "$name: no wait until an idle CPU has run for a second" sh -c "grep -oE '\"samples\":[0-9]+' '$tmp/report' | grep -qE ':[0-9]{2}\$'"
shut_down

boot stuck x86_64 -S
why 11
has "^unknown: the guest does not run: QEMU's state is prelaunch"
lacks spins
shut_down
done_testing
