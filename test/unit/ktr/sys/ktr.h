/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a kernel puts where its sources look for DragonFly's header. */
#ifndef TEST_SYS_KTR_H
#define TEST_SYS_KTR_H

#include <ktrace/ktr.h>

#endif
