/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opens and follows a running guest, and shows it as lines or as a page on a terminal. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/wellknown.h"
#include "base/output.h"
#include "ktread/follow.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- Sources ---- */

/*
 * The source of what is shown: the RAM file of a guest, which may appear, disappear and come back, or a test.
 * Each function gets `context`.
 */

struct live_source {
	void *context;
	/*
	 * Returns the same values as ktread_follow_next(). Also returns 0 while there is no guest. Reports
	 * the end of a guest once, then waits for the next guest.
	 */
	int (*next)(void *context, struct ktread_followed *now, int wait_ms);
	struct ktread *(*trace)(void *context); /* returns NULL if there is no guest now */
	int (*cpus)(void *context, struct ktrx_cpu *cpu, uint32_t room);
	int (*holders)(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room);
	/* stores the sum over all guests so far */
	void (*account)(void *context, struct ktread_follow_account *account);
	uint64_t (*now)(void *context); /* returns the nanoseconds of a monotonic clock */
	const char *(*path)(void *context);
	const char *(*message)(void *context); /* the last error */
};

/* ---- What CPUs do with their time, which locks threads hold, and what they wait for ---- */

/*
 * How a CPU spends its time. The CPU's mode is sampled many times in an interval. Interrupts are too short
 * for sampling, so events show how much time they take. If the kernel does not report the mode, events show
 * the mode as well.
 *
 * Invariant: the sum of an interval's shares is 1, or 0 if the CPU was never sampled.
 */

enum live_share {
	LIVE_USER,
	LIVE_KERNEL,
	LIVE_IRQ,
	LIVE_IDLE,
	LIVE_STUCK, /* the CPU is not idle and has no heartbeat */
	LIVE_UNKNOWN,
	LIVE_SHARES,
};

/* a CPU that does not idle counts as stuck after this time without a heartbeat, in ns */
#define LIVE_STUCK_NS UINT64_C(1000000000)

struct live_cpu {
	bool online;
	bool sampled; /* the CPU has been sampled before */
	enum live_share now;
	uint32_t thread;
	uint64_t pc; /* code address at the CPU's last heartbeat */
	uint64_t heartbeats;
	uint64_t hook;	   /* stamp of the CPU's last hook call */
	uint64_t progress; /* time in ns at which the CPU last made progress or was idle */
	double stuck;	   /* if the CPU is stuck: seconds since that time; otherwise 0 */
	uint64_t lock;	   /* lock for which the CPU or its thread waits, spinning or not; valid if `waits` */
	bool waits;
	char lock_name[32];	   /* name of the lock, not escaped; "": unknown */
	uint32_t owner;		   /* holder of the lock, as in struct ktrx_holder; 0: unknown */
	double share[LIVE_SHARES]; /* shares of the last interval */
	/* The members up to `missed` describe the current interval. */
	uint32_t sample[LIVE_SHARES];
	uint32_t nested;  /* samples in an interrupt, from the CPU descriptor */
	uint64_t covered, /* ticks between events */
		in_irq;	  /* ticks between events, only those in interrupts */
	bool missed;	  /* events of this interval were lost */
	/* The members from here on describe the CPU's last event. */
	uint64_t stamp;
	bool follows;		   /* no event has been lost since the last event */
	bool irq;		   /* after the last event, the CPU is in an interrupt */
	enum live_share by_events; /* mode of the CPU after the last event */
	uint32_t thread_by_events;
};

/*
 * Takes a sample of a CPU. `any_heartbeat`: some CPU of the guest has had a heartbeat; a busy CPU without any
 * heartbeat is then stuck as well.
 */
void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool any_heartbeat, uint64_t now);
/*
 * Takes an event of the CPU. `idle`: the thread of the event is an idle thread; for a switch: the next
 * thread is.
 */
void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle);
/*
 * Forgets the times between events of the current interval, because these events are from before the guest
 * was followed.
 */
void live_cpu_discard_times(struct live_cpu *cpu);
/* Ends an interval. `ticks`: its length by the guest's clock; 0: unknown. */
void live_cpu_close(struct live_cpu *cpu, uint64_t ticks);

const char *live_share_name(enum live_share share);

/* Information from the kernel's table of holders, about threads that wait and CPUs that wait for locks. */

struct live_holders {
	uint64_t now; /* the newest stamp of all CPUs */
	struct live_cpu *cpu;
	uint32_t cpus;
	struct live_wait *wait; /* LIVE_WAITS entries */
	uint32_t wait_count;
	bool present; /* the kernel has a table of holders */
};

/* Reads the table. Requires: `now`, `cpu`, `cpus` and `wait` are set. Returns 0 or an error of the source. */
int live_holders_read(struct live_holders *holders, const struct live_source *source);

/* Describes the object of a wait, escaped: "inode (0x1234) of CPU 1". `trace` may be NULL. */
void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size);
/* Returns "for lock", "for event" and the like; "on" if the kind is unknown. */
const char *live_wait_word(uint8_t kind);

