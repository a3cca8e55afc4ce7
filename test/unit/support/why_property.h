/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Properties that all findings of every trace must have. */
#ifndef TEST_WHY_PROPERTY_H
#define TEST_WHY_PROPERTY_H

#include "why/finding.h"

/*
 * Checks that no reported time is longer than the trace, or, for a thread, than the time since its creation.
 * If the verdict is a healthy one, checks that all other findings are only possible. If `words` is true, also
 * checks the times in the text, which requires that no names in the trace look like times. Returns a
 * description of the error, or NULL.
 */
const char *why_property_broken(const struct why_evidence *evidence, const struct why_findings *findings,
				bool words);

#endif
