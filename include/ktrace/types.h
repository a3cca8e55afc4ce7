/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Types of fields, and compile-time checks of events.
 *
 * KTRACE_RULE(type) and KTRACE_TYPE_OF(value) are constant expressions. They give the KTRX_TYPE_* of a field;
 * 0 if no field can hold the type. In C, a rule also determines which arguments the field accepts.
 */
#ifndef KTRACE_TYPES_H
#define KTRACE_TYPES_H

#include "ktrace/compiler.h"
#include "ktrace/macros.h"
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

/* Minimum size in bytes of a field of type KTRX_TYPE_*; for a string, the size of its length word. */
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
/*
 * The integer type of T: T itself, or the underlying type if T is an enumeration. clang 16 and later refuse a
 * constant that converts -1 to an enumeration without negative values, so -1 is converted to this type.
 */
template <typename T, bool Enumeration = __is_enum(T)> struct ktrace_integer {
	using type = T;
};
template <typename T> struct ktrace_integer<T, true> {
	using type = __underlying_type(T);
};
/* This template handles integers and enumerations. The specialisations below handle all other types. */
template <typename T, bool Number = !__is_class(T) && !__is_union(T)> struct ktrace_type {
	using integer = typename ktrace_integer<T>::type;
	static constexpr unsigned code = sizeof(T) > 8 ? 0
					 : static_cast<integer>(-1) < static_cast<integer>(0)
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
#define KTRACE_RULE(type)     (ktrace_type<type>::code)
#define KTRACE_RULE_STRING    KTRX_TYPE_STRING
#define KTRACE_FIELD_WORD(a)  (ktrace_cast<uint64_t>((a).value))
#define KTRACE_TYPE_OF(value) (ktrace_type<decltype(value)>::code)

/*
 * Parameter for a field of type T. C++ itself rejects an argument of an incompatible type, but g++
 * -fpermissive converts between pointers and numbers if it finds no function that accepts the argument. So
 * there is a deleted constructor that accepts every argument: using it is always an error. An object of a
 * class or union is accepted if it has a conversion to T. The argument {} means zero: the deleted constructor
 * is a template, and C++ prefers constructors that are not templates.
 */
extern "C++" {
template <typename T> struct ktrace_bare {
	using type = T;
};
template <typename T> struct ktrace_bare<T &> {
	using type = T;
};
template <bool> struct ktrace_if {
};
template <> struct ktrace_if<true> {
	using type = int;
};
template <typename T> struct ktrace_argument {
	T value;

	__attribute__((__always_inline__)) constexpr inline ktrace_argument() : value()
	{
	}
	__attribute__((__always_inline__)) constexpr inline ktrace_argument(T given) : value(given)
	{
	}
	template <typename U, typename ktrace_if<__is_class(typename ktrace_bare<U>::type) ||
						 __is_union(typename ktrace_bare<U>::type)>::type = 0>
	__attribute__((__always_inline__)) constexpr inline ktrace_argument(U &&object)
	    : value(same(static_cast<U &&>(object)))
	{
	}
	template <typename = void> ktrace_argument(...) = delete; /* this argument does not fit its field */

      private:
	__attribute__((__always_inline__)) static constexpr inline T same(T given)
	{
		return given;
	}
	static T same(...) = delete;
};
}
#define KTRACE_PARAMETER_TYPE(type) ktrace_argument<type>

/* Empty in C++, because struct ktrace_argument checks the arguments. */
#define KTRACE_POINTEE(name, rule, type)
#define KTRACE_ARGUMENT_CHECKS(id, ...)
#define KTRACE_RULES : unsigned

/* Converts a value for its printf conversion: a pedantic compiler accepts only a pointer to void for %p. */
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
template <typename R, typename... A>
__attribute__((__always_inline__)) inline const volatile void *ktrace_formatted(R (*function)(A...))
{
	return reinterpret_cast<const volatile void *>(function);
}
__attribute__((__always_inline__)) inline const char *ktrace_formatted(const char *string)
{
	return string;
}
__attribute__((__always_inline__)) inline const char *ktrace_formatted(char *string)
{
	return string;
}
template <typename T>
__attribute__((__always_inline__)) inline auto ktrace_formatted(const ktrace_argument<T> &argument)
{
	return ktrace_formatted(argument.value);
}
}
#define KTRACE_FORMATTED(value) ktrace_formatted(value)

#else

#if __SIZEOF_LONG__ == 8
#define KTRACE_LONG  8
#define KTRACE_ULONG 4
#else
#define KTRACE_LONG  7
#define KTRACE_ULONG 3
#endif

/*
 * The rule of a value's type: its KTRX_TYPE_*, plus 16 times the kind of arguments that the field accepts:
 *
 *	0   numbers
 *	1   pointers to its own type or to void, and null pointers
 *	2   numbers and pointers: the field is a bool
 *	3   all pointers: the field is a void pointer
 *
 * Rules are written as numbers, because the preprocessor copies this text for each field. `other` is the rule
 * of types that are not in the list. An enumeration has the rule of the integer type that the compiler
 * chooses.
 */
