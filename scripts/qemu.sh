#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Prints the QEMU command line that boots the demo kernel of an architecture: scripts/qemu.sh ARCH [CPUS]
# Environment: KERNEL is another kernel to boot; ACCEL is the accelerator: tcg (the default), kvm or auto (see accel.sh);
# PC_OPTIONS contains more options for x86_64.
set -eu
cpus=${2:-4}
kernel=${KERNEL:-build/demo/$1/kernel.elf}
accel=tcg
if [ "${ACCEL:-tcg}" != tcg ]; then
	accel=$(sh "${0%/*}/accel.sh" "$1")
fi
flags='' arm_cpu=cortex-a57
if [ "$accel" = kvm ]; then
	flags='-accel kvm ' arm_cpu=host
fi
case "$1" in
x86_64) echo "qemu-system-x86_64 ${PC_OPTIONS:+$PC_OPTIONS }$flags-m 128M -smp $cpus -nographic -no-reboot" \
	"-device isa-debug-exit,iobase=0xf4,iosize=4 -kernel $kernel" ;;
aarch64) echo "qemu-system-aarch64 $flags-M virt -cpu $arm_cpu -m 128M -smp $cpus -nographic -no-reboot" \
	"-kernel $kernel" ;;
riscv64) echo "qemu-system-riscv64 -M virt -bios none -m 128M -smp $cpus -nographic -no-reboot" \
	"-kernel $kernel" ;;
*) echo "qemu.sh: unknown architecture '$1'" >&2; exit 2 ;;
esac
