/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace: which instructions a CPU ran, as recorded by a trace unit (Intel PT, CoreSight ETM, SPE).
 * It consists of records of a process trace (ktrx/proc.h) with additional types: the unit's bytes, and what
 * is needed to decode them. One file may contain both the system calls of a process and its branches. The
 * host must not trust any of this data. Normative text: spec/ktrx-hwt.md.
 */
#ifndef KTRX_HWT_H
#define KTRX_HWT_H

#include "ktrx/base.h"
#include "ktrx/proc.h"

/*
 * Types of records. The first seven are FreeBSD's kinds, from 64 on. Pid, tid, CPU and timestamp are in the
 * record's head.
 */
#define KTRX_HWT_MMAP	64u /* struct ktrx_hwt_image: code was mapped */
#define KTRX_HWT_MUNMAP 65u /* struct ktrx_hwt_unmap */
/* struct ktrx_hwt_image: the process now runs this program; its earlier mappings are gone */
#define KTRX_HWT_EXECUTABLE 66u
/* struct ktrx_hwt_image: the kernel or one of its modules, for all processes */
#define KTRX_HWT_KERNEL	       67u
#define KTRX_HWT_THREAD_CREATE 68u /* struct ktrx_hwt_thread */
#define KTRX_HWT_THREAD_NAME   69u /* struct ktrx_hwt_thread, then the thread's name without NUL */
#define KTRX_HWT_BUFFER	       70u /* struct ktrx_hwt_fill: how much has been written */
#define KTRX_HWT_CONTEXT       71u /* struct ktrx_hwt_context, the configuration for the decoder */
#define KTRX_HWT_DATA	       72u /* struct ktrx_hwt_data, the unit's bytes */
/* struct ktrx_hwt_code: the code at an address, valid from the record's timestamp on */
#define KTRX_HWT_CODE  73u
#define KTRX_HWT_CLOCK 74u /* struct ktrx_hwt_clock */
#define KTRX_HWT_FIRST KTRX_HWT_MMAP
#define KTRX_HWT_LAST  KTRX_HWT_CLOCK

/*
 * An executable mapping. The path of the file follows the structure, without NUL. It is the path that the
 * process passed to the kernel, or the path that the kernel has stored.
 */
struct ktrx_hwt_image {
	/*
	 * address of the first byte; for EXECUTABLE and KERNEL: the number to add to the addresses in the
	 * file's headers
	 */
	uint64_t address;
	/* number of mapped bytes. 0 for EXECUTABLE and KERNEL: the headers of the file contain the size */
	uint64_t size;
	uint64_t offset;  /* MMAP: offset in the file of the byte that is mapped at `address` */
	uint32_t access;  /* permissions: the sum of 1 read, 2 write, 4 execute */
	uint32_t context; /* identifier of the context, 0: none */
};

struct ktrx_hwt_unmap {
	uint64_t address;
	uint64_t size;
	uint32_t reserved;
	uint32_t context;
};

struct ktrx_hwt_thread {
	/*
	 * number of the thread's unit in the context, see struct ktrx_hwt_data; KTRX_HWT_NO_UNIT: the thread
	 * is not traced
	 */
	uint32_t index;
	uint32_t context;
};
/* the thread has no unit, because there was no memory for its buffer */
#define KTRX_HWT_NO_UNIT KTRX_U32(0xffffffff)

struct ktrx_hwt_fill {
	uint64_t position; /* number of bytes written since the unit was made */
	uint64_t wraps;	   /* number of times that writing started again at the beginning of the buffer */
	uint32_t unit;
	uint32_t context;
};

enum ktrx_hwt_mode { KTRX_HWT_MODE_THREAD = 1, KTRX_HWT_MODE_CPU = 2 };

/* The encoding of the unit's bytes, and the backend that wrote these bytes. */
#define KTRX_HWT_ENCODING_PT   1u /* struct ktrx_hwt_pt follows the context */
#define KTRX_HWT_ENCODING_ETM4 2u /* struct ktrx_hwt_etm4 follows the context */
#define KTRX_HWT_ENCODING_SPE  3u /* no structure follows the context */

