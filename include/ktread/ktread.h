/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktread reads traces. It reads KTRX v2 dumps, v1 dumps, several dumps in one file, bare record streams, RAM
 * files of a guest that runs or has ended, ELF core dumps and portable streams. It returns events merged by
 * time over all rings. A file may be compressed with zstd, unless its format has no magic number.
 *
 *	struct ktread *trace;
 *	const struct ktread_event *event;
 *	if (ktread_open(&trace, "boot.ktrx", NULL) == 0) {
 *		while (ktread_next(trace, &event) > 0)
 *			…
 *		ktread_close(trace);
 *	}
 *
 * No byte of a trace is trusted. A function that returns int returns 0 or a positive count, or a negative
 * enum ktread_error; ktread_message() returns its text, with file and offset. The library never prints or
 * exits. Only one thread may use a handle.
 */
#ifndef KTREAD_KTREAD_H
#define KTREAD_KTREAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ktread;

enum ktread_error {
	KTREAD_E_SYSTEM = -1,	   /* a system call failed; the message has its text */
	KTREAD_E_FORMAT = -2,	   /* the file is not a trace, or the root of the trace is unusable */
	KTREAD_E_ABSENT = -3,	   /* the memory image contains no ktrace, or the requested item is absent */
	KTREAD_E_MEMORY = -4,	   /* out of memory */
	KTREAD_E_ARGUMENT = -5,	   /* invalid option or argument */
	KTREAD_E_UNSUPPORTED = -6, /* the input is valid, but this function does not support it */
};

enum ktread_form {
	KTREAD_FORM_AUTO = 0, /* detect the format of the file from its contents */
	KTREAD_FORM_V1,
	KTREAD_FORM_V2,	    /* a version 2 dump */
	KTREAD_FORM_BARE,   /* 32-byte v1 records without a header; not detected, and needs `frequency` */
	KTREAD_FORM_RAM,    /* the RAM of a guest */
	KTREAD_FORM_CORE,   /* an ELF core dump */
	KTREAD_FORM_STREAM, /* a compact form of a dump or of bare records (spec/stream.md) */
	/* a process trace (ktread/proc.h), as events; the formats of the BSDs are not detected */
	KTREAD_FORM_PROCESSES,
};

enum ktread_v1_layout {
	KTREAD_V1_KEVLAR = 0, /* the layouts of version 1 events that occur in real traces */
	KTREAD_V1_SPEC,
};

/*
 * Maximum frequency in Hz of any real counter. If a trace states a greater frequency, the reader reports this
 * and treats the frequency as unknown.
 */
#define KTREAD_FREQUENCY_MOST UINT64_C(1000000000000)

struct ktread_options {
	size_t size; /* sizeof(struct ktread_options) */
	enum ktread_form form;
	/*
	 * frequency in Hz that replaces the frequency of the trace, at most KTREAD_FREQUENCY_MOST; 0: use the
	 * frequency of the trace
	 */
	uint64_t frequency;
	enum ktread_v1_layout v1_layout;
	/* RAM file: architecture of the guest, such as "x86_64", if it cannot be detected */
	const char *machine;
	/*
	 * RAM file: guest physical address of the first byte of the file; 0: the usual address of the machine
	 */
	uint64_t ram_base;
	int raw_clock; /* nonzero: return timestamps as recorded, without corrections */
	/*
	 * Nonzero: while a filter is applied, the parts of rings that cannot contain its events are not read.
	 * So a short time window is read in little time, even if the trace is long. Set this only if nothing
	 * but the filtered events is needed: `decoded`, `invalid`, `records` and `cut` of rings then count
	 * only what was read, and there are no warnings about damage in other parts.
	 */
	int window;
};

/* Corrections of clocks that differ from CPU to CPU. */
enum ktread_clock_state {
	KTREAD_CLOCK_RAW = 0,  /* no correction: timestamps are as recorded */
	KTREAD_CLOCK_MEASURED, /* timestamps are corrected by the guest's measurements of its clocks */
	/* timestamps are corrected by ktread_align(), in addition to any measurements of the guest */
	KTREAD_CLOCK_ALIGNED,
};

/* A field of an event type. */
struct ktread_field {
	const char *name;
	const char *unit; /* unit of the value; "" if it has none */
	uint8_t type;	  /* KTRX_TYPE_* */
};

