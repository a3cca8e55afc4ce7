/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Machinery of event.h: what the compiler checks of an event's text and of a site's arguments. C and C++ hold
 * a text against its arguments by -Wformat. C++ refuses an argument of another type by itself. C converts
 * pointers and numbers into each other and only warns, if at all: there each site asserts that its arguments
 * fit.
 */
#ifndef KTRACE_EVENT_CHECK_H
#define KTRACE_EVENT_CHECK_H

#include "ktrace/compiler.h"
#include "ktrace/macros.h"
#include "ktrace/types.h"

/* Never called: lets the compiler hold the text against the arguments. */
static inline __attribute__((__format__(__printf__, 1, 2), __unused__)) void
ktrace_format_check(const char *text, ...)
{
	(void)text;
}

#ifdef __cplusplus

#define KTRACE_FIELD_SCALAR(type, message)
#define KTRACE_FIELD_RULE(id, n, type)
#define KTRACE_ARGUMENT_CHECKS(id, ...)

/* A value as its text takes it: %p wants a pointer to void if the compiler is pedantic. */
extern "C++" {
template <typename T> __attribute__((__always_inline__)) inline T ktrace_formatted(T value)
{
	return value;
}
template <typename T>
__attribute__((__always_inline__)) inline const volatile void *ktrace_formatted(T *pointer)
{
	return pointer;
}
__attribute__((__always_inline__)) inline const char *ktrace_formatted(const char *string)
{
	return string;
}
__attribute__((__always_inline__)) inline const char *ktrace_formatted(char *string)
{
	return string;
}
}
#define KTRACE_FORMATTED(value)		    ktrace_formatted(value)
#define KTRACE_FORMATTED_FIELD(code, value) ktrace_formatted(value)
#define KTRACE_CODES			    : unsigned

#else

#define KTRACE_CODES

/* Refuses a structure with this message, before a cast to it is refused. `*(type *)0` is not evaluated. */
#define KTRACE_FIELD_SCALAR(type, message) KTRX_STATIC_ASSERT(!KTRACE_IS_STRUCTURE(*(type *)0), message);

/* What a field takes, as C++ has it. A bool takes numbers and pointers. */
#define KTRACE_TAKES_NUMBER		   1
#define KTRACE_TAKES_SCALAR		   2
#define KTRACE_TAKES_POINTER		   3 /* void pointers, and those to its own type */
#define KTRACE_TAKES_ANY		   4 /* any pointer: the field is a void pointer */

/* Is the pointer to void, of whatever qualifiers? */
#define KTRACE_IS_VOID_POINTER(pointer)                                                                   \
	_Generic((pointer), void * : 1, const void * : 1, volatile void * : 1, const volatile void * : 1, \
		 default : 0)

/*
 * Is it a null pointer constant, such as 0? The other operand of ?: gives a pointer to int its type only
 * then.
 */
#define KTRACE_IS_NULL(value)	_Generic(1 ? (int *)0 : (void *)(uintptr_t)(value), int * : 1, default : 0)

/* A value as its text takes it: %p wants a pointer to void if the compiler is pedantic. */
#define KTRACE_FORMATTED(value) KTRACE_FORMATTED_FIELD(KTRACE_TYPE_OF(value), value)
#define KTRACE_FORMATTED_FIELD(code, value) \
	__builtin_choose_expr((code) == KTRX_TYPE_POINTER, (void *)(uintptr_t)(value), value)

/* A pointer as it is; a null pointer for a number. */
#define KTRACE_AS_POINTER(value) __builtin_choose_expr(KTRACE_IS_NUMBER(value), (void *)0, value)

#define KTRACE_TAKES(code, type)                                                           \
	((code) == KTRX_TYPE_BOOL				     ? KTRACE_TAKES_SCALAR \
	 : (code) != KTRX_TYPE_POINTER && (code) != KTRX_TYPE_STRING ? KTRACE_TAKES_NUMBER \
	 : KTRACE_IS_VOID_POINTER((type)0)			     ? KTRACE_TAKES_ANY    \
								     : KTRACE_TAKES_POINTER)

/*
 * What the declaration of an event leaves for its sites: of each field what it takes, and its type if a
 * pointer.
 */
#define KTRACE_FIELD_RULE(id, n, type)                                                           \
	enum { KTRACE_PASTE(id##_takes_, n) = KTRACE_TAKES(KTRACE_PASTE(id##_type_, n), type) }; \
	typedef __typeof__(KTRACE_AS_POINTER((type)0)) KTRACE_PASTE(id##_pointer_, n);

/* ?: of pointers to different types is a pointer to void. */
#define KTRACE_FITS(takes, field, value)                                   \
	((takes) == KTRACE_TAKES_SCALAR ? 1                                \
	 : KTRACE_IS_NUMBER(value)                                         \
		 ? (takes) == KTRACE_TAKES_NUMBER || KTRACE_IS_NULL(value) \
		 : (takes) == KTRACE_TAKES_ANY ||                          \
			   ((takes) == KTRACE_TAKES_POINTER &&             \
			    (KTRACE_IS_VOID_POINTER(value) ||              \
			     !KTRACE_IS_VOID_POINTER(1 ? (field)0 : KTRACE_AS_POINTER(value)))))

/* Not for clang-format, which does not know what to make of it. */
/* clang-format off */
#define KTRACE_ARGUMENT_CHECK(id, n, value)                                                      \
	_Static_assert(KTRACE_FITS(KTRACE_PASTE(id##_takes_, n), KTRACE_PASTE(id##_pointer_, n), (value)), \
		       "ktrace: an argument does not fit its field");
#define KTRACE_ARGUMENT_CHECKS(id, ...)                        \
	KTRACE_UNEVALUATED_BEGIN                               \
	KTRACE_EACH(KTRACE_ARGUMENT_CHECK, id, __VA_ARGS__)    \
	KTRACE_UNEVALUATED_END
/* clang-format on */

/*
 * An argument with a side effect, or one cast to and fro, is nothing to warn of where it is only looked at.
 */
#ifdef __clang__
#define KTRACE_UNEVALUATED_BEGIN                                                                      \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunevaluated-expression\"") \
		_Pragma("GCC diagnostic ignored \"-Wbad-function-cast\"")
#else
#define KTRACE_UNEVALUATED_BEGIN \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wbad-function-cast\"")
#endif
#define KTRACE_UNEVALUATED_END _Pragma("GCC diagnostic pop")

#endif

#endif
