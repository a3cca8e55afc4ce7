/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Compile-time checks of wire layouts, for C11 and C++17. */
#ifndef KTRX_ASSERT_H
#define KTRX_ASSERT_H

#include <stddef.h>

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
