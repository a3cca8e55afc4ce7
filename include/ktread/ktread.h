/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktread: reads traces. One reader serves KTRX v2 dumps, v1 dumps, concatenations of them, bare record
 * streams, RAM files of a running or dead guest, ELF cores and portable streams, and yields events merged by
 * time over all rings. What has a mark to be told by may be compressed with zstd.
 *
 *	struct ktread *trace;
 *	const struct ktread_event *event;
 *	if (ktread_open(&trace, "boot.ktrx", NULL) == 0) {
 *		while (ktread_next(trace, &event) > 0)
 *			…
 *		ktread_close(trace);
 *	}
 *
 * Every byte read is taken as hostile. Functions return 0 or a positive count, or a negative KTREAD_E_*; the
 * text with file and offset is ktread_message(). Nothing prints or exits. A handle belongs to one thread.
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
	KTREAD_E_FORMAT = -2,	   /* not a trace, or its root is unusable */
	KTREAD_E_ABSENT = -3,	   /* memory image without ktrace in it */
	KTREAD_E_MEMORY = -4,	   /* out of memory */
	KTREAD_E_ARGUMENT = -5,	   /* unusable option or argument */
	KTREAD_E_UNSUPPORTED = -6, /* known but not readable here */
};

enum ktread_form {
	KTREAD_FORM_AUTO = 0, /* by content */
	KTREAD_FORM_V1,
	KTREAD_FORM_V2,	       /* a v2 dump */
	KTREAD_FORM_BARE,      /* 32-byte v1 records without header; never guessed, needs a frequency */
	KTREAD_FORM_RAM,       /* guest RAM */
	KTREAD_FORM_CORE,      /* ELF core */
	KTREAD_FORM_STREAM,    /* a dump or bare records, compact (spec/stream.md) */
	KTREAD_FORM_PROCESSES, /* a process trace (ktread/proc.h) as events; the BSDs' are not guessed here */
};

enum ktread_v1_layout {
	KTREAD_V1_KEVLAR = 0, /* the layouts that real traces carry */
	KTREAD_V1_SPEC,
};

struct ktread_options {
	size_t size; /* sizeof(struct ktread_options) */
	enum ktread_form form;
	uint64_t frequency; /* Hz; overrides or supplies the trace's; 0: the trace's own */
	enum ktread_v1_layout v1_layout;
	const char *machine; /* guest architecture of a RAM file, where it cannot be told: x86_64 … */
	uint64_t ram_base;   /* guest physical address of a RAM file's first byte; 0: by machine */
	int raw_clock;	     /* nonzero: stamps as they were recorded, whatever is known of the clocks */
};

/* What was done about clocks that differ from CPU to CPU. */
enum ktread_clock_state {
	KTREAD_CLOCK_RAW = 0,  /* nothing: stamps are as recorded */
	KTREAD_CLOCK_MEASURED, /* what the guest had measured was applied */
	KTREAD_CLOCK_ALIGNED,  /* and ktread_align() was called */
};

/* A field of an event. */
struct ktread_field {
	const char *name;
	const char *unit; /* "" if none */
	uint8_t type;	  /* KTRX_TYPE_* */
};

/* An event as the trace describes it. Owned by the handle. */
struct ktread_type {
	uint16_t id;
	uint8_t fields;
	uint8_t state; /* KTRX_STATE_* when captured */
	uint32_t line;
	const char *group; /* "sched" */
	const char *name;  /* "switch" */
	const char *text;  /* printf style */
	const char *file;
	const struct ktread_field *field;
	uint64_t count;	      /* counted firings, all CPUs */
	uint8_t wanted;	      /* KTRX_STATE_* asked for, while recording is stopped */
	uint8_t flags;	      /* KTRX_EVENT_CALLERS … KTRX_EVENT_RARE */
	uint16_t mask_bit;    /* 1 + the bit it was declared with in the mask of its group; 0 if none */
	uint8_t name_alone;   /* shown by its name as it is written: the group serves filters only */
	uint32_t thread_bits; /* mask for thread ids in its fields: the bits that events have; 0: no mask */
};

/* A word of the kernel's, or a bit of one, that has a name. Owned by the handle. */
struct ktread_setting {
	const char *name; /* "debug.ktr.stacktrace"; not yet escaped: hostile bytes */
	uint64_t value;	  /* when captured */
	uint64_t most;	  /* the greatest it takes */
	uint8_t kind;	  /* KTRX_SETTING_* */
	uint8_t read_only;
};

