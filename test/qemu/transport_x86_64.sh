# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
. test/tap.sh
. test/qemu/transport_support.sh

for transport in debugcon uart virtio ivshmem; do
	dumps_at_the_end x86_64 "$transport"
done
dumps_of_version_1 x86_64 debugcon
a_machine_that_is_killed x86_64
a_machine_that_resets x86_64

for transport in debugcon uart virtio ivshmem; do
	without_the_device x86_64 "$transport"
done

done_testing