/* An event type, as the trace describes it. Owned by the handle. */
struct ktread_type {
	uint16_t id;
	uint8_t fields;
	uint8_t state; /* state of the event at the time of capture: KTRX_STATE_* */
	uint32_t line;
	const char *group; /* name of the group, such as "sched" */
	const char *name;  /* name of the event, such as "switch" */
	const char *text;  /* format string as for printf */
	const char *file;
	const struct ktread_field *field;
	uint64_t count; /* number of times that the event fired and was counted, on all CPUs */
	/*
	 * while recording is stopped: the state, KTRX_STATE_*, that the event will have when recording is
	 * started
	 */
	uint8_t wanted;
	uint8_t flags; /* flags of the event: KTRX_EVENT_CALLERS to KTRX_EVENT_RARE */
	/*
	 * 1 + the number of the event's bit in the mask of its group, if the declaration states that
	 * number; otherwise 0
	 */
	uint16_t mask_bit;
	/* nonzero: the event is shown by its name alone; the group is used for filters only */
	uint8_t name_alone;
	/*
	 * mask that is applied to thread ids in the event's fields before they are compared with
	 * ktread_event.thread; 0: no mask
	 */
	uint32_t thread_bits;
};

/* A setting: a variable of the kernel, or a bit of a variable, that has a name. Owned by the handle. */
struct ktread_setting {
	const char *name; /* full name such as "debug.ktr.stacktrace"; not escaped: may contain any bytes */
	uint64_t value;	  /* value of the setting at the time of capture */
	uint64_t most;	  /* maximum value that the setting accepts */
	uint8_t kind;	  /* KTRX_SETTING_* */
	uint8_t read_only;
};

/* One event. Owned by the handle and valid until the next ktread_next(). */
struct ktread_event {
	uint64_t stamp; /* time of the event in counter ticks, 64 bits, corrected as info.clock states */
	/* index of the event's first slot in its ring; in version 1, counted from the ring's oldest slot */
	uint64_t index;
	/*
	 * number of slots of this ring that were lost or unreadable directly before the event. If it is not
	 * 0, do not pair an earlier event with a later one
	 */
	uint64_t lost;
	uint32_t ring;
	uint32_t cpu; /* number of the CPU; KTRX_NO_CPU if unknown */
	uint32_t thread;
	/*
	 * number of bytes of the payload, including the padding of the last slot, but not the extension block
	 */
	uint32_t payload_size;
	uint16_t id;
	uint8_t context;    /* KTRX_CONTEXT_* */
	uint32_t callers;   /* number of valid entries in caller[] */
	uint64_t caller[2]; /* return addresses: [0] of the function that recorded, [1] of its caller */
	uint64_t site;	    /* address after the code that recorded the event; 0 if unknown */
	/* never NULL; for an unknown id, `fields` is 0 and the name is "UNKNOWN(n)" */
	const struct ktread_type *type;
	const unsigned char *payload;
	/* source file of the place that recorded the event; NULL: only type->file and type->line are known */
	const char *file;
	uint32_t line; /* line of the place that recorded the event */
};

struct ktread_ring {
	/* KTRX_NO_CPU for a ring that all CPUs share: the boot ring and the ring of rare events */
	uint32_t cpu;
	uint32_t kind;
	uint64_t slots;
	/*
	 * number of slots produced since `first`; if info.records_only is set, number of slots with a record
	 */
	uint64_t head;
	uint64_t overwritten; /* number of slots that were overwritten: max(0, head - slots) */
	uint64_t cleared;     /* number of slots before `first`, which the guest cleared on request */
	/*
	 * The following members are final after ktread_next() has returned 0. Then head = overwritten +
	 * decoded + invalid.
	 */
	uint64_t decoded; /* number of slots of anchors and of records that were returned */
	/* number of slots that were being written, are torn or void, or are from an earlier lap */
	uint64_t invalid;
	uint64_t records; /* number of events of the ring, before any filter is applied */
	uint64_t dropped; /* number of records rejected by KTRX_POLICY_STOP */
	/* number of slots whose writer was delayed by a whole lap and noticed it; a lower bound */
	uint64_t lapped;
	/* number of invalid slots after the last record: the file lacks that part of the ring */
	uint64_t cut;
	/*
	 * number of slots in `invalid` that were lost before or after the time window of the filter; other
	 * slots of `invalid` may have contained events of the time window
	 */
	uint64_t outside;
};