/* One event. Owned by the handle and valid until the next ktread_next(). */
struct ktread_event {
	uint64_t stamp; /* counter ticks, whole width, corrected as info says */
	uint64_t index; /* index of its first slot in its ring */
	uint64_t lost;	/* slots lost or unreadable in this ring right before it: no pairing across it */
	uint32_t ring;
	uint32_t cpu; /* KTRX_NO_CPU if unknown */
	uint32_t thread;
	uint32_t payload_size; /* bytes, extension block excluded; padding of the last slot included */
	uint16_t id;
	uint8_t context;    /* KTRX_CONTEXT_* */
	uint32_t callers;   /* how many of caller[] are set */
	uint64_t caller[2]; /* return addresses: of the function that recorded, of the one that called it */
	uint64_t site;	    /* behind the code that recorded, in that function; 0 if unknown */
	const struct ktread_type *type; /* never NULL; an unknown id has fields == 0 and name "UNKNOWN(n)" */
	const unsigned char *payload;
	const char *file; /* of the place that recorded; NULL: only type->file and line are known */
	uint32_t line;	  /* of that place */
};

struct ktread_ring {
	uint32_t cpu; /* KTRX_NO_CPU for one that all CPUs share: the boot ring, that of rare events */
	uint32_t kind;
	uint64_t slots;
	uint64_t head; /* slots produced since first; if info says records_only, those that hold a record */
	uint64_t overwritten; /* max(0, head - slots) */
	uint64_t cleared;     /* slots that were forgotten on request, before those that count */
	/*
	 * The following are final once ktread_next() has returned 0. head = overwritten + decoded + invalid.
	 */
	uint64_t decoded; /* slots of records that were shown, and anchors */
	uint64_t invalid; /* slots in flight, torn, void or out of date */
	uint64_t records; /* events returned, before any filter */
	uint64_t dropped; /* records refused by the stop-when-full policy */
	uint64_t lapped;  /* slots of writers that noticed being held up for a lap: a lower bound */
	uint64_t cut;	  /* of those invalid, behind the last record: the file lacks part of the ring */
};

#define KTREAD_RING_PROCESSES 0xffffu	  /* kind of a ring that is a process trace */
#define KTREAD_RING_BESIDE    0xfffeu	  /* kind of one whose events come from elsewhere (ktread/beside.h) */
#define KTREAD_NO_THREAD      0xffffffffu /* thread of an event from elsewhere of which it is not known */

/* What the shared ring of that number is called; ring 0 is the boot ring. */
static inline const char *ktread_shared_ring(uint32_t ring)
{
	return ring == 0 ? "boot" : "rare";
}

/* The same of any ring without a CPU. */
static inline const char *ktread_ring_name(const struct ktread_ring *ring, uint32_t number)
{
	return ring->kind == KTREAD_RING_PROCESSES ? "process"
	       : ring->kind == KTREAD_RING_BESIDE  ? "beside"
						   : ktread_shared_ring(number);
}

struct ktread_info {
	enum ktread_form form;
	uint32_t version;      /* 1 or 2 */
	uint32_t records_only; /* the format has nothing else: losses, processes and the end are unknown */
	uint64_t frequency;    /* 0 if unknown: times are then shown in ticks */
	uint32_t cpus;	       /* that the kernel has made room for: the numbers are below this */
	uint32_t online;       /* of these, that have run with a ring of their own; 0 if that is not known */
	uint32_t rings;
	uint16_t machine; /* ELF e_machine, 0 if unknown */
	uint32_t outcome; /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t nonce;
	uint64_t self; /* virtual address of the kernel's ktrace_root, 0 if unknown */
	uint64_t wall_stamp, wall_ns;
	const char *kernel; /* "" if unknown */
	const unsigned char *build_id;
	uint32_t build_id_size;
	uint32_t types;	 /* rows of the event table */
	uint64_t offset; /* in the file, of the dump shown */
	uint32_t dumps;	 /* complete dumps found in the file; the last is shown */
	uint64_t unknown_sections;
	uint32_t stopped;	/* recording was stopped when captured */
	uint64_t lost_events;	/* not recorded because their event has no id */
	uint64_t skipped_bytes; /* damage stepped over */
	uint32_t unusable;	/* rings whose description is impossible: something has overwritten it */
	enum ktread_clock_state clock;
	uint32_t clock_cpus;	 /* whose clocks were measured, CPU 0 not among them */
	uint32_t clock_samples;	 /* measurements that were applied … */
	uint64_t clock_measured; /* those that succeeded in the guest, of which it keeps some … */
	uint64_t clock_failed;	 /* … and those that failed */
	uint64_t clock_largest;	 /* ticks: the largest correction among them … */
	uint64_t clock_error;	 /* … and the most that one can be wrong by: */
	uint64_t clock_from;	/* from this corrected stamp, since when all of these clocks were measured, */
	uint64_t clock_to;	/* to this one; before and after it grows */
	uint64_t clock_drift;	/* by so many billionths of the time, at most */
	uint64_t clock_aligned; /* ticks: the largest correction of ktread_align() */
	const char *note;	/* what a host said of the capture, "key: value" lines; "" if nothing */
	const char *registers;	/* of the CPUs when captured, lines as spec/ktrx.md has them; "" if unknown */
};

