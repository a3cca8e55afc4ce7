/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Implements KTRACE_TEXT of event.h: an event that is declared where it fires. In C its descriptor is a
 * static variable of the block. In C++ a call site may be in an inline function or a template;
 * event_text_cxx.h describes how its descriptor gets into the section.
 */
#ifndef KTRACE_EVENT_TEXT_H
#define KTRACE_EVENT_TEXT_H

#include "ktrace/macros.h"
#include "ktrace/record.h"
#include "ktrace/types.h"

#ifdef __cplusplus
#include "ktrace/event_text_cxx.h"
#endif

/* Macros that KTRACE_EACH applies to an argument. */
#define KTRACE_VALUE_STRINGS(c, n, value) "\0" #value "\0"
#define KTRACE_VALUE_CODE(c, n, value)	  KTRACE_TYPE_OF(value),
#define KTRACE_VALUE_TYPE(c, n, value)	  , decltype(value)
#define KTRACE_VALUE_PACK(c, n, value)	  ktrace_pack(&ktrace_to, 8, (uint64_t)(uintptr_t)(value));
#define KTRACE_VALUE_CHECK(c, n, value)                                                      \
	KTRX_STATIC_ASSERT(KTRACE_TYPE_OF(value) != 0 && sizeof(1 ? (value) : (value)) <= 8, \
			   "ktrace: no field can hold this type");

#define KTRACE_VALUE_FORMAT(c, n, value) , KTRACE_FORMATTED(value)
/*
 * Between these two macros, the compiler does not warn about arguments that it does not evaluate. Otherwise
 * it would warn about an argument that has a side effect or casts the result of a call.
 */
#if defined(__cplusplus)
#define KTRACE_UNEVALUATED_BEGIN
#define KTRACE_UNEVALUATED_END
#else
#if defined(__clang__)
#define KTRACE_UNEVALUATED_BEGIN                                                                      \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunevaluated-expression\"") \
		_Pragma("GCC diagnostic ignored \"-Wbad-function-cast\"")
#else
#define KTRACE_UNEVALUATED_BEGIN \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wbad-function-cast\"")
#endif
#define KTRACE_UNEVALUATED_END _Pragma("GCC diagnostic pop")
#endif

#define KTRACE_TEXT_FORMAT(...)                                                                         \
	KTRACE_UNEVALUATED_BEGIN                                                                        \
	KTRACE_FORMAT_BEGIN                                                                             \
	KTRACE_FORMAT_CHECK(KTRACE_FIRST(__VA_ARGS__) KTRACE_EACH(KTRACE_VALUE_FORMAT, , __VA_ARGS__)); \
	KTRACE_FORMAT_END                                                                               \
	KTRACE_UNEVALUATED_END

#define KTRACE_TEXT_DESCRIPTOR_STRINGS(...) \
	KTRACE_STRINGS("text\0line" KTRACE_STRING(__LINE__), KTRACE_VALUE_STRINGS, __VA_ARGS__)

#ifdef __cplusplus

#define KTRACE_TEXT_TYPE(...) ktrace_text<ktrace_site, __LINE__ KTRACE_EACH(KTRACE_VALUE_TYPE, , __VA_ARGS__)>

/* The local class gives each call site, and each instance of a template, its own type. */
#define KTRACE_TEXT_0(...)                                                                            \
	do {                                                                                          \
		KTRACE_COUNT_CHECK(__VA_ARGS__)                                                       \
		KTRX_STATIC_ASSERT(                                                                   \
			(ktrace_text_holds<void KTRACE_EACH(KTRACE_VALUE_TYPE, , __VA_ARGS__)>::all), \
			"ktrace: no field can hold this type");                                       \
		KTRACE_TEXT_FORMAT(__VA_ARGS__)                                                       \
	} while (0)

#define KTRACE_TEXT_1(...)                                                                                \
	do {                                                                                              \
		KTRACE_COUNT_CHECK(__VA_ARGS__)                                                           \
		struct ktrace_site {                                                                      \
			using type [[maybe_unused]] =                                                     \
				const char[sizeof(KTRACE_TEXT_DESCRIPTOR_STRINGS(__VA_ARGS__))];          \
			static constexpr type &strings()                                                  \
			{                                                                                 \
				return KTRACE_TEXT_DESCRIPTOR_STRINGS(__VA_ARGS__);                       \
			}                                                                                 \
		};                                                                                        \
		if (KTRACE_IF_RUNS_AND ktrace_event_is_on(KTRACE_TEXT_TYPE(__VA_ARGS__)::event()))        \
			KTRACE_TEXT_TYPE(__VA_ARGS__)::record(0 KTRACE_EACH(KTRACE_GIVE, , __VA_ARGS__)); \
		KTRACE_TEXT_FORMAT(__VA_ARGS__)                                                           \
	} while (0)

#else

#define KTRACE_TEXT_0(...)                                     \
	do {                                                   \
		KTRACE_COUNT_CHECK(__VA_ARGS__)                \
		KTRACE_UNEVALUATED_BEGIN                       \
		KTRACE_EACH(KTRACE_VALUE_CHECK, , __VA_ARGS__) \
		KTRACE_UNEVALUATED_END                         \
		KTRACE_TEXT_FORMAT(__VA_ARGS__)                \
	} while (0)

#define KTRACE_TEXT_1(...)                                                                           \
	do {                                                                                         \
		KTRACE_COUNT_CHECK(__VA_ARGS__)                                                      \
		KTRACE_UNEVALUATED_BEGIN                                                             \
		KTRACE_EACH(KTRACE_VALUE_CHECK, , __VA_ARGS__)                                       \
		KTRACE_DESCRIPTOR_1(KTRACE_KEEP, ktrace_here, KTRX_STATE_RECORD, 0, KTRX_V1_NONE, 0, \
				    KTRACE_COUNT(__VA_ARGS__),                                       \
				    KTRACE_EACH(KTRACE_VALUE_CODE, , __VA_ARGS__),                   \
				    KTRACE_TEXT_DESCRIPTOR_STRINGS(__VA_ARGS__));                    \
		KTRACE_UNEVALUATED_END                                                               \
		if (ktrace_event_is_on(&ktrace_here.event)) {                                        \
			struct ktrace_packer ktrace_to;                                              \
			uint64_t ktrace_word[KTRACE_PACKER_WORDS(__VA_ARGS__)];                      \
                                                                                                     \
			ktrace_packer_set(&ktrace_to, ktrace_word, &ktrace_here.event,               \
					  1 + KTRACE_STRING_SIZE, 0, KTRACE_NULL);                   \
			KTRACE_UNEVALUATED_BEGIN                                                     \
			KTRACE_EACH(KTRACE_VALUE_PACK, , __VA_ARGS__)                                \
			KTRACE_UNEVALUATED_END                                                       \
			ktrace_emit_here(&ktrace_to);                                                \
			KTRACE_COME_BACK();                                                          \
		}                                                                                    \
		KTRACE_TEXT_FORMAT(__VA_ARGS__)                                                      \
	} while (0)

#endif

#endif
