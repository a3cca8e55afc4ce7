/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of `ktrace why`: the bytes are the trace. The output is written as text and as JSON.
 * test/fuzz/fuzz.mk links this file with libFuzzer, and with replay.c, which replays files.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/support/why_property.h"
#include "why/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void report(const struct why_evidence *evidence, const struct why_findings *findings)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct base_output out;

	if (fd < 0 || base_output_open(&out, fd) < 0)
		abort();
	why_report(&out, evidence, findings, &(struct why_style){ .all = true });
	why_report_json(&out, evidence, findings);
	base_output_close(&out);
	close(fd);
}

/*
 * Checks that the findings have the properties of why_property.h. Checks the times in the text only if
 * WHY_WORDS is set in the environment: it is set if the trace is not damaged. Names in a damaged trace may
 * look like times.
 */
static void examine(const char *path, const struct why_evidence *evidence,
		    const struct why_findings *findings)
{
	const char *broken = why_property_broken(evidence, findings, getenv("WHY_WORDS") != NULL);

	if (broken) {
		fprintf(stderr, "%s: %s\n", path, broken);
		abort();
	}
	report(evidence, findings);
}

static void explain(const char *path)
{
	const struct ktread_options options = { .size = sizeof(options) };
	struct why_evidence *evidence = NULL;
	struct why_findings *findings = NULL;
	struct ktread *trace;

	if (ktread_open(&trace, path, &options) == 0) {
		if (why_evidence_read(&evidence, trace, NULL) == 0 && ktread_rewind(trace) == 0 &&
		    why_evidence_add_earlier(evidence, trace, 1) == 0 && why_find(&findings, evidence) == 0)
			examine(path, evidence, findings);
		why_findings_free(findings);
		why_evidence_free(evidence);
	}
	ktread_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	int fd = memfd_create("why", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	explain(path);
	close(fd);
	return 0;
}
