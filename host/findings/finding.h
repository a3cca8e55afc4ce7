/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What `why`, `doctor` and `check` find, in one form for people and for programs. */
#ifndef FINDINGS_FINDING_H
#define FINDINGS_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"

#define FINDING_LINES 24u
#define FINDING_LINE  512u

enum finding_mark {
	FINDING_OK,
	FINDING_NOTE, /* the trace leaves it open */
	FINDING_DARK, /* a view of other commands is missing, nothing else */
	FINDING_WRONG,
	FINDING_MARKS,
};

enum finding_certainty {
	FINDING_POSSIBLE,
	FINDING_LIKELY,
	FINDING_CERTAIN, /* needs positive evidence */
};
const char *finding_certainty_word(enum finding_certainty certain);

/* Strings that come from a guest or a file are escaped before they get here. */
struct finding {
	const char *kind; /* a word or two, the same each time; borrowed */
	enum finding_mark mark;
	enum finding_certainty certain;
	bool partial;		  /* something is lost or unknown that could change it */
	char what[FINDING_LINE];  /* one sentence */
	char where[FINDING_LINE]; /* CPU, thread, place or time; of advice the place to change; "" unknown */
	char evidence[FINDING_LINES][FINDING_LINE];
	uint32_t lines;		   /* of evidence */
	char advice[FINDING_LINE]; /* what to do, or what would make it more certain; "" nothing */
};

/* Returns the ending of a noun that is counted: "" for 1, else "s". */
static inline const char *finding_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* snprintf() into a text of a finding, cut where it must be. */
__attribute__((format(printf, 2, 3))) void finding_say(char text[FINDING_LINE], const char *format, ...);
/* A line of evidence; drops it after FINDING_LINES. */
__attribute__((format(printf, 2, 3))) void finding_evidence(struct finding *finding, const char *format, ...);

/* A list in the order in which things were found. Zeroed, it is empty. */
struct findings {
	struct finding *finding;
	uint32_t count, room;
	uint32_t marks[FINDING_MARKS]; /* how many of each */
	bool failed;		       /* memory was short: some are missing */
};

/* Adds a finding. An ok is certain, a note possible, others likely: findings_set_certain() changes that. */
__attribute__((format(printf, 4, 5))) void findings_add(struct findings *findings, enum finding_mark mark,
							const char *kind, const char *format, ...);
/* Sets advice and its place in the finding that was added last. */
__attribute__((format(printf, 3, 4))) void findings_advise(struct findings *findings, const char *where,
							   const char *format, ...);
/* Sets the certainty of the finding that was added last. */
void findings_set_certain(struct findings *findings, enum finding_certainty certain);
void findings_free(struct findings *findings);

/* A row of a table: mark, kind, what; below it where and advice. `colour`: for a terminal. */
void finding_put_row(struct base_output *out, const struct finding *finding, bool colour);

/* "deadlock: …", and below it evidence and advice, as far as `style` has them. */
struct finding_style {
	unsigned width; /* columns of a line, 0: any number */
	bool certain;	/* "deadlock (certain): …" */
	bool brief;	/* no evidence, no advice */
};
void finding_put_text(struct base_output *out, const struct finding *finding,
		      const struct finding_style *style);
/* Breaks a text into lines. All but the first are indented further; blanks that it begins with are kept. */
void finding_put_wrapped(struct base_output *out, unsigned width, unsigned indent, const char *text);

/* Names of members that commands had before they shared one form: they stay. NULL: the command had none. */
struct finding_keys {
	const char *kind, *certain, *what, *evidence, *advice;
};
/* Members of a JSON object, without its braces; what is unknown is null. `earlier` may be NULL. */
void finding_put_json(struct base_output *out, const struct finding *finding,
		      const struct finding_keys *earlier);

#endif
