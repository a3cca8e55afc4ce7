/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opening a guest that runs, following it, and showing it: as lines, or as a page on a terminal. */
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
 * Where what is shown comes from: a guest's RAM file that comes, goes and comes back, or a test. All
 * functions get `context`.
 */

struct live_source {
	void *context;
	/*
	 * As ktread_follow_next(); 0 also while there is no guest. The end is told once, then the next guest
	 * is awaited.
	 */
	int (*next)(void *context, struct ktread_followed *now, int wait_ms);
	struct ktread *(*trace)(void *context); /* NULL: there is none now */
	int (*cpus)(void *context, struct ktrx_cpu *cpu, uint32_t room);
	int (*holders)(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room);
	void (*account)(void *context, struct ktread_follow_account *account); /* of all guests so far */
	uint64_t (*now)(void *context); /* nanoseconds of a clock that never goes back */
	const char *(*path)(void *context);
	const char *(*message)(void *context); /* of the last error */
};

/* ---- What CPUs do with their time, which locks threads hold, and what they wait for ---- */

/*
 * What a CPU does with its time. Many times an interval it is asked for its mode; events tell how much of its
 * time went to interrupts, which are too short to be met by asking, and the mode where the kernel does not
 * tell it.
 *
 * Invariant: the shares of an interval add up to 1, or are all 0 where the CPU was never met.
 */

enum live_share {
	LIVE_USER,
	LIVE_KERNEL,
	LIVE_IRQ,
	LIVE_IDLE,
	LIVE_STUCK, /* at work without a heartbeat */
	LIVE_UNKNOWN,
	LIVE_SHARES,
};

#define LIVE_STUCK_NS UINT64_C(1000000000) /* without a heartbeat, of a CPU that does not idle */

struct live_cpu {
	bool online;
	bool met; /* it has been asked before */
	enum live_share now;
	uint32_t thread;
	uint64_t pc; /* where its last heartbeat met it */
	uint64_t heartbeats;
	uint64_t hook; /* stamp of its last hook */
	uint64_t beat; /* ns: when it last got on, or idled */
	double stuck;  /* seconds since, if it is stuck */
	uint64_t lock; /* it, or its thread, waits for this one, spinning or not; valid if … */
	bool waits;
	char lock_name[32];	   /* not yet escaped; "" unknown */
	uint32_t owner;		   /* of the lock, as struct ktrx_holder names it; 0 unknown */
	double share[LIVE_SHARES]; /* of the interval that ended last */
	/* Of the interval in progress. */
	uint32_t sample[LIVE_SHARES];
	uint32_t nested;	  /* samples in an interrupt, as the row says */
	uint64_t covered, in_irq; /* ticks that events tell of */
	bool missed;		  /* events of this interval */
	/* Of the last event. */
	uint64_t stamp;
	bool follows;	      /* nothing is lost since */
	bool irq;	      /* it left the CPU in an interrupt */
	enum live_share told; /* the mode that events say */
	uint32_t told_thread;
};

/*
 * `beats`: some CPU of the guest has had a heartbeat, so that one at work that never had any is stuck, too.
 */
void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool beats, uint64_t now);
/* Each event of the CPU. `idle`: its thread is one that idles, or, of a switch, the one that runs next is. */
void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle);
/* Ends an interval of so many ticks of the guest's clock; 0: unknown. */
void live_cpu_close(struct live_cpu *cpu, uint64_t ticks);

const char *live_share_name(enum live_share share);

/* What the kernel's table of holders says of threads that wait, and of CPUs that wait for locks. */

struct live_holders {
	uint64_t now; /* stamp: the newest that a CPU knows */
	struct live_cpu *cpu;
	uint32_t cpus;
	struct live_wait *wait; /* LIVE_WAITS of them */
	uint32_t wait_count;
	bool told; /* there is such a table */
};

/* Reads the table: `now`, `cpu`, `cpus` and `wait` are given. 0 or an error of the source. */
int live_holders_read(struct live_holders *holders, const struct live_source *source);

/* "inode (0x1234) of CPU 1": of an object that is waited for, harmless. `trace` may be NULL. */
void live_object_text(const struct ktread *trace, uint64_t object, const char *name, uint32_t owner,
		      char *text, size_t size);
/* "for lock", "for the end of", …; "on" where it is not told. */
const char *live_wait_word(uint8_t kind);

/*
 * Which threads wait, for what and how long: as the kernel's table of holders says or, where it keeps none,
 * as far as events were seen; what a gap may have hidden is not told.
 */

#define LIVE_WAITS 8u

