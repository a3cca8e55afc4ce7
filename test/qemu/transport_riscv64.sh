# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
. test/tap.sh
. test/qemu/transport_support.sh

for transport in semihosting uart virtio ivshmem; do
	dumps_at_the_end riscv64 "$transport"
done
dumps_of_version_1 riscv64 semihosting
the_console_as_fallback riscv64
a_full_disk riscv64
one_uart_for_both riscv64

for transport in semihosting virtio ivshmem; do
	without_the_device riscv64 "$transport"
done

done_testing
