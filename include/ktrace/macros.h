/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Macros on which event.h is built: they count arguments, apply a macro to each of up to 16 arguments, and
 * test whether a macro is defined as 1. The preprocessor has no loops, so the lists are written out.
 */
#ifndef KTRACE_MACROS_H
#define KTRACE_MACROS_H

#define KTRACE_PASTE(a, b)  KTRACE_PASTE_(a, b)
#define KTRACE_PASTE_(a, b) a##b
#define KTRACE_STRING(x)    KTRACE_STRING_(x)
#define KTRACE_STRING_(x)   #x

/* Expands to 1 if the macro x is defined as 1, otherwise to 0. `x` is macro-expanded first. */
#define KTRACE_IS_ONE(x)		  KTRACE_IS_ONE_(KTRACE_PASTE(KTRACE_ONE_, x))
#define KTRACE_IS_ONE_(x)		  KTRACE_SECOND(x 1, 0, 0)
#define KTRACE_SECOND(first, second, ...) second
#define KTRACE_ONE_1			  0,

/*
 * KTRACE_EACH(do, context, text, a, …) expands to do(context, n, a) for each argument after the text. n is a
 * different number for each argument, and 15 for the last argument.
 */
#define KTRACE_COUNT(...)                                                                                  \
	KTRACE_COUNT_(__VA_ARGS__, 17, 17, 17, 17, 17, 17, 17, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, \
		      5, 4, 3, 2, 1, 0, 0)
#define KTRACE_COUNT_(text, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
		      a19, a20, a21, a22, a23, a24, n, ...)                                                  \
	n

/* Rejects more than 16 arguments at compile time. KTRACE_COUNT() is 17 for 17 to 24 arguments. */
#define KTRACE_COUNT_CHECK(...) \
	KTRACE_COUNT_MESSAGE(KTRACE_PASTE(KTRACE_COUNT_IS_, KTRACE_COUNT(__VA_ARGS__)))
#define KTRACE_COUNT_MESSAGE(...) KTRACE_SECOND(__VA_ARGS__, , )
#define KTRACE_COUNT_IS_17	  0, KTRX_STATIC_ASSERT(0, "ktrace: an event has at most 16 fields");
#define KTRACE_EACH_17(...)

#define KTRACE_EACH(do, context, ...) \
	KTRACE_PASTE(KTRACE_EACH_, KTRACE_COUNT(__VA_ARGS__))(do, context, __VA_ARGS__)
#define KTRACE_EACH_0(do, c, text)
#define KTRACE_EACH_1(do, c, text, a) \
	do                            \
	(c, 15, a)
#define KTRACE_EACH_2(do, c, text, a, ...) \
	do                                 \
	(c, 14, a) KTRACE_EACH_1(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_3(do, c, text, a, ...) \
	do                                 \
	(c, 13, a) KTRACE_EACH_2(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_4(do, c, text, a, ...) \
	do                                 \
	(c, 12, a) KTRACE_EACH_3(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_5(do, c, text, a, ...) \
	do                                 \
	(c, 11, a) KTRACE_EACH_4(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_6(do, c, text, a, ...) \
	do                                 \
	(c, 10, a) KTRACE_EACH_5(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_7(do, c, text, a, ...) \
	do                                 \
	(c, 9, a) KTRACE_EACH_6(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_8(do, c, text, a, ...) \
	do                                 \
	(c, 8, a) KTRACE_EACH_7(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_9(do, c, text, a, ...) \
	do                                 \
	(c, 7, a) KTRACE_EACH_8(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_10(do, c, text, a, ...) \
	do                                  \
	(c, 6, a) KTRACE_EACH_9(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_11(do, c, text, a, ...) \
	do                                  \
	(c, 5, a) KTRACE_EACH_10(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_12(do, c, text, a, ...) \
	do                                  \
	(c, 4, a) KTRACE_EACH_11(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_13(do, c, text, a, ...) \
	do                                  \
	(c, 3, a) KTRACE_EACH_12(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_14(do, c, text, a, ...) \
	do                                  \
	(c, 2, a) KTRACE_EACH_13(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_15(do, c, text, a, ...) \
	do                                  \
	(c, 1, a) KTRACE_EACH_14(do, c, text, __VA_ARGS__)
#define KTRACE_EACH_16(do, c, text, a, ...) \
	do                                  \
	(c, 0, a) KTRACE_EACH_15(do, c, text, __VA_ARGS__)

/* Expands to 0 if the count is 0, otherwise to nothing: ISO C forbids an empty initialiser. */
#define KTRACE_ZERO_IF_NONE(count) KTRACE_ZERO_IF_NONE_(KTRACE_PASTE(KTRACE_NONE_, count))
#define KTRACE_ZERO_IF_NONE_(x)	   KTRACE_SECOND(x 0, , )
#define KTRACE_NONE_0		   0,

/* Expands to the first argument of a list that has at least one argument. */
#define KTRACE_FIRST(...)	  KTRACE_FIRST_(__VA_ARGS__, 0)
#define KTRACE_FIRST_(first, ...) first

#endif
