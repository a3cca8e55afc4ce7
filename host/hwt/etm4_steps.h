/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* From OpenCSD's generic elements to steps. */
#ifndef HWT_ETM4_STEPS_H
#define HWT_ETM4_STEPS_H

#include <opencsd/trc_gen_elem_types.h>

#include "hwt/etm4_queue.h"

struct etm4_steps {
	struct etm4_queue queue;
	bool software; /* the unit of ktrx/hwt_unit.h, whose context id and VMID mean what spec/ktrx-hwt.md says */
	bool tracing;	/* between an ON and what ends it */
	bool has_stamp; /* `stamp` is what the unit told last */
	uint64_t stamp;
	uint64_t space;
	uint32_t thread;
	uint64_t offset;    /* of what is being told now */
	const char *unread; /* the packet that was refused last is damaged by nothing but that: what it is */
};

/* What one element becomes; there is room for it. */
void etm4_steps_take(struct etm4_steps *steps, const ocsd_generic_trace_elem *element);
/* The stream is damaged here; the text stays the caller's. */
void etm4_steps_damage(struct etm4_steps *steps, const char *text);
/* The bytes do not begin with an A-Sync: those before the first one cannot be read. */
void etm4_steps_begin_torn(struct etm4_steps *steps);
/* What the unit's context id and VMID say. */
uint64_t etm4_space(bool software, uint32_t context_id);

#endif
