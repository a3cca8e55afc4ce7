/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The integer types of <stdint.h>, and constants of these types. A kernel that is compiled with -nostdinc has
 * its own <stdint.h>, which may lack the limits and the macros of constants. The kernel may define these in
 * another header, so ktrace has names of its own.
 */
#ifndef KTRX_INTEGERS_H
#define KTRX_INTEGERS_H

#include <stdint.h>

#define KTRX_U16_MAX 0xffff
#define KTRX_U32_MAX 0xffffffffU
#define KTRX_U64_MAX KTRX_U64(0xffffffffffffffff)

#define KTRX_U32(value) value##U
#if defined(__UINT64_C)
#define KTRX_U64(value) __UINT64_C(value)
#elif defined(__UINT64_C_SUFFIX__)
#define KTRX_JOIN(value, suffix)	  value##suffix
#define KTRX_JOIN_EXPANDED(value, suffix) KTRX_JOIN(value, suffix)
#define KTRX_U64(value)			  KTRX_JOIN_EXPANDED(value, __UINT64_C_SUFFIX__)
#else
#define KTRX_U64(value) value##ULL
#endif

#endif
