/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opens and follows a running guest, and shows it as lines or on the screen of a terminal. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "analyze/wellknown.h"
#include "base/output.h"
#include "ktread/follow.h"
#include "ktread/ktread.h"
#include "ktread/memory.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- Sources ---- */

/*
 * The source of the data that is shown: the RAM file of a guest, or a test. A guest may appear, disappear and
 * come back at any time. Each function gets `context` as its first argument.
 */

struct live_source {
	void *context;
	/*
	 * Stores the next item and returns the same values as ktread_follow_next(). While there is no guest,
	 * returns 0. Reports the end of a guest once, and then waits for the next guest.
	 */
	int (*next)(void *context, struct ktread_followed *now, int wait_ms);
	/* returns the trace of the guest; NULL if there is no guest now */
	struct ktread *(*trace)(void *context);
	int (*cpus)(void *context, struct ktrx_cpu *cpu, uint32_t room);
	int (*holders)(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room);
	/* stores the counts of slots, summed up over all guests so far */
	void (*account)(void *context, struct ktread_follow_account *account);
	uint64_t (*now)(void *context); /* returns the time of a monotonic clock in nanoseconds */
	const char *(*path)(void *context);
	const char *(*message)(void *context); /* returns the message of the last error */
};

/* ---- What CPUs do with their time, which locks threads hold, and what they wait for ---- */

/*
 * How a CPU spends its time. The CPU's mode is sampled many times in an interval. Interrupts are too short
 * for sampling, so their share is computed from events. If the kernel does not report the mode, it is derived
 * from events, too.
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

/* time in ns: a CPU that is not idle counts as stuck if it has had no heartbeat for this time */
#define LIVE_STUCK_NS UINT64_C(1000000000)
/*
 * longest time in ns between two samples that counts as time without a heartbeat; if more time has passed,
 * the host has held up `ktrace live`, and perhaps the guest as well
 */
#define LIVE_UNSEEN_NS (LIVE_STUCK_NS / 8)

struct live_cpu {
	bool online;
	bool sampled; /* true if the CPU has been sampled at least once */
	/*
	 * set by the caller of live_cpu_sample(): the name of the thread that runs is that of an idle thread
	 */
	bool named_idle;
	struct ktread_idle idle;
	enum live_share now;
	uint32_t thread;
	uint64_t pc; /* address in the code at the CPU's last heartbeat */
	uint64_t heartbeats;
	uint64_t hook;	   /* timestamp of the CPU's last hook call */
	uint64_t looked;   /* time in ns of the last sample */
	uint64_t progress; /* time in ns at which the CPU last made progress or was idle */
	/*
	 * time in ns without progress of the CPU before its first sample; 0 after it has made progress
	 */
	uint64_t before;
	double stuck; /* seconds without progress if the CPU is stuck, otherwise 0 */
	/*
	 * address of the lock for which the CPU or its thread waits, spinning or sleeping; valid if `waits`
	 * is set
	 */
	uint64_t lock;
	bool waits;
	char lock_name[32]; /* name of the lock, not escaped; "": unknown */
	uint32_t owner;	    /* holder of the lock, as in struct ktrx_holder; 0: unknown */
	/* fractions of the CPU's time in the last interval, each from 0 to 1, indexed by enum live_share */
	double share[LIVE_SHARES];
	/* The members from here to `missed` describe the current interval. */
	uint32_t sample[LIVE_SHARES];
	/* number of samples in which the CPU was in an interrupt, according to its CPU descriptor */
	uint32_t nested;
	/* sum, in ticks, of the times between each event of this interval and its previous event */
	uint64_t covered, in_irq; /* `in_irq`: ticks of `covered` that the CPU spent in interrupts */
	bool missed;		  /* true if events of this interval were lost */
	/* The members from here on describe the CPU's last event. */
	uint64_t stamp;
	/*
	 * true if there is a last event, and no event of the CPU was lost after it: then the time from it to
	 * the CPU's next event can be counted
	 */
	bool follows;
	bool irq;		   /* true if the CPU is in an interrupt after its last event */
	enum live_share by_events; /* mode of the CPU after the last event */
	uint32_t thread_by_events;
};

/*
 * Takes a sample of a CPU from its CPU descriptor `row`. `any_heartbeat` states whether any CPU of the guest
 * has had a heartbeat. If `any_heartbeat` is set, a busy CPU that never had a heartbeat counts as stuck, too.
 * `age`: time in ns since the CPU's newest timestamp. `age` is used only in the first sample, to compute for
 * how long the CPU was stuck before. `age` alone does not make a CPU stuck, because the counters of CPUs may
 * differ.
 */
void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool any_heartbeat, uint64_t age,
		     uint64_t now);
