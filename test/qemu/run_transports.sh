# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run --transport` adds the device, and makes the trace from what the kernel dumped to it.
. test/tap.sh
. test/qemu/run_support.sh
PC_OPTIONS=$usual_firmware # some of the devices are on the PCI bus

# sent ARCH TRANSPORT: checks a run whose kernel dumps its trace over the transport.
sent() {
	arch=$1 transport=$2
	rm -f "$out"
	# shellcheck disable=SC2046
	run --transport "$transport" -- $(demo "$arch" 2) -append "debug=ktrace seconds=0 slots=1024 transport=$transport file="
	equal "$arch over $transport: status" 0 "$status"
	check "$arch over $transport: there is a trace" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
	check "$arch over $transport: the message reports the loss for the time that the dump covers" grep -qE "(lost|overwritten|unreadable|refused) in a dump that covers [0-9.]+ s, taken " "$tmp/err"
	check "$arch over $transport: summary reports a dump by the guest" sh -c "'$ktrace' summary '$out' | grep -qE '^dumped +by the guest, .*; covers [0-9.]+ s; later events'"
}

sent x86_64 debugcon
sent aarch64 semihosting
sent riscv64 semihosting
for arch in x86_64 aarch64 riscv64; do
	sent "$arch" virtio
	sent "$arch" ivshmem
done

# The kernel sends a dump at the start of a long run.
rm -f "$out"
# shellcheck disable=SC2046
run_until 'grep -qE "nothing lost in a dump .*taken ([1-9]|0\.[1-9])" "$tmp/err"' --transport debugcon --stall 0 -- $(demo x86_64 2) \
	-append "debug=ktrace run=sh slots=1024 transport=debugcon dump=start file="
equal "a dump at the start: status" 12 "$status"
check "a dump at the start: the message has the time of the dump" grep -qE "nothing lost in a dump that covers [0-9]+\.[0-9]+ s, taken [0-9.]+ s before the end" "$tmp/err"
$ktrace summary "$out" >"$tmp/summary"
check "a dump at the start: summary limits the loss to the time that the dump covers" grep -qx "loss      none in what the dump covers" "$tmp/summary"
check "a dump at the start: summary has the time from the dump to the end" awk '/^dumped/ { seen = $4 > 0 } END { exit !seen }' "$tmp/summary"
check "a dump at the start: summary --json has the time from the dump to the end" sh -c "'$ktrace' summary --json '$out' | grep -q '\"dumped\":true,\"taken_before_end\":[0-9]'"
check "a dump at the start: why has the time from the dump to the end" sh -c "'$ktrace' why '$out' | grep -q 'the guest dumped this [0-9.]* s before the end'"
# The time of a file does not change when the guest writes to memory that it shares with the host.
rm -f "$out"
# shellcheck disable=SC2046
run_until 'grep -qE "taken ([1-9]|0\.[1-9])" "$tmp/err"' --transport ivshmem --stall 0 -- $(demo x86_64 2) \
	-append "debug=ktrace run=sh slots=1024 transport=ivshmem dump=start file="
check "a dump at the start, in shared memory: the message has the time of the dump" grep -qE "taken ([1-9]|0\.[1-9])[0-9.]* s before the end" "$tmp/err"
check "a dump at the start, in shared memory: the trace has this time" sh -c \
	"'$ktrace' summary --json '$out' | grep -qE '\"taken_before_end\":([1-9]|0\.[1-9])'"
check "a dump at the start, in shared memory: doctor limits the loss to the time that the dump covers" sh -c \
	"'$ktrace' doctor '$out' | grep -qE '^ok +reach +nothing was overwritten in what the dump covers\$'"
rm -f "$out"
# shellcheck disable=SC2046
run --transport debugcon --timeout 3 --stall 0 -- $(demo x86_64 2) -append "debug=ktrace run=sh transport=debugcon file="
equal "no dump: status" 15 "$status"
message_has "the guest dumped nothing over debugcon"
check "no dump: no message says that the guest has no ktrace" sh -c '! grep "no ktrace" "$0"' "$tmp/err"

rm -f "$out"
run --transport debugcon -- $no_ktrace
equal "a guest that sends nothing: status" 15 "$status"
check "a guest that sends nothing: no file" test ! -e "$out"
check "a guest that sends nothing: no temporary file is left" sh -c "! ls '$tmp'/*.part"

done_testing
