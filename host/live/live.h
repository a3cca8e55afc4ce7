/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Opening a guest that runs, following it, and showing it: as lines, or as a page on a terminal. */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

#include "base/output.h"
#include "live/cpus.h"
#include "live/source.h"
#include "live/tail.h"

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

/* How a running guest is shown: lines, or a page on a terminal. */

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
