/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Declares and records events.
 *
 *	KTRACE_EVENT(sched, switch, "%u -> %u, ran for %llu ns",
 *		     (uint32_t, prev), (uint32_t, next), (unsigned long long, ran, ns));
 *
 *	KTRACE(sched, switch, prev->id, next->id, clock_ns() - prev->started);
 *
 * An event has a group, a name, a printf format string for all of its fields, and 0 to 16 fields (type,
 * name[, unit]). Field types are integers, bool, char, enumerations, pointers, and const char * for a string.
 * A string is copied when the event fires (at most KTRACE_STRING_MAX bytes; NULL shows as "(null)").
 * Arguments are evaluated only while the event is on.
 *
 * The compiler rejects a format string that does not match the fields (except with -w, which turns all
 * warnings off). Whatever the flags, it rejects an argument that does not fit its field: a pointer for a
 * number, a number for a pointer, or a pointer to another type. Numbers are converted as in a function call.
 *
 * A kernel can have 4095 events with an id. Further events are not recorded; the trace contains how often
 * they fired.
 *
 * Recording works from the first instruction, without ktrace_init(), in any context: interrupts, NMI, with
 * locks held.
 *
 * Events can be excluded from the build. An excluded event generates no code and no data; its arguments are
 * checked, but not evaluated:
 *	-DKTRACE_DISABLE=1			excludes all events
 *	-DKTRACE_NO_<group>=1			excludes this group
 *	-DKTRACE_SELECT=1 -DKTRACE_WITH_<group>=1	excludes all groups except those named
 */
#ifndef KTRACE_EVENT_H
#define KTRACE_EVENT_H

#include "ktrace/compiler.h"
#include "ktrace/macros.h"
#include "ktrace/record.h"
#include "ktrace/types.h"

/*
 * Declares an event for this file. Use it at file scope. A declaration in a header declares a separate event
 * in each file that includes the header.
 */
#define KTRACE_EVENT(group, name, ...)                                                                      \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, KTRX_STATE_RECORD, 0, KTRX_V1_NONE, __VA_ARGS__)

/*
 * Declares an event and its state at boot. The state is a constant: KTRX_STATE_OFF, KTRX_STATE_RECORD,
 * KTRX_STATE_COUNT, or KTRX_STATE_COUNT | KTRX_STATE_RECORD.
 *
 *	KTRACE_EVENT_STATE(KTRX_STATE_OFF, mm, zero, "%p", (void *, page));
 */
#define KTRACE_EVENT_STATE(state, group, name, ...)                                                         \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, state, 0, KTRX_V1_NONE, __VA_ARGS__)

/* Declares an event with an id for KTRX version 1 dumps, 0 to 1023, see ktrx/v1.h. */
#define KTRACE_EVENT_V1(v1_id, group, name, ...)                                                            \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, KTRX_STATE_RECORD, 0, v1_id, __VA_ARGS__)

/*
 * Declares an event with all options: state, flags (KTRX_EVENT_FOLD, KTRX_EVENT_RARE ...), and the id for
 * version 1 dumps or KTRX_V1_NONE.
 */
