/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The interface between ktrace/hwt.h and the driver of a trace unit, which is called a backend: a struct of
 * operations. A backend handles registers only, not processes, files or locks. The comment of each operation
 * states on which CPU and in which state it is called.
 *
 * A context has a unit for each CPU (CPU mode) or each thread (thread mode): a buffer and the backend's
 * state. Life of a unit:
 *
 *   1. init           the backend finds its hardware, once
 *   2. unit_init      the kernel has provided a buffer: build the unit's tables
 *   3. configure      before the first enable, and when the configuration has changed
 *   4. enable         on the CPU: start tracing                  ⎫ each time the thread is switched in or
 *   5. disable        on the CPU: stop tracing, store everything ⎭ out; once in CPU mode
 *   6. read           how much was written
 *   7. unit_free      before the buffer is freed
 *
 * A backend accesses registers only through the accessors at the end of this file, so that tests can replace
 * them by a model.
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

/* What to trace, and how. A member that is 0 selects the backend's default. */
struct ktrace_hwt_config {
	uint32_t level;	 /* KTRX_HWT_USER, KTRX_HWT_KERNEL_LEVEL */
	uint32_t flags;	 /* KTRACE_HWT_* */
	uint32_t ranges; /* number of entries of range[]; 0: all code */
	struct {
		uint64_t start, end; /* code from `start` to `end`, not including `end` */
	} range[KTRACE_HWT_RANGES_MAX];
	/*
	 * address space of the target: CR3, or TTBR0 with ASID; 0: unknown. With the flag KTRACE_HWT_SPACE
	 * only this address space is traced
	 */
	uint64_t space;
	/* number of bytes between synchronisation points, rounded to a supported value; 0: 4096 */
	uint32_t psb_period;
	/* PT: number of crystal ticks between MTC packets, rounded to a power of two; 0: 256 */
	uint32_t mtc_period;
	/*
	 * PT: number of cycles between CYC packets, rounded to a supported value; 0: 1. ETM: the value to
	 * write into TRCCCCTLR
	 */
	uint32_t cycle_threshold;
	/*
	 * number of bytes of trace between two interrupts, a multiple of a page; 0: half the size of the
	 * buffer
	 */
	uint32_t interrupt_every;
	uint32_t interval; /* SPE: number of operations between two samples; 0: 4096 */
	uint32_t latency;  /* SPE: sample only operations that took at least this many cycles */
	uint64_t events;   /* SPE: sample only operations with all of these events (PMSEVFR); 0: all */
};
#define KTRACE_HWT_TIME	  1u /* record times: TSC packets with PT, timestamps with ETM and SPE */
#define KTRACE_HWT_MTC	  2u /* PT: write MTC packets */
#define KTRACE_HWT_CYCLES 4u /* record cycles: CYC packets with PT, cycle counts with ETM */
/*
 * trace only the address space `space`. Without this flag all address spaces are traced, and PIP packets or
 * context packets identify them
 */
#define KTRACE_HWT_SPACE   8u
#define KTRACE_HWT_RETURNS 16u /* returns are separate packets, not compressed */
/*
 * stop when the buffer is full. Without this flag, writing starts again at the beginning of the buffer, and
 * `wraps` counts how often that happened
 */
#define KTRACE_HWT_STOP	  32u
#define KTRACE_HWT_JITTER 64u /* SPE: vary the interval between samples at random */
/* SPE: if any of these three flags is set, sample only operations of the kinds whose flags are set */
#define KTRACE_HWT_LOADS    128u
#define KTRACE_HWT_STORES   256u
#define KTRACE_HWT_BRANCHES 512u

/* A physically contiguous piece of a buffer. Requires: size and address are multiples of 4096. */
struct ktrace_hwt_piece {
	uint64_t physical;
	uint64_t size;
};

/* Memory that the kernel provides for a unit's trace, from buffer_alloc to buffer_free. */
struct ktrace_hwt_buffer {
	const struct ktrace_hwt_piece *piece;
	uint32_t pieces;
	uint64_t size; /* total size of all pieces, in bytes */
	/*
	 * Memory for the hardware's tables (ToPA, scatter lists): KTRACE_HWT_TABLE_SIZE(size) bytes,
	 * physically contiguous, page-aligned.
	 */
	void *table;
	uint64_t table_physical;
	size_t table_size;
	/*
	 * virtual address at which the kernel has mapped all pieces, one after another, for reading; NULL:
	 * not mapped
	 */
	void *base;
	void *cookie; /* not used by the library; for the kernel's own use */
};
#define KTRACE_HWT_TABLE_SIZE(size) (((size) / 4096u + 64u) * 16u)

