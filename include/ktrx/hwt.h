/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: which instructions a CPU ran, as a trace unit (Intel PT, CoreSight ETM, SPE) has told it.
 * Kept in records of a process trace (ktrx/proc.h), with types of their own: what the unit wrote, and what it
 * takes to read that. One file may hold both what a process asked of the kernel and which branches led to it.
 * Everything here is data the host must not trust. Normative text: spec/ktrx-hwt.md.
 */
#ifndef KTRX_HWT_H
#define KTRX_HWT_H

#include <stdint.h>

#include "ktrx/proc.h"

/*
 * Types of records. The first seven are FreeBSD's kinds from 64 on. Pid, tid, CPU and stamp stand in the
 * record's head.
 */
#define KTRX_HWT_MMAP	64u /* struct ktrx_hwt_image: code was mapped */
#define KTRX_HWT_MUNMAP 65u /* struct ktrx_hwt_unmap */
#define KTRX_HWT_EXECUTABLE \
	66u /* struct ktrx_hwt_image: the process has become this program; what it had mapped is gone */
/* struct ktrx_hwt_image: the kernel or a module of it; for all processes */
#define KTRX_HWT_KERNEL	       67u
#define KTRX_HWT_THREAD_CREATE 68u /* struct ktrx_hwt_thread */
#define KTRX_HWT_THREAD_NAME   69u /* struct ktrx_hwt_thread, its name without NUL */
#define KTRX_HWT_BUFFER	       70u /* struct ktrx_hwt_fill: so much has been written */
#define KTRX_HWT_CONTEXT       71u /* struct ktrx_hwt_context, what the decoder must know */
#define KTRX_HWT_DATA	       72u /* struct ktrx_hwt_data, the unit's bytes */
#define KTRX_HWT_CODE	       73u /* struct ktrx_hwt_code, the bytes that are run there from this stamp on */
#define KTRX_HWT_CLOCK	       74u /* struct ktrx_hwt_clock */
#define KTRX_HWT_FIRST	       KTRX_HWT_MMAP
#define KTRX_HWT_LAST	       KTRX_HWT_CLOCK

/* The file's path follows, without NUL; as the process gave it, or as the kernel knows it. */
struct ktrx_hwt_image {
	/* its first byte in memory; EXECUTABLE and KERNEL: added to the addresses of the file's headers */
	uint64_t address;
	uint64_t size;	  /* bytes mapped; EXECUTABLE and KERNEL: 0, the headers tell */
	uint64_t offset;  /* in the file, of `address` (MMAP) */
	uint32_t access;  /* 1 read, 2 write, 4 execute */
	uint32_t context; /* ident, 0: none */
};

struct ktrx_hwt_unmap {
	uint64_t address;
	uint64_t size;
	uint32_t reserved;
	uint32_t context;
};

struct ktrx_hwt_thread {
	/* its unit in the context: of struct ktrx_hwt_data; KTRX_HWT_NO_UNIT: it is not traced */
	uint32_t index;
	uint32_t context;
};
#define KTRX_HWT_NO_UNIT UINT32_C(0xffffffff) /* there was no memory for a buffer */

struct ktrx_hwt_fill {
	uint64_t position; /* bytes written since the unit was made */
	uint64_t wraps;	   /* how often it has begun anew at the buffer's start */
	uint32_t unit;
	uint32_t context;
};

enum ktrx_hwt_mode { KTRX_HWT_MODE_THREAD = 1, KTRX_HWT_MODE_CPU = 2 };

/* How the bytes are to be read, and who wrote them. */
#define KTRX_HWT_ENCODING_PT   1u /* struct ktrx_hwt_pt follows the context */
#define KTRX_HWT_ENCODING_ETM4 2u /* struct ktrx_hwt_etm4 follows */
#define KTRX_HWT_ENCODING_SPE  3u /* nothing follows */

#define KTRX_HWT_BACKEND_MOCK	   0u
#define KTRX_HWT_BACKEND_PT	   1u
#define KTRX_HWT_BACKEND_CORESIGHT 2u
#define KTRX_HWT_BACKEND_SPE	   3u
#define KTRX_HWT_BACKEND_QEMU	   4u

