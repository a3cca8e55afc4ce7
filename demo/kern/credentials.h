/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The identity of a process. Its rights depend on its effective ids and its groups. The real ids are those of
 * the user that started it. A set-id program can switch back to its saved ids.
 */
#ifndef DEMO_CREDENTIALS_H
#define DEMO_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

struct credentials {
	uint32_t uid, effective_uid, saved_uid;
	uint32_t gid, effective_gid, saved_gid;
	uint32_t groups; /* number of entries in use in group[] */
	uint32_t group[GROUPS_MAX];
	uint32_t jail; /* 0: none */
	/*
	 * The process may have data that its real user must not read: its ids have changed since its start,
	 * or the file of its program is executable but not readable.
	 */
	bool set_id;
};

static inline bool credentials_is_superuser(const struct credentials *who)
{
	return who->effective_uid == 0;
}

bool credentials_in_group(const struct credentials *who, uint32_t gid);

/* A process in a jail can see only processes in the same jail. */
bool credentials_may_see(const struct credentials *who, const struct credentials *target);
bool credentials_may_signal(const struct credentials *who, const struct credentials *target);

/*
 * Set the real, effective and saved id. CREDENTIALS_KEEP leaves an id as it is. Each new id must be one of
 * the three current ones, unless the process is the superuser. Return 0 or -EPERM.
 */
#define CREDENTIALS_KEEP UINT32_MAX
int credentials_set_users(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);
int credentials_set_groups(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);

/*
 * Updates credentials for the start of a program whose file has that mode and owner: a set-id program runs
 * with the ids of its owner. The saved ids become the effective ones.
 */
void credentials_exec(struct credentials *who, uint32_t mode, uint32_t uid, uint32_t gid);

#endif
