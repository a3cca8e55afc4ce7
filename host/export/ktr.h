/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Events as ktrdump(8) of DragonFly prints them: a table whose columns can be chosen, with its header again
 * every 20 rows.
 */
#ifndef EXPORT_KTR_H
#define EXPORT_KTR_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/symbols.h"
#include "base/output.h"
#include "ktread/ktread.h"

#define KTR_CPUS 4097u

enum ktr_columns {
	KTR_CPU = 1,
	KTR_ABSOLUTE = 2, /* the stamp */
	KTR_RELATIVE = 4, /* since the one before of the same CPU; KTR_ABSOLUTE gives way */
	KTR_CALLERS = 8,
	KTR_ID = 16,
	KTR_FILE = 32,
	KTR_PAYLOAD = 64,
};

struct ktr_table {
	struct base_output *out;
	unsigned columns;	 /* KTR_* */
	bool quiet;		 /* no header */
	bool raw;		 /* ticks instead of microseconds */
	bool by_ring;		 /* each ring's rows are counted by themselves */
	double correction;	 /* microseconds taken off each relative time */
	struct symbols *symbols; /* NULL: addresses in hexadecimal */
	/* The table's own: zero at first. */
	uint64_t row;
	uint64_t frequency;	     /* as said */
	uint64_t previous[KTR_CPUS]; /* stamp by CPU, 0: none yet; the last: CPUs beyond, or none */
	uint32_t ring;		     /* that the row before was of */
};

/*
 * "TSC frequency is …", which goes before the table; said again when a guest that runs comes to know better.
 */
void ktr_frequency(struct ktr_table *table, const struct ktread_info *info);
/* A row; `late` ones are marked. */
void ktr_row(struct ktr_table *table, const struct ktread_info *info, const struct ktread_event *event,
	     bool late);
/* A line that says what is missing here. */
void ktr_lost(struct ktr_table *table, uint32_t ring, uint32_t cpu, uint64_t slots);
/* The stamps of another boot have nothing to do with those before. */
void ktr_restart(struct ktr_table *table);

#endif
