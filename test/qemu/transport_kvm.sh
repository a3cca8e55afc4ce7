# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Smoke test under KVM, on machines that have KVM.
. test/tap.sh
. test/qemu/transport_support.sh
. test/qemu/kvm_support.sh

for transport in debugcon virtio; do
	name="x86_64 $transport under KVM"
	if [ ! -w /dev/kvm ]; then
		skip "$name" "/dev/kvm cannot be used"
		continue
	fi
	runner="under_kvm $tmp/kvm"
	boot x86_64 "$transport" "slots=512 run=panic" -accel kvm -smp 1
	if kvm_refuses "$tmp/kvm"; then
		skip "$name" "$(kvm_reason "$tmp/kvm")"
	else
		check "$name: the dump arrives; QEMU's status is $status" summary '^guest *panicked$'
	fi
done

# Tests that the limits work without KVM.
under_kvm "$tmp/kvm" sh -c 'echo "KVM internal error. Suberror: 1" >&2; exec sleep 10000'
equal "a guest that KVM cannot run is terminated" "143 KVM internal error. Suberror: 1" "$? $(kvm_reason "$tmp/kvm")"
kvm_seconds=1
under_kvm "$tmp/kvm" sh -c 'while :; do :; done'
equal "a guest that does not end is terminated when its CPU time is used up" 152 $?
done_testing
