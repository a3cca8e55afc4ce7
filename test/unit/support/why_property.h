/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What holds of all findings, whatever the trace. */
#ifndef TEST_WHY_PROPERTY_H
#define TEST_WHY_PROPERTY_H

#include "why/finding.h"

/*
 * No time that is said is longer than what is known: from the oldest stamp of the trace to its end, and for a thread from its
 * creation. A verdict of health is the only kind of its trace but for what is possible. `words`: look at the times in the text,
 * too; not of traces whose names may look like times. Returns what is wrong, NULL nothing.
 */
const char *why_property_broken(const struct why_evidence *evidence, const struct why_findings *findings,
				bool words);

#endif
