/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Prints findings and the state of each CPU and thread as text. */
#include "why/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "base/escape.h"
#include "why/answers.h"
#include "why/pulse.h"

#define WIDTH 116u /* width of the output in columns */

/*
 * if an event is less than 1/INSTANT s before the end of the trace, its time is printed as "at the trace's
 * end"
 */
#define INSTANT	    1000000u
#define THREADS	    32u /* maximum number of threads that are listed without --all */
#define EVENTS	    5u	/* maximum number of events that are printed for a CPU that does not idle */
#define ANSWERS	    8u	/* maximum number of missing IPI answers that are printed for a waiting CPU */
#define EVENTS_IDLE 1u	/* maximum number of events that are printed for an idle CPU */

static const char *const mode_words[] = {
	[KTRX_MODE_UNKNOWN] = "unknown", [KTRX_MODE_IDLE] = "idle",	      [KTRX_MODE_KERNEL] = "kernel",
	[KTRX_MODE_USER] = "user",	 [KTRX_MODE_INTERRUPT] = "interrupt",
};

static const char *const wait_words[] = {
	[KTRX_WAIT_NONE] = "none",     [KTRX_WAIT_SPIN] = "spin", [KTRX_WAIT_LOCK] = "lock",
	[KTRX_WAIT_EVENT] = "event",   [KTRX_WAIT_TIME] = "time", [KTRX_WAIT_THREAD] = "thread",
	[KTRX_WAIT_DEVICE] = "device",
};

const char *why_say_mode(uint8_t mode)
{
	return mode < sizeof(mode_words) / sizeof(mode_words[0]) ? mode_words[mode] : "unknown";
}

const char *why_say_wait(uint8_t wait)
{
	return wait < sizeof(wait_words) / sizeof(wait_words[0]) ? wait_words[wait] : "unknown";
}

const char *why_say_state(const struct why_evidence *evidence, const struct why_thread *thread)
{
	static const char *const by_row[] = { "unknown", "running", "runnable", "waiting" };
	static const char *const concluded[] = {
		[THREADS_UNKNOWN] = "unknown", [THREADS_RUNNING] = "running", [THREADS_RUNNABLE] = "runnable",
		[THREADS_SLEEPING] = "asleep", [THREADS_WAITING] = "asleep",  [THREADS_STOPPED] = "stopped",
		[THREADS_DEAD] = "dead",
	};

	if (thread->has_holder && thread->holder.state && thread->holder.state < 4)
		return by_row[thread->holder.state];
	if (thread->state != THREADS_DEAD && why_is_gone(evidence, thread))
		return "unknown";
	return concluded[thread->state];
}

__attribute__((format(printf, 2, 3))) static void put_line(struct base_output *out, const char *format, ...)
{
	char line[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(line, sizeof(line), format, values);
	va_end(values);
	finding_put_wrapped(out, WIDTH, 0, line);
}

/* Formats "last event 2.31 s ago" or "no event". */
static const char *say_last(const struct why_evidence *evidence, const char *what, uint64_t stamp,
			    char *buffer, size_t size)
{
	char ticks[WHY_WORDS];

	if (stamp == 0)
		return why_say(buffer, size, "no %s", what);
	if (stamp >= evidence->end || why_age(evidence, stamp) < evidence->info->frequency / INSTANT)
		return why_say(buffer, size, "last %s at the trace's end", what);
	return why_say(buffer, size, "last %s %s ago", what,
		       why_say_ticks(evidence, why_age(evidence, stamp), ticks, sizeof(ticks)));
}

/* Returns whether the CPU idles, does not wait for anything, and is not in an interrupt handler. */
static bool is_idle(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return why_idles(evidence, cpu) && !why_spins_for_something(cpu) &&
	       (!cpu->has_row || (cpu->row.nesting == 0 && cpu->row.mode != KTRX_MODE_INTERRUPT));
}

/* Returns whether the CPU is in idle mode, but waits for an IPI answer. */
static bool is_idle_and_asks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return why_idles(evidence, cpu) && why_awaits_answer(cpu) && cpu->row.nesting == 0;
}

