/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * DragonFly's trace points, recorded by ktrace. Code written for its <sys/ktr.h> compiles unchanged with this
 * header; include/compat has it under that name.
 *
 *	#if !defined(KTR_TOKENS)
 *	#define KTR_TOKENS KTR_ALL
 *	#endif
 *	KTR_INFO_MASTER(tokens);
 *	KTR_INFO(KTR_TOKENS, tokens, acquire, 0, "acquire %p by %p", struct lwkt_token *tok,
 *		 struct thread *td);
 *
 *	KTR_LOG(tokens_acquire, tok, td);
 *	KTR_COND_LOG(tokens_acquire, tok->contended, tok, td);
 *
 * A master is a group of events. As in DragonFly, macros select the events that are compiled in. If KTR is
 * not defined, no event is compiled in. If KTR is defined, an event is compiled in if the macro named in the
 * first argument of KTR_INFO() is 1: -DKTR_ALL=1 selects the events of all masters, which are off at boot;
 * -DKTR_TOKENS=1 selects those of one master, which are on at boot. The options of event.h apply as well.
 *
 * The number after the event's name is its bit in the mask of its master, debug.ktr.<master>_enable, 0 to
 * 4094. Two events may share a bit.
 *
 * Each KTR_LOG() and KTR_COND_LOG() has a place descriptor with its file and line, so that readers show where
 * a record was made.
 *
 * Differences from DragonFly:
 *   - A master needs no variable.
 *   - Strings are copied, at most KTRACE_STRING_MAX bytes.
 *   - Arguments are evaluated only while the event is on. Their types are always checked.
 *   - A field's name is its whole declaration; readers extract the name from it.
 *   - C only. The oldest form, with the size of the arguments instead of their declarations, is rejected.
 */
#ifndef KTRACE_KTR_H
#define KTRACE_KTR_H

#include "ktrace/event.h"

/* Expansion of KTR_INFO_MASTER() and KTR_INFO_MASTER_EXTERN(), which declare nothing. */
#define KTR_NOTHING struct ktrace_semicolon

#define KTR_INFO_MASTER(master)	       KTR_NOTHING
#define KTR_INFO_MASTER_EXTERN(master) KTR_NOTHING

#if defined(KTR_ALL)
#define KTR_BOOT_STATE KTRX_STATE_OFF
#else
#define KTR_ALL	       0
#define KTR_BOOT_STATE KTRX_STATE_RECORD
#endif

#if defined(KTR)
#define KTR_HERE(compile) compile
#else
#define KTR_HERE(compile) 0
#endif

