/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Addresses of the devices of QEMU's aarch64 "virt" machine, and the numbers of the interrupts that the
 * kernel uses.
 */
#ifndef DEMO_ARCH_PLATFORM_H
#define DEMO_ARCH_PLATFORM_H

#define PLATFORM_GIC_DISTRIBUTOR    0x08000000
#define PLATFORM_GIC_CPU_INTERFACE  0x08010000
#define PLATFORM_GIC_REDISTRIBUTORS 0x080a0000
#define PLATFORM_UART		    0x09000000
#define PLATFORM_RAM		    0x40000000
#define PLATFORM_PCI_CONFIGURATION  0x4010000000
#define PLATFORM_PCI_MEMORY	    0x10000000
#define PLATFORM_PCI_MEMORY_SIZE    0x2eff0000

/*
 * Register blocks of the virtio devices: address of the first block, distance between blocks in bytes, number
 * of blocks.
 */
#define PLATFORM_VIRTIO	       0x0a000000
#define PLATFORM_VIRTIO_STRIDE 0x200
#define PLATFORM_VIRTIO_COUNT  32

#define INTID_IPI	    0
#define INTID_DOORBELL	    1
#define INTID_PROFILING	    21 /* the number that Arm's Base System Architecture specifies */
#define INTID_VIRTUAL_TIMER 27

#endif