/* clang-format off */
#define KTRACE_RULE_OF(value, other) \
	_Generic(value,_Bool:43,char:12,signed char:5,unsigned char:1,short:6,unsigned short:2,int:7, \
		unsigned:3,long:KTRACE_LONG,unsigned long:KTRACE_ULONG,long long:8,unsigned long long:4, \
		char*:26,const char*:26, \
		void*:57,const void*:57,volatile void*:57,const volatile void*:57,default:other)
/* clang-format on */

/*
 * True if the value is a number, and not a pointer, function or structure: __builtin_classify_type() is 1 to
 * 4 or 8.
 */
#define KTRACE_IS_NUMBER(value)	 (0x11e >> __builtin_classify_type(value) & 1)
#define KTRACE_IS_POINTER(value) (__builtin_classify_type(value) == 5)

/* The KTRX_TYPE_* of a value. In gcc a bit-field has its own type, which _Generic does not list. */
#define KTRACE_TYPE_OF(value)                                                            \
	(KTRACE_RULE_OF(value, KTRACE_IS_NUMBER(value)	    ? KTRACE_TYPE_OF_BITS(value) \
			       : KTRACE_IS_STRUCTURE(value) ? 0                          \
							    : KTRX_TYPE_POINTER) &       \
	 15)
#define KTRACE_TYPE_OF_BITS(value)                                                \
	_Generic(1 ? (value) : (value), int                                       \
		 : KTRX_TYPE_I32, unsigned                                        \
		 : KTRX_TYPE_U32, float : 0, double : 0, long double : 0, default \
		 : sizeof(1 ? (value) : (value)) == 8 ? KTRX_TYPE_U64 : 0)
#define KTRACE_IS_STRUCTURE(value) \
	(__builtin_classify_type(value) == 12 || __builtin_classify_type(value) == 13)

/*
 * C converts between pointers and numbers with a warning at most. So each call site asserts that its
 * arguments fit. An argument is classified by a mask with one bit for each kind of field; the bit is set if
 * that kind accepts the argument:
 *
 *	14  pointer to the field's type or to void, with any qualifiers
 *	12  other pointer
 *	15  null pointer constant such as 0
 *	5   other number
 *
 * A null pointer constant is found by the type of a ?: expression, whose other operand is an int pointer.
 *
 * KTRACE_RULE is the rule of a declared type, 0 if no field can hold it. `*(type *)0` is never evaluated.
 * KTRACE_POINTEE declares the type to which the field's pointers point; for a field that is not a pointer,
 * char. __builtin_classify_type() is 5 for pointers. These macros are written without spaces, because their
 * text is repeated for each field and each argument.
 */
/* clang-format off */
#define KTRACE_RULE(type) \
	KTRACE_RULE_OF(*(type*)0,__builtin_classify_type(*(type*)0)==5?25:0)
#define KTRACE_RULE_STRING 26
#define KTRACE_FIELD_WORD(a) (uint64_t)a
#define KTRACE_POINTEE(name, rule, type) \
	typedef __typeof__(*__builtin_choose_expr(rule&16,*(type*)0,(char*)0)) name;
#define KTRACE_ARGUMENT_TYPE(id, n, value) \
	typedef __typeof__(*__builtin_choose_expr(__builtin_classify_type(value)==5,value,(char**)0)) \
		KTRACE_PASTE(ktrace_t,n);
#define KTRACE_ARGUMENT_FITS(id, n, value) \
	&(__builtin_classify_type(value)==5?__builtin_types_compatible_p(void,KTRACE_PASTE(ktrace_t,n))| \
		__builtin_types_compatible_p(KTRACE_PASTE(id##_p,n),KTRACE_PASTE(ktrace_t,n))?14:12: \
		_Generic(1?(int*)0:(void*)(uintptr_t)(1?(value):0),int*:15,void*:5))>> \
		(KTRACE_PASTE(id##_f,n)>>4)
#define KTRACE_ARGUMENT_CHECKS(id, ...) \
	{ \
		KTRACE_EACH(KTRACE_ARGUMENT_TYPE, id, __VA_ARGS__) \
		_Static_assert(1 KTRACE_EACH(KTRACE_ARGUMENT_FITS, id, __VA_ARGS__), \
			       "ktrace: an argument does not fit its field"); \
	}
/* clang-format on */

#define KTRACE_RULES
#define KTRACE_PARAMETER_TYPE(type) type
#define KTRACE_FORMATTED(value)	    value

#endif

/*
 * Lets the compiler check a format string against its arguments. The generated code never runs. __extension__
 * allows pointers to types other than void for %p, even if the compiler is pedantic.
 */
static inline __attribute__((__format__(__printf__, 1, 2), __unused__)) void
ktrace_format_check(const char *text, ...)
{
	(void)text;
}
#define KTRACE_FORMAT_CHECK(...) \
	if (0)                   \
	__extension__ ktrace_format_check(__VA_ARGS__)

#endif
