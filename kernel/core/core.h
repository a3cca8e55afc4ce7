/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Interfaces between the source files of the core.
 * The other headers of the core are state.h (data that all source files of the core share), hook.h (functions
 * for hooks) and reader.h (readers inside the kernel).
 */
#ifndef KTRACE_CORE_CORE_H
#define KTRACE_CORE_CORE_H

#include "../base/bytes.h"
#include "ktrace/port.h"
#include "ktrace/settings.h"
#include "state.h"

/* ---- write.c ---------------------------------------------------------------------------------- */

/*
 * Writes a packed record into slots of a ring. Any context. port.h lists the contexts that may use only the
 * boot ring.
 */

/* A pending record. */
struct ktrace_pending {
	/*
	 * buffer with the payload; the size of the buffer is KTRACE_CAPACITY(bytes), rounded up to a multiple
	 * of 8
	 */
	uint32_t *payload;
	uint32_t bytes;	 /* number of bytes of the payload, including the extension block */
	uint32_t second; /* thread, context and extension bit, as in bits 88:64 of a first slot */
	/* number of the ring; a record in a shared ring contains the number of its CPU (KTRX_EXT_CPU) */
	uint32_t ring;
	uint16_t event;
	/* id of the place, which the record contains instead of the event's id; 0: no place */
	uint16_t place;
};

/* Writes the record. Returns its timestamp; 0 if the ring is full. */
KTRACE_HIDDEN uint64_t ktrace_write(const struct ktrace_pending *pending);

/*
 * Writes a record into the ring of the running CPU. This may be another CPU than the one for which the caller
 * made the record, because the thread may have migrated. Returns the same value as ktrace_write().
 */
KTRACE_HIDDEN uint64_t ktrace_write_own(const struct ktrace_pending *pending);

/*
 * Writes a record into a slot that the call site has already reserved in a CPU's ring. `word` is the result
 * of that reservation, `stamp` the timestamp that the call site has read. Returns the same value as
 * ktrace_write().
 */
KTRACE_HIDDEN uint64_t ktrace_write_reserved(const struct ktrace_pending *pending, uint64_t word,
					     uint64_t stamp);

/*
 * Clears the bytes from the end of the payload to the next multiple of 4 bytes, because they are stored in
 * the record's slots, too.
 */
KTRACE_HIDDEN void ktrace_pending_end(const struct ktrace_pending *pending);

/* ---- fold.c: repetitions that are counted instead of recorded --------------------------------- */

/* Starts to use a table of `all` entries. Each CPU has `rows` of these entries. Called by ktrace_init(). */
KTRACE_HIDDEN void ktrace_fold_open(struct ktrx_fold *fold, uint32_t all, uint32_t rows);

/*
 * Takes one of the CPU's entries for an event, and returns it. Prefers the entry that already counts this
 * event. If there is none, takes an empty entry. If there is no empty entry either, takes the entry that was
 * used least recently.
 * Returns NULL if there are no entries, or if another context holds the chosen entry.
 * The caller gives the entry back by ktrace_fold_release().
 */
KTRACE_HIDDEN struct ktrx_fold *ktrace_fold_hold(uint32_t cpu, uint16_t event);
KTRACE_HIDDEN void ktrace_fold_release(struct ktrx_fold *fold);

/*
 * Returns nonzero if the pending record equals the record whose repetitions the entry counts. Requires:
 * ktrace_pending_end() was called.
 */
KTRACE_HIDDEN int ktrace_fold_is(const struct ktrx_fold *fold, const struct ktrace_pending *pending);
KTRACE_HIDDEN void ktrace_fold_count(struct ktrx_fold *fold, uint64_t stamp);

/*
 * Makes the entry count repetitions of this record from now on, starting at 0. `stamp` is the approximate
 * time of the record.
 */
KTRACE_HIDDEN void ktrace_fold_set(struct ktrx_fold *fold, const struct ktrace_pending *pending,
				   uint64_t stamp);

/*
 * Makes all entries empty. An entry that another context holds becomes empty when that context releases it.
 */
KTRACE_HIDDEN void ktrace_fold_clear(void);

/* ---- attach.c: places that record an event, see struct ktrx_place ----------------------------- */

/*
 * ktrace_place_first() returns the first place descriptor of this image, ktrace_place_next() the descriptor
 * after `place`. Both return NULL if there is none.
 */
