/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the doctor found, in the order in which it was found, for people and for programs. */
#ifndef DOCTOR_REPORT_H
#define DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "doctor/views.h"

enum doctor_mark {
	DOCTOR_OK,
	DOCTOR_NOTE, /* cannot be told here */
	DOCTOR_DARK, /* not there, and nothing the worse for it: a view is missing */
	DOCTOR_WRONG,
	DOCTOR_MARKS,
};

#define DOCTOR_TEXT 512u
#define DOCTOR_LINE 192u

struct doctor_finding {
	enum doctor_mark mark;
	const char *about; /* a word or two */
	const char *where; /* to do what is in `line`; NULL: there is nothing to do */
	const char *line;
	char text[DOCTOR_TEXT];
	char own_line[DOCTOR_LINE]; /* what `line` is where no view has it; "": a view has */
};

struct doctor_report {
	struct doctor_finding *finding;
	uint32_t count, room;
	uint32_t marks[DOCTOR_MARKS]; /* how many of each */
	bool failed;		      /* without memory: some are missing */
};

/* `about` is not copied. What comes from the guest must be escaped. */
__attribute__((format(printf, 4, 5))) void doctor_say(struct doctor_report *report, enum doctor_mark mark,
						      const char *about, const char *format, ...);
/* The line that lights a view, or a view that is in doubt. */
__attribute__((format(printf, 4, 5))) void doctor_say_view(struct doctor_report *report,
							   enum doctor_mark mark, const struct view *view,
							   const char *format, ...);
/* The line that repairs what was said last, and the place it belongs to, which is not copied. */
__attribute__((format(printf, 3, 4))) void doctor_say_line(struct doctor_report *report, const char *where,
							   const char *format, ...);
void doctor_report_free(struct doctor_report *report);

/* `colour`: for a terminal. */
void doctor_write_text(struct base_output *out, const struct doctor_report *report, bool colour);
void doctor_write_json(struct base_output *out, const struct doctor_report *report);

#endif
