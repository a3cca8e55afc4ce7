/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Where the devices of QEMU's riscv64 "virt" machine lie. Included by assembly, too. */
#ifndef DEMO_ARCH_PLATFORM_H
#define DEMO_ARCH_PLATFORM_H

#define PLATFORM_FINISHER 0x00100000
#define PLATFORM_CLINT	  0x02000000
#define PLATFORM_UART	  0x10000000

#define PLATFORM_PCI_CONFIGURATION 0x30000000
#define PLATFORM_PCI_MEMORY	   0x40000000
#define PLATFORM_PCI_MEMORY_SIZE   0x40000000

/* Slots for virtio devices. */
#define PLATFORM_VIRTIO	       0x10001000
#define PLATFORM_VIRTIO_STRIDE 0x1000
#define PLATFORM_VIRTIO_COUNT  8

/* Registers of the CLINT; the first has 4 bytes a hart, the second 8. */
#define CLINT_SOFTWARE_INTERRUPT PLATFORM_CLINT
#define CLINT_TIME_COMPARE	 (PLATFORM_CLINT + 0x4000)

/* For want of a word about it in the device tree. */
#define PLATFORM_TIMEBASE_HZ 10000000

/* Harts with a number from here on are left asleep. */
#define PLATFORM_HARTS 8

#endif
