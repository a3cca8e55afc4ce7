/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls on whom a process acts for, and with whom it is grouped or shut in. */
#include "credentials.h"
#include "process.h"
#include "syscall.h"

static struct credentials *own(void)
{
	return &process_self()->cred;
}

/* ---- Users and groups -------------------------------------------------------------------------- */

int64_t sys_getuid(const struct call *call)
{
	(void)call;
	return own()->uid;
}

int64_t sys_geteuid(const struct call *call)
{
	(void)call;
	return own()->effective_uid;
}

int64_t sys_getgid(const struct call *call)
{
	(void)call;
	return own()->gid;
}

int64_t sys_getegid(const struct call *call)
{
	(void)call;
	return own()->effective_gid;
}

/* The superuser becomes that user for good; others only take on what they are or were. */
int64_t sys_setuid(const struct call *call)
{
	uint32_t uid = (uint32_t)call->a[0];
	bool for_good = credentials_is_superuser(own());

	if (uid == CREDENTIALS_KEEP)
		return -EINVAL;
	return credentials_set_users(own(), for_good ? uid : CREDENTIALS_KEEP, uid,
				     for_good ? uid : CREDENTIALS_KEEP);
}

int64_t sys_setgid(const struct call *call)
{
	uint32_t gid = (uint32_t)call->a[0];
	bool for_good = credentials_is_superuser(own());

	if (gid == CREDENTIALS_KEEP)
		return -EINVAL;
	return credentials_set_groups(own(), for_good ? gid : CREDENTIALS_KEEP, gid,
				      for_good ? gid : CREDENTIALS_KEEP);
}

int64_t sys_seteuid(const struct call *call)
{
	return credentials_set_users(own(), CREDENTIALS_KEEP, (uint32_t)call->a[0], CREDENTIALS_KEEP);
}

int64_t sys_setegid(const struct call *call)
{
	return credentials_set_groups(own(), CREDENTIALS_KEEP, (uint32_t)call->a[0], CREDENTIALS_KEEP);
}

int64_t sys_setresuid(const struct call *call)
{
	return credentials_set_users(own(), (uint32_t)call->a[0], (uint32_t)call->a[1], (uint32_t)call->a[2]);
}

int64_t sys_setresgid(const struct call *call)
{
	return credentials_set_groups(own(), (uint32_t)call->a[0], (uint32_t)call->a[1],
				      (uint32_t)call->a[2]);
}

/* Three ids to three addresses. */
static int64_t give_ids(const struct call *call, const uint32_t ids[static 3])
{
	int error = 0;

	for (unsigned i = 0; !error && i < 3; i++)
		error = vm_copy_out(&process_self()->vm, call->a[i], &ids[i], sizeof(ids[i]));
	return error;
}

int64_t sys_getresuid(const struct call *call)
{
	const struct credentials *who = own();

	return give_ids(call, (const uint32_t[]){ who->uid, who->effective_uid, who->saved_uid });
}

int64_t sys_getresgid(const struct call *call)
{
	const struct credentials *who = own();

	return give_ids(call, (const uint32_t[]){ who->gid, who->effective_gid, who->saved_gid });
}

/* getgroups(count, groups): how many there are; a count of 0 only asks. */
int64_t sys_getgroups(const struct call *call)
{
	const struct credentials *who = own();
	int error;

	if (call->a[0] == 0)
		return who->groups;
	if (call->a[0] < who->groups)
		return -EINVAL;
	error = vm_copy_out(&process_self()->vm, call->a[1], who->group, who->groups * sizeof(who->group[0]));
	return error ? error : (int64_t)who->groups;
}

int64_t sys_setgroups(const struct call *call)
{
	struct credentials *who = own();
	uint32_t group[GROUPS_MAX];
	uint64_t count = call->a[0];
	int error;

	if (!credentials_is_superuser(who))
		return -EPERM;
	if (count > GROUPS_MAX)
		return -EINVAL;
	error = vm_copy_in(&process_self()->vm, group, call->a[1], count * sizeof(group[0]));
	if (error)
		return error;
	who->groups = (uint32_t)count;
	for (uint32_t i = 0; i < count; i++)
		who->group[i] = group[i];
	return 0;
}

int64_t sys_issetugid(const struct call *call)
{
	(void)call;
	return own()->set_id;
}

/* ---- Process groups and jails ------------------------------------------------------------------ */

int64_t sys_setpgid(const struct call *call)
{
	int64_t pid = (int32_t)call->a[0], group = (int32_t)call->a[1];

	return pid < 0 || group < 0 ? -EINVAL : process_set_group((uint32_t)pid, (uint32_t)group);
}

int64_t sys_getpgid(const struct call *call)
{
	int64_t pid = (int32_t)call->a[0], group = -ESRCH;
	const struct process *process;
	bool irq_on = process_lock();

	process = pid ? process_find((uint32_t)pid) : process_self();
	if (process && credentials_may_see(own(), &process->cred))
		group = process->group;
	process_unlock(irq_on);
	return group;
}

/* jail(): shuts the caller and all that it starts into a new jail, whose number it is told. There is no way out. */
int64_t sys_jail(const struct call *call)
{
	static uint32_t last;
	struct credentials *who = own();

	(void)call;
	if (!credentials_is_superuser(who))
		return -EPERM;
	if (who->jail)
		return -EINVAL;
	who->jail = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return who->jail;
}
