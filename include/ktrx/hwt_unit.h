/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The trace unit in software: a QEMU plugin (build/lib/ktrace-pt.so) that observes the instructions of a
 * virtual CPU and writes Intel PT packets (x86_64 guests) or ETMv4 packets (AArch64 guests), like a real
 * unit. This header defines how a guest controls it, and the file that it writes on the host. Normative text:
 * spec/ktrx-hwt.md.
 *
 * A plugin sees no registers and no data, only the addresses of loads and stores. So each CPU has a page of
 * "registers" in its memory. To give a command, the CPU executes a marker: an instruction without effect,
 * which the plugin recognises when it sees the code. Directly after it, the CPU executes a store into the
 * page, at ktrx_hwt_unit.doorbell + the command's number. From that store the plugin gets the physical
 * address of the page; it reads and writes the page in the file that is the guest's memory. On hardware, or
 * without the plugin, the store writes to a page of the kernel and has no other effect. A command is complete
 * when the store has been executed.
 */
#ifndef KTRX_HWT_UNIT_H
#define KTRX_HWT_UNIT_H

#include "ktrx/base.h"

#define KTRX_HWT_UNIT_MAGIC   KTRX_U32(0x5552544b) /* "KTRU" */
#define KTRX_HWT_UNIT_VERSION 1u

/*
 * The marker. The store to the doorbell is the next instruction, on the same page of code. x86_64: nopl
 * 0x4b545255(%rax), bytes 0f 1f 80 55 52 54 4b. AArch64: movz wzr, #0x4b55, encoded as 0x52896abf =
 * 0x52800000 | 0x4b55 << 5 | 31.
 */
#define KTRX_HWT_UNIT_NOP_X86_64  KTRX_U32(0x4b545255)
#define KTRX_HWT_UNIT_NOP_AARCH64 (KTRX_U32(0x52800000) | KTRX_U32(0x4b55) << 5 | 31u)

/* Commands. The number of a command is the index of its byte in doorbell[]. */
/* fill in the members of the unit; without a plugin the member `unit` stays 0 */
#define KTRX_HWT_UNIT_PROBE 0u
/* read control, output, ranges, space and clock; trace from the next instruction on */
#define KTRX_HWT_UNIT_ENABLE  1u
#define KTRX_HWT_UNIT_DISABLE 2u /* stop tracing; all trace is in memory, position and wraps are up to date */
#define KTRX_HWT_UNIT_SPACE   3u /* `space` or `thread` has changed */
#define KTRX_HWT_UNIT_FLUSH   4u /* do the same as DISABLE, but continue to trace */
/* the guest has just read `stamp`: from now on the unit writes no time earlier than `stamp` */
#define KTRX_HWT_UNIT_CLOCK    5u
#define KTRX_HWT_UNIT_COMMANDS 8u

/* size of parameters[] in bytes; the bytes after the structure in parameters[] are zero */
#define KTRX_HWT_UNIT_PARAMETERS 64u

struct ktrx_hwt_extent {
	uint64_t physical;
	uint64_t size; /* size of the extent in bytes */
};

/* The page of registers: aligned to its size, 4096 bytes. */
struct ktrx_hwt_unit {
	/* Written by the guest: */
	uint32_t magic;	  /* KTRX_HWT_UNIT_MAGIC */
	uint32_t version; /* KTRX_HWT_UNIT_VERSION */
	uint32_t control; /* KTRX_HWT_UNIT_CONTROL_* */
	uint32_t extents; /* number of extents in the output table */
	/*
	 * physical address of the output table: an array of struct ktrx_hwt_extent, aligned to 8 bytes, with
	 * fewer than 4096 entries
	 */
	uint64_t table;
	uint64_t start;	     /* position at which to continue, as stored by DISABLE; 0: the beginning */
	uint64_t user_start; /* addresses in [user_start, user_end) are user code, all others kernel code */
	/*
	 * address space of the code that runs, for PIP packets and context ids: CR3 on x86_64, TTBR0 with
	 * ASID on AArch64
	 */
	uint64_t space;
	uint64_t stamp;	    /* time of the rings' clock, read directly before the command */
	uint64_t frequency; /* ticks per second of the clock of the rings */
	uint32_t thread;    /* number of the running thread */
	/* number of entries of range[]: only code in these ranges is traced; 0: all code */
	uint32_t ranges;
	struct {
		uint64_t start, end; /* code from `start` to `end`, not including `end` */
	} range[4];
	/*
	 * position up to which there is room, if KTRX_HWT_UNIT_CONTROL_STOP is set; trace data beyond it is
	 * lost (OVF)
	 */
	uint64_t limit;
	uint64_t user_end;
	uint64_t nonce; /* nonce of the boot, as in the root of KTRX; 0: unknown */
	uint8_t reserved0[96];

