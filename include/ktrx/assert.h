/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Compile-time checks of wire layouts, for C11 and C++17 alike. */
#ifndef KTRX_ASSERT_H
#define KTRX_ASSERT_H

#include <stddef.h>

#ifdef __cplusplus
#define KTRX_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define KTRX_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define KTRX_ASSERT_SIZE(type, bytes) KTRX_STATIC_ASSERT(sizeof(type) == (bytes), #type ": wrong size")
#define KTRX_ASSERT_OFFSET(type, member, bytes) \
	KTRX_STATIC_ASSERT(offsetof(type, member) == (bytes), #type "." #member ": wrong offset")

#endif