/*
 * The threads that wait, with the object and the length of each wait: from the kernel's table of holders
 * or, if the kernel has no such table, from events. A wait that may have ended in a gap is not reported.
 */

#define LIVE_WAITS 8u

struct live_wait {
	uint32_t thread;
	uint8_t kind;	 /* KTRX_WAIT_*; KTRX_WAIT_NONE: unknown */
	uint32_t owner;	 /* holder of a lock, as in struct ktrx_holder; 0: unknown */
	uint64_t object; /* 0: unknown */
	uint64_t ticks;
	char name[32]; /* name of the object, not escaped; "": unknown */
};

struct live_waits;

struct live_waits *live_waits_open(void); /* returns NULL if out of memory */
void live_waits_close(struct live_waits *waits);
/* Return 0 or KTREAD_E_MEMORY. */
int live_waits_restart(struct live_waits *waits);
int live_waits_event(struct live_waits *waits, const struct ktread_event *event,
		     const struct wellknown *known);
/* Lists the longest waits first. Returns their number. */
uint32_t live_waits_list(const struct live_waits *waits, struct live_wait list[LIVE_WAITS]);

/* ---- The newest events, and the rate of events ---- */

/* The newest events that pass a filter, as text that does not refer to the trace. */

#define LIVE_TAIL_LINES	 128u
#define LIVE_TAIL_TEXT	 256u
#define LIVE_FILTER_TEXT 96u
#define LIVE_CPUS_MAX	 4096u

struct live_filter {
	char events[LIVE_FILTER_TEXT]; /* patterns separated by commas; "": all */
	int64_t pid;		       /* -1: all */
	bool some_cpus;
	uint8_t cpus[LIVE_CPUS_MAX / 8];
};

/*
 * Sets a filter to what a user typed for 'e'vents, 'c'pus or 'p'id. An empty text removes the filter. Returns
 * 0, or -1 if the text is invalid; the filter is then unchanged.
 */
typedef int live_filter_typed(struct live_filter *filter, char what, const char *text);

struct live_tail {
	struct live_filter filter;
	bool paused;	/* new events are dropped */
	uint64_t lines; /* number of lines so far; the last LIVE_TAIL_LINES of them are stored */
	uint64_t begun; /* number of lines before this boot */
	uint64_t base;	/* the stamp that is shown as time 0 */
	char text[LIVE_TAIL_LINES][LIVE_TAIL_TEXT];
};

/*
 * Returns true if a pattern matches no event of the trace. `text` (LIVE_UNKNOWN_TEXT bytes) then names the
 * first such pattern, with suggestions.
 */
bool live_filter_unknown(const struct live_filter *filter, const struct ktread *trace, char *text);
#define LIVE_UNKNOWN_TEXT 640u

/* Adds the event if it passes the filter. */
void live_tail_event(struct live_tail *tail, struct ktread *trace, const struct ktread_event *event);
/* Adds a line that is not an event. */
void live_tail_note(struct live_tail *tail, const char *text);
/* Returns the n-th line from the end, 0 for the last one; NULL if there is none. */
const char *live_tail_line(const struct live_tail *tail, uint64_t n);

/* Writes "name(12)" or "12", escaped; at most `size` bytes with the NUL. */
void live_thread_text(const struct ktread *trace, uint32_t thread, char *text, size_t size);
/* Writes "group.name", escaped. */
void live_event_text(const struct ktread_type *type, char *text, size_t size);

/*
 * The rate of events of each kind. The number of slots that each ring has recorded is known exactly, but
 * perhaps not all of these slots were read. So each event that was read has a weight: slots recorded /
 * slots read in its ring.
 */

#define LIVE_TOP 8u

struct live_top {
	uint16_t id;
	double rate; /* events per second */
};

struct live_rates;

struct live_rates *live_rates_open(void); /* returns NULL if out of memory */
void live_rates_close(struct live_rates *rates);
/* Call for a new guest or boot. The records that its rings already contain do not count. */
void live_rates_restart(struct live_rates *rates);
void live_rates_event(struct live_rates *rates, const struct ktread_event *event);
/* Weighs the events since the last call by how many slots the rings of `trace` have recorded since. */
void live_rates_settle(struct live_rates *rates, const struct ktread *trace);
/*
 * Ends an interval. Fills in `top` with the most frequent events first, and with zeros after the last
 * event. Returns the rate of all events.
 */
double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP]);

/* ---- A guest as a source ---- */

/*
 * A guest's RAM file as a source. The file need not exist yet. Its QEMU may end and be started again, also
 * with another file.
 */

struct live_guest {
	/* path of the RAM file; NULL: the newest RAM file for `usual` */
	const char *given;
	const char *usual; /* name of the trace that `ktrace run` would write */
	/* with `frequency` 0, the frequency comes from the guest or is measured */
	struct ktread_follow_options options;
	/* measures the frequency; NULL, or returns 0: unknown */
	uint64_t (*measure)(const char *path, const char *machine);
	char path[PATH_MAX];		      /* path of the file that is followed or awaited */
	struct ktread_follow *follow;	      /* NULL: no guest yet */
	struct ktread_follow_account account; /* sum over earlier guests */
	uint64_t look_again;		      /* ns: when to look for a guest again */
	uint64_t measure_at;		      /* ns: when to measure the frequency; 0: not needed */
	char why[PATH_MAX + 128];
};

