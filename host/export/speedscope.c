/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The file format of speedscope: one JSON object with a profile for each CPU and for each thread. The profile
 * of a CPU contains the interrupts and, above them, the threads that ran. The profile of a thread contains
 * its system calls and faults and, where it did not run, its state.
 *
 * In the output, all events of a profile must be in one array, but in the trace they are in order of time. So
 * events are collected in blocks of a temporary file. Each block contains the number of the next block of the
 * same profile.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/scheduling.h"
#include "base/escape.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/json.h"
#include "base/open.h"
#include "base/output.h"
#include "base/put.h"
#include "export/walk.h"

#define FRAMES_MOST 65536u
#define NAME_MOST   64u
#define BLOCK_MOST  31u /* number of events in a block */
#define NONE	    UINT32_MAX

/* The beginning or the end of a frame. */
struct step {
	uint64_t time;
	uint32_t frame;
	uint32_t ends;
};

struct block {
	uint64_t next; /* number of the profile's next block */
	uint64_t steps;
	struct step step[BLOCK_MOST];
};

struct profile {
	struct block block; /* the block that is being filled */
	/* numbers of the profile's first block, and of the block in `block` */
	uint64_t first, here;
	uint64_t last;			      /* time of the last beginning or end of a frame */
	uint32_t open[SPANS_NEST + 1], depth; /* frames that are open now */
	/*
	 * frame above the open frames: the state of a thread, or the thread that runs on a CPU; NONE if there
	 * is no such frame
	 */
	uint32_t leaf;
	uint64_t stamp; /* timestamp of the event after which the leaf is open */
	bool begun;
};

struct frame {
	uint32_t length;
	char name[NAME_MOST];
};

struct speedscope {
	struct walk walk;
	struct base_output out;
	int blocks;	     /* descriptor of the temporary file */
	uint64_t next_block; /* number of the next free block */
	int error;	     /* errno of the first failed access to that file */
	struct frame *frame;
	uint32_t frames, frame_room;
	struct base_index index;
	struct profile *thread, *cpu;
	uint32_t threads, cpus;
	uint32_t profiles; /* number of profiles that were written */
};

/*
 * Returns the number of a frame. If there are already FRAMES_MOST names, returns the last name's number for
 * every new name.
 */
static uint32_t frame_of(struct speedscope *scope, const char *name, size_t length)
{
	const size_t size = base_utf8_cut(name, length, NAME_MOST);
	const uint64_t hash = base_hash_bytes(0, name, size);
	struct frame *bigger;

	for (uint32_t probe = 0, row; base_index_next(&scope->index, hash, &probe, &row);)
		if (scope->frame[row].length == size && memcmp(scope->frame[row].name, name, size) == 0)
			return row;
	if (scope->frames == FRAMES_MOST)
		return FRAMES_MOST - 1;
	bigger = base_grow(scope->frame, &scope->frame_room, (size_t)scope->frames + 1, sizeof(*bigger));
	if (bigger)
		scope->frame = bigger;
	if (!bigger || base_index_add(&scope->index, hash, scope->frames) < 0) {
		scope->walk.error = KTREAD_E_MEMORY;
		return NONE;
	}
	scope->frame[scope->frames].length = (uint32_t)size;
	memcpy(scope->frame[scope->frames].name, name, size);
	return scope->frames++;
}

/* ---- Writing the events of a profile ---- */

static void write_block(struct speedscope *scope, const struct profile *profile)
{
	const off_t at = (off_t)(profile->here * sizeof(struct block));

	if (!scope->error &&
	    pwrite(scope->blocks, &profile->block, sizeof(struct block), at) != (ssize_t)sizeof(struct block))
		scope->error = errno ? errno : ENOSPC;
}

static void add_step(struct speedscope *scope, struct profile *profile, uint64_t time, uint32_t frame,
		     bool ends)
{
	struct block *block = &profile->block;

	if (frame == NONE)
		return;
	if (!profile->begun)
		profile->first = profile->here = scope->next_block++;
	profile->begun = true;
	if (block->steps == BLOCK_MOST) {
		block->next = scope->next_block++;
		write_block(scope, profile);
		profile->here = block->next;
		block->steps = 0;
	}
	/* a span that may have ended in a gap is ended later in the trace, but with a time before the gap */
	if (time > profile->last)
		profile->last = time;
	block->step[block->steps++] = (struct step){ profile->last, frame, ends };
}

static void set_leaf(struct speedscope *scope, struct profile *profile, uint64_t time, uint32_t leaf)
{
	if (profile->leaf != NONE)
		add_step(scope, profile, time, profile->leaf, true);
	profile->leaf = leaf;
	if (leaf != NONE)
		add_step(scope, profile, time, leaf, false);
}

static void push(struct speedscope *scope, struct profile *profile, uint64_t time, uint32_t frame)
{
	const uint32_t leaf = profile->leaf;

	if (profile->depth == SPANS_NEST + 1 || frame == NONE)
		return;
	set_leaf(scope, profile, time, NONE);
	profile->open[profile->depth++] = frame;
	add_step(scope, profile, time, frame, false);
	set_leaf(scope, profile, time, leaf);
}

