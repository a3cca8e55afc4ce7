/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The rows of one of ktrace's sections, events or settings, as the kernel's file has them and as the guest
 * had them in its memory when the trace was taken: which are lost, and what became of them.
 */
#ifndef DOCTOR_EXAMINE_SECTIONS_H
#define DOCTOR_EXAMINE_SECTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/kernel_elf.h"
#include "ktread/ktread.h"

#define SECTIONS_NAME 96u

struct sections_report {
	bool compared;		   /* both could be read */
	uint32_t rows;		   /* in the file … */
	uint32_t places;	   /* … of which so many are places that record an event, not events */
	uint32_t zero;		   /* of these, that are all zeros in memory, … */
	uint32_t other;		   /* … that are something else there, … */
	uint32_t missing;	   /* … or lie behind what the guest takes for the section's end */
	char first[SECTIONS_NAME]; /* name of the first row that is lost; not escaped */
};

/* `type`: KTRX_SECTION_EVENTS or KTRX_SECTION_SETTINGS. 0 or KTREAD_E_MEMORY. */
int sections_compare(struct sections_report *report, const char *elf,
		     const struct capture_kernel_section *section, const struct ktread *trace, uint32_t type);

static inline uint32_t sections_lost(const struct sections_report *report)
{
	return report->zero + report->other + report->missing;
}

#endif