void live_guest_open(struct live_guest *guest, struct live_source *source);
void live_guest_close(struct live_guest *guest);

/* ---- Model ---- */

/*
 * All that is shown of a running guest, combined from events, from samples of its CPUs, and from the account
 * of slots. Its size does not grow with the length of the trace.
 */

struct live_model {
	const struct live_source *source;
	bool running;	 /* there is a guest, and a trace */
	uint64_t boots,	 /* number of boots seen so far */
		ends;	 /* number of ends of guests seen so far */
	uint64_t opened; /* ns */
	uint64_t began;	 /* ns: start of the current interval */
	/*
	 * ns. Before `counts` is set: the time at which counting will begin, because earlier events may
	 * have been recorded before the guest was followed. Afterwards: the time at which counting began.
	 */
	uint64_t warm;
	bool counts; /* true: the events of this boot are counted */
	bool based;  /* `base` is valid */
	struct ktread_follow_account base, before, now;
	struct live_cpu *cpu;
	uint32_t cpus;
	struct ktrx_cpu *row;
	struct live_rates *rates;
	struct live_waits *waits;
	struct wellknown_table known;
	const struct ktread *known_trace;
	struct live_tail tail;
	/* The members from here on describe the last interval. */
	double seconds; /* time since the model was opened */
	double rate, slots;
	double cost; /* part of the CPUs' time that recording takes; negative: unknown */
	struct live_top top[LIVE_TOP];
	struct live_wait wait[LIVE_WAITS];
	uint32_t wait_count;
};

/* 0 or KTREAD_E_MEMORY. */
int live_model_open(struct live_model *model, const struct live_source *source);
void live_model_close(struct live_model *model);
/* Takes the items that the source delivers. Returns 0 or an error. */
int live_model_take(struct live_model *model, const struct ktread_followed *now);

/* Returns the trace, for names; NULL if there is no guest now. */
struct ktread *live_model_trace(const struct live_model *model);
/* Return numbers of slots since the first guest was found. */
uint64_t live_model_lost(const struct live_model *model);
uint64_t live_model_unreadable(const struct live_model *model);
uint64_t live_model_skipped(const struct live_model *model);

/* Follows a source, and calls a view once per interval, until the view ends it or a signal comes. */

struct live_view {
	void *context;
	/* Shows the last interval. Returns 0: continue; 1: end. */
	int (*show)(void *context, struct live_model *model);
	/*
	 * Handles keys; called many times per interval. Returns 0: continue; 1: end; 2: show again. NULL:
	 * no keys.
	 */
	int (*attend)(void *context, struct live_model *model);
};

struct live_watch {
	const struct live_source *source;
	uint64_t interval;	     /* ns */
	uint64_t count;		     /* number of intervals; 0: no limit */
	volatile sig_atomic_t *stop; /* set to non-zero by a signal handler */
};

/* Requires: `model` is open. Returns 0, an error of the source, or KTREAD_E_MEMORY. */
int live_watch(const struct live_watch *watch, struct live_model *model, const struct live_view *view);

/* ---- Output: lines, or a page on a terminal ---- */

/* Writes one line for each interval, for programs and for output that is not a terminal. */

struct live_lines {
	struct base_output *out;
	bool json;
	uint32_t tail;	  /* number of newest events shown before each line */
	uint64_t written; /* number of lines of the tail written so far */
};

void live_lines_write(struct live_lines *lines, const struct live_model *model);

/*
 * The model as rows of printable ASCII, of any size. The code that paints the rows does not depend on
 * guests. Each character of a bar belongs to a share of its CPU's time.
 */

#define LIVE_ROWS    200u
#define LIVE_COLUMNS 250u

struct live_row {
	bool strong;
	uint16_t bar, bar_end; /* first column of a bar, and the column after it; equal: no bar */
	char text[LIVE_COLUMNS + 1];
	uint8_t share[LIVE_COLUMNS]; /* enum live_share of each character within the bar */
};

struct live_page {
	uint32_t rows;
	struct live_row row[LIVE_ROWS];
};

/* Fills at most `rows` rows of at most `columns` characters. `bottom`: text of the last row. */
void live_page_make(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns,
		    const char *bottom);

/* Writes `width` characters for the shares, such as "uukkkiii..". */
void live_bar(const struct live_cpu *cpu, char *text, uint8_t *share, uint32_t width);

/* The terminal as a view. */

struct live_screen;

/* Returns NULL, with the reason in `why`, if this terminal cannot show a page. */
struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why);
/* Restores the terminal. */
void live_screen_close(struct live_screen *screen);

#endif
