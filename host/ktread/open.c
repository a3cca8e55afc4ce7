/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Telling what a file holds, and opening it as that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dumps.h"
#include "message.h"
#include "open.h"
#include "v1.h"
#include "v2.h"

static int open_dump(struct ktread *trace)
{
	struct ktread_dumps dumps;
	int status = ktread_dumps_find(trace->memory, &dumps);

	if (status < 0)
		return status;
	trace->info.offset = dumps.last.offset;
	trace->info.dumps = dumps.complete;
	trace->info.skipped_bytes = dumps.skipped;
	if (dumps.skipped)
		ktread_warn(trace, "%s: %" PRIu64 " bytes belong to no dump", trace->memory->name,
			    dumps.skipped);
	if (dumps.last.truncated)
		ktread_warn(trace, "%s: the dump at offset %" PRIu64 " is cut short: showing what there is",
			    trace->memory->name, dumps.last.offset);
	trace->info.form = dumps.last.version == KTRX2_VERSION ? KTREAD_FORM_V2 : KTREAD_FORM_V1;
	if (trace->info.form == KTREAD_FORM_V2)
		return ktread_v2_open_dump(trace, dumps.last.offset);
	return ktread_v1_open(trace, &dumps.last);
}

static int open_content(struct ktread *trace)
{
	switch (trace->options.form) {
	case KTREAD_FORM_BARE:
		trace->info.form = KTREAD_FORM_BARE;
		return ktread_bare_open(trace);
	default:
		return open_dump(trace);
	}
}

static int take_options(struct ktread *trace, const struct ktread_options *options)
{
	if (!options)
		return 0;
	if (options->size != sizeof(*options) || (int)options->form < KTREAD_FORM_AUTO ||
	    options->form > KTREAD_FORM_CORE)
		return ktread_fail(KTREAD_E_ARGUMENT, "unusable options");
	trace->options = *options;
	return 0;
}

int ktread_open(struct ktread **trace, const char *path, const struct ktread_options *options)
{
	struct ktread *opened = calloc(1, sizeof(*opened));
	int status;

	*trace = NULL;
	if (!opened)
		return ktread_fail_memory();
	opened->info.kernel = "";
	status = take_options(opened, options);
	if (status == 0)
		status = ktread_types_init(&opened->types);
	if (status == 0)
		status = ktread_source_open_file(&opened->memory, path);
	if (status == 0)
		status = open_content(opened);
	if (status == 0 && opened->options.frequency)
		opened->info.frequency = opened->options.frequency;
	if (status == 0)
		status = ktread_rewind(opened);
	if (status < 0) {
		ktread_close(opened);
		return status;
	}
	*trace = opened;
	return 0;
}

void ktread_open_release(struct ktread *trace)
{
	ktread_layout_close(trace->layout);
	free(trace->offset);
	free(trace->build_id);
	ktread_memory_close(trace->memory);
}