struct live_wait {
	uint32_t thread;
	uint8_t kind;	 /* KTRX_WAIT_*, KTRX_WAIT_NONE: not told */
	uint32_t owner;	 /* of a lock, as struct ktrx_holder names it; 0: unknown */
	uint64_t object; /* 0: not told */
	uint64_t ticks;
	char name[32]; /* of the object, not yet escaped; "" unknown */
};

struct live_waits;

struct live_waits *live_waits_open(void); /* NULL: without memory */
void live_waits_close(struct live_waits *waits);
/* 0 or KTREAD_E_MEMORY. */
int live_waits_restart(struct live_waits *waits);
int live_waits_event(struct live_waits *waits, const struct ktread_event *event,
		     const struct wellknown *known);
/* The longest first. How many. */
uint32_t live_waits_list(const struct live_waits *waits, struct live_wait list[LIVE_WAITS]);

/* ---- The last events, and how many there are a second ---- */

/* The last events that a filter lets through, as lines of text that hold on to nothing of the trace. */

#define LIVE_TAIL_LINES	 128u
#define LIVE_TAIL_TEXT	 256u
#define LIVE_FILTER_TEXT 96u
#define LIVE_CPUS_MAX	 4096u

struct live_filter {
	char events[LIVE_FILTER_TEXT]; /* patterns with commas; "": all */
	int64_t pid;		       /* -1: all */
	bool some_cpus;
	uint8_t cpus[LIVE_CPUS_MAX / 8];
};

/*
 * Takes what somebody typed for 'e'vents, 'c'pus or 'p'id; nothing lifts that filter. 0, or -1: it means
 * nothing and the filter is as it was.
 */
typedef int live_filter_typed(struct live_filter *filter, char what, const char *text);

struct live_tail {
	struct live_filter filter;
	bool paused;	/* what comes is let go by */
	uint64_t lines; /* so far; the last LIVE_TAIL_LINES of them are there */
	uint64_t begun; /* lines before this boot's */
	uint64_t base;	/* the stamp that is shown as zero */
	char text[LIVE_TAIL_LINES][LIVE_TAIL_TEXT];
};

/*
 * Is there a pattern that no event of the trace fits? Then `text` names the first such one, with the names
 * near it. LIVE_UNKNOWN_TEXT bytes.
 */
bool live_filter_unknown(const struct live_filter *filter, const struct ktread *trace, char *text);
#define LIVE_UNKNOWN_TEXT 640u

/* Takes the event if it is wanted. */
void live_tail_event(struct live_tail *tail, struct ktread *trace, const struct ktread_event *event);
/* A line that is no event. */
void live_tail_say(struct live_tail *tail, const char *text);
/* The n-th line from the end, 0 the last one; NULL: there is none. */
const char *live_tail_line(const struct live_tail *tail, uint64_t n);

/* "name(12)" or "12", harmless; at most `size` with the NUL. */
void live_thread_text(const struct ktread *trace, uint32_t thread, char *text, size_t size);
/* "group.name", harmless. */
void live_event_text(const struct ktread_type *type, char *text, size_t size);

/*
 * How many events of each kind come a second. How much each ring records is known exactly; of which kinds
 * that is may be known of a sample alone, so each event seen stands for as many as its ring's slots were for
 * each slot looked at.
 */

#define LIVE_TOP 8u

struct live_top {
	uint16_t id;
	double rate; /* a second */
};

struct live_rates;

struct live_rates *live_rates_open(void); /* NULL: without memory */
void live_rates_close(struct live_rates *rates);
/* Another guest, or another boot: what its rings hold already is no rate. */
void live_rates_restart(struct live_rates *rates);
void live_rates_event(struct live_rates *rates, const struct ktread_event *event);
/* Weighs the events told since by how far the rings of `trace` have come since. */
void live_rates_settle(struct live_rates *rates, const struct ktread *trace);
/*
 * Ends an interval of so many seconds. Fills in `top`, the most frequent first, zeros behind the last;
 * returns the rate of all.
 */
double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP]);

/* ---- A guest as a source ---- */

/*
 * A guest's RAM file as a source: it need not be there yet, and its QEMU may end and be started again, also
 * with another file.
 */

struct live_guest {
	const char *given;		      /* the file; NULL: the newest RAM file beside `usual` */
	const char *usual;		      /* where `ktrace run` would leave its trace */
	struct ktread_follow_options options; /* `frequency` 0: as the guest says, or … */
	uint64_t (*measure)(const char *path, const char *machine); /* … as this finds; NULL, 0: unknown */
	char path[PATH_MAX];					    /* the one that is followed or awaited */
	struct ktread_follow *follow;				    /* NULL: awaited */
	struct ktread_follow_account account;			    /* of the guests before */
	uint64_t look_again;					    /* ns */
	uint64_t measure_at;					    /* ns, 0: there is no need to */
	char why[PATH_MAX + 128];
};

