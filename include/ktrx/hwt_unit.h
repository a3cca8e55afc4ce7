/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace unit in software: a QEMU plugin (build/lib/ktrace-pt.so) that watches what a virtual CPU runs and
 * writes Intel PT packets (x86_64 guests) or ETMv4 packets (AArch64 guests) as a real unit would. This is how
 * a guest drives it, and what it leaves on the host. Normative text: spec/ktrx-hwt.md.
 *
 * A plugin sees no register and no data, only the addresses of loads and stores. So each CPU has a page of
 * "registers" in its memory; to hand them over it executes a marker (an instruction without effect that the
 * plugin knows when it sees the code) and then a store into the page, at ktrx_hwt_unit.doorbell + the
 * command's number. The plugin knows the physical address of the page from that, and reads and writes it in
 * the file that is the guest's memory. On hardware, and without the plugin, it is a store to a page of the
 * kernel's own. Commands are done when the store is.
 */
#ifndef KTRX_HWT_UNIT_H
#define KTRX_HWT_UNIT_H

#include <stdint.h>

#include "ktrx/assert.h"

#define KTRX_HWT_UNIT_MAGIC   UINT32_C(0x5552544b) /* "KTRU" */
#define KTRX_HWT_UNIT_VERSION 1u

/*
 * The marker. The store of the doorbell is the next instruction, on the same page of code. x86_64: nopl
 * 0x4b545255(%rax), bytes 0f 1f 80 55 52 54 4b. AArch64: movz wzr, #0x4b55, which is 0x5289 6abf: 0x52800000
 * | 0x4b55 << 5 | 31.
 */
#define KTRX_HWT_UNIT_NOP_X86_64  UINT32_C(0x4b545255)
#define KTRX_HWT_UNIT_NOP_AARCH64 (UINT32_C(0x52800000) | UINT32_C(0x4b55) << 5 | 31u)

/* Commands: the doorbell that is rung. */
#define KTRX_HWT_UNIT_PROBE 0u /* fill in what the unit says of itself; without a plugin `unit` stays 0 */
#define KTRX_HWT_UNIT_ENABLE \
	1u /* take over control, output, ranges, space, clock; trace from the next instruction on */
#define KTRX_HWT_UNIT_DISABLE 2u /* all that is traced is in memory, position and wraps say how much */
#define KTRX_HWT_UNIT_SPACE   3u /* the address space (and, in `thread`, the thread) has changed */
#define KTRX_HWT_UNIT_FLUSH   4u /* as DISABLE, and trace on */
#define KTRX_HWT_UNIT_CLOCK \
	5u /* `stamp` was read right before: no clock of this unit is behind it from here on */
#define KTRX_HWT_UNIT_COMMANDS 8u

#define KTRX_HWT_UNIT_PARAMETERS 64u /* bytes, zero behind the struct */

struct ktrx_hwt_extent {
	uint64_t physical;
	uint64_t size; /* bytes */
};

/* One page, aligned to its size, 4096 bytes. */
struct ktrx_hwt_unit {
	/* The guest's. */
	uint32_t magic;	  /* KTRX_HWT_UNIT_MAGIC */
	uint32_t version; /* KTRX_HWT_UNIT_VERSION */
	uint32_t control; /* KTRX_HWT_UNIT_CONTROL_* */
	uint32_t extents; /* of the output, as many as the table has */
	/* physical address of struct ktrx_hwt_extent[extents], 8-aligned, below 4096 of them */
	uint64_t table;
	uint64_t start;	     /* position to go on at: where DISABLE left it; 0: from the beginning */
	uint64_t user_start; /* code in [user_start, user_end) is the user's, all else the kernel's */
	uint64_t space;	     /* CR3, or TTBR0 and ASID; what PIP and the context id tell */
	uint64_t stamp;	     /* the clock of the rings, read right before the command … */
	uint64_t frequency;  /* … and its ticks a second */
	uint32_t thread;     /* that runs now */
	uint32_t ranges;     /* of range[]: only code in them is traced; 0: all */
	struct {
		uint64_t start, end; /* [start, end) */
	} range[4];
	/* KTRX_HWT_UNIT_CONTROL_STOP: up to this position there is room; behind it trace is lost (OVF) */
	uint64_t limit;
	uint64_t user_end;
	uint64_t nonce; /* of the boot, as in the root of KTRX; 0: unknown */
	uint8_t reserved0[96];

	/* The unit's, at 256. */
	uint32_t unit;	     /* KTRX_HWT_UNIT_MAGIC once probed */
	uint32_t encoding;   /* KTRX_HWT_ENCODING_PT or _ETM4 */
	uint32_t range_most; /* of range[] */
	uint32_t error;	     /* of the last command: KTRX_HWT_UNIT_ERROR_* */
	uint64_t position;   /* bytes written since position 0, wrapped or not */
	uint64_t wraps;	     /* how often the output has begun anew at its start */
	uint64_t lost;	     /* packets that found no room, since ENABLE */
	/*
	 * What its decoder must know, after PROBE: struct ktrx_hwt_pt or ktrx_hwt_etm4; true whatever
	 * `control` says.
	 */
	uint8_t parameters[KTRX_HWT_UNIT_PARAMETERS];
	uint8_t reserved1[3480];