#define KTRACE_HWT_STATE_WORDS 64u

struct ktrace_hwt_unit {
	struct ktrace_hwt_context *context;
	/*
	 * CPU mode: number of the CPU. Thread mode: the units are numbered 0, 1, … in the order in which
	 * their threads were created
	 */
	uint32_t index;
	uint32_t mode;	  /* enum ktrx_hwt_mode */
	uint32_t tid;	  /* thread mode: number of the thread; 0: not known yet */
	uint32_t enabled; /* number of the CPU on which the unit is enabled, plus 1; 0: not enabled */
	uint32_t full;	  /* nonzero: the unit has stopped because its buffer is full */
	struct ktrace_hwt_buffer buffer;
	/*
	 * number of bytes written since the unit was made; the backend updates this in the operations
	 * disable, read and interrupt
	 */
	uint64_t position;
	uint64_t wraps; /* number of times that writing started again at the beginning of the buffer */
	uint64_t lost;	/* number of losses that the hardware reported: overflows, dropped samples */
	/* position up to which the reader has taken the bytes; used by the operation `service` */
	uint64_t served;
	uint64_t state[KTRACE_HWT_STATE_WORDS]; /* private to the backend: registers, position in tables */
	/* Private to the library: */
	struct ktrace_hwt_unit *next;	   /* next unit of the context */
	struct ktrace_hwt_unit *next_here; /* next unit that is enabled on the same CPU */
	struct ktrace_hwt_thread *thread;  /* thread mode: the thread; NULL: it has ended */
	uint32_t disabled_by;		   /* reasons why the unit must not be enabled; 0: none */
	uint64_t reported;		   /* position that the newest BUFFER record reported */
};

/*
 * Operations of a backend. They return KTRACE_OK or:
 * ARGUMENT: the configuration requests something that the backend does not support.
 * DEVICE: the hardware is absent, or did not become idle in time.
 * MEMORY: the table is too small.
 * BUSY: hardware that CPUs share is in use by another unit.
 * The library does not call two operations for the same unit at the same time. Operations must not call the
 * library. Only init and deinit may sleep; the kernel's spinlock may be held when the others are called.
 */
struct ktrace_hwt_backend_operations {
	/*
	 * Finds the hardware. Returns DEVICE if there is none, and sets backend->why to what is missing.
	 * Called once, in thread context; the library may call it on any CPU.
	 */
	int (*init)(struct ktrace_hwt_backend *backend);
	void (*deinit)(struct ktrace_hwt_backend *backend); /* called when the last unit has been freed */
	/*
	 * Initialises a CPU's own hardware. Called on that CPU, with interrupts disabled, before the first
	 * enable there. May be NULL.
	 */
	int (*cpu_init)(struct ktrace_hwt_backend *backend, uint32_t cpu);
	/*
	 * Builds the tables of a new unit. The kernel has already provided the buffer, unit->buffer. May be
	 * called on any CPU.
	 */
	int (*unit_init)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	void (*unit_free)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/*
	 * Computes the values of the registers. Returns ARGUMENT if the hardware does not support the
	 * configuration. May be called on any CPU, while the unit is not enabled.
	 */
	int (*configure)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
			 const struct ktrace_hwt_config *config);
	/*
	 * Starts tracing, at the position where the last disable stopped. Called on the CPU to be traced,
	 * with interrupts disabled; not called while unit->full is nonzero.
	 */
	int (*enable)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * Stops tracing. On return all trace is in memory, and position, wraps, lost and full are up to date.
	 * Called on the CPU on which the unit is enabled, with interrupts disabled.
	 */
	int (*disable)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * Called instead of disable if the CPU of the unit is no longer available; runs on another CPU, with
	 * interrupts disabled. Trace that the lost CPU had not stored is lost. The operation must release
	 * hardware that CPUs share, and must prevent all further writes to the buffer. NULL: nothing to do.
	 */
	void (*abandon)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * Ensures that times in packets that the unit writes from now on are later than the time of the
	 * newest record. Called after a record has described new code and before that code runs, on the CPU
	 * that will run it, with the unit enabled and interrupts disabled. NULL: the unit uses the same clock
	 * as the records, or it is unknown how the two clocks are related.
	 */
	void (*renew)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/*
	 * Updates position and wraps. For an enabled unit: called on its CPU, with interrupts disabled. For a
	 * unit that is not enabled: may be called on any CPU.
	 */
	int (*read)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/*
	 * Handles the trace unit's interrupt, on its CPU. Returns nonzero if position has changed or the
	 * buffer is full. NULL: the unit has no interrupt.
	 */
	int (*interrupt)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit, uint32_t cpu);
	/*
	 * Reports that the reader has taken the bytes up to unit->served. A unit that stopped because its
	 * buffer was full may continue: clears unit->full. Called while the unit is not enabled, with
	 * interrupts disabled; may be called on any CPU. NULL: a unit that is full stays full.
	 */
	int (*service)(struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit);
	/*
	 * Stores data for the decoder. In the record, this data follows struct ktrx_hwt_context. Returns the
	 * size of the data in bytes, at most `room`. NULL: there is no such data.
	 */
	size_t (*describe)(struct ktrace_hwt_backend *backend, const struct ktrace_hwt_config *config,
			   void *to, size_t room);
	/*
	 * Returns the current value of the clock whose timestamps the unit's packets contain, and its ticks
	 * per second, for CLOCK records. Called with interrupts disabled; may be called on any CPU. NULL:
	 * packets contain no timestamps, or the clock is unknown.
	 */
	int (*clock)(struct ktrace_hwt_backend *backend, uint64_t *time, uint64_t *frequency);
	/* Prints the registers: calls `print` for each. Called on the CPU. NULL: nothing to print. */
	void (*dump)(struct ktrace_hwt_backend *backend,
		     void (*print)(void *to, const char *name, uint64_t value), void *to);
};

