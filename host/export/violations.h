/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What `ktrace check` found, as text and as JSON. */
#ifndef EXPORT_VIOLATIONS_H
#define EXPORT_VIOLATIONS_H

#include "analyze/rules.h"
#include "base/output.h"

struct violations {
	struct ktread *trace;
	const struct rules *rules;
	const struct check_result *result; /* a row for each rule */
	const char *path;		   /* of the rule file */
	bool unread;			   /* the trace's end is missing or could not be read */
};

/* One violation, as it is found: a line, or an element of the list "violations". */
void violations_put_text(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation);
void violations_put_json(struct base_output *out, const struct violations *found,
			 const struct check_violation *violation, bool first);

/* The outcome of each rule, and the events before the first violation. What reading them again returned. */
int violations_write_text(struct base_output *out, const struct violations *found);
/* The same as members of a JSON object, without braces. */
int violations_write_json(struct base_output *out, const struct violations *found);

/* The first of all violations in time, NULL if all rules hold. */
const struct check_violation *violations_first(const struct violations *found);

#endif
