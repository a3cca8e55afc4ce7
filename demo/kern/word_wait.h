/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Waiting for words in user memory: wait_on and wake of abi.h. Programs implement their locks with these
 * calls.
 */
#ifndef DEMO_WORD_WAIT_H
#define DEMO_WORD_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct word_wait {
	uintptr_t address;
	uint32_t value;	      /* value that the word must have; otherwise the thread does not sleep */
	uint64_t deadline_ns; /* time, as clock_ns(), at which the wait ends; or WAIT_FOR_EVER */
	bool is_lock;	      /* true: the caller has set WAIT_OWNER */
	/* Code address in the program, which the trace shows as the place of the wait. */
	uintptr_t place;
	const char *name; /* name of the word, in kernel memory; "" if it has none */
};

/*
 * If the word has the value `wanted->value`, makes the running thread wait until word_wake(), a signal, or
 * the deadline. Returns 0 or -errno. May sleep.
 */
int word_wait(const struct word_wait *wanted);

/*
 * Wakes at most `most` threads of the running process that wait for the word at that address. Returns their
 * number.
 */
unsigned word_wake(uintptr_t address, unsigned most);

#endif
