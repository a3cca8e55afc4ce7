/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * All detectors: USE(name) for each why_detect_NAME(), which is host/why/detect_NAME.c. Their order means
 * nothing: findings are put in order by what they are.
 */
#ifndef WHY_DETECTORS_H
#define WHY_DETECTORS_H

#include "why/finding.h"

/* clang-format off */
#define WHY_DETECTORS(USE) \
	USE(bookkeeping) \
	USE(answer) \
	USE(dead_owner) \
	USE(dead_timer) \
	USE(deadlock) \
	USE(health) \
	USE(irq_storm) \
	USE(irqs_off) \
	USE(livelock) \
	USE(lock_order) \
	USE(loop) \
	USE(missing_eoi) \
	USE(overdue) \
	USE(late_sleep) \
	USE(panic) \
	USE(priority_inversion) \
	USE(sleep_in_atomic) \
	USE(slow) \
	USE(spin) \
	USE(stack) \
	USE(starvation) \
	USE(triple_fault) \
	USE(wakeup)
/* clang-format on */

#define WHY_DECLARE(name) why_detector why_detect_##name;
WHY_DETECTORS(WHY_DECLARE)
#undef WHY_DECLARE

/* Not among them: what is said if they have found nothing. */
why_detector why_find_nothing;

/* Adds to a healthy verdict that a device answered late while all of the machine was slow, if that was so. */
void why_slow_explain(const struct why_evidence *evidence, struct why_finding *finding);

#endif