	/* Written by the unit, from offset 256: */
	uint32_t unit;	     /* KTRX_HWT_UNIT_MAGIC after PROBE */
	uint32_t encoding;   /* KTRX_HWT_ENCODING_PT or _ETM4 */
	uint32_t range_most; /* maximum number of entries of range[] */
	uint32_t error;	     /* result of the last command: 0 or KTRX_HWT_UNIT_ERROR_* */
	/* number of bytes written since position 0, including bytes that were overwritten after a wrap */
	uint64_t position;
	uint64_t wraps; /* number of times that the output started again at its beginning */
	/* number of packets that were lost since ENABLE, because there was no room for them */
	uint64_t lost;
	/*
	 * Configuration for the decoder, valid after PROBE: struct ktrx_hwt_pt or ktrx_hwt_etm4. It does not
	 * depend on `control`.
	 */
	uint8_t parameters[KTRX_HWT_UNIT_PARAMETERS];
	uint8_t reserved1[3480];

	uint8_t doorbell[256]; /* offset 3840; a store of one byte to doorbell[n] gives command n */
};

#define KTRX_HWT_UNIT_CONTROL_USER   1u
#define KTRX_HWT_UNIT_CONTROL_KERNEL 2u
#define KTRX_HWT_UNIT_CONTROL_TIME   4u	 /* PT: write TSC and MTC packets; ETM: write timestamps */
#define KTRX_HWT_UNIT_CONTROL_STOP   8u	 /* stop at `limit` instead of wrapping */
#define KTRX_HWT_UNIT_CONTROL_RETURN 16u /* use the trace format's compression for returns */

#define KTRX_HWT_UNIT_ERROR_PAGE 1u /* the page has a wrong magic or version */
/* the output table or an extent is not in memory, or there are too many extents */
#define KTRX_HWT_UNIT_ERROR_OUTPUT 2u

/*
 * Time in PT. TSC packets have the clock of `stamp`; with the plugin's option out=, the clock is nanoseconds
 * since the plugin was loaded. MTC
 * packets have the same clock, in periods of 1 << KTRX_HWT_UNIT_MTC_FREQUENCY ticks, as on a processor whose
 * CPUID leaf 0x15 has eax = ebx = 1.
 */
#define KTRX_HWT_UNIT_MTC_FREQUENCY 8u

/*
 * ETMv4: the context id in packets is the address space shifted right by this number of bits: bits 43:12 of
 * TTBR0_EL1. The VMID in packets is the number of the thread. The processor's mode in packets is always EL1,
 * non-secure, 64 bits.
 */
#define KTRX_HWT_UNIT_SPACE_SHIFT 12

/* ---- The file on the host ---------------------------------------------------------------------- */

/*
 * The head of the file that the unit writes with out=FILE, without any support in the guest. The unit traces
 * all virtual CPUs from the first instruction of 64-bit code on. The file begins with one page for this head.
 * Then, for each CPU, there is one page with a struct ktrx_hwt_ring, followed by its ring of `ring_size`
 * bytes. From offset `code` to the end there is the code that was run, piece by piece: a struct
 * ktrx_hwt_seen, followed by the bytes, padded to a multiple of 8. The file is complete at any time, also if
 * QEMU is killed.
 */
struct ktrx_hwt_rings {
	uint8_t magic[4]; /* "KTRU" */
	uint32_t version; /* KTRX_HWT_UNIT_VERSION */
	uint32_t cpus;	  /* number of rings in the file */
	uint32_t encoding;
	uint64_t ring_size; /* size of a ring in bytes: a power of two, at least 65536 */
	uint64_t code;	    /* offset in the file of the first struct ktrx_hwt_seen */
	uint64_t code_size; /* total size in bytes of all struct ktrx_hwt_seen and their code */
	/* number of bytes of code that were not stored, because there was no room for them */
	uint64_t code_lost;
	/*
	 * The unit's time, and the guest's clock and its frequency, at one moment; all 0 if the guest has not
	 * used KTRX_HWT_UNIT_CLOCK.
	 */
	uint64_t unit_time, stamp, frequency;
	uint64_t unit_frequency; /* ticks per second of the time in packets */
	/* configuration for the decoder, as in struct ktrx_hwt_unit */
	uint8_t parameters[KTRX_HWT_UNIT_PARAMETERS];
	/* nonce of the boot that used KTRX_HWT_UNIT_CLOCK; 0: unknown */
	uint64_t nonce;
	uint8_t reserved[3944];
};

struct ktrx_hwt_ring {
	uint64_t position; /* number of bytes written; the ring contains those from position - ring_size on */
	uint64_t lost;
	/*
	 * State that is not in a packet yet. `pending`: branches taken or not taken (for ETMv4, atoms), the
	 * latest in bit 0, below a leading 1. `reached`: the address of the newest instruction that was about
	 * to run; 0 while nothing is traced.
	 */
	uint64_t pending;
	uint64_t reached;
	uint8_t reserved[4064];
};

/*
 * A piece of code. The unit stores it before the code runs. If a later piece has the same addresses and
 * space, the bytes have changed: the unit then writes its time in a packet (TSC) before the packets about
 * running the new bytes.
 */
struct ktrx_hwt_seen {
	uint64_t unit_time;
	uint64_t address;
	/*
	 * address space that ran the code, as in packets; 0: the code is the same in all address spaces
	 * (kernel code), or the address space is unknown
	 */
	uint64_t space;
	uint32_t size; /* number of bytes of code that follow */
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
