# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Smoke test under KVM, if that is available. Some machines emulate a guest's ring 0 a thousand times slower
# than normal, and an instruction that their emulator lacks pauses QEMU for ever. Therefore there is a hard
# limit, and reaching it is not a failure.
. test/tap.sh
. test/qemu/transport_support.sh

BOOT_TIMEOUT=40
for transport in debugcon virtio; do
	name="x86_64 $transport under KVM"
	if [ ! -w /dev/kvm ]; then
		skip "$name" "/dev/kvm cannot be used"
		continue
	fi
	boot x86_64 "$transport" "slots=512 run=panic" -accel kvm -smp 1
	case $status in
	124 | 137) skip "$name" "too slow: not done after $BOOT_TIMEOUT s" ;;
	*) check "$name: the dump arrives" summary '^guest *panicked$' ;;
	esac
done

done_testing
