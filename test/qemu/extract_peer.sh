# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests `ktrace extract` on a running QEMU: over QMP, with and without a file for its RAM, and over gdb's
# remote protocol. The guest continues afterwards: each trace has later events than the previous one.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/kvm_support.sh

elf() { echo "build/demo/$1/kernel.elf"; }

has_trace() { "$ktrace" extract --qmp "$tmp/qmp" -o "$out" 2>"$tmp/err"; }

# start ARCH [OPTION…]: boots the demo kernel and waits until it has a trace.
start() {
	arch=$1
	shift
	boot_open "$arch" "debug=ktrace run=sh" "$@"
	await has_trace
}

# last FILE: prints the timestamp of the file's last event, in seconds.
last() { "$ktrace" show "$1" 2>/dev/null | sed -n 's/^\[ *\([0-9.]*\)\].*/\1/p' | tail -n 1; }

# has_gone_on OPTION…: extracts a trace, and succeeds if it has events later than $before.
has_gone_on() {
	"$ktrace" extract -o "$tmp/later" --timeout $limit "$@" || return
	now=$(last "$tmp/later")
	awk -v now="${now:-0}" -v before="${before:-0}" 'BEGIN { exit !(now > before) }'
}

# has_stacks OPTION…: succeeds if the trace in $out has callers of both CPUs; otherwise takes another trace
# and fails. A CPU in the first instructions of a trap or of a program has no callers.
has_stacks() {
	"$ktrace" show --registers "$out" 2>"$tmp/err" | grep -cE '^stack [01]( [0-9a-f]+)+' | grep -qx 2 && return
	"$ktrace" extract -o "$out" --timeout $limit "$@" 2>"$tmp/err"
	return 1
}

# names_callers KERNEL OPTION…: succeeds if the trace in $out has a caller that is the first function of a thread or of
# the kernel, with its line; otherwise takes another trace and fails. A CPU that runs a program has no such caller.
names_callers() {
	"$ktrace" show --registers --elf "$1" "$out" 2>"$tmp/err" | grep -qE '^    [0-9a-f]+ (first_frame|kmain).*[.]c:' && return
	shift
	"$ktrace" extract -o "$out" --timeout $limit "$@" 2>"$tmp/err"
	return 1
}

# extract NAME OPTION…: extracts a trace into $out; checks its registers and stacks, and that the guest
# continues.
extract() {
	what=$1
	shift
	rm -f "$out"
	check "$what: extract succeeds" sh -c 'exec "$@" 2>"$0"' "$tmp/err" "$ktrace" extract -o "$out" --timeout $limit "$@"
	message_has "paused for"
	check "$what: the trace has registers of both CPUs" sh -c \
		"'$ktrace' show --registers '$out' | grep -cE '^cpu [01] .*pc=[0-9a-f]+' | grep -qx 2"
	check "$what: the trace has stacks of both CPUs" eventually has_stacks "$@"
	before=$(last "$out")
	check "$what: the guest continues" eventually has_gone_on "$@"
}

for arch in x86_64 aarch64 riscv64; do
	start "$arch"
	extract "$arch, QMP, search" --qmp "$tmp/qmp"
	extract "$arch, QMP, symbol" --qmp "unix:$tmp/qmp" --elf "$(elf "$arch")"
	extract "$arch, gdb, symbol" --gdb "$tmp/gdb" --elf "$(elf "$arch")"
	check "$arch: show --registers names the function of a program counter" sh -c \
		"'$ktrace' show --registers --elf '$(elf "$arch")' '$out' | grep -qE 'pc=[0-9a-f]+ [a-z_]+'"
	check "$arch: show --registers names functions and lines of callers" eventually names_callers "$(elf "$arch")" \
		--gdb "$tmp/gdb" --elf "$(elf "$arch")"
	extract "$arch, QMP, at last" --qmp "$tmp/qmp" --elf "$(elf "$arch")"
	shut_down

	# shellcheck disable=SC2046
	start "$arch" $("$ktrace" qemu-args "$arch" --ram "$tmp/ram")
	extract "$arch, QMP, RAM file" --qmp "$tmp/qmp"
	shut_down
	rm -f "$tmp/ram"
done

# Extracts from a guest under KVM, if this machine has KVM.
name="x86_64, QMP under KVM: the trace has registers"
if [ -w /dev/kvm ]; then
	rm -f "$out"
	: >"$tmp/qemu"
	runner=limited
	boot_open x86_64 "debug=ktrace run=sh" -accel kvm -smp 1
	runner=
	until has_trace || kvm_refuses "$tmp/qemu" || ! is_running "$qemu"; do sleep 0.1; done
	if kvm_refuses "$tmp/qemu"; then
		skip "$name" "$(kvm_reason "$tmp/qemu")"
	else
		"$ktrace" extract -o "$out" --timeout $limit --qmp "$tmp/qmp" --elf "$(elf x86_64)" 2>"$tmp/err"
		check "$name" sh -c "'$ktrace' show --registers '$out' | grep -qE '^cpu 0 .*pc=[0-9a-f]+'"
	fi
	shut_down
	rm -f "$out"
else
	skip "$name" "/dev/kvm cannot be used"
fi

# If extract cannot do what was requested, it reports this, and the guest continues.
start x86_64 -m 1024M
# refused STATUS NAME OPTION…: checks that extract fails with this exit status, and creates no file.
refused() {
	expected=$1 what=$2
	shift 2
	status=0
	timeout $kill_limit "$ktrace" extract -o "$tmp/no.ktrx" "$@" 2>"$tmp/err" || status=$?
	equal "$what: exit status" "$expected" "$status"
	check "$what: no trace is written" test ! -e "$tmp/no.ktrx"
}
refused 1 "kernel of another machine" --timeout $limit --qmp "$tmp/qmp" --elf "$(elf riscv64)"
message_has "another architecture"
refused 1 "gdb, kernel of another machine" --timeout $limit --gdb "$tmp/gdb" --elf "$(elf riscv64)"
message_has "another build"
refused 2 "gdb without a place" --gdb "$tmp/gdb"
message_has "--range START:SIZE"
refused 1 "gdb's socket taken for QMP" --qmp "$tmp/gdb" --timeout 1
message_has "not a QMP socket"
refused 1 "QMP taken for gdb's" --gdb "$tmp/qmp" --timeout 1
message_has "no answer in gdb's remote protocol"
refused 1 "a socket that does not exist" --qmp "$tmp/missing"
message_has "No such file"
refused 1 "an earlier boot that does not exist" --timeout $limit --qmp "$tmp/qmp" --previous
message_has "boot 1 not found"
# Searching this much memory over gdb's protocol takes far longer than the test waits.
"$ktrace" extract -o "$tmp/no.ktrx" --timeout $limit --gdb "$tmp/gdb" --range 0:0x40000000 2>"$tmp/err" &
reader=$!
await sh -c 'ls -l "/proc/$0/fd" | grep -q socket:' "$reader"
kill -TERM "$reader"
status=0
wait "$reader" || status=$?
equal "interrupted: exit status" 143 "$status"
check "interrupted: no trace is written" test ! -e "$tmp/no.ktrx"
extract "after all that" --gdb "$tmp/gdb" --elf "$(elf x86_64)"
shut_down

done_testing