KTRACE_HIDDEN struct ktrx_place *ktrace_place_first(void);
KTRACE_HIDDEN struct ktrx_place *ktrace_place_next(struct ktrx_place *place);

/*
 * Joins each place to its event, if the place contains a valid address of an event descriptor. The ids of
 * places follow the ids of the events; if no id is free, a place gets no id.
 * Call it again after the kernel has relocated itself. Any context.
 */
KTRACE_HIDDEN void ktrace_places_join(void);

/*
 * Joins a place that is not joined yet. Does not give the place an id: its records have the event's id.
 * Requires: the event has an id. Any context.
 */
KTRACE_HIDDEN void ktrace_place_join(struct ktrx_place *place, const struct ktrx_event *event);

/*
 * Makes the records of a place that was just joined take the same code path, slow or fast, as the records of
 * its event. Any context.
 */
KTRACE_HIDDEN void ktrace_place_follow(struct ktrx_place *place, const struct ktrx_event *event);

/* Makes the place's records take the slow path, or allows the fast path. */
KTRACE_HIDDEN void ktrace_place_set_slow(struct ktrx_place *place, int is_slow);

/*
 * Returns the id in the place's records: the id of the place or of its event; 0 if the place is not joined.
 */
static inline uint32_t ktrace_place_number(const struct ktrx_place *place)
{
	return *(const volatile uint32_t *)&place->header >> 16 & KTRX_EVENT_MAX;
}

/* Returns the descriptor of the place's event; NULL if the place is not joined. */
static inline struct ktrx_event *ktrace_place_event(struct ktrx_place *place)
{
	const int32_t offset = *(volatile int32_t *)&place->offset;

	return offset ? (struct ktrx_event *)(void *)((uint8_t *)place + offset) : KTRACE_NULL;
}

/* ---- names of events and settings ------------------------------------------------------------- */

/*
 * Names of events, as event descriptors store them, and full names of events and settings, which are composed
 * of several strings. A name that is too long for its buffer is not used.
 */

