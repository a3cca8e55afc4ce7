/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Addresses of the devices of QEMU's riscv64 "virt" machine. Assembly includes this header, too. */
#ifndef DEMO_ARCH_PLATFORM_H
#define DEMO_ARCH_PLATFORM_H

#define PLATFORM_FINISHER 0x00100000
#define PLATFORM_CLINT	  0x02000000
#define PLATFORM_UART	  0x10000000

#define PLATFORM_PCI_CONFIGURATION 0x30000000
#define PLATFORM_PCI_MEMORY	   0x40000000
#define PLATFORM_PCI_MEMORY_SIZE   0x40000000

/*
 * Register blocks of the virtio devices: address of the first block, distance between blocks in bytes, number
 * of blocks.
 */
#define PLATFORM_VIRTIO	       0x10001000
#define PLATFORM_VIRTIO_STRIDE 0x1000
#define PLATFORM_VIRTIO_COUNT  8

/* Arrays of CLINT registers, one register for each hart: 4 bytes each in the first array, 8 in the second. */
#define CLINT_SOFTWARE_INTERRUPT PLATFORM_CLINT
#define CLINT_TIME_COMPARE	 (PLATFORM_CLINT + 0x4000)

/* Frequency of the clock, used if the device tree does not contain it. */
#define PLATFORM_TIMEBASE_HZ 10000000

/* Number of harts that can be used: harts 0 to PLATFORM_HARTS - 1. */
#define PLATFORM_HARTS 8

#endif
