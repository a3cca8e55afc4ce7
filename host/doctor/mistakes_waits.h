/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Mistakes that the kernel's table of what is held and waited for shows. */
#ifndef DOCTOR_MISTAKES_WAITS_H
#define DOCTOR_MISTAKES_WAITS_H

#include "analyze/keyed.h"
#include "doctor/mistakes.h"

/*
 * Notes MISTAKE_WAIT_LEFT and MISTAKE_OWNER. `deeds`: by thread, the stamp of its newest system call's beginning or end. `late`: ticks by
 * which a row may be older than an event. Returns 0, or what ktread_holders() said.
 */
int mistakes_waits(struct mistakes *mistakes, const struct ktread *trace, const struct keyed *deeds,
		   uint64_t late);

#endif