/* Returns string number `n` of the event descriptor, counted from 0. */
static inline const char *ktrace_event_string(const struct ktrx_event *event, uint32_t n)
{
	const char *at = (const char *)(event + 1);

	while (n-- > 0)
		at += ktrace_length(at, KTRX_U32_MAX) + 1;
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

/*
 * Returns the next descriptor of the group after `event`, or the first descriptor of the group if `event` is
 * NULL.
 */
static inline struct ktrx_event *ktrace_group_next(struct ktrace_span group, struct ktrx_event *event)
{
	event = event ? ktrace_event_next(event) : ktrace_event_first();
	while (event && !ktrace_span_is(group, ktrace_event_group(event)))
		event = ktrace_event_next(event);
	return event;
}

/* Returns nonzero if this is the first event descriptor of its group. */
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

/* A change of events. `change` (KTRX_CHANGE_*) selects the parts of state and flags that are changed. */
struct ktrace_change {
	uint8_t change;
	uint8_t state;
	uint8_t flags;
};

KTRACE_HIDDEN void ktrace_event_change(struct ktrx_event *event, const struct ktrace_change *change);

/*
 * Returns nonzero if the pattern matches this event. A pattern is "group.name" with * and ?, or the name of a
 * group.
 */
KTRACE_HIDDEN int ktrace_event_matches(const struct ktrx_event *event, struct ktrace_span pattern);

/*
 * Changes all events that match the pattern: "group.name" with * and ?, or the name of a group.
 * Events of the group "ktrace" match only patterns that begin with "ktrace".
 * Returns the number of events that matched. The change takes effect with ktrace_states_update().
 */
KTRACE_HIDDEN uint32_t ktrace_events_change(struct ktrace_span pattern, const struct ktrace_change *change);

/* ---- settings.c ------------------------------------------------------------------------------- */

/* Return the settings of this image, one by one; NULL at the end. */
KTRACE_HIDDEN struct ktrx_setting *ktrace_setting_first(void);
KTRACE_HIDDEN struct ktrx_setting *ktrace_setting_next(struct ktrx_setting *row);

/* Makes the root refer to the table of settings. */
KTRACE_HIDDEN void ktrace_settings_place(void);

KTRACE_HIDDEN uint64_t ktrace_setting_value(const struct ktrx_setting *row);

/* Sets the value. Errors: READ_ONLY, ARGUMENT. */
KTRACE_HIDDEN int ktrace_setting_store(const struct ktrx_setting *row, uint64_t value);

/* Sets a setting like ktrace_setting_set(), but does not update the states of events. */
KTRACE_HIDDEN int ktrace_setting_assign(struct ktrace_span name, struct ktrace_span value);

/* ---- masks.c ---------------------------------------------------------------------------------- */

/*
 * Do the same as ktrace_setting_get(), _set() and _each(), but only for the settings that masks.c makes from
 * the event table. ktrace_mask_set() changes `wanted` of events. The caller must call ktrace_states_update()
 * afterwards.
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

/* If `error` is not 0, stores the word that ktrace_refused() returns. Returns `error`. */
KTRACE_HIDDEN int ktrace_refuse(struct ktrace_span word, int error);

/* ---- mailbox.c: requests of a host ------------------------------------------------------------ */

extern KTRACE_HIDDEN struct ktrx_mailbox ktrace_mailbox;

/* Makes the root refer to the mailbox, and stores the identity of this boot in the mailbox. */
KTRACE_HIDDEN void ktrace_mailbox_place(void);

/* Carries out the host's requests, unless another CPU is carrying them out. Called from the tick. */
KTRACE_HIDDEN void ktrace_mailbox_look(void);

/* ---- clock.c: measuring clocks ---------------------------------------------------------------- */

/*
 * A bound of a clock's offset: the lowest or the highest value that the offset can have had when this CPU's
 * clock showed `stamp`.
 */
struct ktrace_clock_bound {
	uint64_t stamp;
	int64_t offset;
};

/*
 * Timestamp and bounds of a CPU's clock. The CPU writes the first cache line, and CPU 0 writes the second
 * cache line.
 */
struct ktrace_clock_line {
	uint64_t stamp __attribute__((__aligned__(64))); /* timestamp of this CPU, for other CPUs to read */
	uint32_t forgotten;				 /* number of times that all bounds were discarded */
	uint8_t wanted;					 /* nonzero: CPU 0 must read this CPU's timestamps */
	uint8_t has_lower, has_upper;
	uint8_t answered; /* nonzero: at least one round trip with CPU 0 succeeded */
	struct ktrace_clock_bound lower, upper;
	/*
	 * Upper bound that CPU 0 found. `error` in this sample is the value that `forgotten` had when CPU 0
	 * found the bound.
	 */
	struct ktrx_clock_sample seen __attribute__((__aligned__(64)));
};

/*
 * Tables of measurements in ktrace's memory, each with one entry for each CPU; NULL: no table. `once` is
 * nonzero if each CPU measures its clock after it comes online, until a round trip succeeds.
 */
struct ktrace_clock_rows {
	struct ktrx_clock *clock;
	int64_t *offset;
	struct ktrace_clock_line *line;
	uint32_t once;
};

/* Starts to use the tables. Requires: all entries are zero, and no CPU is online yet. */
KTRACE_HIDDEN void ktrace_clock_open(const struct ktrace_clock_rows *rows, void (*request)(uint32_t cpu));

/*
 * Measures the clock of an online CPU if a measurement is due. Called from its heartbeat, with its number of
 * heartbeats so far.
 */
KTRACE_HIDDEN void ktrace_clock_beat(uint32_t cpu, uint64_t heartbeats);

/* ---- keep.c: a trace that survives a reset ---------------------------------------------------- */

/* Returns the number of bytes that the copies in persistent memory need for `rings` rings. */
KTRACE_HIDDEN uint64_t ktrace_keep_size(const struct ktrace_config *config, uint32_t rings);

/* Invalidates the trace that an earlier boot left in this memory. Call it before writing to the memory. */
KTRACE_HIDDEN void ktrace_keep_forget(void *memory);

/*
 * Makes the copies in persistent memory. The copy of the root becomes valid last. Requires: all other tables
 * are complete.
 */
KTRACE_HIDDEN void ktrace_keep_open(void *memory, uint32_t rings, uint64_t boot);

/*
 * Updates those parts of the copies that describe this CPU, and those that describe tables shared by all
 * CPUs. Called when the CPU comes online and at each heartbeat.
 */
KTRACE_HIDDEN void ktrace_keep_beat(uint32_t cpu);

/* Updates all parts of the copies: those that describe a CPU, and those that describe shared tables. */
KTRACE_HIDDEN void ktrace_keep_all(void);

#endif
