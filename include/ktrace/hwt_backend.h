/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a trace unit is to ktrace/hwt.h: one struct of operations. A backend knows its registers and nothing
 * of processes, files or locks; who calls what, where and in which state is said with each operation.
 *
 * A unit is what a context has for each CPU (CPU mode) or each thread (thread mode): a buffer and what the
 * backend keeps with it. Its life:
 *
 *   1. init           the backend finds its hardware, once
 *   2. unit_init      a buffer has been lent: tables are built in it
 *   3. configure      before the first enable, and when the configuration has changed
 *   4. enable         on the CPU: it traces                  ⎫ as often as the thread is switched in and out;
 *   5. disable        on the CPU: it does not, all is stored  ⎭ once in CPU mode
 *   6. read           how much there is
 *   7. unit_free      before the buffer is taken away
 *
 * Registers are reached through the accessors below alone, so that tests can put a model in their place.
 */
#ifndef KTRACE_HWT_BACKEND_H
#define KTRACE_HWT_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "ktrx/hwt.h"
#include "ktrace/control.h"

KTRACE_BEGIN_C

#define KTRACE_HWT_RANGES_MAX 4u
#define KTRACE_HWT_CPUS_MAX   1024u

struct ktrace_hwt_backend;
struct ktrace_hwt_context;
struct ktrace_hwt_thread;

/* What is to be traced, and how. Zero where nothing is said: the backend's default. */
struct ktrace_hwt_config {
	uint32_t level;	 /* KTRX_HWT_USER, KTRX_HWT_KERNEL_LEVEL */
	uint32_t flags;	 /* KTRACE_HWT_* */
	uint32_t ranges; /* of range[]; 0: all code */
	struct {
		uint64_t start, end; /* [start, end) */
	} range[KTRACE_HWT_RANGES_MAX];
	/* CR3, or TTBR0 with ASID, of the target; only that is traced if KTRACE_HWT_SPACE. 0: unknown */
	uint64_t space;
	uint32_t psb_period; /* bytes between synchronisation points, rounded to what there is; 0: 4096 */
	/* PT: ticks of the crystal between MTC packets, rounded to a power of two; 0: 256 */
	uint32_t mtc_period;
	/* PT: cycles between CYC packets, rounded to what there is; 0: 1. ETM: TRCCCCTLR */
	uint32_t cycle_threshold;
	/* bytes of buffer between two interrupts, a multiple of a page; 0: half the buffer */
	uint32_t interrupt_every;
	uint32_t interval; /* SPE: operations between two samples; 0: 4096 */
	uint32_t latency;  /* SPE: only those that took as many cycles */
	uint64_t events;   /* SPE: only those with all of these events (PMSEVFR); 0: all */
};
#define KTRACE_HWT_TIME	  1u /* TSC packets, timestamps */
#define KTRACE_HWT_MTC	  2u /* PT */
#define KTRACE_HWT_CYCLES 4u /* CYC packets; cycle counts */
#define KTRACE_HWT_SPACE \
	8u /* only the address space `space`; else all of them, told by PIP or context packets */
#define KTRACE_HWT_RETURNS 16u /* returns are packets of their own, not compressed */
/* when the buffer is full, stop; else begin anew at its start, and count that */
#define KTRACE_HWT_STOP	    32u
#define KTRACE_HWT_JITTER   64u	 /* SPE: vary the interval */
#define KTRACE_HWT_LOADS    128u /* SPE: sample only these kinds, any of them; none: all */
#define KTRACE_HWT_STORES   256u
#define KTRACE_HWT_BRANCHES 512u

/* A piece of a buffer: physically contiguous, a multiple of 4096 bytes, aligned to it. */
struct ktrace_hwt_piece {
	uint64_t physical;
	uint64_t size;
};