/* Before a context's DATA, and again when it was configured anew: from there on that holds. */
struct ktrx_hwt_context {
	uint32_t ident;
	uint8_t mode; /* enum ktrx_hwt_mode */
	uint8_t encoding;
	uint8_t backend;
	uint8_t level;	 /* KTRX_HWT_USER, KTRX_HWT_KERNEL_LEVEL */
	uint32_t target; /* pid in thread mode; 0 in CPU mode */
	uint32_t ranges; /* so many of range[] */
	struct {
		uint64_t start, end; /* [start, end): only this was traced */
	} range[4];
};
#define KTRX_HWT_USER	      1u
#define KTRX_HWT_KERNEL_LEVEL 2u

/* What libipt's struct pt_config asks for; 0: unknown. */
struct ktrx_hwt_pt {
	uint16_t family;
	uint8_t model, stepping;
	uint8_t mtc_frequency;	   /* IA32_RTIT_CTL.MTCFreq */
	uint8_t nominal_frequency; /* MSR_PLATFORM_INFO[15:8] */
	uint16_t flags;		   /* KTRX_HWT_PT_* */
	uint32_t cpuid_15_eax, cpuid_15_ebx;
};
#define KTRX_HWT_PT_SOFTWARE 1u /* made by a trace unit in software; no errata of any CPU */

/* What OpenCSD's ocsd_etmv4_cfg and ocsd_ete_cfg ask for: registers of the unit. */
struct ktrx_hwt_etm4 {
	uint32_t configr, traceidr;
	uint32_t idr0, idr1, idr2, idr8, idr9, idr10, idr11, idr12, idr13;
	uint32_t formatted; /* 1: in 16-byte frames of the CoreSight formatter; 0: the unit's bytes alone */
	/* of a unit whose TRCIDR1 says that it is an ETE; 0: unknown. Older files end before it */
	uint32_t devarch;
	uint32_t reserved; /* 0 */
};
#define KTRX_HWT_ETM4_LEAST 48u /* bytes without what older files do not have */
/* TRCIDR1.TRCARCHMAJ: 4 in an ETMv4; this one in an ETE, whose version is in TRCDEVARCH. */
#define KTRX_HWT_ETM4_MAJOR(idr1) ((idr1) >> 8 & 15u)
#define KTRX_HWT_ETM4_MAJOR_ETE	  15u

/*
 * The unit's bytes follow. Those of one unit are in the order of their positions; what is missing between
 * them is lost.
 */
struct ktrx_hwt_data {
	uint32_t context;
	uint32_t unit;	   /* CPU mode: the CPU; thread mode: the index of THREAD_CREATE */
	uint64_t position; /* of the first byte, since the unit was made */
};
/*
 * In the record's flags: the first byte is in the middle of a packet, or the unit's buffer has wrapped: find
 * a PSB or A-Sync.
 */
#define KTRX_HWT_FLAG_TORN 0x100u

/* The bytes follow. */
struct ktrx_hwt_code {
	uint64_t address;
	uint64_t space; /* address space as in PIP or the context id; 0: all */
};

/* The unit's time and the stamps of this file, at one moment; between two of them time runs evenly. */
struct ktrx_hwt_clock {
	uint64_t unit_time;
	uint64_t stamp;
	uint64_t unit_frequency; /* ticks a second */
	uint32_t context;	 /* 0: all */
	uint32_t unit;		 /* 0xffffffff: all */
};

KTRX_ASSERT_SIZE(struct ktrx_hwt_image, 32);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_image, size, 8);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_image, offset, 16);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_image, access, 24);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_image, context, 28);
KTRX_ASSERT_SIZE(struct ktrx_hwt_unmap, 24);
KTRX_ASSERT_SIZE(struct ktrx_hwt_thread, 8);
KTRX_ASSERT_SIZE(struct ktrx_hwt_fill, 24);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_fill, unit, 16);
KTRX_ASSERT_SIZE(struct ktrx_hwt_context, 80);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_context, mode, 4);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_context, target, 8);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_context, range, 16);
KTRX_ASSERT_SIZE(struct ktrx_hwt_pt, 16);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_pt, flags, 6);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_pt, cpuid_15_eax, 8);
KTRX_ASSERT_SIZE(struct ktrx_hwt_etm4, 56);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_etm4, formatted, 44);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_etm4, devarch, KTRX_HWT_ETM4_LEAST);
KTRX_ASSERT_SIZE(struct ktrx_hwt_data, 16);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_data, position, 8);
KTRX_ASSERT_SIZE(struct ktrx_hwt_code, 16);
KTRX_ASSERT_SIZE(struct ktrx_hwt_clock, 32);
KTRX_ASSERT_OFFSET(struct ktrx_hwt_clock, context, 24);

#endif