void live_guest_open(struct live_guest *guest, struct live_source *source);
void live_guest_close(struct live_guest *guest);

/* ---- Model ---- */

/*
 * All that is shown of a running guest, put together from events, from what its CPUs say of themselves many
 * times an interval, and from the account of slots. Its size does not grow with what is followed.
 */

struct live_model {
	const struct live_source *source;
	bool running;	      /* there is a guest; its trace may be asked */
	uint64_t boots, ends; /* seen so far */
	uint64_t opened;      /* ns */
	uint64_t began;	      /* ns: of the interval in progress */
	uint64_t warm;	      /* ns: until then what comes was recorded before it was looked at */
	bool based;	      /* `base` is set since the guest was found */
	struct ktread_follow_account base, before, now;
	struct live_cpu *cpu;
	uint32_t cpus;
	struct ktrx_cpu *row;
	struct live_rates *rates;
	struct live_waits *waits;
	struct wellknown_table known;
	const struct ktread *known_trace;
	struct live_tail tail;
	/* Of the interval that ended last. */
	double seconds; /* since it was opened */
	double rate, slots;
	double cost; /* part of the CPUs' time; negative: unknown */
	struct live_top top[LIVE_TOP];
	struct live_wait wait[LIVE_WAITS];
	uint32_t wait_count;
};

/* 0 or KTREAD_E_MEMORY. */
int live_model_open(struct live_model *model, const struct live_source *source);
void live_model_close(struct live_model *model);
/* 0 or an error. */
int live_model_take(struct live_model *model, const struct ktread_followed *now);

/* The trace for names; NULL: there is none now. */
struct ktread *live_model_trace(const struct live_model *model);
/* Slots since the first guest was found. */
uint64_t live_model_lost(const struct live_model *model);
uint64_t live_model_unreadable(const struct live_model *model);
uint64_t live_model_skipped(const struct live_model *model);

/*
 * Follows a source, and lets a view show the model once an interval, until it has had enough or a signal
 * comes.
 */

struct live_view {
	void *context;
	/* Shows what the interval brought. 0: go on, 1: enough. */
	int (*show)(void *context, struct live_model *model);
	/* Many times an interval: keys. 0: go on, 1: enough, 2: show anew. NULL: there are none. */
	int (*attend)(void *context, struct live_model *model);
};

struct live_watch {
	const struct live_source *source;
	uint64_t interval;	     /* ns */
	uint64_t count;		     /* intervals, 0: no end */
	volatile sig_atomic_t *stop; /* becomes not 0 */
};

/* `model` is open. 0, or an error of the source or KTREAD_E_MEMORY. */
int live_watch(const struct live_watch *watch, struct live_model *model, const struct live_view *view);

/* ---- How a running guest is shown: lines, or a page on a terminal ---- */

/* A line an interval, for terminals that are none and for programs. */

struct live_lines {
	struct base_output *out;
	bool json;
	uint32_t tail; /* newest events shown before each line */
	uint64_t said; /* lines of the tail so far */
};

void live_lines_write(struct live_lines *lines, const struct live_model *model);

/*
 * The model as rows of printable ASCII, of any size; whoever paints them knows nothing of guests. Each
 * character of a bar belongs to a share of its CPU's time.
 */

#define LIVE_ROWS    200u
#define LIVE_COLUMNS 250u

struct live_row {
	bool strong;
	uint16_t bar, bar_end; /* columns of a bar; the same: there is none */
	char text[LIVE_COLUMNS + 1];
	uint8_t share[LIVE_COLUMNS]; /* enum live_share, within the bar */
};

struct live_page {
	uint32_t rows;
	struct live_row row[LIVE_ROWS];
};

/* Fills at most `rows` rows of at most `columns` characters. `bottom`: what the last row is to say. */
void live_page_make(struct live_page *page, const struct live_model *model, uint32_t rows, uint32_t columns,
		    const char *bottom);

/* "uukkkiii.." for shares, `width` characters. */
void live_bar(const struct live_cpu *cpu, char *text, uint8_t *share, uint32_t width);

/* The terminal as a view. */

struct live_screen;

/* NULL: this terminal cannot be used so; `why` says it. */
struct live_screen *live_screen_open(struct live_view *view, live_filter_typed *typed, const char **why);
/* Gives the terminal back as it was. */
void live_screen_close(struct live_screen *screen);

#endif