#define KTREAD_RING_PROCESSES 0xffffu /* kind of a ring that holds a process trace */
#define KTREAD_RING_BESIDE    0xfffeu /* kind of a ring from another source (ktread/beside.h) */
/* value of `thread` in an event from another source whose thread is unknown */
#define KTREAD_NO_THREAD 0xffffffffu

/* Returns the name of the shared ring with that number; ring 0 is the boot ring. */
static inline const char *ktread_shared_ring(uint32_t ring)
{
	return ring == 0 ? "boot" : "rare";
}

/* Returns the name of ring `number`, which belongs to no CPU. */
static inline const char *ktread_ring_name(const struct ktread_ring *ring, uint32_t number)
{
	return ring->kind == KTREAD_RING_PROCESSES ? "process"
	       : ring->kind == KTREAD_RING_BESIDE  ? "beside"
						   : ktread_shared_ring(number);
}

struct ktread_info {
	enum ktread_form form;
	uint32_t version; /* version of the format: 1 or 2 */
	/* nonzero: the format has only records, so losses, processes and how the kernel ended are unknown */
	uint32_t records_only;
	uint64_t frequency; /* ticks per second; 0 if unknown: times are then shown in ticks */
	/* number of CPUs for which the kernel has rings; the numbers of all CPUs are lower than this */
	uint32_t cpus;
	uint32_t online; /* number of CPUs that have used their own ring; 0 if unknown */
	uint32_t rings;
	uint16_t machine; /* ELF machine (e_machine) of the trace; 0 if unknown */
	uint32_t outcome; /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t nonce;
	uint64_t self; /* virtual address of the kernel's ktrace_root, 0 if unknown */
	uint64_t wall_stamp, wall_ns;
	const char *kernel; /* name and version of the kernel; "" if unknown */
	const unsigned char *build_id;
	uint32_t build_id_size;
	uint32_t types;	 /* number of entries of the event table */
	uint64_t offset; /* offset in the file of the dump that is shown */
	uint32_t dumps;	 /* number of complete dumps in the file; the last complete dump is shown */
	uint64_t unknown_sections;
	uint32_t stopped; /* nonzero: recording was stopped at the time of capture */
	/* number of times that an event fired but was not recorded, because its type has no id */
	uint64_t lost_events;
	uint64_t skipped_bytes; /* number of damaged bytes, which were skipped */
	uint32_t unusable;	/* number of rings whose description is invalid because it was overwritten */
	enum ktread_clock_state clock;
	uint32_t clock_cpus;	/* number of CPUs whose clocks were measured, without CPU 0 */
	uint32_t clock_samples; /* number of measurements that were applied */
	/*
	 * number of measurements that succeeded in the guest; the trace may contain only some of these
	 * measurements
	 */
	uint64_t clock_measured;
	uint64_t clock_failed;	/* number of measurements that failed in the guest */
	uint64_t clock_largest; /* largest correction of a timestamp, in ticks */
	/*
	 * maximum error, in ticks, of a correction, for timestamps that are not before clock_from or after
	 * clock_to
	 */
	uint64_t clock_error;
	/* corrected timestamp from which on the clocks of all clock_cpus CPUs were measured */
	uint64_t clock_from;
	/* corrected timestamp up to which the clocks of all clock_cpus CPUs were measured */
	uint64_t clock_to;
	/*
	 * growth of the maximum error, in billionths of the time that lies before clock_from or after
	 * clock_to
	 */
	uint64_t clock_drift;
	uint64_t clock_aligned; /* largest correction by ktread_align(), in ticks */
	/* description of the capture, added by a host: lines "key: value"; "" if there is none */
	const char *note;
	/*
	 * registers of the CPUs at the time of capture, as lines that spec/ktrx.md describes; "" if unknown
	 */
	const char *registers;
};

/*
 * Returns the number of CPUs that have used their own ring; if unknown, the number of CPUs that may have a
 * ring.
 */
static inline uint32_t ktread_cpus_used(const struct ktread_info *info)
{
	return info->online ? info->online : info->cpus;
}