/*
 * Processes an event of the CPU. `idle`: true if the thread of the event is an idle thread; if the event is a
 * context switch, true if the next thread is an idle thread.
 */
void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle);
/*
 * Forgets the times between events of the current interval. Called after events that were recorded before the
 * guest was followed.
 */
void live_cpu_discard_times(struct live_cpu *cpu);
/* Ends an interval. `ticks` is the length of the interval by the guest's clock, 0 if it is unknown. */
void live_cpu_close(struct live_cpu *cpu, uint64_t ticks);

const char *live_share_name(enum live_share share);

/* The contents of the kernel's table of holders: which threads wait, and which CPUs wait for locks. */

struct live_holders {
	uint64_t now; /* the newest timestamp of any CPU */
	struct live_cpu *cpu;
	uint32_t cpus;
	struct live_wait *wait; /* array of LIVE_WAITS entries */
	uint32_t wait_count;
	bool present; /* true if the kernel has a table of holders */
};

/*
 * Reads the table, and fills in `wait`, `wait_count`, `present` and the locks of `cpu`. Requires: `now`,
 * `cpu`, `cpus` and `wait` are set. Returns 0 or an error of the source.
 */
int live_holders_read(struct live_holders *holders, const struct live_source *source);

/*
 * Writes a description of the object of a wait, such as "inode (0x1234) of CPU 1", escaped. `trace` may be
 * NULL.
 */
void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size);
/*
 * Returns the words before the object of a wait: "for lock", "for event" and the like; "on" if the kind of
 * wait is unknown.
 */
const char *live_wait_word(uint8_t kind);

/*
 * The threads that wait, with the object and the length of each wait. The waits are read from the kernel's
 * table of holders. If the kernel has no such table, they are derived from events. A wait is not reported if
 * it may have ended while events were lost.
 */

#define LIVE_WAITS 8u

struct live_wait {
	uint32_t thread;
	uint8_t kind;	 /* kind of the wait, KTRX_WAIT_*; KTRX_WAIT_NONE: unknown */
	uint32_t owner;	 /* holder of a lock, as in struct ktrx_holder; 0: unknown */
	uint64_t object; /* object of the wait; 0: unknown */
	uint64_t ticks;
	char name[32]; /* name of the object, not escaped; "": unknown */
};

struct live_waits;

struct live_waits *live_waits_open(void); /* returns NULL if out of memory */
void live_waits_close(struct live_waits *waits);
/* These functions return 0 or KTREAD_E_MEMORY. */
int live_waits_restart(struct live_waits *waits);
int live_waits_event(struct live_waits *waits, const struct ktread_event *event,
		     const struct wellknown *known);
/*
 * The first function returns the states of all threads. The second one returns the time of the last event, in
 * the time unit of these states.
 */
struct threads;
const struct threads *live_waits_threads(const struct live_waits *waits);
uint64_t live_waits_time(const struct live_waits *waits);
/* Writes the longest waits to `list`, the longest first. Returns their number. */
uint32_t live_waits_list(const struct live_waits *waits, struct live_wait list[LIVE_WAITS]);

/* ---- The newest events, and the rate of events ---- */

/*
 * The newest events that pass a filter. The events are stored as text, so they stay valid if the trace is
 * closed.
 */

#define LIVE_TAIL_LINES	 128u
#define LIVE_TAIL_TEXT	 256u
#define LIVE_FILTER_TEXT 96u
#define LIVE_CPUS_MAX	 4096u

struct live_filter {
	char events[LIVE_FILTER_TEXT]; /* patterns of event names, separated by commas; "": all events */
	int64_t pid;		       /* id of the thread whose events pass; -1: all threads */
	bool some_cpus;
	uint8_t cpus[LIVE_CPUS_MAX / 8];
	/* an additional condition for events; NULL: none */
	bool (*accept)(void *context, struct ktread *trace, const struct ktread_event *event);
	void *context;
};

/*
 * Sets one part of a filter to the text that a user has typed. `what` is the part: 'e' for events, 'c' for
 * CPUs, 'p' for the id of a thread. An empty text removes that part. Returns 0. If the text is invalid,
 * returns -1 and leaves the filter unchanged.
 */
typedef int live_filter_typed(struct live_filter *filter, char what, const char *text);

struct live_tail {
	struct live_filter filter;
	bool paused;	/* true if the list is paused, so that new events are dropped */
	uint64_t lines; /* number of lines added so far; `text` contains the last LIVE_TAIL_LINES lines */
	uint64_t begun; /* number of lines that had been added when this boot began */
	uint64_t base;	/* timestamp of the event that is shown at time 0 */
	char text[LIVE_TAIL_LINES][LIVE_TAIL_TEXT];
};

