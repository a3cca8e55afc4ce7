/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Properties that all findings of every trace must have. */
#ifndef TEST_WHY_PROPERTY_H
#define TEST_WHY_PROPERTY_H

#include "why/finding.h"

/*
 * Checks that no reported time is longer than what is known: from the oldest timestamp of the trace to its
 * end, and for a thread from its creation. If the verdict is that all is well, all other findings must have
 * the certainty "possible". If `words`, also checks the times in the text. This is not possible if names in
 * the trace may look like times. Returns a description of the error, or NULL.
 */
const char *why_property_broken(const struct why_evidence *evidence, const struct why_findings *findings,
				bool words);

#endif
