/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The integer types of <stdint.h>. A kernel that is compiled with -nostdinc has its own <stdint.h>, which may
 * lack the limits and the macros of constants.
 */
#ifndef KTRX_INTEGERS_H
#define KTRX_INTEGERS_H

#include <stdint.h>

#ifndef UINT16_MAX
#define UINT16_MAX 0xffff
#endif
#ifndef UINT32_MAX
#define UINT32_MAX 0xffffffffU
#endif
#ifndef UINT64_MAX
#define UINT64_MAX 0xffffffffffffffffULL
#endif
#ifndef UINT32_C
#define UINT32_C(value) value##U
#endif
#ifndef UINT64_C
#define UINT64_C(value) value##ULL
#endif

#endif
