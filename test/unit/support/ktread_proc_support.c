/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "unit/support/ktread_proc_support.h"

const char *const proc_golden[PROC_FORMATS] = { PROC_FOLDER "ktrx.ktrace", PROC_FOLDER "dragonfly.ktrace",
						PROC_FOLDER "freebsd0.ktrace",
						PROC_FOLDER "freebsd0-i386.ktrace",
						PROC_FOLDER "freebsd1.ktrace" };
const enum ktread_proc_format proc_format[PROC_FORMATS] = { KTREAD_PROC_KTRX, KTREAD_PROC_DRAGONFLY,
							    KTREAD_PROC_FREEBSD0, KTREAD_PROC_FREEBSD0_I386,
							    KTREAD_PROC_FREEBSD1 };

void proc_load(const char *path, struct bytes *bytes)
{
	unsigned char chunk[4096];
	FILE *file = fopen(path, "rb");
	size_t got;

	assert_non_null(file);
	while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		bytes_append(bytes, chunk, got);
	fclose(file);
}

struct ktread_proc *proc_open(const char *path, enum ktread_proc_format format)
{
	const struct ktread_proc_options options = { .size = sizeof(options), .format = format };
	struct ktread_proc *trace;

	if (ktread_proc_open(&trace, path, &options) < 0)
		fail_msg("%s", ktread_proc_message(NULL));
	return trace;
}

struct ktread_proc *proc_open_put(struct put *put)
{
	struct ktread_proc *trace = proc_open(temporary_bytes(&put->bytes), proc_format[put->format]);

	bytes_free(&put->bytes);
	return trace;
}

const struct ktread_proc_record *proc_next(struct ktread_proc *trace)
{
	const struct ktread_proc_record *record;

	if (ktread_proc_next(trace, &record) != 1)
		fail_msg("no record: %s", ktread_proc_message(trace));
	return record;
}

void proc_ends(struct ktread_proc *trace)
{
	const struct ktread_proc_record *record;

	for (int i = 0; i < 2; i++)
		if (ktread_proc_next(trace, &record) != 0)
			fail_msg("no end: %s", ktread_proc_message(trace));
	ktread_proc_close(trace);
}

void proc_fails(struct ktread_proc *trace, const char *words)
{
	const struct ktread_proc_record *record;

	assert_int_equal(ktread_proc_next(trace, &record), KTREAD_E_FORMAT);
	if (!strstr(ktread_proc_message(trace), words))
		fail_msg("said was: %s", ktread_proc_message(trace));
	proc_ends(trace);
}

void proc_read_outline(struct ktread_proc *trace, struct proc_outline *outline)
{
	const struct ktread_proc_record *record;
	int status;

	memset(outline, 0, sizeof(*outline));
	while ((status = ktread_proc_next(trace, &record)) != 0) {
		if (status > 0) {
			assert_true(outline->records < PROC_OFFSETS);
			outline->offset[outline->records++] = record->offset;
			continue;
		}
		assert_int_equal(status, KTREAD_E_FORMAT);
		outline->errors++;
		snprintf(outline->last_error, sizeof(outline->last_error), "%s", ktread_proc_message(trace));
	}
	assert_int_equal(ktread_proc_info(trace)->records, outline->records);
	outline->stepped_over = ktread_proc_info(trace)->skipped;
}
