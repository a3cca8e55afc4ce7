/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Compatibility with DragonFly: put include/compat on the include path, and `#include <sys/ktr.h>` includes
 * ktrace/ktr.h, which has macros of the same names. This directory contains only headers with DragonFly's
 * names.
 */
#ifndef KTRACE_COMPAT_SYS_KTR_H
#define KTRACE_COMPAT_SYS_KTR_H

#include "ktrace/ktr.h"

#endif
