#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Prints the QEMU command line that boots the demo kernel of an architecture: scripts/qemu.sh ARCH [CPUS]
# KERNEL in the environment names another kernel.
set -eu
cpus=${2:-4}
kernel=${KERNEL:-build/demo/$1/kernel.elf}
case "$1" in
x86_64) echo qemu-system-x86_64 -m 128M -smp "$cpus" -nographic -no-reboot \
	-device isa-debug-exit,iobase=0xf4,iosize=4 -kernel "$kernel" ;;
aarch64) echo qemu-system-aarch64 -M virt -cpu cortex-a57 -m 128M -smp "$cpus" -nographic -no-reboot \
	-kernel "$kernel" ;;
riscv64) echo qemu-system-riscv64 -M virt -bios none -m 128M -smp "$cpus" -nographic -no-reboot \
	-kernel "$kernel" ;;
*) echo "qemu.sh: unknown architecture '$1'" >&2; exit 2 ;;
esac
