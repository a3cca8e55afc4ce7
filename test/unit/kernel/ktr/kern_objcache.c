/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A file in the style of DragonFly's kernel: it uses the types of that kernel, and KTR as that kernel does.
 * It also contains declarations that DragonFly has in headers.
 */
/* clang-format off */
#include <sys/ktr.h>

#include "ktr.h"

typedef unsigned int	u_int;
typedef unsigned long	u_long;
typedef uint64_t	vm_paddr_t;

struct objcache {
	const char	*name;
	int		total;
	u_long		exhausted;
};

struct globaldata {
	int		gd_cpuid;
};

#if !defined(KTR_OBJCACHE)
#define KTR_OBJCACHE	KTR_ALL
#endif
KTR_INFO_MASTER(objcache);

#define OC_ARGS		"oc=%p name=%s cpu=%d"

KTR_INFO(KTR_OBJCACHE, objcache, get_beg, 0, OC_ARGS " flags=%08x",
	 struct objcache *oc, const char *name, int cpu, u_int flags);
KTR_INFO(KTR_OBJCACHE, objcache, get_end, 1, "obj=%p exhausted=%lu",
	 void *obj, u_long exhausted);
KTR_INFO(KTR_OBJCACHE, objcache, put, 2, "obj=%p pa=%016jx", const void *obj, uintmax_t pa);
KTR_INFO(KTR_OBJCACHE, objcache, sleep, 3, "no arguments");

#define logobj(name, obj, arg)	KTR_LOG(objcache_ ## name, obj, arg)

static void *objcache_last;

void *
objcache_get(struct objcache *oc, struct globaldata *gd, u_int flags)
{
	void *obj = objcache_last;

	KTR_LOG(objcache_get_beg, oc, oc->name, gd->gd_cpuid, flags);
	if (obj == NULL) {
		oc->exhausted++;
		KTR_LOG(objcache_sleep);
	}
	logobj(get_end, obj, oc->exhausted);
	return (obj);
}

void
objcache_put(struct objcache *oc, void *obj, vm_paddr_t pa)
{
	KTR_COND_LOG(objcache_put, oc->total > 0, obj, (uintmax_t)pa);
	if (oc->total > 0)
		objcache_last = obj;
}
