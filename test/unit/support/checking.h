/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Rules checked against a script (script.h), for tests of rules. */
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
	SWITCHED
};

/* Of the last check; the error also of the last rules that were refused. */
extern struct rules *checking_rules;
extern struct rules_error checking_error;
extern struct check_result checking_result[RULES_MAX];

/* Around each test: a script with the types of events above. */
int checking_begin(void **state);
int checking_end(void **state);

/* Reads rules. 0, or what rules_parse() says. */
int checking_parse(const char *text);
/* Reads rules and checks the script against them. */
void checking_run(const char *text);
/* How often the last rule was kept, violated, and left undecided; no other rule was violated. */
void checking_expect(uint64_t held, uint64_t violated, uint64_t undecided);

#endif