	uint8_t doorbell[256]; /* at 3840: command n is a store of one byte to doorbell[n] */
};

#define KTRX_HWT_UNIT_CONTROL_USER   1u
#define KTRX_HWT_UNIT_CONTROL_KERNEL 2u
#define KTRX_HWT_UNIT_CONTROL_TIME   4u	 /* TSC and MTC packets; timestamps */
#define KTRX_HWT_UNIT_CONTROL_STOP   8u	 /* stop at `limit` instead of wrapping */
#define KTRX_HWT_UNIT_CONTROL_RETURN 16u /* compress returns */

#define KTRX_HWT_UNIT_ERROR_PAGE   1u /* magic or version */
#define KTRX_HWT_UNIT_ERROR_OUTPUT 2u /* table or an extent is not in memory, or too many */

/*
 * PT: time. TSC packets tell the clock of `stamp` (out=: nanoseconds since the plugin was loaded). The clock
 * of MTC packets is the same one, in periods of 1 << this; as a processor would say it, CPUID leaf 0x15 has
 * eax = ebx = 1.
 */
#define KTRX_HWT_UNIT_MTC_FREQUENCY 8u

/*
 * ETMv4: the context id is the address space from this bit on, bits 43:12 of TTBR0_EL1; the VMID is the
 * thread. Of the processor's mode it is always told that it is EL1, not secure, 64 bits.
 */
#define KTRX_HWT_UNIT_SPACE_SHIFT 12

/* ---- What it leaves on the host ---------------------------------------------------------------- */

/*
 * Without the guest's help (out=FILE) the unit traces all virtual CPUs from the first instruction of 64-bit
 * code on, into a file: a head of a page; for each CPU a page struct ktrx_hwt_ring and its ring of
 * `ring_size` bytes; from `code` on, to the file's end, the code that was run: struct ktrx_hwt_seen and
 * bytes, one after another, each padded to a multiple of 8. It is complete whenever QEMU ends, killed or not.
 */
struct ktrx_hwt_rings {
	uint8_t magic[4]; /* "KTRU" */
	uint32_t version; /* KTRX_HWT_UNIT_VERSION */
	uint32_t cpus;	  /* rings in the file */
	uint32_t encoding;
	uint64_t ring_size; /* bytes, a power of two, at least 65536 */
	uint64_t code;	    /* offset of the first struct ktrx_hwt_seen */
	uint64_t code_size; /* bytes of them, all told */
	uint64_t code_lost; /* bytes that found no room */
	/*
	 * The unit's time and the guest's own clock at one moment; all 0 if the guest has not told
	 * (KTRX_HWT_UNIT_CLOCK).
	 */
	uint64_t unit_time, stamp, frequency;
	uint64_t unit_frequency;		      /* ticks a second of time in packets */
	uint8_t parameters[KTRX_HWT_UNIT_PARAMETERS]; /* as in struct ktrx_hwt_unit */
	uint64_t nonce;				      /* of the boot that told its clock; 0: unknown */
	uint8_t reserved[3944];
};

struct ktrx_hwt_ring {
	uint64_t position; /* bytes written; those from position - ring_size on are there */
	uint64_t lost;
	/*
	 * What is known but not yet in a packet: branches taken or not (of ETMv4, atoms), the latest in bit
	 * 0, below a leading 1. And the address of an instruction that was about to run when it was last
	 * heard of, 0 while nothing is traced.
	 */
	uint64_t pending;
	uint64_t reached;
	uint8_t reserved[4064];
};

/*
 * Code that was run, told before it was. The same addresses and space again: other bytes from then on, and
 * the unit tells its time in a packet (TSC) before it tells that they were run.
 */
struct ktrx_hwt_seen {
	uint64_t unit_time;
	uint64_t address;
	uint64_t space; /* that ran it, as packets have it; 0: of the kernel, or not told: the same in all */
	uint32_t size;	/* bytes that follow */
	uint32_t reserved;
};

KTRX_ASSERT_SIZE(struct ktrx_hwt_extent, 16);
KTRX_ASSERT_SIZE(struct ktrx_hwt_unit, 4096);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, table, 16);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, thread, 64);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, range, 72);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, limit, 136);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, user_end, 144);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, nonce, 152);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, unit, 256);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, position, 272);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, parameters, 296);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_unit, doorbell, 3840);
KTRX_ASSERT_SIZE(struct ktrx_hwt_rings, 4096);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_rings, nonce, 144);
KTRX_ASSERT_SIZE(struct ktrx_hwt_ring, 4096);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_ring, pending, 16);
KTRX_ASSERT_SIZE(struct ktrx_hwt_seen, 32);

#endif
