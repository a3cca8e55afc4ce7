/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions at known addresses: ktrdump_traces.c writes these addresses as callers of events. */
	.text
	.globl	lwkt_gettoken, vop_lookup
	.type	lwkt_gettoken, %function
lwkt_gettoken:
	.skip	0x40
	.size	lwkt_gettoken, 0x40
	.type	vop_lookup, %function
vop_lookup:
	.skip	0x80
	.size	vop_lookup, 0x80
	/* address of the function in the traces; the kernel was loaded where it was linked */
	.globl	ktrace_root
	.set	ktrace_root, 0xffffffff80010000
	.section .note.GNU-stack, "", %progbits
