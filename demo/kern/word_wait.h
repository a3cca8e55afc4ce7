/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Waits for words in user memory, on which programs build their locks: wait_on and wake of abi.h. */
#ifndef DEMO_WORD_WAIT_H
#define DEMO_WORD_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct word_wait {
	uintptr_t address;
	uint32_t value;	      /* the value that the word must have */
	uint64_t deadline_ns; /* clock_ns() time, or WAIT_FOR_EVER */
	bool is_lock;	      /* WAIT_OWNER was given */
	uintptr_t place;      /* code address in the program */
	const char *name;     /* in kernel memory; "": none */
};

/* Makes the running thread wait. Returns 0 or -errno. May sleep. */
int word_wait(const struct word_wait *wanted);

/* Wakes waiting threads of the running process. Returns the number of woken threads. */
unsigned word_wake(uintptr_t address, unsigned most);

#endif
