/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Events: declaring them and recording them.
 *
 *	KTRACE_EVENT(sched, switch, "%u -> %u after %llu ns",
 *		     (uint32_t, prev), (uint32_t, next), (unsigned long long, ran, ns));
 *
 *	KTRACE(sched, switch, prev->id, next->id, clock_ns() - prev->started);
 *
 * An event has a group, a name, a printf text for all of its fields and 0 to 16 fields (type, name[, unit]):
 * integers, bool, char, enumerations, pointers, and const char * for a string, which is copied when the event
 * fires (at most KTRACE_STRING_MAX bytes; NULL shows as "(null)"). Arguments are evaluated only while the
 * event is on.
 *
 * The compiler refuses a text that does not fit the fields (unless its warnings are off altogether: -w), and,
 * whatever its flags are, an argument that does not fit its field: a pointer for a number, a number for a
 * pointer, a pointer to another type. Numbers are converted as in a call. It names a mistake in a
 * declaration: one in a function, too many fields, a field of a type that none can hold.
 *
 * A kernel has ids for 4095 events. Those beyond are not recorded; the trace says how often they fired.
 *
 * Works from the first instruction, without ktrace_init(), in any context: interrupts, NMI, with locks held.
 *
 * Left out of the build, an event leaves no byte, and its arguments are checked but not evaluated:
 *	-DKTRACE_DISABLE=1			all of them
 *	-DKTRACE_NO_<group>=1			this group
 *	-DKTRACE_SELECT=1 -DKTRACE_WITH_<group>=1	all groups but those named
 */
#ifndef KTRACE_EVENT_H
#define KTRACE_EVENT_H

#include "ktrace/compiler.h"
#include "ktrace/event_check.h"
#include "ktrace/macros.h"
#include "ktrace/record.h"
#include "ktrace/types.h"

/*
 * Declares an event at file scope, for the file it stands in. In a header, each file gets an event of its
 * own.
 */
#define KTRACE_EVENT(group, name, ...)                                                                      \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group, #name, KTRX_STATE_RECORD, 0, KTRX_V1_NONE, __VA_ARGS__)

/*
 * The same with a state to boot with, a constant: KTRX_STATE_OFF, _RECORD, _COUNT or _COUNT |
 * KTRX_STATE_RECORD.
 *
 *	KTRACE_EVENT_STATE(KTRX_STATE_OFF, mm, zero, "%p", (void *, page));
 */
#define KTRACE_EVENT_STATE(state, group, name, ...)                                                         \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group, #name, state, 0, KTRX_V1_NONE, __VA_ARGS__)

/* The same with an id for KTRX version 1 dumps, 0 to 1023, see ktrx/v1.h. */
#define KTRACE_EVENT_V1(v1_id, group, name, ...)                                                            \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group, #name, KTRX_STATE_RECORD, 0, v1_id, __VA_ARGS__)

/*
 * The same with all that can be said of it: state, flags (KTRX_EVENT_FOLD, KTRX_EVENT_RARE …), id for version
 * 1 dumps or KTRX_V1_NONE.
 */
#define KTRACE_EVENT_WITH(state, flags, v1_id, group, name, ...)                                            \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group, #name, state, flags, v1_id, __VA_ARGS__)

/* KTRACE(group, name, argument, ...): records the event. */
#define KTRACE(group, ...) KTRACE_SITE(1, record, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_IF(condition, group, name, argument, ...): records the event if the condition holds; it is evaluated
 * only while the event is on.
 */
#define KTRACE_IF(condition, group, ...) KTRACE_SITE(condition, record, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_EARLY(group, name, argument, ...): records the event into the boot ring, from a context whose
 * per-CPU area is not valid (yet): a CPU that is starting, an exception entry before swapgs.
 */
#define KTRACE_EARLY(group, ...) KTRACE_SITE(1, record_early, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_TEXT("x=%d", x): an event of the group "text" declared where it fires, types taken from the
 * arguments (at most 16). For haste; a declared event records faster and has named fields. In C++ also in
 * inline functions, templates and lambdas; each instance of a template has an event of its own.
 */
