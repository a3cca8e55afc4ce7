/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How a table is kept: what table.c looks up and table_parse.c puts there. Names point into `text`. */
#ifndef KDUMP_TABLE_PARSE_H
#define KDUMP_TABLE_PARSE_H

#include "kdump/tables.h"

#define KDUMP_TEXT_MAX	  ((size_t)1 << 20) /* what is longer is cut */
#define KDUMP_TYPES_MAX	  512u
#define KDUMP_LAYOUTS_MAX 256u

struct kdump_table_call {
	struct kdump_call public;
	bool named; /* its number is to be found out */
	char own_name[KDUMP_NAME + 1];
};

struct kdump_table {
	char *text;
	uint16_t machine;
	unsigned address_size;
	bool has_names;

	struct kdump_table_call *call[KDUMP_CALLS_MAX];
	unsigned calls;
	struct kdump_call *by_number[KDUMP_CALLS_MAX];
	uint8_t asked[KDUMP_CALLS_MAX / 8]; /* by name: found out already */

	const char *error[KDUMP_ERRORS_MAX];
	const char *error_text[KDUMP_ERRORS_MAX]; /* of those that were asked for */
	const char *signal[KDUMP_SIGNALS];
	struct kdump_type *type[KDUMP_TYPES_MAX];
	unsigned types;
	struct kdump_layout *layout[KDUMP_LAYOUTS_MAX];
	unsigned layouts;
	struct kdump_value *value; /* those of a type follow each other */
};

/* Takes `text` apart, which it changes. 0, or KTREAD_E_MEMORY with whatever is there by then. */
int kdump_table_parse(struct kdump_table *table);

#endif