/* How many CPUs the trace is of, as far as it tells. */
static inline uint32_t ktread_cpus_used(const struct ktread_info *info)
{
	return info->online ? info->online : info->cpus;
}

/* Whether stamps are a kernel's tick count rather than a counter's: many events have the same one. */
#define KTREAD_COARSE_HZ 100000u
static inline int ktread_is_coarse(const struct ktread_info *info)
{
	return info->frequency != 0 && info->frequency < KTREAD_COARSE_HZ;
}

/* Whether the file ends within the dump that is shown, or is a stream that lacks some of its blocks. */
static inline int ktread_is_cut(const struct ktread_info *info)
{
	return info->dumps == 0 && (info->form == KTREAD_FORM_V1 || info->form == KTREAD_FORM_V2 ||
				    (info->form == KTREAD_FORM_STREAM && !info->records_only));
}

/* Filter applied inside ktread_next(), so that what is not wanted costs little. */
struct ktread_filter {
	size_t size;
	const uint8_t *cpus;   /* bit map by CPU, NULL: all */
	uint32_t cpu_count;    /* bits in it */
	int64_t thread;	       /* -1: all */
	const uint8_t *events; /* bit map of KTRX_EVENT_MAX + 1 ids, NULL: all */
	uint64_t since, until; /* stamps, inclusive; until 0: no end */
};

int ktread_open(struct ktread **trace, const char *path, const struct ktread_options *options);
void ktread_close(struct ktread *trace);

/* A stamp of some CPU, and how many ticks are to be added to it. */
struct ktread_clock_point {
	uint64_t stamp;
	int64_t offset;
};
/*
 * Corrects a CPU's stamps further, on top of what the guest measured: by straight lines between points in
 * order of their stamps, level beyond them. Points given before for that CPU are forgotten. Takes effect by
 * ktread_rewind(). Version 2 only.
 */
int ktread_align(struct ktread *trace, uint32_t cpu, const struct ktread_clock_point *point, uint32_t count);
/* Nonzero if the guest measured this CPU's clock against CPU 0's and the reader applies that. */
int ktread_clock_is_measured(const struct ktread *trace, uint32_t cpu);

/*
 * Adds the process trace at `path`, which must be of the same boot, as one ring more: from here on both are
 * one timeline. After an error the handle is good for nothing but ktread_message() and ktread_close().
 */
int ktread_beside(struct ktread *trace, const char *path);

/* 1 and an event, 0 at the end, or an error. Order: by stamp; equal stamps by ring, then by index. */
int ktread_next(struct ktread *trace, const struct ktread_event **event);

/* The same ring after ring. Not to be mixed with the others but for a ktread_rewind() in between. */
int ktread_next_by_ring(struct ktread *trace, const struct ktread_event **event);

/* What counting needs to know of an event. */
struct ktread_brief {
	uint64_t stamp;
	uint32_t cpu;
	uint32_t thread;
	uint32_t id;
};
/*
 * The next events, in brief and ring after ring, which costs a fraction where neither fields nor the order
 * between rings matter. How many (at most `room`), 0 at the end, or an error. Not to be mixed with
 * ktread_next() but for a ktread_rewind() in between.
 */
int ktread_next_briefs(struct ktread *trace, struct ktread_brief *brief, uint16_t room);

/* An event that came again and again, unchanged, and was being counted when the trace was taken. */
struct ktread_fold {
	struct ktread_event event; /* as it was recorded, but for its stamp and index */
	uint64_t count;		   /* repetitions that have no record … */
	uint64_t first, last;	   /* … stamps of the first and the last of them, corrected as info says */
};
/*
 * The next of them from row *row on, 0 at first, that the filter wants: 1, 0 if there is none, or an error.
 * Valid until the next call. Those that were over by then are told by events ktrace.repeat.
 */
int ktread_fold(struct ktread *trace, uint32_t *row, struct ktread_fold *fold);

int ktread_rewind(struct ktread *trace);
int ktread_set_filter(struct ktread *trace, const struct ktread_filter *filter);
/* 0: the filter that was set counts no more, 1: it does again. To be followed by ktread_rewind(). */
void ktread_apply_filter(struct ktread *trace, int apply);
/* Does the filter hold back events by CPU, thread or type, so that what they told is not known? */
int ktread_is_narrowed(const struct ktread *trace);

