/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Waits of programs for words of their memory, on which their own locks are built: wait_on and wake of abi.h. */
#ifndef DEMO_WORD_WAIT_H
#define DEMO_WORD_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct word_wait {
	uintptr_t address;
	uint32_t value;	      /* that the word must have */
	uint64_t deadline_ns; /* clock_ns(), WAIT_FOR_EVER */
	bool is_lock;	      /* WAIT_OWNER */
	uintptr_t place;      /* of the program */
	const char *name;     /* kernel copy, "": none */
};

/* By the running thread: 0 or -errno. May sleep. */
int word_wait(const struct word_wait *wanted);

/* Wakes threads of the running process: how many. */
unsigned word_wake(uintptr_t address, unsigned most);

#endif