/* Memory lent for a unit's trace: the kernel's, from buffer_alloc to buffer_free. */
struct ktrace_hwt_buffer {
	const struct ktrace_hwt_piece *piece;
	uint32_t pieces;
	uint64_t size; /* of all pieces */
	/*
	 * For the hardware's tables (ToPA, scatter lists): KTRACE_HWT_TABLE_SIZE(size) bytes, physically
	 * contiguous, at a page.
	 */
	void *table;
	uint64_t table_physical;
	size_t table_size;
	/* where all of it is mapped one after another, for a kernel that reads it; NULL: nowhere */
	void *base;
	void *cookie; /* the kernel's own */
};
#define KTRACE_HWT_TABLE_SIZE(size) (((size) / 4096u + 64u) * 16u)

#define KTRACE_HWT_STATE_WORDS 64u

struct ktrace_hwt_unit {
	struct ktrace_hwt_context *context;
	uint32_t index; /* CPU mode: the CPU; thread mode: 0, 1, … in the order in which threads were made */
	uint32_t mode;	/* enum ktrx_hwt_mode */
	uint32_t tid;	/* thread mode; 0 before the thread is known */
	uint32_t enabled; /* on which CPU, plus 1; 0: on none */
	uint32_t full;	  /* it has stopped since its buffer is full */
	struct ktrace_hwt_buffer buffer;
	/* bytes written since it was made; by the backend, in disable, read and interrupt */
	uint64_t position;
	uint64_t wraps;	 /* how often it has begun anew */
	uint64_t lost;	 /* times that the hardware said it lost something: overflows, dropped samples */
	uint64_t served; /* up to this position somebody has taken the bytes (service) */
	uint64_t state[KTRACE_HWT_STATE_WORDS]; /* the backend's own: registers, place in tables */
	/* The library's own. */
	struct ktrace_hwt_unit *next;	   /* of the context */
	struct ktrace_hwt_unit *next_here; /* enabled on the same CPU */
	struct ktrace_hwt_thread *thread;  /* thread mode; NULL: it has ended */
	uint32_t barred;		   /* nonzero: may not be enabled */
	uint64_t said;			   /* the position that the last BUFFER record tells */
};

/*
 * Operations return KTRACE_OK or a negative enum ktrace_error: ARGUMENT (the configuration asks for what it
 * cannot do), DEVICE (absent, or it did not come to rest in time), MEMORY (table too small), BUSY (what CPUs
 * share is another unit's). The library calls none of them twice at once for the same unit. None may sleep,
 * but init and deinit, nor call the library; the kernel's short lock may be held.
 */
struct ktrace_hwt_backend_operations {
	/*
	 * Thread context, once, on any CPU. DEVICE: no such hardware here, and backend->why says what was
	 * looked for.
	 */
	int (*init)(struct ktrace_hwt_backend *backend);
	void (*deinit)(struct ktrace_hwt_backend *backend); /* no unit is left */
	/* Each CPU's own part, on that CPU, interrupts off; before any enable there. May be NULL. */
	int (*cpu_init)(struct ktrace_hwt_backend *backend, uint32_t cpu);
	/* Any CPU. unit->buffer is lent; builds its tables. */
	int (*unit_init)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	void (*unit_free)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/* Any CPU, not enabled. Works the registers' values out; what exceeds the hardware is ARGUMENT. */
	int (*configure)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			 const struct ktrace_hwt_config *config);
	/*
	 * On the CPU that is to be traced, interrupts off. Goes on where the last disable stopped. Not if
	 * unit->full.
	 */
	int (*enable)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * On the same CPU, interrupts off. On return all is in memory, and position, wraps, lost and full are
	 * right.
	 */
	int (*disable)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * Instead of disable where the CPU has gone away: on another one, interrupts off. What it had not
	 * stored is lost; whatever it shared with others is given back, and nothing is written to the buffer
	 * any more. NULL: that takes nothing.
	 */
	void (*abandon)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * On the CPU, enabled, interrupts off: other code is to be run, and a record has said so. Times in
	 * its packets are later than that of the record from here on. NULL: the unit's clock is that of the
	 * records, or nobody knows.
	 */
	void (*renew)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/* On the CPU if enabled, interrupts off, else anywhere: brings position and wraps up to date. */
	int (*read)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/*
	 * The trace unit's interrupt, on its CPU. Nonzero: position has moved, or the buffer is full. NULL:
	 * it has none.
	 */
	int (*interrupt)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * Bytes up to unit->served have been taken; a unit that waited for room goes on: clears unit->full.
	 * Not enabled; interrupts off, any CPU. NULL: one that is full stays so.
	 */
	int (*service)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/*
	 * What follows struct ktrx_hwt_context for the decoder; returns its bytes, at most `room`. NULL:
	 * nothing.
	 */
	size_t (*describe)(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_config *config,
			   void *to, size_t room);
	/*
	 * The unit's time, as its packets have it, and its ticks a second, for CLOCK records; interrupts off,
	 * any CPU. NULL: its packets carry no time, or nobody knows.
	 */
	int (*clock)(struct ktrace_hwt_backend *backend, uint64_t *time, uint64_t *frequency);
	/* Says the registers, one line a call of print; on the CPU. NULL: nothing to say. */
	void (*dump)(struct ktrace_hwt_backend *backend,
		     void (*print)(void *to, const char *name, uint64_t value), void *to);
};