static void pop(struct speedscope *scope, struct profile *profile, uint64_t time)
{
	const uint32_t leaf = profile->leaf;

	if (profile->depth == 0)
		return;
	set_leaf(scope, profile, time, NONE);
	add_step(scope, profile, time, profile->open[--profile->depth], true);
	set_leaf(scope, profile, time, leaf);
}

/* ---- Callbacks for spans and states ---- */

static struct profile *profile_at(struct speedscope *scope, struct profile **table, uint32_t *count,
				  uint32_t n)
{
	const uint32_t had = *count;
	struct profile *bigger = base_grow(*table, count, (size_t)n + 1, sizeof(*bigger));

	if (!bigger) {
		scope->walk.error = KTREAD_E_MEMORY;
		return NULL;
	}
	for (uint32_t made = had; made < *count; made++)
		bigger[made].leaf = NONE;
	*table = bigger;
	return &bigger[n];
}

static struct profile *profile_of(struct speedscope *scope, struct spans_owner owner)
{
	return owner.cpu ? profile_at(scope, &scope->cpu, &scope->cpus, owner.number)
			 : profile_at(scope, &scope->thread, &scope->threads, owner.number);
}

static size_t label(const struct speedscope *scope, uint32_t thread, char *text, size_t size)
{
	const char *name = ktread_thread_name(scope->walk.trace, thread);

	return (size_t)snprintf(text, size, "%.40s (%u)", name ? name : "thread", thread);
}

static uint32_t state_frame(struct speedscope *scope, enum threads_state state)
{
	static const char *const names[] = { [THREADS_UNKNOWN] = NULL,
					     [THREADS_RUNNING] = NULL,
					     [THREADS_RUNNABLE] = "[runnable]",
					     [THREADS_SLEEPING] = "[sleeping]",
					     [THREADS_WAITING] = "[waiting]",
					     [THREADS_STOPPED] = "[stopped]",
					     [THREADS_DEAD] = NULL };

	return names[state] ? frame_of(scope, names[state], strlen(names[state])) : NONE;
}

/*
 * Ends the state of a thread where slots are missing on any CPU since it began: events there may have
 * changed the state. `profile`: of a thread.
 */
static void end_state(struct speedscope *scope, struct profile *profile)
{
	uint64_t gap = UINT64_MAX;

	if (profile->leaf != NONE)
		gap = gaps_first(scope->walk.gaps, GAPS_ANYWHERE, profile->stamp, scope->walk.stamp);
	/* time 0 ends the state at the time at which it began */
	if (gap != UINT64_MAX)
		set_leaf(scope, profile, gap > profile->stamp ? walk_clock_ns(&scope->walk.clock, gap) : 0,
			 NONE);
	profile->stamp = scope->walk.stamp;
}

static void take_change(void *context, const struct threads_change *change)
{
	struct speedscope *scope = context;
	const struct threads_thread *thread = change->thread;
	struct profile *profile = profile_at(scope, &scope->thread, &scope->threads, thread->index);
	char text[NAME_MOST];
	uint32_t frame;

	if (profile)
		end_state(scope, profile);
	if (profile)
		set_leaf(scope, profile, change->time, state_frame(scope, (enum threads_state)thread->state));
	if (change->cpu >= THREADS_CPUS_MAX)
		return;
	if (thread->state != THREADS_RUNNING && change->from != THREADS_RUNNING)
		return;
	frame = frame_of(scope, text, label(scope, thread->id, text, sizeof(text)));
	profile = profile_at(scope, &scope->cpu, &scope->cpus, change->cpu);
	if (profile && thread->state == THREADS_RUNNING)
		set_leaf(scope, profile, change->time, frame);
	else if (profile && profile->leaf == frame)
		set_leaf(scope, profile, change->time, NONE);
}

static void begin_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		       const struct ktread_event *event)
{
	struct speedscope *scope = context;
	struct profile *profile = lane == 0 ? profile_of(scope, owner) : NULL;
	struct walk_name name;

	if (!profile)
		return;
	if (!owner.cpu)
		end_state(scope, profile);
	walk_name_span(&scope->walk, &name, span, event);
	walk_name_text(&scope->walk, &name);
	push(scope, profile, scope->walk.time, frame_of(scope, name.text, name.length));
}

static void end_span(void *context, struct spans_owner owner, unsigned lane, const struct spans_span *span,
		     const struct ktread_event *event, uint64_t time)
{
	struct speedscope *scope = context;
	struct profile *profile = lane == 0 ? profile_of(scope, owner) : NULL;

	(void)span;
	(void)event;
	if (profile && !owner.cpu)
		end_state(scope, profile);
	if (profile)
		pop(scope, profile, time);
}

/* ---- Writing the JSON object ---- */

static char *put_text(char *at, const char *before, uint64_t number, const char *after)
{
	at = base_put_decimal(stpcpy(at, before), number);
	return stpcpy(at, after);
}

