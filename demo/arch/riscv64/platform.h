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

/* Slots for virtio devices. */
#define PLATFORM_VIRTIO	       0x10001000
#define PLATFORM_VIRTIO_STRIDE 0x1000
#define PLATFORM_VIRTIO_COUNT  8

/* Registers of the CLINT: 4 bytes for each hart in the first array, 8 in the second. */
#define CLINT_SOFTWARE_INTERRUPT PLATFORM_CLINT
#define CLINT_TIME_COMPARE	 (PLATFORM_CLINT + 0x4000)

/* Used if the device tree does not contain the frequency. */
#define PLATFORM_TIMEBASE_HZ 10000000

/* Harts with this number or a higher one are not used. */
#define PLATFORM_HARTS 8

#endif
