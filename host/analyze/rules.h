/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rules that a trace is held against, as doc/rules.md defines them: a file's text becomes a table of rules,
 * which is then bound to a trace, that is, to the ids of its events.
 *
 * The text is hostile: whatever it holds, the result is a table within the limits below, or an error with its
 * place.
 */
#ifndef ANALYZE_RULES_H
#define ANALYZE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/event_name.h"
#include "analyze/keyed.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

#define RULES_MAX	 128u
#define RULES_TEXT_MAX	 ((size_t)1 << 20)
#define RULES_WORD	 64u /* bytes of a word, NUL included */
#define RULES_EVENTS	 8u  /* of one rule */
#define RULES_CONDITIONS 4u  /* of one event */

enum rule_form {
	RULE_NEVER,  /* the subject, in that state of things if one is named */
	RULE_AFTER,  /* never the subject after a cause, unless there was a release */
	RULE_WITHIN, /* every cause is followed by a subject in time, unless there was a release */
	RULE_ALWAYS, /* the subject's `required` holds */
	RULE_MOST,   /* so many subjects, of a time if one is given */
	RULE_BROKEN, /* what a CPU's row says was broken there */
	RULE_DEPTH,  /* no rule of its own: up with each cause, down with each release, none at a subject */
};

enum rule_role { RULE_SUBJECT, RULE_CAUSE, RULE_RELEASE, RULE_NEEDED };

enum rule_relation { RULE_EQUAL, RULE_UNEQUAL, RULE_LESS, RULE_UP_TO, RULE_MORE, RULE_FROM, RULE_HAS_BITS };

/* FIELD RELATION VALUE */
struct rule_condition {
	char field[RULES_WORD];
	char other[RULES_WORD]; /* a field or a string; "" if `number` counts */
	uint64_t number;
	enum rule_relation relation;
	bool string, negative; /* `other` is a string; `number` is below zero */
};

struct rule_event {
	char pattern[RULES_WORD];
	enum rule_role role;
	uint8_t contexts; /* bits 1 << KTRX_CONTEXT_*; 0: any */
	struct rule_condition condition[RULES_CONDITIONS];
	uint32_t conditions;
	uint32_t line, column;
	uint8_t ids[(KTRX_EVENT_MAX + 1) / 8]; /* bit map, once bound */
};

struct rule {
	char name[RULES_WORD];
	uint32_t line;
	enum rule_form form;
	bool optional; /* left out where the trace lacks what it speaks of */
	struct rule_event event[RULES_EVENTS];
	uint32_t events;
	char key[KEYED_WORDS][RULES_EVENTS][RULES_WORD]; /* `by`, a name for each event */
	uint32_t keys;
	uint64_t limit;		       /* RULE_MOST: how many; `while DEPTH > limit` */
	uint64_t time;		       /* ns, 0: none */
	uint64_t ticks;		       /* the same in ticks, once bound */
	bool in_depth;		       /* RULE_NEVER: … while `depth` is above `limit` */
	uint32_t depth;		       /* index of the rule that is one */
	uint32_t broken;	       /* RULE_BROKEN: KTRX_BROKEN_* */
	char thread_field[RULES_WORD]; /* RULE_NEVER: … while that thread is in one of … */
	uint32_t thread_states;	       /* … bits 1 << enum threads_state; 0: no such clause */
	struct rule_condition required[RULES_CONDITIONS]; /* RULE_ALWAYS */
	uint32_t requirements;
	bool checked;  /* bound: false if it does not apply, and … */
	char why[320]; /* … why not */
};

struct rules {
	struct rule
		rule[RULES_MAX]; /* in the order of the file; those that are depths are before their users */
	uint32_t count;
};

struct rules_error {
	uint32_t line, column; /* from 1 */
	char text[320];
};

/* 0, KTREAD_E_FORMAT and an error, or KTREAD_E_MEMORY. `*rules` is to be freed with free(). */
int rules_parse(struct rules **rules, const char *text, size_t length, struct rules_error *error);

/*
 * Finds each rule's events and fields in a trace. A rule that is not optional must have them: else
 * KTREAD_E_FORMAT and an error. An event that is switched off, and has no record, makes any rule one that is
 * not checked; to know this the trace is read to its end and rewound.
 */
