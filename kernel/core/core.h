/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the sources of the core offer each other. Besides: state.h, the data that all of them share; hook.h,
 * what the hooks share; reader.h, the trace read inside the kernel.
 */
#ifndef KTRACE_CORE_CORE_H
#define KTRACE_CORE_CORE_H

#include "../base/bytes.h"
#include "ktrace/port.h"
#include "ktrace/settings.h"
#include "state.h"

/* ---- write.c ---------------------------------------------------------------------------------- */

/*
 * From a packed record to slots of a ring. Any context; see port.h for those in which only the boot ring will
 * do.
 */

/* A record that is to be made. */
struct ktrace_draft {
	uint32_t *payload; /* in a buffer of KTRACE_CAPACITY(bytes), rounded up to 8 */
	uint32_t bytes;	   /* of payload, extension block included */
	uint32_t second;   /* thread, context and extension bit, as in bits 88:64 of a first slot */
	uint32_t ring;	   /* boot ring, that of rare events, or this CPU's; shared ones need a CPU */
	uint16_t event;
	uint16_t place; /* id that the record bears in place of the event's; 0: none */
};

/* Records. Returns the stamp, 0 if the ring is full. */
KTRACE_HIDDEN uint64_t ktrace_write(const struct ktrace_draft *draft);

/* The same where the draft's ring is known to be that of this CPU, as it was just now. */
KTRACE_HIDDEN uint64_t ktrace_write_own(const struct ktrace_draft *draft);

/* The same where a site has reserved one slot of a CPU's ring, and read the clock. */
KTRACE_HIDDEN uint64_t ktrace_write_reserved(const struct ktrace_draft *draft, uint64_t word, uint64_t stamp);

/* Clears what the record's slots hold behind its payload, up to a multiple of 4 bytes. */
KTRACE_HIDDEN void ktrace_draft_end(const struct ktrace_draft *draft);

/* ---- fold.c: repetitions that are counted instead of recorded --------------------------------- */

/* `all` rows, of which each CPU has `rows`; from ktrace_init(). */
KTRACE_HIDDEN void ktrace_fold_open(struct ktrx_fold *fold, uint32_t all, uint32_t rows);

/*
 * Holds the CPU's row for an event: its own, else an empty one, else the one that was used least recently.
 * NULL: there are no rows, or somebody holds it.
 */
KTRACE_HIDDEN struct ktrx_fold *ktrace_fold_hold(uint32_t cpu, uint16_t event);
KTRACE_HIDDEN void ktrace_fold_release(struct ktrx_fold *fold);

/* The end of the draft's payload is cleared: ktrace_draft_end(). */
KTRACE_HIDDEN int ktrace_fold_is(const struct ktrx_fold *fold, const struct ktrace_draft *draft);
KTRACE_HIDDEN void ktrace_fold_count(struct ktrx_fold *fold, uint64_t stamp);

/* From now on the row is for this record, made about then, and has counted nothing. */
KTRACE_HIDDEN void ktrace_fold_set(struct ktrx_fold *fold, const struct ktrace_draft *draft, uint64_t stamp);

/* Empties all rows; those that are held, when they are released. */
KTRACE_HIDDEN void ktrace_fold_clear(void);

/* ---- attach.c: rows of places that record an event, see struct ktrx_place --------------------- */

/* The places' rows of this image: NULL ends. */
KTRACE_HIDDEN struct ktrx_place *ktrace_place_first(void);
KTRACE_HIDDEN struct ktrx_place *ktrace_place_next(struct ktrx_place *place);

/*
 * Joins the places whose addresses lead to an event's row. They get the ids that follow those of events,
 * while there are free ids. To be called again after the kernel has relocated itself. Any context.
 */
KTRACE_HIDDEN void ktrace_places_join(void);

/*
 * Joins a place that is not joined yet: its records bear the event's id. Requires: the event has an id. Any
 * context.
 */
KTRACE_HIDDEN void ktrace_place_join(struct ktrx_place *place, const struct ktrx_event *event);

/* Lets the records of a place that was just joined go the way that those of its event go. Any context. */
KTRACE_HIDDEN void ktrace_place_follow(struct ktrx_place *place, const struct ktrx_event *event);

