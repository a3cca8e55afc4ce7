/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Rules for checking a trace, as doc/rules.md defines them. The text of a file is parsed into a table of
 * rules. The table is then bound to a trace, that is, to the ids of its events.
 *
 * The text is untrusted: for any text the result is a table within the limits below, or an error with its
 * position.
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
#define RULES_WORD	 64u /* maximum number of bytes of a word, NUL included */
#define RULES_EVENTS	 8u  /* maximum number of events of one rule */
#define RULES_CONDITIONS 4u  /* maximum number of conditions of one event */

enum rule_form {
	/*
	 * the subject must not occur; if the rule has a clause `while`, the subject must not occur while
	 * its condition is true
	 */
	RULE_NEVER,
	RULE_AFTER,  /* the subject must not follow a cause, unless a release is between them */
	RULE_WITHIN, /* a subject must follow every cause in time, unless a release is between them */
	RULE_ALWAYS, /* the condition `required` must be true for the subject */
	RULE_MOST,   /* at most `limit` subjects, in the whole trace or in an interval */
	RULE_BROKEN, /* no CPU descriptor may record the mistake `broken` */
	/*
	 * not a rule but a depth for other rules: a cause increments it, a release decrements it, a subject
	 * sets it to 0
	 */
	RULE_DEPTH,
};

enum rule_role { RULE_SUBJECT, RULE_CAUSE, RULE_RELEASE, RULE_NEEDED };

enum rule_relation { RULE_EQUAL, RULE_UNEQUAL, RULE_LESS, RULE_UP_TO, RULE_MORE, RULE_FROM, RULE_HAS_BITS };

/* A condition of an event: FIELD RELATION VALUE. */
struct rule_condition {
	char field[RULES_WORD];
	char other[RULES_WORD]; /* name of a field, or a string; if "", the field is compared with `number` */
	uint64_t number;
	enum rule_relation relation;
	bool string,	  /* true if `other` is a string */
		negative; /* true if `number` is below zero */
};

struct rule_event {
	char pattern[RULES_WORD];
	enum rule_role role;
	/* contexts in which the rule counts the event, as bits 1 << KTRX_CONTEXT_*; 0: in any context */
	uint8_t contexts;
	struct rule_condition condition[RULES_CONDITIONS];
	uint32_t conditions;
	uint32_t line, column;
	uint8_t ids[(KTRX_EVENT_MAX + 1) / 8]; /* bit map of event ids; valid once bound */
};

struct rule {
	char name[RULES_WORD];
	uint32_t line;
	enum rule_form form;
	/*
	 * true for an optional rule: if the trace lacks its events or fields, the rule is not checked, and
	 * this is not an error
	 */
	bool optional;
	struct rule_event event[RULES_EVENTS];
	uint32_t events;
	/* the names after `by`: for each word of the key, the name of the field in each event */
	char key[KEYED_WORDS][RULES_EVENTS][RULES_WORD];
	uint32_t keys;
	/* for RULE_MOST: maximum number of subjects; for RULE_NEVER: the number N in `while DEPTH > N` */
	uint64_t limit;
	uint64_t time;	/* time in ns; 0: none */
	uint64_t ticks; /* `time` in ticks; valid once the rule is bound */
	/* RULE_NEVER: true if the rule applies only while the depth is above `limit` */
	bool in_depth;
	uint32_t depth;	 /* index of the rule (RULE_DEPTH) that counts the depth */
	uint32_t broken; /* RULE_BROKEN: KTRX_BROKEN_* */
	/*
	 * RULE_NEVER: name of the field that gives a thread; the rule applies only if this thread is in one
	 * of `thread_states`
	 */
	char thread_field[RULES_WORD];
	/*
	 * states of that thread in which the rule applies, as bits 1 << enum threads_state; 0 if the rule has
	 * no clause about a thread
	 */
	uint32_t thread_states;
	/* for RULE_ALWAYS: the condition that must be true */
	struct rule_condition required[RULES_CONDITIONS];
	uint32_t requirements;
	bool checked;  /* whether the rule is checked; valid once bound */
	char why[320]; /* reason why the rule is not checked */
};

/* Returns whether rules judge an event. */
typedef bool rules_judge(void *context, const struct ktread_event *event);

struct rules {
	/*
	 * selects the events that are judged; all other events count only as context: as causes, ends and
	 * states; NULL: all events are judged
	 */
	rules_judge *judges;
	void *context;	    /* passed to `judges` */
	uint32_t count;	    /* number of rules, at most RULES_MAX */
	struct rule rule[]; /* rules in the order of the file; a depth precedes the rules that use it */
};

struct rules_error {
	uint32_t line, column; /* line and column of the error, counted from 1 */
	char text[320];
};

/*
 * Parses a text. Returns 0, KTREAD_E_FORMAT with *error filled in, or KTREAD_E_MEMORY. The caller frees
 * `*rules` with free() in any case.
 */
int rules_parse(struct rules **rules, const char *text, size_t length, struct rules_error *error);

/*
 * Finds each rule's events and fields in a trace. Returns 0, or KTREAD_E_FORMAT with *error filled in if a
 * rule compares a number with a string, or if the trace lacks an event or a field of a rule that is not
 * optional. If an event of a rule is switched off and has no record in the trace, the rule is not checked. To
 * find such records, the trace is read to its end and rewound.
 */
int rules_bind(struct rules *rules, struct ktread *trace, struct rules_error *error);