#define KTRACE_TEXT(...) \
	KTRACE_PASTE(KTRACE_TEXT_, KTRACE_BUILT(KTRACE_NO_text, KTRACE_WITH_text))(__VA_ARGS__)

/* ---- How it works ------------------------------------------------------------------------------ */

#if defined(KTRACE_DISABLE) && KTRACE_DISABLE
#define KTRACE_BUILT(no, with) 0
#elif defined(KTRACE_SELECT) && KTRACE_SELECT
#define KTRACE_BUILT(no, with) KTRACE_BUILT_(KTRACE_IS_ONE(no), KTRACE_IS_ONE(with))
#else
#define KTRACE_BUILT(no, with) KTRACE_BUILT_(KTRACE_IS_ONE(no), 1)
#endif
#define KTRACE_BUILT_(no, with) KTRACE_PASTE(KTRACE_BUILT_IF_, KTRACE_PASTE(no, with))
#define KTRACE_BUILT_IF_01	1
#define KTRACE_BUILT_IF_00	0
#define KTRACE_BUILT_IF_10	0
#define KTRACE_BUILT_IF_11	0

/*
 * Group and name are pasted and made strings in the macros that a kernel writes: one level further down they
 * would be macro-expanded, and `unix` is a macro of gcc's. A site's name is the first of its `...`, which is
 * never empty then: ISO C and C++ ask for that.
 */
#define KTRACE_DECLARE(built, ...) KTRACE_PASTE(KTRACE_DECLARE_, built)(__VA_ARGS__)

/* What stands for the row of an event that is not built; never defined. */
struct ktrace_row {
	struct ktrx_event event;
};

/* What KTRACE_EACH does to a field of a declared event: a tuple (type, name[, unit]). */
#define KTRACE_PARAMETER(c, n, field) , KTRACE_FIELD_TYPE field KTRACE_PASTE(a, n)
#define KTRACE_ARGUMENT(c, n, field)  , KTRACE_PASTE(a, n)
#define KTRACE_FORMAT_ARGUMENT(id, n, field) \
	, KTRACE_FORMATTED_FIELD(KTRACE_FIELD_CODE(id, n), KTRACE_PASTE(a, n))
#define KTRACE_FIELD_STRINGS(c, n, field) KTRACE_FIELD_NAME field "\0" KTRACE_FIELD_UNIT field "\0"
#define KTRACE_FIELD_CODES(id, n, field)  KTRACE_FIELD_CODE(id, n),
#define KTRACE_FIELD_SIZE(id, n, field) \
	+(KTRACE_FIELD_CODE(id, n) == KTRX_TYPE_STRING ? sizeof(uint16_t) : sizeof(KTRACE_FIELD_TYPE field))
#define KTRACE_FIELD_IS_STRING(id, n, field) +(KTRACE_FIELD_CODE(id, n) == KTRX_TYPE_STRING)
#define KTRACE_FIELD_PACK(id, n, field)                                                \
	ktrace_pack(packer, KTRACE_FIELD_CODE(id, n), sizeof(KTRACE_FIELD_TYPE field), \
		    KTRACE_CAST(uint64_t, KTRACE_PASTE(a, n)));
/*
 * The KTRX_TYPE_* of a field: a constant that its declaration leaves, as the expression that tells it is
 * long.
 */
#define KTRACE_FIELD_CODE(id, n) KTRACE_PASTE(id##_type_, n)
#define KTRACE_FIELD_CHECK(id, n, field)                                                          \
	KTRACE_FIELD_SCALAR(KTRACE_FIELD_TYPE field, KTRACE_FIELD_MESSAGE field)                  \
	enum KTRACE_CODES { KTRACE_FIELD_CODE(id, n) = KTRACE_TYPE(KTRACE_FIELD_TYPE field) };    \
	KTRX_STATIC_ASSERT(KTRACE_FIELD_CODE(id, n) != 0 && sizeof(KTRACE_FIELD_TYPE field) <= 8, \
			   KTRACE_FIELD_MESSAGE field);                                           \
	KTRACE_FIELD_RULE(id, n, KTRACE_FIELD_TYPE field)