/* Sends the place's records through the slow path, or lets them take the fast one. */
KTRACE_HIDDEN void ktrace_place_set_slow(struct ktrx_place *place, int is_slow);

/* What records of the place bear: its own id or its event's; 0: it is not joined. */
static inline uint32_t ktrace_place_number(const struct ktrx_place *place)
{
	return *(const volatile uint32_t *)&place->header >> 16 & KTRX_EVENT_MAX;
}

/* The row of the place's event; NULL: it is not joined. */
static inline struct ktrx_event *ktrace_place_event(struct ktrx_place *place)
{
	const int32_t offset = *(volatile int32_t *)&place->offset;

	return offset ? (struct ktrx_event *)(void *)((uint8_t *)place + offset) : KTRACE_NULL;
}

/* ---- names of events and settings ------------------------------------------------------------- */

/*
 * Names of events, as their rows have them; and names put together piece by piece, as events' and settings'
 * full names are: one that does not fit is no name.
 */

/* The row's n-th string, from 0. */
static inline const char *ktrace_event_string(const struct ktrx_event *event, uint32_t n)
{
	const char *at = (const char *)(event + 1);

	while (n-- > 0)
		at += ktrace_length(at, UINT32_MAX) + 1;
	return at;
}

static inline const char *ktrace_event_group(const struct ktrx_event *event)
{
	return ktrace_event_string(event, 0);
}

static inline const char *ktrace_event_name(const struct ktrx_event *event)
{
	return ktrace_event_string(event, 1);
}

/* The next row of a group after `event`, its first after NULL. */
static inline struct ktrx_event *ktrace_group_next(struct ktrace_span group, struct ktrx_event *event)
{
	event = event ? ktrace_event_next(event) : ktrace_event_first();
	while (event && !ktrace_span_is(group, ktrace_event_group(event)))
		event = ktrace_event_next(event);
	return event;
}

/* Is the row the first one of its group? */
static inline int ktrace_event_leads_group(const struct ktrx_event *event)
{
	return ktrace_group_next(ktrace_span_of(ktrace_event_group(event)), KTRACE_NULL) == event;
}

struct ktrace_name {
	char text[KTRACE_SETTING_NAME_MAX];
	uint32_t length;
};

static inline void ktrace_name_add(struct ktrace_name *name, const char *piece)
{
	volatile char *to = name->text;

	while (*piece && name->length < KTRACE_SETTING_NAME_MAX)
		to[name->length++] = *piece++;
	if (name->length < KTRACE_SETTING_NAME_MAX)
		to[name->length] = '\0';
}

static inline int ktrace_name_fits(const struct ktrace_name *name)
{
	return name->length < KTRACE_SETTING_NAME_MAX;
}

/* ---- events.c --------------------------------------------------------------------------------- */

/* What is to become of events: parts of their state and flags that KTRX_CHANGE_* names. */
struct ktrace_change {
	uint8_t change;
	uint8_t state;
	uint8_t flags;
};

KTRACE_HIDDEN void ktrace_event_change(struct ktrx_event *event, const struct ktrace_change *change);

/* Does the pattern choose this event? "group.name" with * and ?, or a group's name alone. */
KTRACE_HIDDEN int ktrace_event_matches(const struct ktrx_event *event, struct ktrace_span pattern);

/*
 * Changes all events that match: "group.name" with * and ?, or a group's name alone. Events of the group
 * "ktrace" match only patterns that begin with that. Returns how many matched; ktrace_states_update() puts it
 * into effect.
 */
KTRACE_HIDDEN uint32_t ktrace_events_change(struct ktrace_span pattern, const struct ktrace_change *change);

/* ---- settings.c ------------------------------------------------------------------------------- */

/* The rows of this image: NULL ends. */
KTRACE_HIDDEN struct ktrx_setting *ktrace_setting_first(void);
KTRACE_HIDDEN struct ktrx_setting *ktrace_setting_next(struct ktrx_setting *row);

/* Names the rows in the root. */
KTRACE_HIDDEN void ktrace_settings_place(void);

KTRACE_HIDDEN uint64_t ktrace_setting_value(const struct ktrx_setting *row);

/* Errors: READ_ONLY, ARGUMENT. */
KTRACE_HIDDEN int ktrace_setting_store(const struct ktrx_setting *row, uint64_t value);