/* Returns nonzero if timestamps are tick counts of a kernel, so that many events have the same timestamp. */
#define KTREAD_COARSE_HZ 100000u
static inline int ktread_is_coarse(const struct ktread_info *info)
{
	return info->frequency != 0 && info->frequency < KTREAD_COARSE_HZ;
}

/*
 * Returns nonzero if the dump that is shown is incomplete: the file ends too early, or the stream lacks some
 * of its blocks.
 */
static inline int ktread_is_cut(const struct ktread_info *info)
{
	return info->dumps == 0 && (info->form == KTREAD_FORM_V1 || info->form == KTREAD_FORM_V2 ||
				    (info->form == KTREAD_FORM_STREAM && !info->records_only));
}

/* Filter of ktread_next() and its variants. Events that do not match are skipped in little time. */
struct ktread_filter {
	size_t size;
	const uint8_t *cpus;   /* bit map of CPUs; NULL: all */
	uint32_t cpu_count;    /* number of bits in `cpus` */
	int64_t thread;	       /* number of the only thread to select; -1: all threads */
	const uint8_t *events; /* bit map of event ids, KTRX_EVENT_MAX + 1 bits; NULL: all */
	/* timestamps of the first and the last event to return, both inclusive; until = 0: no end */
	uint64_t since, until;
	/*
	 * Called for each event that all other members select. Returns nonzero if the event is selected, too.
	 * NULL: no further selection.
	 */
	int (*accept)(void *context, const struct ktread_event *event);
	void *context; /* argument of accept(); stays owned by the caller */
};

/*
 * Opens the trace at `path`. `options` may be NULL: the defaults.
 * Returns 0 and a handle in *trace, to be closed with ktread_close(), or a negative error; then
 * ktread_message(NULL) returns its text.
 */
int ktread_open(struct ktread **trace, const char *path, const struct ktread_options *options);
/* Frees the handle and all that it owns. `trace` may be NULL. */
void ktread_close(struct ktread *trace);

/* A timestamp of a CPU, and the number of ticks to add to it. */
struct ktread_clock_point {
	uint64_t stamp;
	int64_t offset;
};
/*
 * Corrects the timestamps of a CPU in addition to the guest's measurements. Interpolates linearly between the
 * points, which are in order of their timestamps, and is constant outside them. Replaces the points of an
 * earlier call for that CPU. Takes effect at the next ktread_rewind().
 * Returns 0, or KTREAD_E_UNSUPPORTED (not version 2, or raw_clock is set), KTREAD_E_ARGUMENT (no such CPU),
 * KTREAD_E_MEMORY.
 */
int ktread_align(struct ktread *trace, uint32_t cpu, const struct ktread_clock_point *point, uint32_t count);
/*
 * Returns nonzero if the guest measured this CPU's clock against that of CPU 0, and ktread applies the
 * measurements.
 */
int ktread_clock_is_measured(const struct ktread *trace, uint32_t cpu);

/*
 * Returns the corrected timestamp for a timestamp that the kernel read from the clock of this CPU and stored,
 * for example in the payload of an event. The stamps of events are corrected already.
 */
uint64_t ktread_clock_correct(const struct ktread *trace, uint32_t cpu, uint64_t stamp);

/*
 * Adds the process trace at `path` as one more ring, so that its events are merged with the others. It must
 * be of the same boot.
 * Returns 0 or a negative error. After an error, only ktread_message() and ktread_close() may be called.
 */
int ktread_beside(struct ktread *trace, const char *path);

/*
 * Returns the next event in *event. Order: by timestamp; equal timestamps by ring, then by index.
 * Returns 1, 0 at the end, or a negative error. The event belongs to the handle and is valid until the next
 * call.
 */
int ktread_next(struct ktread *trace, const struct ktread_event **event);

/*
 * Returns the next event, one ring after another. In all other respects, does the same as ktread_next().
 * Requires: ktread_rewind() between calls of different variants.
 */
int ktread_next_by_ring(struct ktread *trace, const struct ktread_event **event);

/* The members of an event that are needed for counting. */
struct ktread_brief {
	uint64_t stamp;
	uint32_t cpu;
	uint32_t thread;
	uint32_t id;
};
/*
 * Stores the next events as struct ktread_brief, one ring after another. This is much faster than
 * ktread_next(). Use it if neither fields nor the order of events of different rings matter.
 * Returns their number (at most `room`), 0 at the end, or a negative error. Requires: ktread_rewind() between
 * calls of different variants.
 */
