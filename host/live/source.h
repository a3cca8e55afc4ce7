/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where what is shown comes from: a guest's RAM file that comes, goes and comes back, or a test. All
 * functions get `context`.
 */
#ifndef LIVE_SOURCE_H
#define LIVE_SOURCE_H

#include <stdint.h>

#include "ktread/follow.h"

struct live_source {
	void *context;
	/*
	 * As ktread_follow_next(); 0 also while there is no guest. The end is told once, then the next guest
	 * is awaited.
	 */
	int (*next)(void *context, struct ktread_followed *now, int wait_ms);
	struct ktread *(*trace)(void *context); /* NULL: there is none now */
	int (*cpus)(void *context, struct ktrx_cpu *cpu, uint32_t room);
	int (*holders)(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room);
	void (*account)(void *context, struct ktread_follow_account *account); /* of all guests so far */
	uint64_t (*now)(void *context); /* nanoseconds of a clock that never goes back */
	const char *(*path)(void *context);
	const char *(*message)(void *context); /* of the last error */
};

#endif
