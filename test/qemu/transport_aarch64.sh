# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
. test/tap.sh
. test/qemu/transport_support.sh

for transport in semihosting uart virtio ivshmem; do
	dumps_at_the_end aarch64 "$transport"
done
dumps_of_version_1 aarch64 semihosting
the_console_as_fallback aarch64
a_full_disk aarch64
one_uart_for_both aarch64

for transport in semihosting virtio ivshmem; do
	without_the_device aarch64 "$transport"
done

done_testing
