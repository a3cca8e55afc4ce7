# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace extract` from a QEMU that runs: by QMP, with and without a file behind its RAM, and by gdb's protocol. The
# guest goes on afterwards: each trace has later events than the one before.
. test/tap.sh
. test/qemu/run_support.sh

elf() { echo "build/demo/$1/kernel.elf"; }

has_trace() { "$ktrace" extract --qmp "$tmp/qmp" -o "$out" 2>"$tmp/err"; }

# start ARCH [OPTION…]: boots the demo kernel; waits until it has a trace.
start() {
	arch=$1
	shift
	boot_open "$arch" "debug=ktrace run=forever" "$@"
	until_so has_trace
}

# Stamp of the last event, in seconds.
last() { "$ktrace" show "$1" 2>/dev/null | sed -n 's/^\[ *\([0-9.]*\)\].*/\1/p' | tail -n 1; }

# later FILE: its events go beyond those of the trace before.
before=0
later() {
	now=$(last "$1")
	awk -v now="${now:-0}" -v before="$before" 'BEGIN { exit !(now > before) }' && before=$now
}

extract() {
	what=$1
	shift
	rm -f "$out"
	check "$what: extracted" sh -c 'exec "$@" 2>"$0"' "$tmp/err" "$ktrace" extract -o "$out" --timeout 30 "$@"
	said "paused for"
	check "$what: the guest has gone on" later "$out"
	check "$what: registers of both CPUs" sh -c \
		"'$ktrace' show --registers '$out' | grep -cE '^cpu [01] .*pc=[0-9a-f]+' | grep -qx 2"
	check "$what: stacks of both CPUs" sh -c \
		"'$ktrace' show --registers '$out' | grep -cE '^stack [01]( [0-9a-f]+)+' | grep -qx 2"
	sleep 0.5
}

for arch in x86_64 aarch64 riscv64; do
	before=0
	start "$arch"
	extract "$arch, QMP, search" --qmp "$tmp/qmp"
	extract "$arch, QMP, symbol" --qmp "unix:$tmp/qmp" --elf "$(elf "$arch")"
	extract "$arch, gdb, symbol" --gdb "$tmp/gdb" --elf "$(elf "$arch")"
	check "$arch: registers by name" sh -c \
		"'$ktrace' show --registers --elf '$(elf "$arch")' '$out' | grep -qE 'pc=[0-9a-f]+ [a-z_]+'"
	check "$arch: callers by name and line" sh -c \
		"'$ktrace' show --registers --elf '$(elf "$arch")' '$out' | grep -qE '^    [0-9a-f]+ (first_frame|kmain).*[.]c:'"
	extract "$arch, QMP, at last" --qmp "$tmp/qmp" --elf "$(elf "$arch")"
	shut_down

	before=0
	# shellcheck disable=SC2046
	start "$arch" $("$ktrace" qemu-args "$arch" --ram "$tmp/ram")
	extract "$arch, QMP, RAM file" --qmp "$tmp/qmp"
	shut_down
	rm -f "$tmp/ram"
done

# Under KVM, where it can be used; some machines emulate a guest's kernel so slowly that it does not come up in time.
if [ -w /dev/kvm ]; then
	before=0
	rm -f "$out"
	tries=20
	start x86_64 -accel kvm -smp 1
	tries=60
	if [ -s "$out" ]; then
		"$ktrace" extract -o "$out" --timeout 30 --qmp "$tmp/qmp" --elf "$(elf x86_64)" 2>"$tmp/err"
		said "paused for"
		check "KVM: registers" sh -c "'$ktrace' show --registers '$out' | grep -qE '^cpu 0 .*pc=[0-9a-f]+'"
	else
		skip "x86_64, QMP under KVM" "too slow: no trace after 10 s"
	fi
	shut_down
	rm -f "$out"
else
	skip "x86_64, QMP under KVM" "/dev/kvm cannot be used"
fi

# What cannot be done is said, and the guest goes on.
before=0
start x86_64 -m 1024M
refused() {
	what=$1
	shift
	status=0
	timeout 60 "$ktrace" extract -o "$tmp/no.ktrx" "$@" 2>"$tmp/err" || status=$?
	equal "$what: exit status" 1 "$status"
	check "$what: no trace" test ! -e "$tmp/no.ktrx"
}
refused "kernel of another machine" --qmp "$tmp/qmp" --elf "$(elf riscv64)"
said "another architecture"
refused "gdb, kernel of another machine" --gdb "$tmp/gdb" --elf "$(elf riscv64)"
said "another build"
refused "gdb without a place" --gdb "$tmp/gdb"
said "--range START:SIZE"
refused "gdb's socket taken for QMP" --qmp "$tmp/gdb" --timeout 1
said "not a QMP socket"
refused "QMP taken for gdb's" --gdb "$tmp/qmp" --timeout 1
said "no answer in gdb's remote protocol"
refused "nobody there" --qmp "$tmp/nobody"
said "No such file"
refused "an earlier boot where there is none" --qmp "$tmp/qmp" --previous
said "no boot 1"
# To search so much by gdb's protocol takes far longer than this.
"$ktrace" extract -o "$tmp/no.ktrx" --gdb "$tmp/gdb" --range 0:0x40000000 2>"$tmp/err" &
reader=$!
sleep 2
kill -TERM "$reader"
status=0
wait "$reader" || status=$?
equal "interrupted: exit status" 143 "$status"
check "interrupted: no trace" test ! -e "$tmp/no.ktrx"
extract "after all that" --gdb "$tmp/gdb" --elf "$(elf x86_64)"
shut_down

done_testing
