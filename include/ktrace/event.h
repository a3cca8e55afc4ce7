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
 * pointer, a pointer to another type. Numbers are converted as in a call.
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
#include "ktrace/macros.h"
#include "ktrace/record.h"
#include "ktrace/types.h"

/*
 * Declares an event at file scope, for the file it stands in. In a header, each file gets an event of its
 * own.
 */
#define KTRACE_EVENT(group, name, ...)                                                                      \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, KTRX_STATE_RECORD, 0, KTRX_V1_NONE, __VA_ARGS__)

/*
 * The same with a state to boot with, a constant: KTRX_STATE_OFF, _RECORD, _COUNT or _COUNT |
 * KTRX_STATE_RECORD.
 *
 *	KTRACE_EVENT_STATE(KTRX_STATE_OFF, mm, zero, "%p", (void *, page));
 */
#define KTRACE_EVENT_STATE(state, group, name, ...)                                                         \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, state, 0, KTRX_V1_NONE, __VA_ARGS__)

/* The same with an id for KTRX version 1 dumps, 0 to 1023, see ktrx/v1.h. */
#define KTRACE_EVENT_V1(v1_id, group, name, ...)                                                            \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, KTRX_STATE_RECORD, 0, v1_id, __VA_ARGS__)

/*
 * The same with everything that can be set: state, flags (KTRX_EVENT_FOLD, KTRX_EVENT_RARE ...), id for
 * version 1 dumps or KTRX_V1_NONE.
 */
#define KTRACE_EVENT_WITH(state, flags, v1_id, group, name, ...)                                            \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, state, flags, v1_id, __VA_ARGS__)

/* KTRACE(group, name, argument, ...): records the event. */
#define KTRACE(group, ...) KTRACE_SITE(1, 0, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_IF(condition, group, name, argument, ...): records the event if the condition holds; it is evaluated
 * only while the event is on.
 */
#define KTRACE_IF(condition, group, ...) KTRACE_SITE(condition, 0, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_EARLY(group, name, argument, ...): records the event into the boot ring, from a context whose
 * per-CPU area is not valid (yet): a CPU that is starting, an exception entry before swapgs.
 */
#define KTRACE_EARLY(group, ...) KTRACE_SITE(1, 1, ktrace_event_##group##_##__VA_ARGS__)

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
 * What all declarations become. The macros that a kernel writes paste group and name and make strings of
 * them: one level further down both would be macro-expanded, and `unix` is a macro of gcc's. An event `id`
 * leaves:
 *
 *	id_f0 ... id_f15   constants: the rules of its fields, see types.h
 *	id_p0 ... id_p15   types, in C: what its pointer fields point to
 *	id_built           0: left out; else 1 + the size of its fields, of a string KTRACE_STRING_SIZE
 *	id                 its event descriptor, in the section ktrace_events; not defined if left out
 *	id_record()        what a site calls: checks the text, packs the fields, records
 *
 * What is left out is checked like what is built.
 */