#define KTRACE_FIELD_TYPE(type, ...)		  type
#define KTRACE_FIELD_NAME(...)			  KTRACE_FIELD_NAME_(__VA_ARGS__, , )
#define KTRACE_FIELD_NAME_(type, name, ...)	  #name
#define KTRACE_FIELD_UNIT(...)			  KTRACE_FIELD_UNIT_(__VA_ARGS__, , )
#define KTRACE_FIELD_UNIT_(type, name, unit, ...) #unit

/* What is said of a field whose type is refused. */
#define KTRACE_FIELD_MESSAGE(...) "ktrace: no field can hold the type of " KTRACE_FIELD_NAME_(__VA_ARGS__, , )

/* Room to pack a record in. Its first word is set because an event without fields packs nothing. */
#define KTRACE_PACKER(packer, buffer, fixed, longest)          \
	struct ktrace_packer packer;                           \
	uint64_t buffer[(KTRACE_CAPACITY(longest) + 7u) / 8u]; \
	buffer[0] = 0;                                         \
	ktrace_packer_set(&packer, KTRACE_CAST(uint8_t *, buffer), KTRACE_PAYLOAD_MAX - (fixed))

/* Bytes of the longest record with so many bytes of fixed size and so many strings. */
#define KTRACE_LONGEST(fixed, strings)                                                                      \
	((fixed) + (strings)*KTRACE_STRING_MAX < KTRACE_PAYLOAD_MAX ? (fixed) + (strings)*KTRACE_STRING_MAX \
								    : KTRACE_PAYLOAD_MAX)

/*
 * The row: what is on goes through the slow path at first, which numbers the rows when the first event fires.
 * `keep` is KTRACE_KEEP or KTRACE_KEEP_WITH_CODE.
 */
#define KTRACE_ROW(keep, id, state, flags, v1_id, mask_bit, count, codes, text) \
	static struct {                                                         \
		struct ktrx_event event;                                        \
		char strings[sizeof(text)];                                     \
	} id __attribute__((__section__("ktrace_events"), __aligned__(8)))      \
	keep = { { KTRX_EVENT_MAGIC,                                            \
		   KTRACE_ROW_SIZE(sizeof(text)),                               \
		   KTRACE_STATE_LINKED(state),                                  \
		   (state),                                                     \
		   0,                                                           \
		   KTRACE_HEADER_SLOW,                                          \
		   v1_id,                                                       \
		   count,                                                       \
		   (flags),                                                     \
		   __LINE__,                                                    \
		   (mask_bit),                                                  \
		   0,                                                           \
		   { codes KTRACE_ZERO_IF_NONE(count) } },                      \
		 text }

/*
 * The row of a place that records an event, as a variable of the enclosing block. An event that is not built
 * has no address; without optimisation the row stays all the same.
 */
#define KTRACE_PLACE_ROW(id)                                                                           \
	KTRACE_LOCAL_BEGIN                                                                             \
	static struct {                                                                                \
		struct ktrx_place row;                                                                 \
		char file[sizeof(__FILE__)];                                                           \
	} id##_place __attribute__((__section__("ktrace_events"), __aligned__(8)))                     \
	KTRACE_KEEP_WITH_CODE = { { KTRX_PLACE_MAGIC, KTRACE_PLACE_SIZE(sizeof(__FILE__)), 0, 0,       \
				    KTRACE_HEADER_SLOW, 0, id##_built ? KTRACE_ADDRESS(&id.event) : 0, \
				    __LINE__, 0 },                                                     \
				  __FILE__ };                                                          \
	KTRACE_LOCAL_END
#define KTRACE_PLACE_SIZE(file) KTRACE_CAST(uint16_t, (sizeof(struct ktrx_place) + (file) + 7u) & ~7u)

/* clang-format off */
#define KTRACE_ROW_SIZE(strings) \
	KTRACE_CAST(uint16_t, (sizeof(struct ktrx_event) + (strings) + 7u) & ~7u)
#define KTRACE_STATE_LINKED(state) \
	((state) != KTRX_STATE_OFF ? (state) | KTRX_STATE_SLOW : KTRX_STATE_OFF)
/* clang-format on */
#define KTRACE_ROW_STRINGS(group, name, fields, text) group "\0" name "\0" text "\0" __FILE__ "\0" fields