static void write_steps(struct speedscope *scope, const struct block *block, bool first)
{
	for (uint64_t n = 0; n < block->steps && n < BLOCK_MOST; n++) {
		const struct step *step = &block->step[n];
		char *at = base_output_line(&scope->out);

		at = stpcpy(at, first && n == 0 ? "\n{\"type\":" : ",\n{\"type\":");
		at = stpcpy(at, step->ends ? "\"C\"" : "\"O\"");
		at = put_text(at, ",\"frame\":", step->frame, "");
		base_output_done(&scope->out, put_text(at, ",\"at\":", step->time, "}"));
	}
}

/* Reads the blocks of a profile in order. The file was written by this program, but reading it may fail. */
static void write_blocks(struct speedscope *scope, struct profile *profile)
{
	uint64_t number = profile->first;
	struct block block;

	write_block(scope, profile);
	for (bool first = true;; first = false) {
		const off_t at = (off_t)(number * sizeof(block));

		if (scope->error)
			return;
		if (pread(scope->blocks, &block, sizeof(block), at) != (ssize_t)sizeof(block)) {
			scope->error = EIO;
			return;
		}
		write_steps(scope, &block, first);
		if (number == profile->here)
			return;
		number = block.next;
	}
}

static void write_profile(struct speedscope *scope, struct profile *profile, const char *name, size_t length,
			  uint64_t start)
{
	const uint64_t end = scope->walk.clock.last + 2;
	char *at;

	if (!profile->begun)
		return;
	set_leaf(scope, profile, end, NONE);
	while (profile->depth > 0)
		pop(scope, profile, end);
	at = base_output_line(&scope->out);
	at = stpcpy(at, scope->profiles++ ? ",\n{\"type\":\"evented\",\"name\":"
					  : "{\"type\":\"evented\",\"name\":");
	at = base_json_string(at, name, length);
	at = put_text(at, ",\"unit\":\"nanoseconds\",\"startValue\":", start, "");
	at = put_text(at, ",\"endValue\":", end, ",\"events\":[");
	base_output_done(&scope->out, at);
	write_blocks(scope, profile);
	base_output_text(&scope->out, "]}");
}

static void write_file(struct speedscope *scope)
{
	const uint64_t start = walk_clock_ns(&scope->walk.clock, ktread_first_stamp(scope->walk.trace));
	char name[NAME_MOST];

	base_output_text(&scope->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
				      "\"exporter\":\"ktrace\",\n\"profiles\":[");
	for (uint32_t n = 0; n < scope->cpus; n++) {
		const int length = n < THREADS_CPUS_MAX ? snprintf(name, sizeof(name), "CPU %u", n)
							: snprintf(name, sizeof(name), "CPU unknown");

		write_profile(scope, &scope->cpu[n], name, (size_t)length, start);
	}
	for (uint32_t n = 0; n < scope->threads && n < threads_count(scope->walk.threads); n++) {
		end_state(scope, &scope->thread[n]);
		write_profile(scope, &scope->thread[n], name,
			      label(scope, threads_at(scope->walk.threads, n)->id, name, sizeof(name)),
			      start);
	}
	base_output_text(&scope->out, "],\n\"shared\":{\"frames\":[");
	for (uint32_t n = 0; n < scope->frames; n++) {
		char *at = stpcpy(base_output_line(&scope->out), n ? ",\n{\"name\":" : "\n{\"name\":");

		at = base_json_string(at, scope->frame[n].name, scope->frame[n].length);
		base_output_done(&scope->out, stpcpy(at, "}"));
	}
	base_output_text(&scope->out, "]}}\n");
}

static int speedscope_write(struct ktread *trace, int fd, struct export_report *report)
{
	struct speedscope *scope = calloc(1, sizeof(*scope));
	const struct walk_sink sink = {
		.context = scope,
		.thread = take_change,
		.begin = begin_span,
		.end = end_span,
	};
	int error;

	if (!scope)
		return KTREAD_E_MEMORY;
	scope->walk.output = &scope->error;
	scope->blocks = base_temporary_open();
	if (scope->blocks < 0)
		scope->error = errno;
	error = base_output_open(&scope->out, fd) < 0 ? KTREAD_E_MEMORY : 0;
	if (!error)
		error = walk_open(&scope->walk, trace, &sink);
	if (!error && !scope->error)
		error = walk_run(&scope->walk);
	if (scope->walk.threads && !scope->error)
		write_file(scope);
	walk_close(&scope->walk, report);
	report->output_error = base_output_close(&scope->out);
	if (scope->error) {
		report->output_error = scope->error;
		report->failed = base_temporary_folder();
	}
	if (report->output_error)
		error = KTREAD_E_SYSTEM;
	if (scope->blocks >= 0)
		close(scope->blocks);
	base_index_free(&scope->index);
	free(scope->frame);
	free(scope->thread);
	free(scope->cpu);
	free(scope);
	return error;
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.purpose = "profiles of CPUs and threads over time (speedscope.app)",
	.write = speedscope_write,
};
