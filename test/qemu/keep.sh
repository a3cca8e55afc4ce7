# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# A guest resets itself, and its second boot runs. The trace of the first boot, up to the last event before
# the reset, is read from the persistent memory of the kernel: from the RAM file, over QMP and over gdb's
# protocol.
. test/tap.sh
PC_OPTIONS=$usual_firmware # the usual firmware must not overwrite the memory that is kept
. test/qemu/run_support.sh

# rebooting ARCH: prints the command line of a QEMU that does not end at a reset.
rebooting() { demo "$1" 2 | sed 's/-no-reboot//'; }

previous=$tmp/previous.ktrx

# counted FILE: prints the numbers from the events that count down to the reset.
counted() { "$ktrace" show --event boot.countdown "$1" 2>/dev/null | sed -n 's/.*boot.countdown *\([0-9]*\) to the reset$/\1/p'; }

# first_boot NAME: checks that the file $previous is the trace of the first boot, which ended with a
# reset.
first_boot() {
	counted "$previous" >"$tmp/counted"
	seq 999 -1 0 >"$tmp/expected"
	same "$1: the trace of the previous boot has every event up to the reset" "$tmp/expected" "$tmp/counted"
	check "$1: no slot of the previous boot is overwritten" grep -q '"overwritten":0,' "$tmp/json"
	check "$1: the trace of the previous boot begins with its first event" sh -c "'$ktrace' show '$previous' 2>/dev/null | head -n 1 | grep -q 'boot.phase *entry'"
	check "$1: summary reports that the trace is of a boot before a reset" sh -c "'$ktrace' summary '$previous' | grep -q 'reset'"
}

# extract_previous NAME OPTION…: extracts the trace of the previous boot and checks it.
extract_previous() {
	what=$1
	shift
	rm -f "$previous"
	check "$what: extract --previous" sh -c 'exec "$@" >"$0"' "$tmp/json" "$ktrace" extract --previous --json -o "$previous" "$@"
	first_boot "$what"
}

for arch in x86_64 aarch64 riscv64; do
	# shellcheck disable=SC2046
	run --allow-reboot --keep-ram -- $(rebooting "$arch") -append "keep=1 debug=ktrace run=reset,ipi"
	equal "$arch: the second boot ends well" 0 "$status"
	ram=$(ls "$tmp"/*.ram)
	check "$arch: the second boot has a trace" sh -c "'$ktrace' show '$out' 2>/dev/null | grep -q ipi"
	equal "$arch: the trace of the second boot has no event of the first" "" "$(counted "$out")"
	extract_previous "$arch" "$ram"
	status=0
	"$ktrace" why "$previous" >"$tmp/why" 2>&1 || status=$?
	case $arch in x86_64) equal "$arch: why reports the triple fault of the first boot" "10 triple-fault" "$status $(sed -n '1s/ .*//p' "$tmp/why")" ;; esac
	check "$arch: extract succeeds" "$ktrace" extract -o "$out" "$ram"
	equal "$arch: extract without --previous gives the second boot" "" "$(counted "$out")"
	status=0
	"$ktrace" extract --boot 2 -o "$out" "$ram" 2>"$tmp/err" || status=$?
	equal "$arch: extract --boot 2 fails if there are two boots" 15 "$status"
	message_has "boot 2 not found: there are 2"
	rm -f "$ram"
done

run -- $(demo x86_64 1) -append "keep=4294967295 seconds=0"
equal "keep= with more boots than possible: the kernel boots and ends" 0 "$status"
check "keep= with more boots than possible: a message states the maximum" grep -q 'keep=4294967295: no boot is kept; the maximum is 7' "$tmp/console"

has_both() { "$ktrace" extract --qmp "$tmp/qmp" -o "$out" 2>"$tmp/err" && grep -q "2 boots" "$tmp/err"; }

# Extracts the trace of the previous boot while the second boot runs.
for arch in x86_64 aarch64 riscv64; do
	rm -f "$out"
	boot_open "$arch" "keep=1 debug=ktrace run=reset,forever"
	await has_both
	extract_previous "$arch, QMP" --qmp "$tmp/qmp" --timeout $limit
	check "$arch, QMP: the trace of the previous boot has no registers" sh -c "! '$ktrace' show --registers '$previous' 2>/dev/null | grep -q '^cpu'"
	case $arch in x86_64) base=0x0 ;; aarch64) base=0x40000000 ;; riscv64) base=0x80000000 ;; esac
	extract_previous "$arch, gdb" --gdb "$tmp/gdb" --timeout $limit --range "$((base + (60 << 20))):0x800000"
	check "$arch, QMP: extract of the running boot succeeds" "$ktrace" extract --qmp "$tmp/qmp" --timeout $limit -o "$out"
	equal "$arch, QMP: the trace of the running boot has no event of the previous one" "" "$(counted "$out")"
	shut_down
done

done_testing