#define KTRACE_SITE(condition, how, ...) \
	KTRACE_SITE_OF(condition, how, KTRACE_FIRST(__VA_ARGS__), __VA_ARGS__)
#define KTRACE_SITE_OF(condition, how, id, ...) KTRACE_SITE_(condition, how, id, __VA_ARGS__)
#define KTRACE_SITE_(condition, how, id, ...)                                                        \
	do {                                                                                         \
		KTRACE_ARGUMENT_CHECKS(id, __VA_ARGS__)                                              \
		if (id##_built && KTRACE_RUNS() && KTRACE_UNLIKELY(ktrace_event_is_on(&id.event)) && \
		    (condition))                                                                     \
			id##_##how(&id.event KTRACE_EACH(KTRACE_GIVE, , __VA_ARGS__));               \
	} while (0)
#define KTRACE_GIVE(c, n, value) , value

#define KTRACE_DECLARE_1(id, group, name, state, flags, v1_id, ...)                                  \
	KTRACE_CHECKS(id, __VA_ARGS__)                                                               \
	enum {                                                                                       \
		id##_built = 1,                                                                      \
		id##_fixed = 0u KTRACE_EACH(KTRACE_FIELD_SIZE, id, __VA_ARGS__),                     \
		id##_strings = 0u KTRACE_EACH(KTRACE_FIELD_IS_STRING, id, __VA_ARGS__),              \
		id##_longest = KTRACE_LONGEST(id##_fixed + 0u, id##_strings + 0u),                   \
	};                                                                                           \
	KTRACE_ROW(KTRACE_KEEP, id, state, flags, v1_id, 0, KTRACE_COUNT(__VA_ARGS__),               \
		   KTRACE_EACH(KTRACE_FIELD_CODES, id, __VA_ARGS__),                                 \
		   KTRACE_ROW_STRINGS(group, name, KTRACE_EACH(KTRACE_FIELD_STRINGS, , __VA_ARGS__), \
				      KTRACE_FIRST(__VA_ARGS__)));                                   \
	KTRACE_FUNCTIONS(id, event, KTRACE_PARAMETER, KTRACE_FIELD_PACK, __VA_ARGS__);               \
	KTRACE_FUNCTION_EARLY(id, __VA_ARGS__)

/*
 * The functions that record. `kind` is whose row they are given: that of an event, or of a place. `parameter`
 * and `pack` are for KTRACE_EACH: the type and name of a field's argument, and how it is packed.
 */
#define KTRACE_FUNCTIONS(id, kind, parameter, pack, ...)                                                   \
	KTRACE_INLINE void id##_pack(struct ktrace_packer *packer KTRACE_EACH(parameter, id, __VA_ARGS__)) \
	{                                                                                                  \
		(void)packer;                                                                              \
		KTRACE_EACH(pack, id, __VA_ARGS__)                                                         \
	}                                                                                                  \
	KTRACE_INLINE void id##_hand_over(struct ktrx_##kind *row, uint64_t word,                          \
					  uint64_t stamp KTRACE_EACH(parameter, id, __VA_ARGS__))          \
	{                                                                                                  \
		KTRACE_PACKER(packer, buffer, id##_fixed, id##_longest);                                   \
                                                                                                           \
		id##_pack(&packer KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));                            \
		KTRACE_EMIT_##kind(id, row, buffer, packer.at, word, stamp, KTRACE_RETURN_ADDRESS);        \
	}                                                                                                  \
	KTRACE_RARE void id##_record_slow(struct ktrx_##kind *row, uint64_t word,                          \
					  uint64_t stamp KTRACE_EACH(parameter, id, __VA_ARGS__))          \
	{                                                                                                  \
		id##_hand_over(row, word, stamp KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));              \
	}                                                                                                  \
	KTRACE_OUT_OF_LINE void id##_record_long(                                                          \
		struct ktrx_##kind *row KTRACE_EACH(parameter, id, __VA_ARGS__))                           \
	{                                                                                                  \
		id##_hand_over(row, KTRACE_WORD_NONE, 0 KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));      \
	}                                                                                                  \
	KTRACE_INLINE void id##_record(struct ktrx_##kind *row KTRACE_EACH(parameter, id, __VA_ARGS__))    \
	{                                                                                                  \
		struct ktrace_claim claim;                                                                 \
		struct ktrace_packer packer;                                                               \
		unsigned long pinned = ktrace_arch_pin();                                                  \
                                                                                                           \
		if (id##_strings != 0 || id##_fixed > KTRX_FIRST_PAYLOAD) {                                \
			id##_record_long(row KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));                 \
			KTRACE_COME_BACK();                                                                \
		} else if (!ktrace_claim_header(&claim, &row->header)) {                                   \
			id##_record_slow(row, KTRACE_WORD_NONE,                                            \
					 0 KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));                   \
			KTRACE_COME_BACK();                                                                \
		} else if (ktrace_claim_slot(&claim)) {                                                    \
			ktrace_packer_set(&packer, KTRACE_NULL, 0);                                        \
			id##_pack(&packer KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));                    \
			ktrace_commit(&claim, &packer);                                                    \
		} else {                                                                                   \
			id##_record_slow(row, claim.word,                                                  \
					 claim.stamp KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));         \
			KTRACE_COME_BACK();                                                                \
		}                                                                                          \
		ktrace_arch_unpin(pinned);                                                                 \
	}                                                                                                  \
	struct ktrace_semicolon