/*
 * Returns true if a pattern of the filter matches no event type of the trace. If so, writes to `text`
 * (LIVE_UNKNOWN_TEXT bytes) which pattern it is, with suggestions of existing names.
 */
bool live_filter_unknown(const struct live_filter *filter, const struct ktread *trace, char *text);
#define LIVE_UNKNOWN_TEXT 640u

/* Adds the event if it passes the filter. */
void live_tail_event(struct live_tail *tail, struct ktread *trace, const struct ktread_event *event,
		     const struct wellknown *known);
/* Adds a line that is not an event. */
void live_tail_note(struct live_tail *tail, const char *text);
/* Returns the n-th line, counted from 0 at the newest one. Returns NULL if the line is not stored. */
const char *live_tail_line(const struct live_tail *tail, uint64_t n);

/*
 * Writes the name and the id of a thread, such as "name(12)", or "12" if its name is unknown. The name is
 * escaped. Writes at most `size` bytes including the NUL.
 */
void live_thread_text(const struct ktread *trace, uint32_t thread, char *text, size_t size);
/* Writes "group.name", escaped. */
void live_event_text(const struct ktread_type *type, char *text, size_t size);

/*
 * The rate of events of each type. The exact number of slots that each ring has recorded is known, but some
 * of these slots may not have been read. So each event that was read counts with a weight. The weight is the
 * number of slots that the event's ring has recorded, divided by the number of its slots that were read.
 */

#define LIVE_TOP 8u

struct live_top {
	uint16_t id;
	double rate; /* rate of the type, in events per second */
};

struct live_rates;

struct live_rates *live_rates_open(void); /* returns NULL if out of memory */
void live_rates_close(struct live_rates *rates);
/* Must be called when a guest or a boot begins. The records that are already in its rings are not counted. */
void live_rates_restart(struct live_rates *rates);
void live_rates_event(struct live_rates *rates, const struct ktread_event *event);
/*
 * Computes the weights of the events that were added since the last call. Takes from `trace` how many slots
 * each ring has recorded since that call, and how many of them were read.
 */
void live_rates_settle(struct live_rates *rates, const struct ktread *trace);
/*
 * Ends an interval of this length. Fills in `top` with the most frequent types of events, the most frequent
 * first; unused entries are 0. Returns the rate of all events, in events per second.
 */
double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP]);

/* ---- The guests of this user, found by the command lines of all running QEMUs ---- */

#define LIVE_GUESTS 64u

struct live_found {
	pid_t pid;
	char path[PATH_MAX]; /* absolute path of the RAM file */
	/* argument of QEMU's -kernel; "" if there is none; not escaped, may be truncated */
	char kernel[256];
};

struct live_guests {
	uint32_t count;
	struct live_found guest[LIVE_GUESTS];
};

/*
 * Finds all processes of this user that have the RAM of a guest in a file: their command line contains
 * memory-backend-file with a mem-path, and this file belongs to the user. The newest process comes first.
 * `proc` is /proc, or a directory of a test.
 */
void live_guests_find(struct live_guests *guests, const char *proc);
/* Writes a line for each guest: `indent`, the path of its RAM file, its pid, and its kernel; escaped. */
void live_guests_write(const struct live_guests *guests, FILE *file, const char *indent);

/* ---- A guest as a source ---- */

/*
 * A guest's RAM file as a source. The file may appear later. QEMU may end and be started again, with the same
 * or another file.
 */

struct live_guest {
	/*
	 * path of the RAM file that the user has specified; NULL: the newest RAM file that belongs to `usual`
	 * is followed
	 */
	const char *given;
	/* the usual path of a trace of `ktrace run`, whose RAM files are named `usual`.PID.ram */
	const char *usual;
	/* if options.frequency is 0, the frequency is reported by the guest, or measured */
	struct ktread_follow_options options;
	/*
	 * function that measures the guest's frequency, and returns 0 if it fails; NULL: nothing is measured
	 */
	uint64_t (*measure)(const char *path, const char *machine);
	/* path of the file that is followed, or that is expected to appear */
	char path[PATH_MAX];
	struct ktread_follow *follow;	      /* the guest that is followed; NULL: none */
	struct ktread_follow_account account; /* counts of slots, summed up over the earlier guests */
	uint64_t look_again;		      /* time in ns at which to search for a guest again */
	/* time in ns at which to measure the frequency; 0: not needed */
	uint64_t measure_at;
	char why[PATH_MAX + 128];
	char chosen[PATH_MAX]; /* copy of the path that was passed to live_guest_choose() */
	/* the user has chosen another guest, and the end of the previous one has not been reported yet */
	bool left;
};

/*
 * Follows the guest with this RAM file from now on. If another guest was followed, the next item is
 * KTREAD_FOLLOWED_END, although that guest may still run.
 */