static void put_cpu_state(struct base_output *out, const struct why_evidence *evidence,
			  const struct why_cpu *cpu)
{
	char actor[WHY_WORDS], event[WHY_WORDS], beat[WHY_WORDS];
	const char *mode = !cpu->has_row			 ? "mode unknown"
			   : is_idle(evidence, cpu)		 ? "idle"
			   : is_idle_and_asks(evidence, cpu)	 ? "waiting"
			   : cpu->row.nesting > 0		 ? "interrupt"
			   : why_stays_in_handler(evidence, cpu) ? "interrupt"
			   : why_idle_is_stale(evidence, cpu)	 ? "busy"
			   : cpu->row.mode == KTRX_MODE_UNKNOWN	 ? "mode unknown"
								 : why_say_mode(cpu->row.mode);
	const bool is_left = is_idle(evidence, cpu) && why_runs_work(evidence, cpu);

	put_line(out, "CPU %-3" PRIu32 " %s%s, %s%s; %s, %s", cpu->number, mode,
		 cpu->row.interrupts == KTRX_INTERRUPTS_OFF && !is_idle(evidence, cpu)
			 ? ", interrupts disabled"
			 : "",
		 is_left ? "ran " : "",
		 cpu->running == UINT32_MAX ? "unknown thread"
					    : why_say_actor(evidence, cpu->running + 1, actor, sizeof(actor)),
		 say_last(evidence, "event", cpu->last_stamp, event, sizeof(event)),
		 cpu->has_row ? say_last(evidence, "heartbeat", cpu->row.heartbeat_stamp, beat, sizeof(beat))
			      : "heartbeat unknown");
}

/*
 * Prints one line for CPU `first`, which is offline, and for the following CPUs as long as they are offline,
 * too. Returns the last of these CPUs.
 */
static uint32_t put_offline(struct base_output *out, const struct why_evidence *evidence, uint32_t first)
{
	uint32_t last = first;
	const bool failed = evidence->cpu[first].row.misnumbered != 0;

	while (!failed && last + 1 < evidence->cpus && why_is_offline(evidence, &evidence->cpu[last + 1]) &&
	       !evidence->cpu[last + 1].row.misnumbered)
		last++;
	if (failed)
		put_line(out, "CPU %-3" PRIu32 " offline: ktrace_cpu_online() failed there", first);
	else if (last == first)
		put_line(out, "CPU %-3" PRIu32 " offline: it never started", first);
	else
		put_line(out, "CPUs %" PRIu32 " to %" PRIu32 " offline: they never started", first, last);
	return last;
}

/* Prints the locks that a CPU or thread holds, and the object that it waits for. */
static void put_holder(struct base_output *out, const struct why_evidence *evidence,
		       const struct ktrx_holder *holder)
{
	char object[WHY_WORDS], place[WHY_WORDS], since[WHY_WORDS], waits[FINDING_LINE];

	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		if (!holder->held[n].object)
			continue;
		put_line(out, "        holds lock %s%s%s",
			 why_say_object(evidence, holder->held[n].object, object, sizeof(object)),
			 why_say_since(evidence, " for about ", holder->held[n].stamp, since, sizeof(since)),
			 why_say_called(evidence, ", taken at ", holder->held[n].pc, place, sizeof(place)));
	}
	if (holder->wait == KTRX_WAIT_NONE || holder->wait > KTRX_WAIT_DEVICE ||
	    (holder->state == KTRX_THREAD_RUNNABLE && holder->wait != KTRX_WAIT_LOCK))
		return;
	put_line(out, "        %s",
		 why_say_waiting(evidence, holder->wait, holder->object, holder->wait_stamp, holder->wait_pc,
				 waits, sizeof(waits)));
}