int ktread_next_briefs(struct ktread *trace, struct ktread_brief *brief, uint16_t room);

/*
 * An event whose repetitions the kernel was counting, instead of recording them, when the trace was captured.
 */
struct ktread_fold {
	struct ktread_event event; /* the event as it was recorded, except timestamp and index */
	uint64_t count;		   /* number of repetitions without a record */
	/* timestamps of the first and the last repetition, corrected as info.clock states */
	uint64_t first, last;
};
/*
 * Returns in *fold the next event that matches the filter and whose repetitions the kernel was counting at
 * the time of the capture. Set *row to 0 before the first call, and do not change it between calls.
 * Returns 1, 0 if there are no more, or a negative error. The event is valid until the next call. Repetitions
 * that had ended before the capture are in events named ktrace.repeat.
 */
int ktread_fold(struct ktread *trace, uint32_t *row, struct ktread_fold *fold);

/* Starts again at the first event. Returns 0 or a negative error. */
int ktread_rewind(struct ktread *trace);
/*
 * Sets the filter, whose bit maps are copied; NULL: no filter. Call it before the first ktread_next(), or
 * call ktread_rewind() afterwards.
 * Returns 0, or KTREAD_E_ARGUMENT (filter->size is unknown), KTREAD_E_MEMORY.
 */
int ktread_set_filter(struct ktread *trace, const struct ktread_filter *filter);
/* Turns the current filter off (apply = 0) or on (apply = 1). Requires: ktread_rewind() afterwards. */
void ktread_apply_filter(struct ktread *trace, int apply);
/* Returns nonzero if the filter selects the event, even while it is off. Nonzero if there is no filter. */
int ktread_selects(const struct ktread *trace, const struct ktread_event *event);
/* Stores the first and the last timestamp that the filter selects, even while it is off. */
void ktread_filter_window(const struct ktread *trace, uint64_t *since, uint64_t *until);
/*
 * Sets a function that is called from time to time while events are read; NULL: none. If it returns nonzero,
 * the reading function returns KTREAD_E_SYSTEM with a message, and so do later calls until ktread_rewind().
 */
void ktread_set_stop(struct ktread *trace, int (*stop)(void *context), void *context);
/*
 * Returns nonzero if the filter selects events by CPU, thread or type, so that some events may not be
 * returned.
 */
int ktread_is_narrowed(const struct ktread *trace);

/*
 * The following functions return pointers to memory that the handle owns, or NULL if there is no such
 * element.
 */
const struct ktread_info *ktread_info(const struct ktread *trace);
const struct ktread_ring *ktread_ring(const struct ktread *trace, uint32_t ring);
/* returns NULL if no event type has that id */
const struct ktread_type *ktread_type(const struct ktread *trace, uint32_t id);
const struct ktread_type *ktread_type_find(const struct ktread *trace, const char *group, const char *name);
/*
 * Returns the n-th setting in *setting; `n` is also the number of the setting in requests of a host. Returns
 * 1, or 0 if there is none.
 */
int ktread_setting(const struct ktread *trace, uint32_t n, struct ktread_setting *setting);
/* returns NULL if the name of the thread is unknown */
const char *ktread_thread_name(const struct ktread *trace, uint32_t thread);
/*
 * Returns the name of a system call, from the trace's own table or that of ktread_set_calls(); NULL if
 * unknown.
 */
const char *ktread_syscall_name(const struct ktread *trace, uint32_t number);
/* returns the number of system calls whose name is known */
uint32_t ktread_syscall_names(const struct ktread *trace);
/*
 * Returns text that states the type of a system call's result, and then the type and the name of each
 * argument (spec/ktrx.md, section 3); NULL if unknown. Uses the same table as ktread_syscall_name().
 */
const char *ktread_syscall_types(const struct ktread *trace, uint32_t number);
/*
 * Returns the kernel's name for an error, such as "ENOENT". A call that fails with that error returns
 * -`number`. NULL if unknown.
 */