void live_guest_choose(struct live_guest *guest, const char *path);
/* Finds the newest file named `usual`.PID.ram. Returns false if there is none. */
bool live_guest_find(const char *usual, char path[PATH_MAX]);
/*
 * Finds the newest file named `usual`.PID.ram whose guest is running. Returns 1 if there is one, or 0 if no
 * guest is running. Returns -1 if it is unknown whether the guest of the newest remaining file is running, as
 * base_file_ended() does.
 */
int live_guest_find_running(const char *usual, char path[PATH_MAX]);
/*
 * Returns whether there is nothing to follow: no guest is followed, the user has specified no file, and no
 * file was found.
 */
bool live_guest_is_missing(const struct live_guest *guest);
void live_guest_open(struct live_guest *guest, struct live_source *source);
void live_guest_close(struct live_guest *guest);

/* ---- Model ---- */

/*
 * Everything that is shown about a running guest. The model is computed from events, from samples of the
 * guest's CPUs, and from the counts of slots. The size of the model does not grow with the length of the
 * trace.
 */

struct live_model {
	const struct live_source *source;
	bool running;	 /* true if there is a guest, whose trace is read */
	uint64_t boots,	 /* number of boots found so far */
		ends;	 /* number of ends of guests so far */
	uint64_t opened; /* ns */
	uint64_t began;	 /* time in ns at which the current interval began */
	/*
	 * The time in ns at which the counting of events begins, or began if `counts` is set. Earlier events
	 * are not counted, because they may have been recorded before the guest was followed.
	 */
	uint64_t warm;
	bool counts; /* true if counting the events of this boot has begun */
	bool based;  /* true if `base` is valid */
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
	double seconds; /* time in seconds since the model was opened */
	double rate, slots;
	double cost; /* fraction of the CPUs' time that was used for recording; negative: unknown */
	struct live_top top[LIVE_TOP];
	struct live_wait wait[LIVE_WAITS];
	uint32_t wait_count;
	struct live_details *details; /* contents of the tables of a screen; NULL: there is no screen */
};

/* These functions return 0 or KTREAD_E_MEMORY. live_model_detail() makes the model also fill in `details`. */
int live_model_detail(struct live_model *model);
int live_model_open(struct live_model *model, const struct live_source *source);
void live_model_close(struct live_model *model);
/* Processes an item from the source. Returns 0 or an error. */
int live_model_take(struct live_model *model, const struct ktread_followed *now);

/* Returns the trace of the guest, which is used to look up names; NULL if there is no guest now. */
struct ktread *live_model_trace(const struct live_model *model);
/*
 * These functions return the number of slots since the first guest was found that were lost, were unreadable,
 * or were skipped.
 */
uint64_t live_model_lost(const struct live_model *model);
uint64_t live_model_unreadable(const struct live_model *model);
uint64_t live_model_skipped(const struct live_model *model);

/*
 * Follows a source, and calls a view at the end of each interval. Ends when a function of the view returns 1,
 * when a signal handler sets `stop`, or after `count` intervals.
 */

struct live_view {
	void *context;
	/* Shows the last interval. Returns 0 to continue, 1 to end. */
	int (*show)(void *context, struct live_model *model);
	/*
	 * Handles keys. Called many times per interval. Returns 0 to continue, 1 to end, 2 to show the
	 * interval again. NULL if the view has no keys.
	 */
	int (*attend)(void *context, struct live_model *model);
};

struct live_watch {
	const struct live_source *source;
	uint64_t interval; /* ns */
	uint64_t count;	   /* number of intervals; 0: no limit */
	/* a signal handler sets this to a nonzero value, which ends live_watch() */
	volatile sig_atomic_t *stop;
};

/* Requires: `model` is open. Returns 0, an error of the source, or KTREAD_E_MEMORY. */
int live_watch(const struct live_watch *watch, struct live_model *model, const struct live_view *view);

/* ---- Output: lines, or a screen ---- */

/* Writes one line for each interval, for programs and for output that is not a terminal. */

struct live_lines {
	struct base_output *out;
	bool json;
	/* maximum number of events (the newest ones) that are printed before each line */
	uint32_t tail;
	uint64_t written; /* number of lines in the tail when the last line was written */
};

void live_lines_write(struct live_lines *lines, const struct live_model *model);

/* The screen of a terminal, as a view. */

struct live_screen;

/* Opens the terminal. If it cannot show a page, returns NULL and sets *why to the reason. */
struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why);
/* Returns the state of the screen that the user can change (live/page.h). */
struct live_ui;
struct live_ui *live_screen_ui(struct live_screen *screen);
/* Closes the screen, and restores the terminal. */
void live_screen_close(struct live_screen *screen);

#endif