#define KTRX_HWT_BACKEND_MOCK	   0u
#define KTRX_HWT_BACKEND_PT	   1u
#define KTRX_HWT_BACKEND_CORESIGHT 2u
#define KTRX_HWT_BACKEND_SPE	   3u
#define KTRX_HWT_BACKEND_QEMU	   4u

/*
 * The configuration of a context. The record with the first configuration precedes the context's DATA
 * records. Each change adds a record, which is valid from there on.
 */
struct ktrx_hwt_context {
	uint32_t ident;
	uint8_t mode; /* enum ktrx_hwt_mode */
	uint8_t encoding;
	uint8_t backend;
	uint8_t level;	 /* KTRX_HWT_USER, KTRX_HWT_KERNEL_LEVEL */
	uint32_t target; /* pid in thread mode; 0 in CPU mode */
	uint32_t ranges; /* number of entries of range[] in use */
	struct {
		uint64_t start, end; /* only code from `start` to `end`, not including `end`, was traced */
	} range[4];
};
#define KTRX_HWT_USER	      1u
#define KTRX_HWT_KERNEL_LEVEL 2u

/* The CPU's identification, as libipt's struct pt_config needs it; 0: unknown. */
struct ktrx_hwt_pt {
	uint16_t family;
	uint8_t model, stepping;
	uint8_t mtc_frequency;	   /* IA32_RTIT_CTL.MTCFreq */
	uint8_t nominal_frequency; /* MSR_PLATFORM_INFO[15:8] */
	uint16_t flags;		   /* KTRX_HWT_PT_* */
	uint32_t cpuid_15_eax, cpuid_15_ebx;
};
#define KTRX_HWT_PT_SOFTWARE 1u /* written by a trace unit in software: no CPU errata apply */

/* Registers of the unit, as OpenCSD's ocsd_etmv4_cfg and ocsd_ete_cfg need them. */
struct ktrx_hwt_etm4 {
	uint32_t configr, traceidr;
	uint32_t idr0, idr1, idr2, idr8, idr9, idr10, idr11, idr12, idr13;
	/* 1: the bytes are in 16-byte frames of the CoreSight formatter; 0: the unit's bytes alone */
	uint32_t formatted;
	/*
	 * value of TRCDEVARCH if the unit is an ETE according to TRCIDR1; 0: unknown. In older files the
	 * structure ends before this member
	 */
	uint32_t devarch;
	uint32_t reserved; /* 0 */
};
#define KTRX_HWT_ETM4_LEAST 48u /* size of the structure in older files */
/* TRCIDR1.TRCARCHMAJ: 4 in an ETMv4, KTRX_HWT_ETM4_MAJOR_ETE in an ETE, whose version is in TRCDEVARCH. */
#define KTRX_HWT_ETM4_MAJOR(idr1) ((idr1) >> 8 & 15u)
#define KTRX_HWT_ETM4_MAJOR_ETE	  15u

/*
 * Bytes of a unit; they follow this structure. The records of one unit are in the order of their positions. A
 * gap between positions means that bytes were lost.
 */
struct ktrx_hwt_data {
	uint32_t context;
	/* CPU mode: number of the CPU; thread mode: `index` of the thread's THREAD_CREATE record */
	uint32_t unit;
	uint64_t position; /* position of the first byte, counted from the unit's creation */
};
/*
 * Flag of the record: the first byte is in the middle of a packet, or the unit's buffer has wrapped. A
 * decoder must search for a PSB or an A-Sync.
 */
#define KTRX_HWT_FLAG_TORN 0x100u

/* Code at an address. The bytes of the code follow the structure. */
struct ktrx_hwt_code {
	uint64_t address;
	uint64_t space; /* address space of the code, as in PIP packets or context ids; 0: all */
};

/*
 * The unit's time, and the timestamp of this file at the same moment. A reader interpolates linearly between
 * two CLOCK records.
 */
struct ktrx_hwt_clock {
	uint64_t unit_time;
	uint64_t stamp;
	uint64_t unit_frequency; /* ticks per second of unit_time */
	uint32_t context;	 /* ident of the context that the record applies to; 0: all contexts */
	uint32_t unit;		 /* number of the unit that the record applies to; 0xffffffff: all units */
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
