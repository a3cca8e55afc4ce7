# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# `ktrace run --transport`: the device is there, and what the kernel dumped to it becomes the trace.
. test/tap.sh
. test/qemu/run_support.sh

sent() {
	arch=$1 transport=$2
	rm -f "$out"
	# shellcheck disable=SC2046
	run --transport "$transport" -- $(demo "$arch" 2) -append "debug=ktrace seconds=0 slots=1024 transport=$transport file="
	equal "$arch over $transport: status" 0 "$status"
	check "$arch over $transport: a trace" sh -c "'$ktrace' show '$out' | grep -q sched.switch"
}

sent x86_64 debugcon
sent aarch64 semihosting
sent riscv64 semihosting
for arch in x86_64 aarch64 riscv64; do
	sent "$arch" virtio
	sent "$arch" ivshmem
done

rm -f "$out"
run --transport debugcon -- $no_ktrace
equal "a guest that sends nothing: status" 15 "$status"
check "a guest that sends nothing: no file" test ! -e "$out"
check "nothing else is left" sh -c "! ls '$tmp'/*.part"

done_testing
