/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * For code that was written for DragonFly: put include/compat on the include path, and its `#include
 * <sys/ktr.h>` finds ktrace's macros of those names, ktrace/ktr.h. Nothing else is in this folder but what
 * DragonFly calls so.
 */
#ifndef KTRACE_COMPAT_SYS_KTR_H
#define KTRACE_COMPAT_SYS_KTR_H

#include "ktrace/ktr.h"

#endif
