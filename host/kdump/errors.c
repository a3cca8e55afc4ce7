/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Errors in words: each kernel has numbers of its own, so the way to this machine's text goes by the name. */
#include <string.h>

#include "kdump/table_parse.h"

#define LOCAL_ERRORS 256

static const char *local_text(const char *name)
{
	for (int number = 1; number < LOCAL_ERRORS; number++) {
		const char *here = strerrorname_np(number);

		if (here && strcmp(here, name) == 0)
			return strerrordesc_np(number);
	}
	return name;
}

const char *kdump_table_error_text(struct kdump_table *table, int32_t number)
{
	const char *name = kdump_table_error(table, number);

	if (name && !table->error_text[number])
		table->error_text[number] = local_text(name);
	return name ? table->error_text[number] : NULL;
}