const struct ktread_info *ktread_info(const struct ktread *trace);
const struct ktread_ring *ktread_ring(const struct ktread *trace, uint32_t ring);
const struct ktread_type *ktread_type(const struct ktread *trace, uint32_t id); /* NULL: not in the table */
const struct ktread_type *ktread_type_find(const struct ktread *trace, const char *group, const char *name);
/* The n-th row of its table of settings, as requests name it: 1, or 0 if there are not so many. */
int ktread_setting(const struct ktread *trace, uint32_t n, struct ktread_setting *setting);
const char *ktread_thread_name(const struct ktread *trace, uint32_t thread); /* NULL: unknown */
/* The name of a system call by the trace's own table or ktread_set_calls(). NULL: there is none. */
const char *ktread_syscall_name(const struct ktread *trace, uint32_t number);
uint32_t ktread_syscall_names(const struct ktread *trace); /* how many calls have a name */
/* What the same table says of its types, the result's first, in the kernel's words; NULL: nothing. */
const char *ktread_syscall_types(const struct ktread *trace, uint32_t number);
/*
 * What the kernel calls the error that is `number` below zero as a result: "ENOENT"; NULL: it does not say.
 */
const char *ktread_error_name(const struct ktread *trace, uint32_t number);
/*
 * Another table of calls and errors in place of the trace's own (text as in ktrx/v2.h, SYSCALLS; copied). 0,
 * or KTREAD_E_MEMORY. Names that were handed out before are gone.
 */
int ktread_set_calls(struct ktread *trace, const char *text);
struct ktrx_cpu;
struct ktrx_holder;
/*
 * The kernel's tables of what CPUs do and of what threads hold and wait for (ktrx/state.h): rows from number
 * `first` on. How many of `room` there are, or an error. Stamps are corrected as those of events are, a
 * thread's by the clock of the CPU that its row names. Names in them end in NUL, and are not yet escaped:
 * hostile bytes.
 */
int ktread_cpus(const struct ktread *trace, uint32_t first, struct ktrx_cpu *cpu, uint32_t room);
int ktread_holders(const struct ktread *trace, uint32_t first, struct ktrx_holder *holder, uint32_t room);
/*
 * Registers that are known from elsewhere, as of a core from its notes: lines as spec/ktrx.md has them;
 * copied. 0, or KTREAD_E_MEMORY.
 */
int ktread_set_registers(struct ktread *trace, const char *text);
/*
 * The bytes of the first section of a type (KTRX_SECTION_*) as they lie in the trace, to be freed with
 * free(). Version 2. KTREAD_E_ABSENT: there is none, or some of it cannot be read.
 */
int ktread_section_copy(const struct ktread *trace, uint32_t type, char **bytes, uint64_t *size);
/*
 * The note of a trace that carries none, as of a RAM file: what its reader knows of the machine, lines as
 * spec/ktrx.md has them; copied. 0, or KTREAD_E_MEMORY.
 */
int ktread_set_note(struct ktread *trace, const char *text);
uint64_t
ktread_first_stamp(const struct ktread *trace); /* of the oldest event in the trace, filter ignored */

/*
 * The 32 bytes of the slot `index` of a ring, as they lie there now. Version 2 only (KTREAD_E_UNSUPPORTED);
 * an unknown or unusable ring is KTREAD_E_ARGUMENT.
 */
int ktread_slot(const struct ktread *trace, uint32_t ring, uint64_t index, unsigned char *slot);

/*
 * Writes the trace as a stream to `fd`, which may be a pipe: all of it, so that a filter that is set is
 * KTREAD_E_ARGUMENT. A failed write leaves its errno in *output_error, which is otherwise 0, and returns
 * KTREAD_E_SYSTEM.
 */
int ktread_write_stream(struct ktread *trace, int fd, int *output_error);

/* Warnings gathered so far (damage, truncation, loss worth saying), one a call until NULL. */
const char *ktread_warning(struct ktread *trace);
/* Text of the last error, with file and offset. `trace` may be NULL after a failed open. */
const char *ktread_message(const struct ktread *trace);

/*
 * Value of field `n`. Integers are sign-extended into value->number. 0, or KTREAD_E_FORMAT past the payload.
 */
struct ktread_value {
	uint8_t type; /* KTRX_TYPE_* */
	uint8_t cut;  /* string was cut short by the writer */
	uint16_t length;
	uint64_t number;
	const char *string; /* not NUL-terminated, not yet escaped: hostile bytes */
};
int ktread_value(const struct ktread_event *event, uint32_t n, struct ktread_value *value);
/* The same by field name. */
int ktread_value_named(const struct ktread_event *event, const char *name, struct ktread_value *value);

/*
 * The event's text with its values, as printf would say it; unprintable bytes escaped as \xNN. Never needs
 * more than `size`; returns the length written, cut if need be.
 */
size_t ktread_format(const struct ktread_event *event, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
