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

/* Bytes that a field takes at least: a string's are its length. */
#define KTRACE_FIELD_BYTES(type, size) ((type) == KTRX_TYPE_STRING ? 2u : (unsigned)(size))

#ifdef __cplusplus

extern "C++" {
/* Integers and enumerations; the rest is told apart below. */
template <typename T> struct ktrace_type {
	static constexpr unsigned code = static_cast<T>(-1) < static_cast<T>(0)
						 ? KTRACE_SIGNED_TYPE(sizeof(T))
						 : KTRACE_UNSIGNED_TYPE(sizeof(T));
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
}
#define KTRACE_TYPE(type)     (ktrace_type<type>::code)
#define KTRACE_TYPE_OF(value) (ktrace_type<decltype(value)>::code)

#else

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
		default: KTRX_TYPE_POINTER)
#define KTRACE_TYPE(type) KTRACE_TYPE_OF((type)0)

#endif

#endif
