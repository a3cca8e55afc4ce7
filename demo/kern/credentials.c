/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "credentials.h"

bool credentials_in_group(const struct credentials *who, uint32_t gid)
{
	if (who->effective_gid == gid)
		return true;
	for (uint32_t i = 0; i < who->groups; i++)
		if (who->group[i] == gid)
			return true;
	return false;
}

bool credentials_may_see(const struct credentials *who, const struct credentials *target)
{
	return who->jail == 0 || who->jail == target->jail;
}

bool credentials_may_signal(const struct credentials *who, const struct credentials *target)
{
	if (credentials_is_superuser(who))
		return true;
	return who->uid == target->uid || who->uid == target->saved_uid ||
	       who->effective_uid == target->uid || who->effective_uid == target->saved_uid;
}

/* Pointers to a process's real, effective and saved ids: to its user ids or to its group ids. */
struct ids {
	uint32_t *real, *effective, *saved;
};

static bool may_become(const struct ids *ids, uint32_t wanted)
{
	return wanted == CREDENTIALS_KEEP || wanted == *ids->real || wanted == *ids->effective ||
	       wanted == *ids->saved;
}

static bool change(uint32_t *id, uint32_t wanted)
{
	if (wanted == CREDENTIALS_KEEP || wanted == *id)
		return false;
	*id = wanted;
	return true;
}

static int set(struct credentials *who, const struct ids *ids, uint32_t real, uint32_t effective,
	       uint32_t saved)
{
	bool changed;

	if (!credentials_is_superuser(who) &&
	    !(may_become(ids, real) && may_become(ids, effective) && may_become(ids, saved)))
		return -EPERM;
	changed = change(ids->real, real);
	changed |= change(ids->effective, effective);
	changed |= change(ids->saved, saved);
	who->set_id |= changed;
	return 0;
}

int credentials_set_users(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved)
{
	const struct ids ids = { &who->uid, &who->effective_uid, &who->saved_uid };

	return set(who, &ids, real, effective, saved);
}

int credentials_set_groups(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved)
{
	const struct ids ids = { &who->gid, &who->effective_gid, &who->saved_gid };

	return set(who, &ids, real, effective, saved);
}

void credentials_exec(struct credentials *who, uint32_t mode, uint32_t uid, uint32_t gid)
{
	if (mode & S_ISUID)
		who->effective_uid = uid;
	if (mode & S_ISGID)
		who->effective_gid = gid;
	who->saved_uid = who->effective_uid;
	who->saved_gid = who->effective_gid;
	who->set_id = who->effective_uid != who->uid || who->effective_gid != who->gid;
}
