/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Trace points in the style of DragonFly's ktr: one for each kind of argument, with known values. */
#include <stddef.h>

/* In a real kernel, its configuration would define these macros. */
#define KTR	  1
#define KTR_LEASE 1
#include <ktrace/ktr.h>

#include "work.h"

struct lease {
	uint32_t number;
};

KTR_INFO_MASTER(lease);
KTR_INFO(KTR_LEASE, lease, grant, 0, "%s gets %p, %u of %ld", const char *holder, struct lease *lease,
	 uint32_t number, long most);
KTR_INFO(KTR_LEASE, lease, expire, 1, "%c after %lld ms", char reason, long long ms);
KTR_INFO(KTR_LEASE, lease, idle, 2, "nothing to do");

void work_ktr(uint64_t until_ns)
{
	static struct lease lease = { 7 };

	(void)until_ns;
	KTR_LOG(lease_grant, "a holder", &lease, lease.number, -1L);
	KTR_LOG(lease_expire, 'x', -250LL);
	KTR_COND_LOG(lease_idle, lease.number == 7);
	KTR_COND_LOG(lease_grant, lease.number == 8, "nobody", NULL, 0, 0L);
}