/* Prints which IPI answers a CPU waits for, and the state of the CPUs that have not answered. */
static void put_answers(struct base_output *out, const struct why_evidence *evidence,
			const struct why_cpu *cpu)
{
	char words[FINDING_LINE];
	uint32_t owing = 0;

	if (!why_awaits_answer(cpu))
		return;
	put_line(out, "        %s", why_say_awaited_answer(evidence, cpu, words, sizeof(words)));
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		if (!why_awaits_answer_of(cpu, &evidence->cpu[n]) || owing++ >= ANSWERS)
			continue;
		put_line(out, "          %s",
			 why_say_missing_answer(evidence, &evidence->cpu[n], words, sizeof(words)));
	}
	if (*why_say_unanswerable(evidence, cpu, words, sizeof(words)))
		put_line(out, "          %s", words);
	if (owing > ANSWERS)
		base_output_format(out, "          %" PRIu32 " more CPU%s not answered\n", owing - ANSWERS,
				   owing - ANSWERS == 1 ? " has" : "s have");
}

static void put_stack(struct base_output *out, const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	char place[WHY_WORDS];
	const uint32_t frames = is_idle(evidence, cpu) ? 0 : cpu->frames;

	if (!cpu->has_registers && !(cpu->has_row && cpu->row.heartbeats))
		return;
	put_line(out, "        at %s%s",
		 cpu->has_registers ? why_say_standing(evidence, cpu, place, sizeof(place))
				    : why_say_place(evidence, cpu->row.pc, place, sizeof(place)),
		 cpu->has_registers ? "" : ", as of the last heartbeat");
	for (uint32_t n = 0; n < frames; n++) {
		put_line(out, "        called from %s",
			 why_say_frame(evidence, cpu, n, place, sizeof(place)));
	}
}

static void put_events(struct base_output *out, const struct why_evidence *evidence,
		       const struct why_cpu *cpu, bool ids)
{
	const uint32_t most = is_idle(evidence, cpu) ? EVENTS_IDLE : EVENTS;
	const struct why_last *last = &cpu->last;
	char when[WHY_WORDS];
	bool at_end; /* an event at the end of the trace: avoids "-0.0 us" */

	for (uint32_t n = last->count > most ? last->count - most : 0; n < last->count; n++) {
		const struct why_event *event = &last->event[n];

		why_say_ticks(evidence, why_age(evidence, event->stamp), when, sizeof(when));
		at_end = when[strspn(when, "0.")] == ' ';
		if (ids)
			put_line(out, "        %c%-9s %s [%" PRIu32 ".%" PRIu64 "]", at_end ? ' ' : '-', when,
				 event->text, event->ring, event->slot);
		else
			put_line(out, "        %c%-9s %s", at_end ? ' ' : '-', when, event->text);
	}
}

static void put_thread(struct base_output *out, const struct why_evidence *evidence,
		       const struct why_thread *thread)
{
	char actor[WHY_WORDS], when[WHY_WORDS], cpu[16] = "-";
	const uint32_t on = why_cpu_of(thread);
	const uint64_t seen = thread->last.count ? thread->last.event[thread->last.count - 1].stamp : 0;

	if (on != KTRX_NO_CPU)
		why_say(cpu, sizeof(cpu), "%" PRIu32, on);
	put_line(out, "%-32s %-9s CPU %-3s %s", why_say_actor(evidence, thread->id + 1, actor, sizeof(actor)),
		 why_say_state(evidence, thread), cpu, say_last(evidence, "event", seen, when, sizeof(when)));
	if (thread->has_holder)
		put_holder(out, evidence, &thread->holder);
}

