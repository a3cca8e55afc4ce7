# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Functions for tests that run a guest under KVM. Some machines emulate a guest's kernel a thousand times slower
# than usual, and on a busy machine a guest gets little CPU time. So the limit of a guest is CPU time.
#
# A test is skipped only if QEMU reports that it cannot use KVM, or that KVM cannot run an instruction of the
# guest. After such a report QEMU would pause the guest for ever.

kvm_seconds=90 # limit of QEMU, in seconds of CPU time
kvm_errors='KVM internal error.*|KVM: entry failed.*|error: kvm run failed.*|[Cc]ould not access KVM.*|failed to initialize kvm.*'

# kvm_refuses FILE: succeeds if a message of QEMU in the file reports that KVM cannot run the guest.
kvm_refuses() { grep -qE "$kvm_errors" "$1"; }

# kvm_reason FILE: prints the part of the first of these messages that gives the reason.
kvm_reason() { grep -oE "$kvm_errors" "$1" | head -n 1; }

# limited COMMAND…: runs the command in place of the calling shell, with a limit of $kvm_seconds
# seconds of CPU time.
limited() {
	ulimit -S -t "$kvm_seconds"
	exec "$@"
}

# is_running PID: succeeds if the process exists and has not ended.
is_running() { [ -e "/proc/$1/exe" ]; }

# under_kvm MESSAGES COMMAND…: runs QEMU, or a command that runs QEMU, until it ends or KVM refuses to run the
# guest. The messages are in the file MESSAGES. Returns the exit status: 152 after $kvm_seconds seconds of CPU time.
under_kvm() {
	kvm_messages=$1
	shift
	: >"$kvm_messages"
	limited "$@" </dev/null >"$tmp/kvm-console" 2>"$kvm_messages" &
	kvm_pid=$!
	while is_running "$kvm_pid" && ! kvm_refuses "$kvm_messages"; do sleep 0.1; done
	kill "$kvm_pid" 2>/dev/null
	wait "$kvm_pid"
}
