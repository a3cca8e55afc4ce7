/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The identity of a process. The rights of a process depend on its effective ids and its groups. Its real ids
 * are those of the user who started it. The saved ids allow a set-id program to change its effective ids and
 * later restore them.
 */
#ifndef DEMO_CREDENTIALS_H
#define DEMO_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

struct credentials {
	uint32_t uid, effective_uid, saved_uid;
	uint32_t gid, effective_gid, saved_gid;
	uint32_t groups; /* number of groups in group[] */
	uint32_t group[GROUPS_MAX];
	uint32_t jail; /* number of the jail; 0: none */
	/*
	 * True: the process may have data that its real user must not read. Its ids have changed since its
	 * start, or its program's file is executable but not readable for the user.
	 */
	bool set_id;
};

static inline bool credentials_is_superuser(const struct credentials *who)
{
	return who->effective_uid == 0;
}

bool credentials_in_group(const struct credentials *who, uint32_t gid);

/*
 * Returns true if a process with the credentials `who` may see a process with the credentials `target`: the
 * first process is in no jail, or both are in the same jail.
 */
bool credentials_may_see(const struct credentials *who, const struct credentials *target);
bool credentials_may_signal(const struct credentials *who, const struct credentials *target);

/*
 * Set the real, effective and saved id. CREDENTIALS_KEEP leaves an id as it is. Only the superuser may choose
 * any ids; for others, each new id must be one of their three current ids. Return 0 or -EPERM.
 */
#define CREDENTIALS_KEEP UINT32_MAX
int credentials_set_users(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);
int credentials_set_groups(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);

/*
 * Updates the credentials of a process that starts a program. mode, uid and gid are those of the program's
 * file: if the file is set-id, the process gets the ids of the file's owner as effective ids. The saved ids
 * become equal to the effective ids.
 */
void credentials_exec(struct credentials *who, uint32_t mode, uint32_t uid, uint32_t gid);

#endif
