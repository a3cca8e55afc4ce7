/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Findings of `why`, `doctor` and `check`: the common form, for people and for programs. */
#ifndef FINDINGS_FINDING_H
#define FINDINGS_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"

#define FINDING_LINES 24u
#define FINDING_LINE  512u

enum finding_mark {
	FINDING_OK,
	FINDING_NOTE, /* the trace does not show whether something is wrong */
	FINDING_DARK, /* nothing is wrong, but a view of another command is not available */
	FINDING_WRONG,
	FINDING_MARKS,
};

enum finding_certainty {
	FINDING_POSSIBLE,
	FINDING_LIKELY,
	FINDING_CERTAIN, /* certain: requires positive evidence */
};
const char *finding_certainty_word(enum finding_certainty certain);

/*
 * The event to which a line of evidence refers. A detector describes the event by timestamp, actor and
 * object. The event's ring and slot are looked up later, because detectors do not store them for all events.
 */
struct finding_event {
	bool asked;	 /* true if a detector has named an event; the next members are then valid */
	uint64_t stamp;	 /* timestamp of the event, or of a state that changed at the event */
	uint32_t actor;	 /* an id as in struct ktrx_holder: thread + 1, or KTRX_HOLDER_CPU | CPU */
	uint64_t object; /* address of the lock or queue in the event; 0: an event of any lock or queue */
	bool known;	 /* true if the event was found; the next members are then valid */
	uint32_t ring;
	uint64_t slot;
};

/* A finding. Requires: strings from a guest or a file are escaped before they are stored here. */
struct finding {
	const char *kind; /* one or two fixed words, such as "deadlock"; borrowed */
	enum finding_mark mark;
	enum finding_certainty certain;
	bool partial;		 /* true if lost or unknown data could change the finding */
	char what[FINDING_LINE]; /* the finding in one sentence */
	/*
	 * CPU, thread, place or time of the finding; if there is advice, the place in the kernel that the
	 * advice wants to change; "" if unknown
	 */
	char where[FINDING_LINE];
	char evidence[FINDING_LINES][FINDING_LINE];
	uint32_t lines; /* number of lines in `evidence` */
	bool cut;	/* true if a line was not added, because there was no room for it */
	struct finding_event event[FINDING_LINES]; /* the event of each line of `evidence` */
	struct finding_event shows;		   /* the event that shows the finding best */
	/* what to do, or what would make the finding more certain; "" if there is no advice */
	char advice[FINDING_LINE];
};

/* Returns the plural ending for a count: "" for 1, otherwise "s". */
static inline const char *finding_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Formats a text of a finding. Cuts the text if it is too long. */
__attribute__((format(printf, 2, 3))) void finding_say(char text[FINDING_LINE], const char *format, ...);
/* Adds a line of evidence. Does nothing if the finding already has FINDING_LINES lines. */
__attribute__((format(printf, 2, 3))) void finding_evidence(struct finding *finding, const char *format, ...);

/* Describes the event to which the newest line of evidence refers. `stamp` is 0 if it is unknown. */
void finding_refer(struct finding *finding, uint64_t stamp, uint32_t actor, uint64_t object);

/* A list of findings in the order in which they were added. An empty list is all zeros. */
struct findings {
	struct finding *finding;
	uint32_t count, room;
	uint32_t marks[FINDING_MARKS]; /* number of findings, indexed by mark */
	bool failed;		       /* true if memory ran out: findings are then missing */
};

/*
 * Adds a finding. Its certainty follows from its mark: FINDING_OK is certain, FINDING_NOTE is possible, other
 * marks are likely. findings_set_certain() changes the certainty.
 */
__attribute__((format(printf, 4, 5))) void findings_add(struct findings *findings, enum finding_mark mark,
							const char *kind, const char *format, ...);
/* Sets the advice of the newest finding, and `where` to the place to change. */
__attribute__((format(printf, 3, 4))) void findings_advise(struct findings *findings, const char *where,
							   const char *format, ...);
/* Sets the certainty of the newest finding. */
void findings_set_certain(struct findings *findings, enum finding_certainty certain);
void findings_free(struct findings *findings);

/*
 * Prints a finding as a row of a table with its mark, `kind` and `what`. The next lines contain `where` and
 * `advice`.
 */
void finding_put_row(struct base_output *out, const struct finding *finding);

/* Options for finding_put_text(). */
struct finding_style {
	unsigned width; /* width of a line in columns; 0: no limit */
	bool certain;	/* true: prints the certainty, as in "deadlock (certain): …" */
	bool brief;	/* true: prints neither evidence nor advice */
	bool ids;	/* true: prints after each line the id of its event, as in "… [1.2345]" */
	/* path of the trace; if it is set, prints the command that goes to the finding's event */
	const char *trace;
};
/* Prints "deadlock: …", and on the next lines the evidence and the advice. */
void finding_put_text(struct base_output *out, const struct finding *finding,
		      const struct finding_style *style);
/*
 * Breaks a text into lines of at most `width` columns. Indents the first line by `indent` columns, and the
 * other lines further. Keeps blanks at the beginning of the text.
 */
void finding_put_wrapped(struct base_output *out, unsigned width, unsigned indent, const char *text);

/* Writes the ids of events: "events", one for each line of evidence, and "event", that of the finding. */
void finding_put_ids_json(struct base_output *out, const struct finding *finding);

/*
 * Earlier names of JSON members: a command used them before all commands wrote findings in the same format.
 * They are still written, for compatibility. A member is NULL if the command had no such name.
 */
struct finding_keys {
	const char *kind, *certain, *what, *evidence, *advice;
};
/*
 * Writes the members of a finding's JSON object, without its braces. Unknown values are null. `earlier` may
 * be NULL.
 */
void finding_put_json(struct base_output *out, const struct finding *finding,
		      const struct finding_keys *earlier);

#endif
