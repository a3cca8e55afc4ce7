/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What all headers of wire layouts use: integers, casts and compile-time checks, for C11 and C++17. */
#ifndef KTRX_BASE_H
#define KTRX_BASE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Constants of the integer types of <stdint.h>. A kernel that is compiled with -nostdinc has its own
 * <stdint.h>, which may lack the limits and the macros of constants. The kernel may define these in another
 * header, so ktrace has names of its own.
 */
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

#ifdef __cplusplus
#define KTRX_STATIC_ASSERT(condition, text) static_assert(condition, text)
#define KTRX_CAST(type, value)		    static_cast<type>(value)
#else
#define KTRX_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#define KTRX_CAST(type, value)		    ((type)(value))
#endif

/*
 * Between these two macros, inline functions of the headers may use C casts in C++, too. A C++ kernel may
 * forbid C casts in its own code (-Wold-style-cast), so macros do not use them.
 */
#if defined(__cplusplus)
#define KTRX_CASTS_BEGIN                                                                      \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") \
		_Pragma("GCC diagnostic ignored \"-Wsign-conversion\"") KTRX_CASTS_USELESS
#define KTRX_CASTS_END _Pragma("GCC diagnostic pop")
#if defined(__clang__)
#define KTRX_CASTS_USELESS
#else
#define KTRX_CASTS_USELESS _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
#endif
#else
#define KTRX_CASTS_BEGIN
#define KTRX_CASTS_END
#endif

#define KTRX_ASSERT_SIZE(type, bytes) KTRX_STATIC_ASSERT(sizeof(type) == (bytes), #type ": wrong size")
#define KTRX_ASSERT_OFFSET(type, member, bytes) \
	KTRX_STATIC_ASSERT(__builtin_offsetof(type, member) == (bytes), #type "." #member ": wrong offset")

#endif
