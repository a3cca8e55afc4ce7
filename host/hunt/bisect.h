/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds when a failure was decided. A run is repeated up to a virtual time and continued with other seeds. If
 * all continuations fail in the same way, the failure no longer depends on the schedule from that time on.
 */
#ifndef HUNT_BISECT_H
#define HUNT_BISECT_H

#include <stdint.h>

#include "hunt.h"

struct bisect {
	const struct hunt_options *options; /* `run`, `self`, `folder` and `jobs` are used */
	uint64_t runs;			    /* number of continuations from each time */
	/* Called with each result. */
	void (*step)(void *context, uint64_t time, uint64_t failed, uint64_t runs);
	void *context;
	/* Results. */
	struct hunt_kind failure; /* how the run fails */
	uint64_t from;		  /* all continuations from this time (in ns) on fail */
	/* at least one continuation from this time on does not fail; 0 if all continuations from 0 fail */
	uint64_t before;
	uint64_t before_failed; /* number of continuations from `before` that fail */
	int signal;		/* signal that ended the search; 0: none */
	char error[HUNT_ERROR];
};

/*
 * Repeats the run of options->run.schedule, and then searches. Returns 0; 1 if the run does not fail; or a
 * negative error with bisect->error.
 */
int bisect_run(struct bisect *bisect);

#endif
