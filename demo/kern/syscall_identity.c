/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls on credentials, process groups and jails. */
#include "credentials.h"
#include "process.h"
#include "process_trace.h"
#include "syscall.h"

static const struct credentials *own(void)
{
	return &process_self()->cred;
}

/* Type of the functions of credentials.h that change ids. */
typedef int set_ids(struct credentials *who, uint32_t real, uint32_t effective, uint32_t saved);

static int64_t change(set_ids *set, uint32_t real, uint32_t effective, uint32_t saved)
{
	struct credentials who = *own();
	int error = set(&who, real, effective, saved);

	if (error)
		trace_denied(KTRX_PROC_DENIED_PRIVILEGE, 0, 0, NULL);
	else
		process_set_identity(process_self(), &who);
	return error;
}

/*
 * Implements setuid and setgid: for the superuser, changes all three ids. For others, changes only the
 * effective id, which may become one of the process's three ids.
 */
static int64_t change_own(set_ids *set, uint32_t id)
{
	uint32_t others = credentials_is_superuser(own()) ? id : CREDENTIALS_KEEP;

	return id == CREDENTIALS_KEEP ? -EINVAL : change(set, others, id, others);
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

int64_t sys_setuid(const struct call *call)
{
	return change_own(credentials_set_users, (uint32_t)call->a[0]);
}

int64_t sys_setgid(const struct call *call)
{
	return change_own(credentials_set_groups, (uint32_t)call->a[0]);
}

int64_t sys_seteuid(const struct call *call)
{
	return change(credentials_set_users, CREDENTIALS_KEEP, (uint32_t)call->a[0], CREDENTIALS_KEEP);
}

int64_t sys_setegid(const struct call *call)
{
	return change(credentials_set_groups, CREDENTIALS_KEEP, (uint32_t)call->a[0], CREDENTIALS_KEEP);
}

int64_t sys_setresuid(const struct call *call)
{
	return change(credentials_set_users, (uint32_t)call->a[0], (uint32_t)call->a[1],
		      (uint32_t)call->a[2]);
}

int64_t sys_setresgid(const struct call *call)
{
	return change(credentials_set_groups, (uint32_t)call->a[0], (uint32_t)call->a[1],
		      (uint32_t)call->a[2]);
}

/* Copies the real, effective and saved id to the three addresses in the call's arguments. */
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

/*
 * getgroups(count, groups): copies the groups, of which there must be at most `count`, and returns their
 * number. If count is 0, copies none.
 */
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
	struct credentials who = *own();
	uint64_t count = call->a[0];
	int error = call_superuser();

	if (!error && count > GROUPS_MAX)
		error = -EINVAL;
	if (!error)
		error = vm_copy_in(&process_self()->vm, who.group, call->a[1], count * sizeof(who.group[0]));
	if (error)
		return error;
	who.groups = (uint32_t)count;
	process_set_identity(process_self(), &who);
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

/*
 * jail(): puts the caller and its future children into a new jail. Returns the jail's number. A process
 * cannot leave its jail.
 */
int64_t sys_jail(const struct call *call)
{
	static uint32_t last;
	struct credentials who = *own();
	int error = call_superuser();

	(void)call;
	if (!error && who.jail)
		error = -EINVAL;
	if (error)
		return error;
	who.jail = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	process_set_identity(process_self(), &who);
	return who.jail;
}