/*
 * Returns whether the setting debug.ktr.state is 0 in the trace, so that hooks do not maintain the state
 * tables.
 */
bool rules_state_is_off(const struct ktread *trace);

/* Returns whether hooks find the violations of this rule in the table of holders. */
bool rules_needs_holders(const struct rule *rule);

/*
 * Stores the words of the key: the values of the event's fields whose names are listed after `by`. If the
 * event has no field `thread` or `cpu`, these names mean the thread or the CPU that recorded the event.
 * Returns false if the event lacks one of the values.
 */
bool rules_key(const struct rule *rule, uint32_t event, const struct ktread_event *fired, uint64_t *key);
/* Returns whether the event matches: its id, its context, its conditions. */
bool rules_fits(const struct rule_event *wanted, const struct ktread_event *fired);
/* Returns whether all conditions are true. Sets *missing if the payload lacks one of the fields. */
bool rules_hold(const struct rule_condition *condition, uint32_t count, const struct ktread_event *fired,
		bool *missing);

/* ---- Checks of a trace ---- */

/*
 * Checks a trace against rules. Calls back for each violation when it is found. If an event that decides a
 * rule may be missing in the trace, the rule counts as undecided, not as violated or kept. An event may be
 * missing because slots were lost, or because the event was switched off or folded.
 *
 * Memory is bounded: a table of KEYED_MAX entries for each rule, and the limits of threads.h and
 * scheduling.h.
 */

struct check_violation {
	uint32_t rule;
	/*
	 * timestamp of the violating event; for an event that never came, the timestamp at which it was due
	 */
	uint64_t stamp;
	/* number of the violating event in the order of reading (numbers count from 1); 0: no event */
	uint64_t number;
	uint64_t slot; /* `ring` and `slot`: id of the violating event; valid if `number` is not 0 */
	uint32_t ring;
	uint32_t cpu, thread;
	bool has_cause; /* true if cause_stamp, cause_cpu and cause_thread are valid */
	uint64_t cause_stamp;
	uint32_t cause_cpu, cause_thread;
	/* RULE_BROKEN: true if a CPU descriptor records the violation; pc and object are then valid */
	bool in_state;
	uint64_t pc;
	uint64_t object; /* address of the lock, or 0 if no lock is involved */
	uint64_t count;	 /* RULE_MOST: number of subjects so far; RULE_NEVER with a depth: the depth */
};

struct check_result {
	uint64_t held; /* number of times that the rule was kept */
	uint64_t violated;
	/*
	 * number of times that the rule could not be decided, because slots were lost or events were switched
	 * off or folded
	 */
	uint64_t undecided;
	/* number of times in `undecided` for which the reason was that an event was switched off or folded */
	uint64_t switched_off;
	uint32_t off; /* id of the first event that was switched off */
	/*
	 * true if the reason was, at least once, that repetitions of an event were counted instead of
	 * recorded
	 */
	bool folded;
	/* number of times that a thread's state was unknown because sched.switch does not record it */
	uint64_t unknown;
	/*
	 * number of times that a thread had recorded sched.exit, but its switch recorded the state of a live
	 * thread
	 */
	uint64_t may_live;
	/*
	 * number of times that the order of events on different CPUs was unknown, because they were too close
	 * in time
	 */
	uint64_t unordered;
	/*
	 * number of violations in `violated` that depend on the order of events of CPUs whose clocks are
	 * unknown
	 */
	uint64_t uncertain;
	/*
	 * numbers of events that the rule or its depth needs and that were left out: because they lack a
	 * field that the rule uses, and because the rule's table was full
	 */
	uint64_t lacking, no_room;
	struct check_violation first; /* the earliest violation; valid if `violated` is not 0 */
};

typedef void check_found(void *context, const struct check_violation *violation);

/*
 * Reads the trace twice, to its end. `result` has an entry for each rule. `doubt`: maximum number of ticks by
 * which clocks that the guest did not measure are assumed to differ; 0 if unknown. A violation may depend on
 * events of different CPUs whose timestamps differ by at most `doubt`. It is then counted in `unordered`; if
 * `doubt` is 0, in `violated` and `uncertain`. Returns 0, KTREAD_E_MEMORY, or the error of ktread_next();
 * what was found until then stays valid.
 */
int check_read(const struct rules *rules, struct ktread *trace, uint64_t doubt, struct check_result *result,
	       check_found *found, void *context);

/* Returns whether the end of a ring is missing, as in a truncated file. Call it after the trace was read. */
bool check_lacks_end(const struct ktread *trace);

/* ---- Words of a rule file ---- */

/* Splits a rule file into words. Skips blanks and comments. Each word has its position. */

enum rule_word_kind {
	RULE_WORD_END,	/* there are no more words */
	RULE_WORD_NAME, /* the word is a name, pattern or number */
	RULE_WORD_STRING,
	RULE_WORD_MARK, /* one of ( ) , : / or an operator */
	RULE_WORD_BAD,	/* an error; `text` is its message */
};

struct rule_word {
	enum rule_word_kind kind;
	char text[RULES_WORD];
	uint32_t line, column;
	bool begins; /* true if the word is in the first column: it then begins a statement */
};

struct rule_words {
	const char *at, *end, *line_start;
	uint32_t line;
	struct rule_word word; /* the word that was read last and is not processed yet */
};

void rule_words_open(struct rule_words *words, const char *text, size_t length);
void rule_words_next(struct rule_words *words);

#endif
