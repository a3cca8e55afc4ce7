/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The output formats of this build. formats.list is generated from EXPORT_FORMATS, in order of name. */
#include "export/export.h"

#include <string.h>

#define FORMAT(name) extern const struct export_format export_##name;
#include "formats.list"
#undef FORMAT

static const struct export_format *const formats[] = {
#define FORMAT(name) &export_##name,
#include "formats.list"
#undef FORMAT
};

const struct export_format *export_format_at(unsigned n)
{
	return n < sizeof(formats) / sizeof(formats[0]) ? formats[n] : NULL;
}

const struct export_format *export_format_find(const char *name)
{
	const struct export_format *format;

	for (unsigned n = 0; (format = export_format_at(n)); n++)
		if (strcmp(format->name, name) == 0)
			return format;
	return NULL;
}
