/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Commands that go on with what a running guest records, until it ends or a signal comes. */
#ifndef CMD_FOLLOWED_H
#define CMD_FOLLOWED_H

#include "cmd/trace_args.h"
#include "base/output.h"
#include "ktread/follow.h"

struct followed {
	const struct trace_args *args;
	struct base_output *out; /* flushed whenever nothing is at hand */
	int by_ring;
	/*
	 * What came next, its end included. 0: go on; 1: enough; 2: it has said why not; or a negative
	 * KTREAD_E_*.
	 */
	int (*take)(void *context, struct ktread_follow *follow, const struct ktread_followed *now);
	void *context;
};

/* -1 after a message: there is nothing to follow in such a file; otherwise the exit status. */
int followed_run(const struct followed *followed);

#endif
