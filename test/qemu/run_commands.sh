# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace run finds the QEMU that make, a script or another program starts, and keeps the options that the user
# gave.
. test/tap.sh
. test/qemu/run_support.sh
. test/qemu/kvm_support.sh

line="$(demo x86_64 2) -append debug=ktrace"
real=$(command -v qemu-system-x86_64)

# traced NAME: checks that the run succeeded and wrote a trace file; removes this file.
traced() {
	equal "$1: status" 0 "$status"
	check "$1: there is a trace" test -s "$out"
	rm -f "$out"
}

printf 'qemu:\n\t@qemu-system-x86_64 -version >/dev/null\n\t@%s seconds=0\n' "$line" | sed 's/debug=ktrace/"&/; s/=0$/&"/' >"$tmp/Makefile"
run -- make -f "$tmp/Makefile" qemu
message_has "the guest runs, its RAM is $out."
traced "make qemu"

printf '#!/bin/sh\ncd "%s" && %s "$@"\n' "$PWD" "$line" >"$tmp/boot"
chmod +x "$tmp/boot"
run -- "$tmp/boot"
traced "a script"

run -- timeout $limit "$real" ${line#qemu-system-x86_64}
traced "a path among other words"

run -- "$real" ${line#qemu-system-x86_64}
traced "a path"

run -- sh -c "$line; $line -m 64"
traced "two QEMUs"
message_has "1 more QEMU ran untraced"

run --events sched -- ${line% -append*} -append "seconds=0"
traced "--events"
run --events sched -- ${line% -append*} -append "seconds=0"
check "--events reaches the kernel" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
check "--events leaves the others off" sh -c "! '$ktrace' show '$out' | grep -q irq.enter"

cp build/demo/x86_64/kernel.elf "$tmp/named.elf"
run --elf "$tmp/named.elf" -- $line
check "the trace names the kernel's file that --elf gives" grep -aqx "kernel: $tmp/named.elf" "$out"

size=$((64 << 20))
run -- $line -m 64 -object memory-backend-file,id=mine,size=$size,mem-path="$tmp/mine",share=on -machine memory-backend=mine
traced "a memory backend of the user's"
check "the RAM file of the user's memory backend is not removed" test -s "$tmp/mine"

run --ram-dir "$tmp/nowhere" -- $line
equal "--ram-dir must exist" 1 "$status"
mkdir "$tmp/ram"
run --keep-ram --ram-dir "$tmp/ram" -- $line
traced "--keep-ram"
check "--keep-ram keeps the RAM file" ls "$tmp"/ram/out.ktrx.*.ram
equal "--keep-ram: the RAM file has mode 600" 600 "$(stat -c %a "$tmp"/ram/*.ram)"
check "--keep-ram: the RAM file is sparse" test "$(stat -c %b "$tmp"/ram/*.ram)" -lt $((128 * 2048))
"$ktrace" extract -o "$tmp/again.ktrx" "$tmp"/ram/*.ram 2>"$tmp/err" || :
check "--keep-ram: extract reads the RAM file" sh -c "'$ktrace' show '$tmp/again.ktrx' | grep -q sched.switch"

run -q -- $line
traced "--quiet"
check "--quiet prints no message about the RAM file" sh -c "! grep -q 'its RAM is' '$tmp/err'"
run -q -- $no_ktrace
message_has "no ktrace in the guest: it is not linked in, or has recorded no event; no trace was written"

run -- $line -m 5G
traced "RAM above the PCI hole"

name="KVM: the run succeeds and leaves a trace"
if [ -w /dev/kvm ]; then
	status=0
	# shellcheck disable=SC2086
	under_kvm "$tmp/err" "$ktrace" run -o "$out" -- ${line% -append*} -enable-kvm -smp 1 -append "debug=ktrace slots=512 seconds=0" || status=$?
	if kvm_refuses "$tmp/err"; then
		skip "$name" "$(kvm_reason "$tmp/err")"
	else
		check "$name: status $status" sh -c '[ "$1" -eq 0 ] && [ -s "$2" ]' sh "$status" "$out"
	fi
else
	skip "$name" "/dev/kvm cannot be used"
fi
done_testing
