/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a trace shows of the kernel that made it, read once, whatever happened there. */
#ifndef DOCTOR_FACTS_H
#define DOCTOR_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "doctor/views.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define FACTS_CPUS_MAX 4096u

struct facts_cpu {
	struct ktrx_cpu row; /* zeros where the kernel keeps none */
	uint64_t own;	     /* events in its own ring … */
	uint64_t elsewhere;  /* … and in the boot ring */
};

struct facts_ring {
	uint64_t first, last; /* stamps of events, 0: none */
	uint64_t back;	      /* ticks: the largest step back from one event to the next */
	bool decided;	      /* `first` is set */
};

struct facts {
	struct ktread *trace;
	const struct ktread_info *info;
	struct facts_cpu *cpu;
	uint32_t cpus; /* with a row, or with events */
	uint32_t online;
	struct facts_ring *ring; /* as in the trace */
	uint64_t events, first, last;
	uint32_t threads, named; /* ids seen other than 0, and those of them with a name */
	uint32_t lit;		 /* enum view_fact */
	uint32_t hooks;		 /* KTRX_HOOK_* that some CPU has called */
	double seconds;		 /* that the guest ran, as far as is known; 0: unknown */
	struct wellknown_table *known;
	uint8_t fired[(KTRX_EVENT_MAX + 1) / 8];
};

/* Reads the trace, a version 2 one, to its end, and rewinds. 0 or an error. */
int facts_read(struct facts *facts, struct ktread *trace);
void facts_free(struct facts *facts);

static inline bool facts_fired(const struct facts *facts, uint32_t id)
{
	return facts->fired[id / 8] >> (id % 8) & 1;
}

#endif
