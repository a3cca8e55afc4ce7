/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/tables.h"

#include <string.h>

/* One array of text a file of share/tables: host/kdump/kdump.mk. */
#include "build/gen/tables.h"

static const struct {
	const char *name, *text;
} built_in[] = {
	{ "linux", table_linux },
	{ "freebsd", table_freebsd },
	{ "dragonfly", table_dragonfly },
};

const char *kdump_tables_text(const char *name)
{
	for (size_t n = 0; n < sizeof(built_in) / sizeof(built_in[0]); n++)
		if (strcmp(built_in[n].name, name) == 0)
			return built_in[n].text;
	return NULL;
}

static const char *name_of(enum ktread_proc_format format)
{
	switch (format) {
	case KTREAD_PROC_DRAGONFLY:
		return "dragonfly";
	case KTREAD_PROC_FREEBSD0:
	case KTREAD_PROC_FREEBSD0_I386:
	case KTREAD_PROC_FREEBSD1:
		return "freebsd";
	default:
		return "linux";
	}
}

const char *kdump_tables_choose(const struct ktread_proc *trace, const char *given)
{
	const char *own = ktread_proc_table(trace);

	return given ? given : *own ? own : kdump_tables_text(name_of(ktread_proc_info(trace)->format));
}