int rules_bind(struct rules *rules, struct ktread *trace, struct rules_error *error);

/* Does the trace say that debug.ktr.state is 0, so that hooks keep no state? */
bool rules_state_is_off(const struct ktread *trace);

/* The value of a name in `by`: the field; of an event without it, `thread` and `cpu` are who fires it. */
bool rules_key(const struct rule *rule, uint32_t event, const struct ktread_event *fired, uint64_t *key);
/* Does the event fit: its id, its context, its conditions? */
bool rules_fits(const struct rule_event *wanted, const struct ktread_event *fired);
/* All conditions hold. *missing if the payload does not hold one of the fields. */
bool rules_hold(const struct rule_condition *condition, uint32_t count, const struct ktread_event *fired,
		bool *missing);

/* ---- Checks ---- */

/*
 * Checks a trace against rules. Calls back for each violation when it is found. Events that are missing in
 * the trace never cause a violation, and never count as a rule that was kept: where lost slots could have
 * held the events that decide, the rule counts as undecided.
 *
 * Memory is bounded: a table of KEYED_MAX entries a rule, and the threads and gaps as their own headers have
 * them.
 */

struct check_violation {
	uint32_t rule;
	uint64_t stamp;	 /* of the event that violates; of one that never came, when it was due */
	uint64_t number; /* of that event in the order of reading, from 1; 0: one that never came, or none */
	uint32_t cpu, thread;
	bool has_cause; /* it goes back to an event at … */
	uint64_t cause_stamp;
	uint32_t cause_cpu, cause_thread;
	bool in_state; /* RULE_BROKEN: as a CPU's row says, at … */
	uint64_t pc;
	uint64_t object; /* a lock, 0: none */
	uint64_t count;	 /* RULE_MOST: how many there were; RULE_NEVER in a depth: how deep */
};

struct check_result {
	uint64_t held; /* times that the rule was decided and held */
	uint64_t violated;
	uint64_t undecided; /* times that lost slots kept it open */
	uint64_t unknown; /* times that the state of a thread was not known: sched.switch does not give it */
	/* times that clocks kept it open: it depends on events of CPUs too close to compare */
	uint64_t unordered;
	/* of `violated`: they depend on the order of events of CPUs whose clocks are unknown */
	uint64_t uncertain;
	/* events that lack the key, or are beyond the table's limit; those of its depth, too */
	uint64_t left_out;
	struct check_violation first; /* by stamp, if there is one */
};

typedef void check_told(void *context, const struct check_violation *violation);

/*
 * Reads the trace twice, to its end. `result` has a row for each rule. `doubt`: ticks by which clocks that
 * the guest did not measure are taken to differ at most, 0 if unknown. A violation that depends on events of
 * different CPUs no further apart than `doubt` is counted as unordered; with 0, as violated and as uncertain.
 * Returns 0, or KTREAD_E_MEMORY, or what ktread_next() returned; what was found until then stands.
 */
int check_read(const struct rules *rules, struct ktread *trace, uint64_t doubt, struct check_result *result,
	       check_told *told, void *context);

/* Is the end of a ring missing, as in a file that is cut short? Known once the trace was read. */
bool check_lacks_end(const struct ktread *trace);

/* ---- Words ---- */

/* A rule file as words: blanks and comments go, and each word knows its place. */

enum rule_word_kind {
	RULE_WORD_END,	/* of the text */
	RULE_WORD_NAME, /* also patterns and numbers */
	RULE_WORD_STRING,
	RULE_WORD_MARK, /* ( ) , : / and operators */
	RULE_WORD_BAD,	/* `text` says what is wrong */
};

struct rule_word {
	enum rule_word_kind kind;
	char text[RULES_WORD];
	uint32_t line, column;
	bool begins; /* stands at the beginning of a line: a statement begins */
};

struct rule_words {
	const char *at, *end, *line_start;
	uint32_t line;
	struct rule_word word; /* the next one */
};

void rule_words_open(struct rule_words *words, const char *text, size_t length);
void rule_words_next(struct rule_words *words);

#endif