#define KTR_INFO(compile, master, name, bit, ...)                                                         \
	KTR_DECLARE(KTR_BUILT(KTRACE_BUILT(KTRACE_NO_##master, KTRACE_WITH_##master), KTR_HERE(compile)), \
		    ktrace_event_##master##_##name, bit, #master "\0" #name, __VA_ARGS__)

/* KTR_LOG(name, argument, ...): records the event. */
#define KTR_LOG(...) KTR_SITE(1, ktrace_event_##__VA_ARGS__)

/* Records the event if the condition is true. The condition is evaluated only while the event is on. */
#define KTR_COND_LOG(name, condition, ...) KTR_SITE(condition, ktrace_event_##name, ##__VA_ARGS__)

/* ---- Implementation of the macros -------------------------------------------------------------- */

#define KTR_BUILT(built, compile) KTRACE_PASTE(KTR_BUILT_, KTRACE_PASTE(built, KTRACE_IS_ONE(compile)))
#define KTR_BUILT_00		  0
#define KTR_BUILT_01		  0
#define KTR_BUILT_10		  0
#define KTR_BUILT_11		  1

/* Names that belong to the n-th parameter of an event. */
#define KTR_VALUE(id, n) KTRACE_PASTE(id, KTRACE_PASTE(_value_, n))
#define KTR_TYPE(id, n)	 KTRACE_PASTE(id, KTRACE_PASTE(_type_, n))
#define KTR_CODE(id, n)	 KTRACE_PASTE(id, KTRACE_PASTE(_code_, n))

/*
 * A parameter is a declaration, and the preprocessor cannot extract its name. So it is declared twice: as the
 * only member of a structure, which converts an argument to a word; and as the only parameter of a function
 * type, from which _Generic determines its type.
 */
#define KTR_FIELD_DECLARE(id, n, declaration)                                                \
	union KTR_VALUE(id, n) {                                                             \
		struct {                                                                     \
			declaration;                                                         \
		} declared;                                                                  \
		uint64_t word;                                                               \
	};                                                                                   \
	typedef void KTR_TYPE(id, n)(declaration);                                           \
	KTR_QUALIFIED(id, n, declaration)                                                    \
	enum { KTR_CODE(id, n) = KTR_TYPE_OF((KTR_TYPE(id, n) *)0) };                        \
	KTRX_STATIC_ASSERT((int)KTR_CODE(id, n) != 0 && sizeof(union KTR_VALUE(id, n)) == 8, \
			   "ktrace: no field can hold this type");

/*
 * gcc: the same parameter with qualifiers. A qualifier before a declaration belongs to the type to which the
 * pointer points, unless the pointer type is a typedef: then it belongs to the parameter, and has no effect.
 * clang: a call, in KTR_SITE(), because a qualifier before a function type has a warning that cannot be
 * turned off. The call is an error unless -w turns off all warnings.
 */
#if defined(__clang__)
#define KTR_QUALIFIED(id, n, declaration)
#define KTR_FITS_CONST(id, n, to) 1
#define KTR_CALLED(id, n, value)                              \
	if (0)                                                \
		((KTR_TYPE(id, n) *)0)(__builtin_choose_expr( \
			KTR_CODE(id, n) + 0u == KTRX_TYPE_POINTER && KTRACE_IS_POINTER(value), (value), 0));
#define KTR_CALLS(id, ...)                                                                              \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"") \
		_Pragma("GCC diagnostic ignored \"-Wincompatible-pointer-types-discards-qualifiers\"")  \
			KTRACE_EACH(KTR_CALLED, id, __VA_ARGS__) _Pragma("GCC diagnostic pop")
#else
#define KTR_QUALIFIED_BEGIN                                                                             \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wduplicate-decl-specifier\"") \
		_Pragma("GCC diagnostic ignored \"-Wignored-qualifiers\"")                              \
			_Pragma("GCC diagnostic ignored \"-Wpedantic\"")
#define KTR_QUALIFIED_END _Pragma("GCC diagnostic pop")
/* clang-format off */
#define KTR_QUALIFIED(id, n, declaration) \
	KTR_QUALIFIED_BEGIN \
	typedef void KTRACE_PASTE(KTR_TYPE(id, n), _const)(const declaration); \
	typedef void KTRACE_PASTE(KTR_TYPE(id, n), _volatile)(volatile declaration); \
	typedef void KTRACE_PASTE(KTR_TYPE(id, n), _both)(const volatile declaration); \
	KTR_QUALIFIED_END
/* clang-format on */
#define KTR_FITS_CONST(id, n, to)                                                                   \
	(__builtin_types_compatible_p(KTR_TYPE(id, n), KTRACE_PASTE(KTR_TYPE(id, n), _volatile)) || \
	 KTR_IS_TYPE(KTRACE_PASTE(KTR_TYPE(id, n), _const), to *) ||                                \
	 KTR_IS_TYPE(KTRACE_PASTE(KTR_TYPE(id, n), _both), to *))
#define KTR_CALLS(id, ...)
#endif

/* clang-format cannot format _Generic. */
/* clang-format off */
#define KTR_TYPE_OF(function) \
	_Generic((function),                                                 \
		void (*)(_Bool): KTRX_TYPE_BOOL,                             \
		void (*)(char): KTRX_TYPE_CHAR,                              \
		void (*)(signed char): KTRX_TYPE_I8,                         \
		void (*)(unsigned char): KTRX_TYPE_U8,                       \
		void (*)(short): KTRX_TYPE_I16,                              \
		void (*)(unsigned short): KTRX_TYPE_U16,                     \
		void (*)(int): KTRX_TYPE_I32,                                \
		void (*)(unsigned int): KTRX_TYPE_U32,                       \
		void (*)(long): KTRACE_SIGNED_TYPE(sizeof(long)),            \
		void (*)(unsigned long): KTRACE_UNSIGNED_TYPE(sizeof(long)), \
		void (*)(long long): KTRX_TYPE_I64,                          \
		void (*)(unsigned long long): KTRX_TYPE_U64,                 \
		void (*)(float): 0,                                          \
		void (*)(double): 0,                                         \
		void (*)(char *): KTRX_TYPE_STRING,                          \
		void (*)(const char *): KTRX_TYPE_STRING,                    \
		default: KTRX_TYPE_POINTER)
/* clang-format on */

#define KTR_FIELD_SIZE(id, n, declaration) \
	+(KTR_CODE(id, n) == KTRX_TYPE_STRING ? KTRACE_STRING_SIZE : KTRACE_TYPE_BYTES(KTR_CODE(id, n) + 0u))
#define KTR_FIELD_CODE(id, n, declaration)	KTR_CODE(id, n),
#define KTR_FIELD_STRINGS(id, n, declaration)	"\0" #declaration "\0"
#define KTR_FIELD_PARAMETER(id, n, declaration) , uint64_t KTRACE_PASTE(a, n)
#define KTR_FIELD_PACK(id, n, declaration) \
	ktrace_pack(&to, KTRACE_TYPE_BYTES(KTR_CODE(id, n) + 0u), KTRACE_PASTE(a, n));

/* An argument at a call site, converted to the type of its parameter and then to a 64-bit word. */
#define KTR_ARGUMENT(id, n, value) , ((union KTR_VALUE(id, n)){ .declared = { value } }).word

#define KTR_CHECKS(id, bit, ...)                                        \
	KTRX_STATIC_ASSERT((bit) >= 0 && (bit) < KTRX_EVENT_MAX,        \
			   "ktrace: no mask has a bit of this number"); \
	enum { id##_count = KTRACE_COUNT(__VA_ARGS__) };                \
	KTRACE_COUNT_CHECK(__VA_ARGS__)                                 \
	KTRACE_EACH(KTR_FIELD_DECLARE, id, __VA_ARGS__)

#define KTR_TEXT(id, text) static const char id##_text[] __attribute__((__unused__)) = text

#define KTR_DECLARE(built, id, bit, names, ...)                                                  \
	KTR_CHECKS(id, bit, __VA_ARGS__)                                                         \
	KTR_TEXT(id, KTRACE_FIRST(__VA_ARGS__));                                                 \
	KTRACE_PASTE(KTRACE_DESCRIPTOR_, built)                                                  \
	(KTRACE_KEEP, id, KTR_BOOT_STATE, 0, KTRX_V1_NONE, (bit) + 1, KTRACE_COUNT(__VA_ARGS__), \
	 KTRACE_EACH(KTR_FIELD_CODE, id, __VA_ARGS__),                                           \
	 KTRACE_STRINGS(names, KTR_FIELD_STRINGS, __VA_ARGS__));                                 \
	enum { id##_built = built * (1 KTRACE_EACH(KTR_FIELD_SIZE, id, __VA_ARGS__)) };          \
	KTRACE_FUNCTION(built, id, KTR_FIELD_PARAMETER, KTR_FIELD_PACK, (void)0, __VA_ARGS__)    \
	struct ktrace_semicolon

/*
 * Checks that the arguments at a call site fit the parameters of the event. A parameter's type is known only
 * as a KTRX_TYPE_* and as a function type. A pointer fits if the function type with the pointer's own type,
 * or with that type and further qualifiers, is the same type. A pointer to void and a pointer for a void
 * pointer fit as well. A pointer to a const type fits if it fits without the const; the compiler's own
 * warnings tell whether a qualifier is lost. gcc accepts any pointer to a const type if the parameter's type
 * is a pointer to a function or a typedef for a pointer, and clang does with -w.
 */
#define KTR_IS_NULL(value) _Generic(1 ? (int *)0 : (void *)(uintptr_t)(value), int * : 1, default : 0)
#define KTR_IS_VOID_POINTER(pointer)                                                                      \
	_Generic((pointer), void * : 1, const void * : 1, volatile void * : 1, const volatile void * : 1, \
		 default : 0)
#define KTR_IS_TYPE(type, pointer) __builtin_types_compatible_p(type, void(pointer))
#define KTR_IS_POINTER_TO(type, to)                                                                      \
	(KTR_IS_TYPE(type, to *) || KTR_IS_TYPE(type, const to *) || KTR_IS_TYPE(type, volatile to *) || \
	 KTR_IS_TYPE(type, const volatile to *))
#define KTR_FITS_POINTER(type, fits_const, value, to, object)                                      \
	(KTR_IS_VOID_POINTER(value) || KTR_IS_POINTER_TO(type, void) || KTR_IS_TYPE(type, to *) || \
	 KTR_IS_POINTER_TO(type, object) ||                                                        \
	 (__builtin_types_compatible_p(to *, const object *) && fits_const))
#define KTR_FITS(type, fits_const, code, value, to, object)                                          \
	((code) == KTRX_TYPE_BOOL ? 1                                                                \
	 : KTRACE_IS_NUMBER(value)                                                                   \
		 ? ((code) != KTRX_TYPE_POINTER && (code) != KTRX_TYPE_STRING) || KTR_IS_NULL(value) \
	 : (code) == KTRX_TYPE_STRING                                                                \
		 ? KTR_IS_STRING(value)                                                              \
		 : (code) == KTRX_TYPE_POINTER && KTR_FITS_POINTER(type, fits_const, value, to, object))
/* clang-format off */
#define KTR_IS_STRING(value) \
	(KTR_IS_VOID_POINTER(value) || _Generic((value), char *: 1, const char *: 1, volatile char *: 1, \
						   const volatile char *: 1, default: 0))

/* A value converted to the type of its parameter, for the check of the format string. */
#define KTR_FORMATTED(id, n, value) , \
	_Generic((KTR_TYPE(id, n) *)0,                                                      \
		void (*)(_Bool): (_Bool)(uintptr_t)(value),                                 \
		void (*)(char): (char)(uintptr_t)(value),                                   \
		void (*)(signed char): (signed char)(uintptr_t)(value),                     \
		void (*)(unsigned char): (unsigned char)(uintptr_t)(value),                 \
		void (*)(short): (short)(uintptr_t)(value),                                 \
		void (*)(unsigned short): (unsigned short)(uintptr_t)(value),               \
		void (*)(int): (int)(uintptr_t)(value),                                     \
		void (*)(unsigned int): (unsigned int)(uintptr_t)(value),                   \
		void (*)(long): (long)(uintptr_t)(value),                                   \
		void (*)(unsigned long): (unsigned long)(uintptr_t)(value),                 \
		void (*)(long long): (long long)(uintptr_t)(value),                         \
		void (*)(unsigned long long): (unsigned long long)(uintptr_t)(value),       \
		void (*)(char *): (char *)(uintptr_t)(value),                               \
		void (*)(const char *): (const char *)(uintptr_t)(value),                   \
		default: (void *)(uintptr_t)(value))
/* clang-format on */

/*
 * `ktr_to`: the type to which an argument points, unless that is void; `ktr_object`: the same type if it is
 * not a function type, because a function type has no qualifiers. A parameter that is declared with a
 * function type is a pointer to that type.
 */
#define KTR_ARGUMENT_CHECK(id, n, value)                                                                   \
	typedef __typeof__(*__builtin_choose_expr(KTRACE_IS_POINTER(value) && !KTR_IS_VOID_POINTER(value), \
						  (value), (char **)0)) KTRACE_PASTE(ktr_to, n);           \
	typedef __typeof__(*__builtin_choose_expr(                                                         \
		KTR_IS_TYPE(void(KTRACE_PASTE(ktr_to, n)), KTRACE_PASTE(ktr_to, n) *), (char **)0,         \
		(KTRACE_PASTE(ktr_to, n) *)0)) KTRACE_PASTE(ktr_object, n);                                \
	KTRX_STATIC_ASSERT(KTR_FITS(KTR_TYPE(id, n), KTR_FITS_CONST(id, n, KTRACE_PASTE(ktr_to, n)),       \
				    KTR_CODE(id, n) + 0u, (value), KTRACE_PASTE(ktr_to, n),                \
				    KTRACE_PASTE(ktr_object, n)),                                          \
			   "ktrace: an argument does not fit its parameter");

/*
 * The place descriptor of a call site, from which readers get the file and line of the call: a static
 * variable of the enclosing block. If the event is not compiled in, its address in the place descriptor is 0.
 * Without optimisation, such descriptors remain in the kernel nevertheless.
 */
#if defined(KTR) && !(defined(KTRACE_DISABLE) && KTRACE_DISABLE)
#define KTR_PLACE_DESCRIPTOR(id)                                                                         \
	KTRACE_LOCAL_BEGIN                                                                               \
	static struct {                                                                                  \
		struct ktrx_place place;                                                                 \
		char file[sizeof(__FILE__)];                                                             \
	} id##_place                                                                                     \
		__attribute__((__section__("ktrace_events"), __aligned__(8), KTRACE_KEEP_WITH_CODE)) = { \
			{ KTRX_PLACE_MAGIC, sizeof(id##_place), 0, 0, KTRACE_HEADER_SLOW, 0,             \
			  id##_built != 0 ? KTRACE_ADDRESS(&id.event) : 0, __LINE__, 0 },                \
			__FILE__                                                                         \
		};                                                                                       \
	KTRACE_LOCAL_END
#define KTR_PLACE_ADDRESS(id) &id##_place.place
#else
#define KTR_PLACE_DESCRIPTOR(id)
#define KTR_PLACE_ADDRESS(id) KTRACE_NULL
#endif

#define KTR_SITE(condition, ...)	KTR_SITE_OF(condition, KTRACE_FIRST(__VA_ARGS__), __VA_ARGS__)
#define KTR_SITE_OF(condition, id, ...) KTR_SITE_(condition, id, __VA_ARGS__)
#define KTR_SITE_(condition, id, ...)                                                                     \
	do {                                                                                              \
		KTR_PLACE_DESCRIPTOR(id)                                                                  \
		KTRACE_UNEVALUATED_BEGIN                                                                  \
		KTRX_STATIC_ASSERT(KTRACE_COUNT(__VA_ARGS__) == (int)id##_count,                          \
				   "ktrace: too few or too many arguments");                              \
		KTRACE_EACH(KTR_ARGUMENT_CHECK, id, __VA_ARGS__)                                          \
		KTR_CALLS(id, __VA_ARGS__)                                                                \
		KTRACE_FORMAT_BEGIN                                                                       \
		if (0)                                                                                    \
			ktrace_format_check(id##_text KTRACE_EACH(KTR_FORMATTED, id, __VA_ARGS__));       \
		KTRACE_FORMAT_END                                                                         \
		KTRACE_UNEVALUATED_END                                                                    \
		KTRACE_CHECK_EXCLUDED(                                                                    \
			id, id##_record(0, KTRACE_NULL KTRACE_EACH(KTR_ARGUMENT, id, __VA_ARGS__)))       \
		if (id##_built > 0 && KTRACE_UNLIKELY(ktrace_event_is_on(&id.event)) && (condition))      \
			id##_record(0, KTR_PLACE_ADDRESS(id) KTRACE_EACH(KTR_ARGUMENT, id, __VA_ARGS__)); \
	} while (0)

#endif