/* As ktrace_setting_set(), without bringing states up to date. */
KTRACE_HIDDEN int ktrace_setting_assign(struct ktrace_span name, struct ktrace_span value);

/* ---- masks.c ---------------------------------------------------------------------------------- */

/*
 * As ktrace_setting_get(), _set() and _each(), for these settings alone. Rows change in what is wanted of
 * them.
 */
#if KTRACE_MASKS
KTRACE_HIDDEN int ktrace_mask_get(struct ktrace_span name, char *buffer, size_t size);
KTRACE_HIDDEN int ktrace_mask_set(struct ktrace_span name, struct ktrace_span value);
KTRACE_HIDDEN int ktrace_mask_each(ktrace_setting_visit *visit, void *cookie);
#else
#define ktrace_mask_get(name, buffer, size) KTRACE_ERROR_NO_SETTING
#define ktrace_mask_set(name, value)	    KTRACE_ERROR_NO_SETTING
#define ktrace_mask_each(visit, cookie)	    0
#endif

/* ---- argument.c ------------------------------------------------------------------------------- */

/* Keeps the word for ktrace_refused(), unless there is no error, which is what it returns. */
KTRACE_HIDDEN int ktrace_refuse(struct ktrace_span word, int error);

/* ---- mailbox.c: requests of a host ------------------------------------------------------------ */

extern KTRACE_HIDDEN struct ktrx_mailbox ktrace_mailbox;

/* Names the mailbox in the root, and the boot in the mailbox. */
KTRACE_HIDDEN void ktrace_mailbox_place(void);

/* Carries out what was requested, unless another CPU is at it. From the tick. */
KTRACE_HIDDEN void ktrace_mailbox_look(void);

/* ---- clock.c: clocks that are measured -------------------------------------------------------- */

/* What the offset was at least or at most when this CPU's clock showed `stamp`. */
struct ktrace_clock_bound {
	uint64_t stamp;
	int64_t offset;
};

/* What a CPU keeps for its clock: the first line is written by that CPU, the second one by CPU 0. */
struct ktrace_clock_line {
	uint64_t stamp __attribute__((__aligned__(64))); /* of this CPU, for the others to see */
	uint32_t forgotten;				 /* how often all bounds were given up */
	uint8_t wanted;					 /* CPU 0 is to look at this CPU's stamps */
	uint8_t has_lower, has_upper;
	uint8_t answered; /* round trips with CPU 0 succeeded once */
	struct ktrace_clock_bound lower, upper;
	/* Upper bound that CPU 0 found; `error` holds what `forgotten` was. */
	struct ktrx_clock_sample seen __attribute__((__aligned__(64)));
};

/*
 * Where measurements go, a row a CPU each, in lent memory; NULL: nowhere. `once`: also without being asked.
 */
struct ktrace_clock_rows {
	struct ktrx_clock *clock;
	int64_t *offset;
	struct ktrace_clock_line *line;
	uint32_t once;
};

/* Rows are zero; called before the first CPU is online. */
KTRACE_HIDDEN void ktrace_clock_open(const struct ktrace_clock_rows *rows, void (*request)(uint32_t cpu));

/* From the heartbeat of an online CPU, with how many it had: measures if it is time to. */
KTRACE_HIDDEN void ktrace_clock_beat(uint32_t cpu, uint64_t heartbeats);

/* ---- keep.c: the trace of a boot that a reset ends -------------------------------------------- */

/* Bytes that the copies take, for so many rings. */
KTRACE_HIDDEN uint64_t ktrace_keep_size(const struct ktrace_config *config, uint32_t rings);

/* Before memory that earlier boots used is written: what the last of them left there is no trace any more. */
KTRACE_HIDDEN void ktrace_keep_forget(void *memory);

/* Makes the copies, when all else is in place. The root becomes one last. */
KTRACE_HIDDEN void ktrace_keep_open(void *memory, uint32_t rings, uint64_t boot);

/*
 * From a CPU that comes online, and from each of its heartbeats: brings up to date what the copies say of it
 * and of what all CPUs share.
 */
KTRACE_HIDDEN void ktrace_keep_beat(uint32_t cpu);

/* The same of all CPUs. */
KTRACE_HIDDEN void ktrace_keep_all(void);

#endif
