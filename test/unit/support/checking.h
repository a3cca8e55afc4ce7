/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Checks rules against a script (script.h), for tests of rules. */
#ifndef TEST_CHECKING_H
#define TEST_CHECKING_H

#include <stdint.h>

#include "analyze/rules.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum {
	SWITCH = 1,
	BLOCK,
	WAKE,
	CREATE,
	EXIT,
	ENTER,
	LEAVE,
	IRQ,
	IRQ_END,
	EOI,
	FAULT,
	RESOLVED,
	FORK,
	EXEC,
	END,
	LOCK,
	UNLOCK,
	SWITCHED,
	REPEAT
};

/* Rules, error and results of the last check. If rules were refused, checking_error contains the reason. */
extern struct rules *checking_rules;
extern struct rules_error checking_error;
extern struct check_result checking_result[RULES_MAX];
/* The function that selects the events to judge, as rules->judges; NULL: all events are judged. */
extern rules_judge *checking_judges;

/*
 * Call checking_begin() before each test: it begins a script with the types of events above. Call
 * checking_end() after each test: it frees the script.
 */
int checking_begin(void **state);
int checking_end(void **state);

/* Parses rules with rules_parse(), and returns its result. */
int checking_parse(const char *text);
/* Parses rules, and checks whether the script obeys them. */
void checking_run(const char *text);
/*
 * Checks how often the last rule was kept, violated, and left undecided. Also checks that no other rule was
 * violated.
 */
void checking_expect(uint64_t held, uint64_t violated, uint64_t undecided);

#endif
