/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The tree of an expression: made by parse.c, bound to a trace by bind.c, evaluated by evaluate.c. */
#ifndef FILTER_TREE_H
#define FILTER_TREE_H

#include "filter/filter.h"

enum filter_kind {
	FILTER_AND,
	FILTER_OR,
	FILTER_NOT,
	FILTER_COMPARE,
	FILTER_HAS,
};

enum filter_relation {
	FILTER_EQUAL,
	FILTER_UNEQUAL,
	FILTER_LESS,
	FILTER_UP_TO,
	FILTER_MORE,
	FILTER_FROM,
	FILTER_LIKE,
	FILTER_UNLIKE,
};

/* The property of an event that a comparison reads. */
enum filter_source {
	FILTER_EVENT,
	FILTER_CATEGORY,
	FILTER_CPU,
	FILTER_THREAD,
	FILTER_TIME,
	FILTER_FIELD,
};

enum filter_literal {
	FILTER_NUMBER,
	/* decimal number such as 1.5; allowed only in comparisons of the time, and means seconds */
	FILTER_DECIMAL,
	FILTER_DURATION, /* a number with a unit of time, such as 1.5ms */
	FILTER_TEXT,
};

struct filter_value {
	enum filter_literal kind;
	uint32_t column;
	/* the number; a decimal number (in seconds) and a duration are converted to nanoseconds */
	__int128 number;
	const char *text; /* the string, NUL-terminated; owned by the filter */
};

enum filter_how {
	FILTER_ABSENT = 0, /* the event has no such field, or the field's type does not fit the value */
	FILTER_AT_OFFSET,  /* a number at a fixed offset of the payload */
	FILTER_AFTER_TEXT, /* a number after a string, so that its offset differs from event to event */
	FILTER_STRING,
};

/* How to read a field of one event type, and how to compare it. */
struct filter_place {
	uint8_t how; /* enum filter_how */
	uint8_t field;
	uint8_t width;
	bool is_signed;
	bool ticks; /* true: the field is compared with node->in_ticks */
	uint32_t offset;
	uint64_t scale; /* factor by which the field's value is multiplied before the comparison */
};

struct filter_node {
	enum filter_kind kind;
	uint16_t left, right; /* indices of the operands' nodes; FILTER_NOT has only `left` */
	uint32_t column;
	/* FILTER_COMPARE and FILTER_HAS: */
	enum filter_source source;
	const char *events; /* pattern of the events that have the field; NULL: all events */
	const char *name;
	enum filter_relation relation;
	struct filter_value value;
	/* Members that filter_bind() sets: */
	/* for FILTER_EVENT and FILTER_CATEGORY: bit map of the events for which the comparison is true */
	uint8_t *map;
	/*
	 * for FILTER_FIELD: place of the field, indexed by event id; ids from `places` on have no such field
	 */
	struct filter_place *place;
	uint32_t places;
	__int128 in_ticks; /* the value in billionths of a tick */
	uint64_t since,
		/*
		 * for FILTER_TIME: first and last timestamp for which the comparison is true; since > until:
		 * none
		 */
		until;
};

struct filter {
	struct filter_node node[FILTER_NODES];
	uint32_t nodes;
	uint16_t root;
	/* set by filter_set_process() */
	bool has_process;
	uint32_t process;
	struct ktread *trace; /* the trace to which the filter is bound; NULL: none */
	char *words;	      /* memory for the names and strings that the nodes use */
	size_t words_used;
};

/* Matches bytes with a pattern, in which * means any bytes, ? any byte, and \ the next byte as it is. */
bool filter_glob(const char *pattern, const char *bytes, size_t length);

/* Stores an error and returns KTREAD_E_FORMAT. */
__attribute__((format(printf, 3, 4))) int filter_fail(struct filter_error *error, uint32_t column,
						      const char *format, ...);

#endif
