/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/pattern.h"

#include <fnmatch.h>
#include <stdio.h>

bool pattern_means(const char *pattern, const struct ktread_type *type)
{
	char full[256];

	snprintf(full, sizeof(full), "%s.%s", type->group, type->name);
	return fnmatch(pattern, full, FNM_CASEFOLD) == 0 || fnmatch(pattern, type->name, FNM_CASEFOLD) == 0 ||
	       fnmatch(pattern, type->group, FNM_CASEFOLD) == 0;
}