static int by_id(const void *a, const void *b)
{
	const struct why_thread *const *left = a, *const *right = b;

	return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

/* Prints the threads, sorted by id. Prints nothing if there is no memory for the sort. */
static void put_threads(struct base_output *out, const struct why_evidence *evidence, bool all)
{
	const struct why_thread **sorted = calloc((size_t)evidence->threads + 1, sizeof(struct why_thread *));
	uint32_t count = 0, shown;

	if (!sorted)
		return;
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (!evidence->thread[n].idle && evidence->thread[n].state != THREADS_DEAD)
			sorted[count++] = &evidence->thread[n];
	if (count)
		qsort(sorted, count, sizeof(struct why_thread *), by_id);
	shown = count > THREADS && !all ? THREADS : count;
	for (uint32_t n = 0; n < shown; n++)
		put_thread(out, evidence, sorted[n]);
	if (shown < count)
		base_output_format(out, "and %" PRIu32 " thread%s more: --all shows them\n", count - shown,
				   count - shown == 1 ? "" : "s");
	free(sorted);
}

/* Prints the state of each CPU and thread. */
static void put_evidence(struct base_output *out, const struct why_evidence *evidence,
			 const struct why_style *style)
{
	char ended[sizeof(evidence->ended) * 4 + 1];

	*base_escape_text(ended, evidence->ended, strlen(evidence->ended), sizeof(ended) - 1) = '\0';
	base_output_text(out, "\n");
	if (*ended)
		put_line(out, "end of the run: %s", ended);
	if (evidence->silence_is_longer)
		put_line(out, "the machine showed no activity while it was watched: "
			      "it may have been stopped for longer than the times below show");
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_is_offline(evidence, cpu)) {
			n = put_offline(out, evidence, n);
			continue;
		}
		put_cpu_state(out, evidence, cpu);
		if (cpu->has_holder)
			put_holder(out, evidence, &cpu->holder);
		put_answers(out, evidence, cpu);
		put_stack(out, evidence, cpu);
		put_events(out, evidence, cpu, style->ids);
	}
	base_output_text(out, "\n");
	put_threads(out, evidence, style->all);
	if (evidence->left_out)
		base_output_format(out,
				   "%" PRIu64 " events, table rows and lock orders were left out: "
				   "the limits are %u threads, %u CPUs and %u lock orders\n",
				   evidence->left_out, WHY_THREADS, WHY_CPUS, KEYED_MAX);
}

static void put_finding(struct base_output *out, const struct why_finding *finding,
			const struct why_style *options, bool lines)
{
	const struct finding_style style = {
		.width = WIDTH, .certain = true, .brief = !lines, .ids = options->ids, .trace = options->trace
	};

	finding_put_text(out, &finding->base, &style);
}

void why_report_verdict(struct base_output *out, const struct why_findings *findings)
{
	put_finding(out, why_findings_at(findings, 0), &(struct why_style){ 0 }, true);
}

/*
 * Returns whether finding `n` is the reason why the verdict "idle" or "busy" is only "possible". Such a
 * finding is printed in full.
 */
static bool makes_only_possible(const struct why_findings *findings, uint32_t n)
{
	const struct why_finding *first = why_findings_at(findings, 0);

	return first->open && why_leaves_open(first->verdict, why_findings_at(findings, n));
}

void why_report(struct base_output *out, const struct why_evidence *evidence,
		const struct why_findings *findings, const struct why_style *style)
{
	char order[ORDER_TEXT];

	put_finding(out, why_findings_at(findings, 0), style, true);
	for (uint32_t n = 1; n < why_findings_count(findings); n++) {
		if (n == 1)
			base_output_text(out, "\nalso:\n");
		put_finding(out, why_findings_at(findings, n), style,
			    style->all || makes_only_possible(findings, n));
	}
	put_evidence(out, evidence, style);
	if (order_say(evidence->trace, order) > 0)
		base_output_format(out, "\n%s\n", order);
	if (!evidence->symbols)
		base_output_text(out, "\nno function names: name the kernel's file with --elf KERNEL\n");
}
