/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What `ktrace why` prints. */
#ifndef WHY_REPORT_H
#define WHY_REPORT_H

#include <stdbool.h>

#include "base/output.h"
#include "why/finding.h"

/* The first finding in a few lines, without evidence: what `ktrace run --why` prints. */
void why_report_verdict(struct base_output *out, const struct why_findings *findings);
/* The same, the other findings (at length if `all`), and the evidence. */
void why_report(struct base_output *out, const struct why_evidence *evidence,
		const struct why_findings *findings, bool all);
const char *why_say_mode(uint8_t mode);
const char *why_say_wait(uint8_t wait);

/* By the kernel's own row, else by events: "unknown" where the kernel has rows, and none of this thread. */
const char *why_say_state(const struct why_evidence *evidence, const struct why_thread *thread);
#define WHY_JSON_VERSION 1u
/* One JSON object, as ktrace-why(1) describes it. */
void why_report_json(struct base_output *out, const struct why_evidence *evidence,
		     const struct why_findings *findings);

#endif