#define KTRACE_DECLARE(built, id, names, state, flags, v1_id, ...)                                       \
	KTRACE_FIELDS(id, __VA_ARGS__)                                                                   \
	KTRACE_PASTE(KTRACE_ROW_, built)                                                                 \
	(KTRACE_KEEP, id, state, flags, v1_id, 0, KTRACE_COUNT(__VA_ARGS__),                             \
	 KTRACE_EACH(KTRACE_FIELD_CODE, id, __VA_ARGS__),                                                \
	 KTRACE_STRINGS(names, KTRACE_FIELD_STRINGS, __VA_ARGS__));                                      \
	enum { id##_built = built * (1 KTRACE_EACH(KTRACE_FIELD_SIZE, id, __VA_ARGS__)) };               \
	KTRACE_FORMAT_BEGIN                                                                              \
	KTRACE_FUNCTION(built, id, KTRACE_PARAMETER, KTRACE_FIELD_PACK,                                  \
			KTRACE_FORMAT_CHECK(KTRACE_FIRST(__VA_ARGS__)                                    \
						    KTRACE_EACH(KTRACE_FORMAT_ARGUMENT, , __VA_ARGS__)), \
			__VA_ARGS__)                                                                     \
	KTRACE_FORMAT_END                                                                                \
	struct ktrace_semicolon

/* What is checked of the fields of an event, and what they leave. */
#define KTRACE_FIELDS(id, ...)          \
	KTRACE_SCOPE_CHECK              \
	KTRACE_COUNT_CHECK(__VA_ARGS__) \
	KTRACE_EACH(KTRACE_FIELD_CHECK, id, __VA_ARGS__)

/* Group, name, text, file, and names and units of the fields. `field`: what KTRACE_EACH does to a field. */
#define KTRACE_STRINGS(names, field, ...) \
	names "\0" KTRACE_FIRST(__VA_ARGS__) "\0" __FILE__ KTRACE_EACH(field, , __VA_ARGS__)

/*
 * What KTRACE_EACH does to a field of a declared event: a tuple (type, name[, unit]). Some without spaces,
 * because each field has their text once.
 */
/* clang-format off */
#define KTRACE_PARAMETER(id, n, field)	    , KTRACE_FIELD_TYPE field KTRACE_PASTE(a, n)
#define KTRACE_FORMAT_ARGUMENT(c, n, field) , KTRACE_FORMATTED(KTRACE_PASTE(a, n))
#define KTRACE_FIELD_STRINGS(c, n, field)   "\0" KTRACE_FIELD_WORDS field
#define KTRACE_FIELD_CODE(id, n, field)	    KTRACE_PASTE(id##_f,n)&15,
#define KTRACE_FIELD_SIZE(id, n, field) \
	+(KTRACE_PASTE(id##_f,n)==KTRACE_RULE_STRING?KTRACE_STRING_SIZE:sizeof(KTRACE_FIELD_TYPE field))
#define KTRACE_FIELD_PACK(id, n, field) \
	ktrace_pack(&to,sizeof(KTRACE_FIELD_TYPE field),KTRACE_FIELD_WORD(KTRACE_PASTE(a,n)));
/* clang-format on */
#define KTRACE_FIELD_TYPE(type, ...)		   type
#define KTRACE_FIELD_NAME(type, ...)		   KTRACE_FIELD_NAME_(__VA_ARGS__, )
#define KTRACE_FIELD_NAME_(name, ...)		   #name
#define KTRACE_FIELD_WORDS(...)			   KTRACE_FIELD_WORDS_(__VA_ARGS__, , )
#define KTRACE_FIELD_WORDS_(type, name, unit, ...) #name "\0" #unit
/* clang-format off */
#define KTRACE_FIELD_CHECK(id, n, field) \
	enum KTRACE_RULES { KTRACE_PASTE(id##_f,n)=KTRACE_RULE(KTRACE_FIELD_TYPE field) }; \
	KTRX_STATIC_ASSERT(KTRACE_PASTE(id##_f,n)>0, \
			   "ktrace: no field can hold the type of " KTRACE_FIELD_NAME field); \
	KTRACE_POINTEE(KTRACE_PASTE(id##_p,n),KTRACE_PASTE(id##_f,n),KTRACE_FIELD_TYPE field)
/* clang-format on */

/*
 * The function that records. For KTRACE_EACH, `parameter` is the type and name of a field's argument, `pack`
 * packs it.
 */
#define KTRACE_FUNCTION(built, id, parameter, pack, check, ...)                                            \
	KTRACE_PASTE(KTRACE_LONG_, built)                                                                  \
	(id) KTRACE_INLINE void id##_record(int early,                                                     \
					    struct ktrx_place *at KTRACE_EACH(parameter, id, __VA_ARGS__)) \
	{                                                                                                  \
		struct ktrace_packer to;                                                                   \
		uint64_t word[KTRACE_PACKER_WORDS(__VA_ARGS__)];                                           \
                                                                                                           \
		check;                                                                                     \
		ktrace_packer_set(&to, word, &id.event, id##_built, early, at);                            \
		KTRACE_EACH(pack, id, __VA_ARGS__)                                                         \
		if (early || id##_built > KTRACE_BUILT_SHORT)                                              \
			id##_record_long(&to);                                                             \
		else                                                                                       \
			ktrace_record(&to);                                                                \
		KTRACE_COME_BACK();                                                                        \
	}

/*
 * Records what takes more than one slot. Readers of the branches that were run know by its name which event
 * it records, so it is out of line. What is left out has none: gcc keeps it where nothing is optimised.
 */
#define KTRACE_LONG_1(id)                                                  \
	KTRACE_OUT_OF_LINE void id##_record_long(struct ktrace_packer *to) \
	{                                                                  \
		ktrace_emit_long(to, KTRACE_RETURN_ADDRESS);               \
	}
#define KTRACE_LONG_0(id) void id##_record_long(struct ktrace_packer *to);

/*
 * The event descriptor. An event that is on goes out of line at first: the first event of all numbers the
 * descriptors. `keep` is KTRACE_KEEP or KTRACE_KEEP_WITH_CODE.
 */
#define KTRACE_ROW_1(keep, id, state, flags, v1_id, mask_bit, count, codes, text) \
	static struct {                                                           \
		struct ktrx_event event;                                          \
		char strings[sizeof(text)];                                       \
	} id __attribute__((__section__("ktrace_events"), __aligned__(8),         \
			    keep)) = { { KTRX_EVENT_MAGIC,                        \
					 sizeof(id),                              \
					 KTRACE_STATE_LINKED(state),              \
					 state,                                   \
					 0,                                       \
					 KTRACE_HEADER_SLOW,                      \
					 v1_id,                                   \
					 count,                                   \
					 flags,                                   \
					 __LINE__,                                \
					 mask_bit,                                \
					 0,                                       \
					 { codes KTRACE_ZERO_IF_NONE(count) } },  \
				       text }
#define KTRACE_ROW_0(keep, id, ...) extern struct ktrace_row id
struct ktrace_row {
	struct ktrx_event event;
};

/* clang-format off */
#define KTRACE_STATE_LINKED(state) ((state)?(state)|KTRX_STATE_SLOW:0)
/* clang-format on */

#define KTRACE_SITE(condition, early, ...) \
	KTRACE_SITE_OF(condition, early, KTRACE_FIRST(__VA_ARGS__), __VA_ARGS__)
#define KTRACE_SITE_OF(condition, early, id, ...) KTRACE_SITE_(condition, early, id, __VA_ARGS__)
#define KTRACE_SITE_(condition, early, id, ...)                                                  \
	do {                                                                                     \
		KTRACE_ARGUMENT_CHECKS(id, __VA_ARGS__)                                          \
		if (KTRACE_IF_RUNS_AND id##_built > 0 &&                                         \
		    __builtin_expect(ktrace_event_is_on(&id.event), 0) && (condition))           \
			id##_record(early, KTRACE_NULL KTRACE_EACH(KTRACE_GIVE, , __VA_ARGS__)); \
	} while (0)
#define KTRACE_GIVE(c, n, value) , value

#include "ktrace/event_text.h"

#endif
