/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Whom a process acts for. What it may do goes by its effective ids and its groups; the real ones are those of who
 * started it, and the saved ones what a set-id program may take up again after it has laid them down.
 */
#ifndef DEMO_CREDENTIALS_H
#define DEMO_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

struct credentials {
	uint32_t uid, effective_uid, saved_uid;
	uint32_t gid, effective_gid, saved_gid;
	uint32_t groups; /* of group[], beside the ids above */
	uint32_t group[GROUPS_MAX];
	uint32_t jail; /* 0: none */
	/*
	 * What it knows may be more than its real user may know: ids have changed since it was started, or its program may
	 * be run and not read.
	 */
	bool set_id;
};

static inline bool credentials_is_superuser(const struct credentials *who)
{
	return who->effective_uid == 0;
}

bool credentials_in_group(const struct credentials *who, uint32_t gid);

/* Who is in a jail sees nobody outside of it. */
bool credentials_may_see(const struct credentials *who, const struct credentials *target);
bool credentials_may_signal(const struct credentials *who, const struct credentials *target);

/*
 * Real, effective and saved id, CREDENTIALS_KEEP: as it is. Each may become what any of the three is; the superuser's,
 * anything. 0 or -EPERM.
 */
#define CREDENTIALS_KEEP UINT32_MAX
int credentials_set_users(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);
int credentials_set_groups(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);

/* A program of that owner and mode is started: set-id programs run as their owner. Saved ids become the effective ones. */
void credentials_exec(struct credentials *who, uint32_t mode, uint32_t uid, uint32_t gid);

#endif
