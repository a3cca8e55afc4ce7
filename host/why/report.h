/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the output of `ktrace why`. */
#ifndef WHY_REPORT_H
#define WHY_REPORT_H

#include <stdbool.h>

#include "base/output.h"
#include "why/finding.h"

/* Prints the first finding in a few lines, as `ktrace run --why` does. */
void why_report_verdict(struct base_output *out, const struct why_findings *findings);
struct why_style {
	bool all; /* prints every finding in full, and all threads */
	bool ids; /* prints the ids of events; requires a call of why_ids_find() before */
	/* path of the trace, quoted for a shell; NULL if the run that made the trace cannot be repeated */
	const char *trace;
};
/* Prints the first finding, then the other findings, then the state of CPUs and threads. */
void why_report(struct base_output *out, const struct why_evidence *evidence,
		const struct why_findings *findings, const struct why_style *style);
/*
 * why_say_mode() returns the name of a mode (KTRX_MODE_*), why_say_wait() the name of a wait (KTRX_WAIT_*).
 */
const char *why_say_mode(uint8_t mode);
const char *why_say_wait(uint8_t wait);

/*
 * Returns the name of a thread's state. The state is taken from the thread's row in the kernel's table, or
 * from events if it has no row. If the table has rows of other threads, but no row of this thread, returns
 * "unknown".
 */
const char *why_say_state(const struct why_evidence *evidence, const struct why_thread *thread);
#define WHY_JSON_VERSION 1u
/* Prints one JSON object; ktrace-why(1) describes it. */
void why_report_json(struct base_output *out, const struct why_evidence *evidence,
		     const struct why_findings *findings);

#endif