#define KTRACE_EVENT_WITH(state, flags, v1_id, group, name, ...)                                            \
	KTRACE_DECLARE(KTRACE_BUILT(KTRACE_NO_##group, KTRACE_WITH_##group), ktrace_event_##group##_##name, \
		       #group "\0" #name, state, flags, v1_id, __VA_ARGS__)

/* KTRACE(group, name, argument, ...): records the event. */
#define KTRACE(group, ...) KTRACE_SITE(1, 0, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_IF(condition, group, name, argument, ...): records the event if the condition is true. The condition
 * is evaluated only while the event is on.
 */
#define KTRACE_IF(condition, group, ...) KTRACE_SITE(condition, 0, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_EARLY(group, name, argument, ...): records the event into the boot ring. Use it where the per-CPU
 * area is not valid (yet): on a CPU that is starting, or in an exception entry before swapgs.
 */
#define KTRACE_EARLY(group, ...) KTRACE_SITE(1, 1, ktrace_event_##group##_##__VA_ARGS__)

/*
 * KTRACE_TEXT("x=%d", x): declares and records an event of the group "text". Its fields are the arguments, at
 * most 16, and have their types. It is quick to write, but an event that is declared separately is recorded
 * faster and has named fields. In C++ it also works in inline functions, templates and lambdas; each instance
 * of a template has its own event.
 */
#define KTRACE_TEXT(...) \
	KTRACE_PASTE(KTRACE_TEXT_, KTRACE_BUILT(KTRACE_NO_text, KTRACE_WITH_text))(__VA_ARGS__)

/* ---- Implementation of the macros -------------------------------------------------------------- */

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
 * All macros that declare an event expand to this macro. The public macros paste and stringify group and name
 * themselves, because a macro that they call would get both macro-expanded: gcc predefines a macro `unix`,
 * for example. The expansion for an event `id` defines:
 *
 *	id_f0 ... id_f15   constants: the rules of its fields, see types.h
 *	id_p0 ... id_p15   in C: the types to which its pointer fields point
 *	id_built           0: excluded; otherwise 1 + the size of its fields, in which a string counts as
 *	                   KTRACE_STRING_SIZE
 *	id                 its event descriptor, in the section ktrace_events; undefined if excluded
 *	id_record()        the function that a site calls: checks the text, packs the fields, records
 *
 * The fields and text of an excluded event are checked, too.
 */
#define KTRACE_DECLARE(built, id, names, state, flags, v1_id, ...)                                       \
	KTRACE_FIELDS(id, __VA_ARGS__)                                                                   \
	KTRACE_PASTE(KTRACE_DESCRIPTOR_, built)                                                          \
	(KTRACE_KEEP, id, state, flags, v1_id, 0, KTRACE_COUNT(__VA_ARGS__),                             \
	 KTRACE_EACH(KTRACE_FIELD_CODE, id, __VA_ARGS__),                                                \
	 KTRACE_STRINGS(names, KTRACE_FIELD_STRINGS, __VA_ARGS__));                                      \
	enum { id##_built = built * (1 KTRACE_EACH(KTRACE_FIELD_SIZE, id, __VA_ARGS__)) };               \
	KTRACE_FORMAT_BEGIN                                                                              \
	KTRACE_FUNCTION(built, id, KTRACE_CHECKED, KTRACE_FIELD_PACK,                                    \
			KTRACE_FORMAT_CHECK(KTRACE_FIRST(__VA_ARGS__)                                    \
						    KTRACE_EACH(KTRACE_FORMAT_ARGUMENT, , __VA_ARGS__)), \
			__VA_ARGS__)                                                                     \
	KTRACE_FORMAT_END                                                                                \
	struct ktrace_semicolon

/* Checks the fields of an event, and defines their rules and types. */
#define KTRACE_FIELDS(id, ...)          \
	KTRACE_SCOPE_CHECK              \
	KTRACE_COUNT_CHECK(__VA_ARGS__) \
	KTRACE_EACH(KTRACE_FIELD_CHECK, id, __VA_ARGS__)

/*
 * The strings of an event descriptor: group, name, text, file, then name and unit of each field. `field`: the
 * macro that KTRACE_EACH applies to a field.
 */
#define KTRACE_STRINGS(names, field, ...) \
	names "\0" KTRACE_FIRST(__VA_ARGS__) "\0" __FILE__ KTRACE_EACH(field, , __VA_ARGS__)

/*
 * Macros that KTRACE_EACH applies to a field of a declared event, a tuple (type, name[, unit]). Some are
 * written without spaces, to keep the expansion short: their text is repeated for each field.
 */
/* clang-format off */
#define KTRACE_PARAMETER(id, n, field)	    , KTRACE_FIELD_TYPE field KTRACE_PASTE(a, n)
#define KTRACE_CHECKED(id, n, field) \
	, KTRACE_PARAMETER_TYPE(KTRACE_FIELD_TYPE field) KTRACE_PASTE(a, n)
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
 * The function that records. KTRACE_EACH applies `parameter` and `pack` to each field: `parameter` declares
 * the argument of the field, and `pack` packs the argument.
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
 * Writes a record of more than one slot. It is out of line and has the event's name, so that readers of a
 * branch trace can see which event it records. For an excluded event the function is declared but not
 * defined, because without optimisation gcc would keep it in the kernel.
 */
#define KTRACE_LONG_1(id)                                                  \
	KTRACE_OUT_OF_LINE void id##_record_long(struct ktrace_packer *to) \
	{                                                                  \
		ktrace_emit_long(to, KTRACE_RETURN_ADDRESS);               \
	}
#define KTRACE_LONG_0(id) void id##_record_long(struct ktrace_packer *to);

/*
 * The event descriptor. At boot, events that are on are recorded out of line, because the first event that
 * fires must assign the ids of all descriptors. `keep` is KTRACE_KEEP or KTRACE_KEEP_WITH_CODE.
 */
#define KTRACE_DESCRIPTOR_1(keep, id, state, flags, v1_id, mask_bit, count, codes, text) \
	static struct {                                                                  \
		struct ktrx_event event;                                                 \
		char strings[sizeof(text)];                                              \
	} id __attribute__((__section__("ktrace_events"), __aligned__(8),                \
			    keep)) = { { KTRX_EVENT_MAGIC,                               \
					 sizeof(id),                                     \
					 KTRACE_STATE_LINKED(state),                     \
					 state,                                          \
					 0,                                              \
					 KTRACE_HEADER_SLOW,                             \
					 v1_id,                                          \
					 count,                                          \
					 flags,                                          \
					 __LINE__,                                       \
					 mask_bit,                                       \
					 0,                                              \
					 { codes KTRACE_ZERO_IF_NONE(count) } },         \
				       text }
#define KTRACE_DESCRIPTOR_0(keep, id, ...) extern struct ktrace_descriptor id
struct ktrace_descriptor {
	struct ktrx_event event;
};

/* clang-format off */
#define KTRACE_STATE_LINKED(state) ((state)?(state)|KTRX_STATE_SLOW:0)
/* clang-format on */

#define KTRACE_SITE(condition, early, ...) \
	KTRACE_SITE_OF(condition, early, KTRACE_FIRST(__VA_ARGS__), __VA_ARGS__)
#define KTRACE_SITE_OF(condition, early, id, ...) KTRACE_SITE_(condition, early, id, __VA_ARGS__)
#define KTRACE_SITE_(condition, early, id, ...)                                                      \
	do {                                                                                         \
		KTRACE_ARGUMENT_CHECKS(id, __VA_ARGS__)                                              \
		KTRACE_CHECK_EXCLUDED(                                                               \
			id, id##_record(early, KTRACE_NULL KTRACE_EACH(KTRACE_GIVE, , __VA_ARGS__))) \
		if (KTRACE_IF_RUNS_AND id##_built > 0 &&                                             \
		    __builtin_expect(ktrace_event_is_on(&id.event), 0) && (condition))               \
			id##_record(early, KTRACE_NULL KTRACE_EACH(KTRACE_GIVE, , __VA_ARGS__));     \
	} while (0)
#define KTRACE_GIVE(c, n, value) , value

#include "ktrace/event_text.h"

#endif