/*
 * A backend. Requires: stays valid as long as the kernel. ktrace_hwt_pt_make() and similar functions, each in
 * its own header, fill in the library's backends.
 */
struct ktrace_hwt_backend {
	const char *name; /* name of the backend: "pt", "coresight", "spe" or "qemu" */
	uint8_t kind;	  /* KTRX_HWT_BACKEND_* */
	uint8_t encoding; /* KTRX_HWT_ENCODING_* */
	uint8_t modes;	  /* the supported modes: sum of 1 << KTRX_HWT_MODE_* */
	/* KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL: the levels that the backend can distinguish */
	uint8_t levels;
	uint32_t ranges; /* maximum number of address ranges; valid after init */
	uint32_t ready;	 /* nonzero: init has succeeded */
	const char *why; /* text that describes what is missing, if init failed */
	const struct ktrace_hwt_backend_operations *operations;
	const void *access; /* functions with which the backend accesses its registers */
	/* nonzero: cpu_init has succeeded on that CPU; private to the library */
	uint8_t cpu_ready[KTRACE_HWT_CPUS_MAX];
	/* private to the backend, for all units: features of the hardware */
	uint64_t state[32];
	struct ktrace_hwt_backend *next;
};

/* ---- Accessors of registers -------------------------------------------------------------------- */

/* x86: access to model-specific registers of this CPU, and to cpuid. */
struct ktrace_hwt_access_msr {
	uint64_t (*read)(uint32_t msr);
	void (*write)(uint32_t msr, uint64_t value);
	/* stores eax, ebx, ecx and edx in out[] */
	void (*cpuid)(uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
	/*
	 * makes earlier stores of the CPU visible to the trace unit, and earlier stores of the trace unit
	 * visible to the CPU
	 */
	void (*barrier)(void);
};

/*
 * CoreSight: access to 32-bit registers of a component. `base` is the address at which the kernel has mapped
 * the component.
 */
struct ktrace_hwt_access_mmio {
	uint32_t (*read)(uintptr_t base, uint32_t offset);
	void (*write)(uintptr_t base, uint32_t offset, uint32_t value);
	void (*barrier)(void);
};

/*
 * SPE: access to system registers of this CPU. `encoding` is op0 op1 CRn CRm op2 as in MRS (bits 20:5 of the
 * instruction).
 */
#define KTRACE_HWT_SYSREG(op0, op1, crn, crm, op2)                                                     \
	((uint32_t)(op0) << 14 | (uint32_t)(op1) << 11 | (uint32_t)(crn) << 7 | (uint32_t)(crm) << 3 | \
	 (uint32_t)(op2))

struct ktrace_hwt_access_sysreg {
	uint64_t (*read)(uint32_t encoding);
	void (*write)(uint32_t encoding, uint64_t value);
	void (*isb)(void);
	void (*psb_csync)(void); /* executes PSB CSYNC and DSB; on return the samples are in memory */
};

KTRACE_END_C

#endif
