/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * From the type of a field to its KTRX_TYPE_*: KTRACE_TYPE(type), KTRACE_TYPE_OF(value), constant
 * expressions. 0 stands for what no field can hold.
 */
#ifndef KTRACE_TYPES_H
#define KTRACE_TYPES_H

#include "ktrx/v2.h"

#define KTRACE_UNSIGNED_TYPE(size)     \
	((size) == 8   ? KTRX_TYPE_U64 \
	 : (size) == 4 ? KTRX_TYPE_U32 \
	 : (size) == 2 ? KTRX_TYPE_U16 \
		       : KTRX_TYPE_U8)
#define KTRACE_SIGNED_TYPE(size)       \
	((size) == 8   ? KTRX_TYPE_I64 \
	 : (size) == 4 ? KTRX_TYPE_I32 \
	 : (size) == 2 ? KTRX_TYPE_I16 \
		       : KTRX_TYPE_I8)

/* Bytes that a field of this KTRX_TYPE_* takes at least: a string's are its length. */
#define KTRACE_TYPE_BYTES(type)                                                                  \
	((type) == KTRX_TYPE_U8 || (type) == KTRX_TYPE_I8 || (type) == KTRX_TYPE_BOOL ||         \
			 (type) == KTRX_TYPE_CHAR                                                \
		 ? 1u                                                                            \
	 : (type) == KTRX_TYPE_U16 || (type) == KTRX_TYPE_I16 || (type) == KTRX_TYPE_STRING ? 2u \
	 : (type) == KTRX_TYPE_U32 || (type) == KTRX_TYPE_I32				    ? 4u \
											    : 8u)

#ifdef __cplusplus

KTRX_CASTS_BEGIN
extern "C++" {
/* Integers and enumerations; the rest is told apart below. */
template <typename T, bool Number = !__is_class(T) && !__is_union(T)> struct ktrace_type {
	static constexpr unsigned code = sizeof(T) > 8 ? 0
					 : static_cast<T>(-1) < static_cast<T>(0)
						 ? KTRACE_SIGNED_TYPE(sizeof(T))
						 : KTRACE_UNSIGNED_TYPE(sizeof(T));
};
template <typename T> struct ktrace_type<T, false> {
	static constexpr unsigned code = 0;
};
template <typename T> struct ktrace_type<T *> {
	static constexpr unsigned code = KTRX_TYPE_POINTER;
};
template <unsigned Code> struct ktrace_type_code {
	static constexpr unsigned code = Code;
};
template <> struct ktrace_type<bool> : ktrace_type_code<KTRX_TYPE_BOOL> {
};
template <> struct ktrace_type<char> : ktrace_type_code<KTRX_TYPE_CHAR> {
};
template <> struct ktrace_type<float> : ktrace_type_code<0> {
};
template <> struct ktrace_type<double> : ktrace_type_code<0> {
};
template <> struct ktrace_type<long double> : ktrace_type_code<0> {
};
template <> struct ktrace_type<char *> : ktrace_type_code<KTRX_TYPE_STRING> {
};
template <> struct ktrace_type<const char *> : ktrace_type_code<KTRX_TYPE_STRING> {
};
template <typename T> struct ktrace_type<const T> : ktrace_type<T> {
};
template <typename T> struct ktrace_type<volatile T> : ktrace_type<T> {
};
template <typename T> struct ktrace_type<T &> : ktrace_type<T> {
};
template <typename T, unsigned long N> struct ktrace_type<T[N]> : ktrace_type<T *> {
};
template <typename T, unsigned long N> struct ktrace_type<const T[N]> : ktrace_type<const T *> {
};
template <> struct ktrace_type<decltype(nullptr)> : ktrace_type_code<KTRX_TYPE_POINTER> {
};
}
KTRX_CASTS_END
#define KTRACE_TYPE(type)     (ktrace_type<type>::code)
#define KTRACE_TYPE_OF(value) (ktrace_type<decltype(value)>::code)

#else

/* Is it a number rather than a pointer? Works for bit-fields, too, of which gcc makes types of their own. */
#define KTRACE_IS_NUMBER(value) (__builtin_classify_type(value) < 5 || __builtin_classify_type(value) == 8)
#define KTRACE_IS_STRUCTURE(value) \
	(__builtin_classify_type(value) == 12 || __builtin_classify_type(value) == 13)

#define KTRACE_TYPE_OF(value) \
	_Generic((value),                                          \
		_Bool: KTRX_TYPE_BOOL,                             \
		char: KTRX_TYPE_CHAR,                              \
		signed char: KTRX_TYPE_I8,                         \
		unsigned char: KTRX_TYPE_U8,                       \
		short: KTRX_TYPE_I16,                              \
		unsigned short: KTRX_TYPE_U16,                     \
		int: KTRX_TYPE_I32,                                \
		unsigned int: KTRX_TYPE_U32,                       \
		long: KTRACE_SIGNED_TYPE(sizeof(long)),            \
		unsigned long: KTRACE_UNSIGNED_TYPE(sizeof(long)), \
		long long: KTRX_TYPE_I64,                          \
		unsigned long long: KTRX_TYPE_U64,                 \
		float: 0u,                                         \
		double: 0u,                                        \
		long double: 0u,                                   \
		char *: KTRX_TYPE_STRING,                          \
		const char *: KTRX_TYPE_STRING,                    \
		default: KTRACE_TYPE_OF_OTHER(value))
#define KTRACE_TYPE_OF_OTHER(value)                              \
	(KTRACE_IS_STRUCTURE(value) ? 0u                         \
	 : KTRACE_IS_NUMBER(value)  ? KTRACE_TYPE_OF_BITS(value) \
				    : KTRX_TYPE_POINTER)
#define KTRACE_TYPE_OF_BITS(value)          \
	_Generic(1 ? (value) : (value), int \
		 : KTRX_TYPE_I32, unsigned  \
		 : KTRX_TYPE_U32, default   \
		 : KTRX_TYPE_U64)

#define KTRACE_TYPE(type) KTRACE_TYPE_OF((type)0)

#endif

#endif