const char *ktread_error_name(const struct ktread *trace, uint32_t number);
/*
 * Replaces the trace's table of system calls and errors. `text` has the format of KTRX_SECTION_SYSCALLS
 * (ktrx/v2.h) and is copied. Names returned before are no longer valid.
 * Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_set_calls(struct ktread *trace, const char *text);
struct ktrx_cpu;
struct ktrx_holder;
/*
 * Copy entries of the kernel's tables (ktrx/state.h): what CPUs do, and what threads hold and wait for.
 * `first` is the number of the first entry, `room` the maximum number to copy.
 * Return the number of entries or a negative error. Timestamps are corrected like those of events. The
 * timestamps in a thread's entry are corrected as timestamps of the CPU whose number is in the entry. Names
 * are NUL-terminated, and not escaped: they may contain any bytes.
 */
int ktread_cpus(const struct ktread *trace, uint32_t first, struct ktrx_cpu *cpu, uint32_t room);
int ktread_holders(const struct ktread *trace, uint32_t first, struct ktrx_holder *holder, uint32_t room);
/*
 * Sets the registers of the CPUs if they are known from another source, such as the notes of a core dump.
 * `text` has lines as in spec/ktrx.md and is copied. Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_set_registers(struct ktread *trace, const char *text);
/*
 * Copies the first section of a type (KTRX_SECTION_*). Sets *bytes, which the caller frees with free(), and
 * *size. Version 2 only.
 * Returns 0, or KTREAD_E_ABSENT: there is no such section, or part of it is not readable.
 */
int ktread_section_copy(const struct ktread *trace, uint32_t type, char **bytes, uint64_t *size);
/*
 * Sets the note (KTRX_SECTION_NOTE) of a trace without a note, such as a RAM file. `text` describes the
 * machine in lines as in spec/ktrx.md; it is copied. Returns 0 or KTREAD_E_MEMORY.
 */
int ktread_set_note(struct ktread *trace, const char *text);
uint64_t
/* returns the timestamp of the oldest event in the trace; ignores the filter */
ktread_first_stamp(const struct ktread *trace);

/*
 * Copies the 32 bytes that the slot `index` of a ring contains now. Returns 0, or KTREAD_E_UNSUPPORTED (the
 * trace is not version 2), KTREAD_E_ARGUMENT (unknown or unusable ring).
 */
int ktread_slot(const struct ktread *trace, uint32_t ring, uint64_t index, unsigned char *slot);

/*
 * Writes the whole trace as a portable stream to `fd`, which may be a pipe.
 * Returns 0, or KTREAD_E_ARGUMENT (a filter is set), or another error. If writing failed, it returns
 * KTREAD_E_SYSTEM and sets *output_error to its errno; otherwise *output_error is 0.
 */
int ktread_write_stream(struct ktread *trace, int fd, int *output_error);

/*
 * Returns the next warning, about damage, truncation or an important loss; NULL if all warnings so far have
 * been returned.
 */
const char *ktread_warning(struct ktread *trace);
/* Returns warning `number`, counted from 0, even if it has been returned before; NULL: there are no more. */
const char *ktread_warning_at(const struct ktread *trace, uint32_t number);
/*
 * Returns the text of the last error, with file and offset. `trace` may be NULL after ktread_open() failed.
 */
const char *ktread_message(const struct ktread *trace);

/*
 * The value of a field. Signed integers are sign-extended to 64 bits in `number`.
 *
 * ktread_value() stores the value of field `n`. Returns 0, or KTREAD_E_FORMAT (the field is beyond the
 * payload), KTREAD_E_ARGUMENT (no such field).
 */
struct ktread_value {
	uint8_t type; /* KTRX_TYPE_* */
	uint8_t cut;  /* nonzero: the writer has cut the string */
	uint16_t length;
	uint64_t number;
	/* the bytes of a string field; not NUL-terminated, and not escaped: may contain any bytes */
	const char *string;
};
int ktread_value(const struct ktread_event *event, uint32_t n, struct ktread_value *value);
/* Returns the value of the field with that name. In all other respects, does the same as ktread_value(). */
int ktread_value_named(const struct ktread_event *event, const char *name, struct ktread_value *value);

/*
 * Formats the event's text with its values, like printf. Unprintable bytes become \xNN. Text that does not
 * fit into `size` bytes, including the terminating NUL, is left out. Returns the length of the written text
 * without the NUL.
 */
size_t ktread_format(const struct ktread_event *event, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