#define KTRACE_EMIT_event(id, row, ...) ktrace_emit(row, __VA_ARGS__)
#define KTRACE_EMIT_place(id, row, ...) ktrace_emit_place(row, &id.event, __VA_ARGS__)

#define KTRACE_FUNCTION_EARLY(id, ...)                                                   \
	KTRACE_INLINE void id##_record_early(                                            \
		struct ktrx_event *event KTRACE_EACH(KTRACE_PARAMETER, id, __VA_ARGS__)) \
	{                                                                                \
		KTRACE_PACKER(packer, buffer, id##_fixed, id##_longest);                 \
                                                                                         \
		id##_pack(&packer KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));          \
		ktrace_emit_early(event, buffer, packer.at);                             \
	}                                                                                \
	struct ktrace_semicolon

#define KTRACE_DECLARE_0(id, group, name, state, flags, v1_id, ...)                    \
	KTRACE_CHECKS(id, __VA_ARGS__)                                                 \
	enum { id##_built = 0 };                                                       \
	extern struct ktrace_row id;                                                   \
	KTRACE_UNUSED_INLINE void id##_record(                                         \
		struct ktrx_event *event KTRACE_EACH(KTRACE_PARAMETER, , __VA_ARGS__)) \
	{                                                                              \
		(void)event;                                                           \
		if (0)                                                                 \
			id##_format(0 KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));    \
	}                                                                              \
	KTRACE_UNUSED_INLINE void id##_record_early(                                   \
		struct ktrx_event *event KTRACE_EACH(KTRACE_PARAMETER, , __VA_ARGS__)) \
	{                                                                              \
		id##_record(event KTRACE_EACH(KTRACE_ARGUMENT, , __VA_ARGS__));        \
	}                                                                              \
	struct ktrace_semicolon

/* What is checked of an event, built or not. */
#define KTRACE_CHECKS(id, ...)                                                                          \
	KTRACE_SCOPE_CHECK                                                                              \
	KTRACE_COUNT_CHECK(__VA_ARGS__)                                                                 \
	KTRACE_EACH(KTRACE_FIELD_CHECK, id, __VA_ARGS__)                                                \
	KTRACE_FORMAT_BEGIN                                                                             \
	KTRACE_UNUSED_INLINE void id##_format(int nothing KTRACE_EACH(KTRACE_PARAMETER, , __VA_ARGS__)) \
	{                                                                                               \
		(void)nothing;                                                                          \
		ktrace_format_check(KTRACE_FIRST(__VA_ARGS__)                                           \
					    KTRACE_EACH(KTRACE_FORMAT_ARGUMENT, id, __VA_ARGS__));      \
	}                                                                                               \
	KTRACE_FORMAT_END

#include "ktrace/event_text.h"

#endif
