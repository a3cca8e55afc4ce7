/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The archive with the initial contents of the file system: rootfs.h. This file contains only directives, so
 * it works for any architecture.
 */
	.section .rodata.rootfs, "a", %progbits
	.balign 512
	.globl	rootfs_archive, rootfs_archive_end
rootfs_archive:
	.incbin "root.tar"
rootfs_archive_end:

	.section .note.GNU-stack, "", %progbits
