/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Who may trace whom. */
#ifndef KTRACE_PROC_PERMISSION_H
#define KTRACE_PROC_PERMISSION_H

#include "ktrace/proc.h"

/*
 * Whoever gained rights, by a set-id program or by changing its ids, is out of reach of those who have less;
 * so is a trace that the superuser has set.
 */
KTRACE_UNUSED_INLINE int ktrace_proc_may_trace(const struct ktrace_proc_identity *caller,
					       const struct ktrace_proc_identity *target,
					       int set_by_superuser)
{
	if (caller->jail != 0 && caller->jail != target->jail)
		return 0;
	if (caller->euid == 0)
		return 1;
	return caller->euid == target->ruid && target->ruid == target->svuid &&
	       caller->rgid == target->rgid && target->rgid == target->svgid && !target->set_id &&
	       !set_by_superuser;
}

#endif