/*
 * Lives as long as the kernel. Those of the library are made by ktrace_hwt_pt_make() and its like, in headers
 * of their own.
 */
struct ktrace_hwt_backend {
	const char *name; /* "pt", "coresight", "spe", "qemu" */
	uint8_t kind;	  /* KTRX_HWT_BACKEND_* */
	uint8_t encoding; /* KTRX_HWT_ENCODING_* */
	uint8_t modes;	  /* 1 << KTRX_HWT_MODE_* */
	uint8_t levels;	  /* KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL, those it can tell apart */
	uint32_t ranges;  /* so many address ranges it filters by; known after init */
	uint32_t ready;	  /* init has succeeded */
	const char *why;  /* after an init that has not: what is missing, for people */
	const struct ktrace_hwt_backend_operations *operations;
	const void *access;			/* its accessors */
	uint8_t cpu_ready[KTRACE_HWT_CPUS_MAX]; /* cpu_init has succeeded there; the library's */
	uint64_t state[32];			/* its own, of all units: what the hardware can do */
	struct ktrace_hwt_backend *next;
};

/* ---- Accessors --------------------------------------------------------------------------------- */

/* x86: model-specific registers of this CPU, and cpuid. */
struct ktrace_hwt_access_msr {
	uint64_t (*read)(uint32_t msr);
	void (*write)(uint32_t msr, uint64_t value);
	void (*cpuid)(uint32_t leaf, uint32_t subleaf, uint32_t out[4]); /* eax, ebx, ecx, edx */
	void (*barrier)(void); /* stores before it are visible to the trace unit, and the reverse */
};

/* CoreSight: 32-bit registers of a component, by the address at which the kernel has mapped it. */
struct ktrace_hwt_access_mmio {
	uint32_t (*read)(uintptr_t base, uint32_t offset);
	void (*write)(uintptr_t base, uint32_t offset, uint32_t value);
	void (*barrier)(void);
};

/*
 * SPE: system registers of this CPU, by the encoding op0 op1 CRn CRm op2 as MRS has it (bits 20:5 of the
 * instruction).
 */
#define KTRACE_HWT_SYSREG(op0, op1, crn, crm, op2)                                                     \
	((uint32_t)(op0) << 14 | (uint32_t)(op1) << 11 | (uint32_t)(crn) << 7 | (uint32_t)(crm) << 3 | \
	 (uint32_t)(op2))

struct ktrace_hwt_access_sysreg {
	uint64_t (*read)(uint32_t encoding);
	void (*write)(uint32_t encoding, uint64_t value);
	void (*isb)(void);
	void (*psb_csync)(void); /* PSB CSYNC and DSB: samples are in memory */
};

KTRACE_END_C

#endif
