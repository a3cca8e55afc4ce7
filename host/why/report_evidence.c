/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The evidence as text: CPU by CPU, then a line a thread. */
#include <inttypes.h>
#include <string.h>

#include "export/escape.h"
#include "why/report.h"

#define COLUMNS 120u /* what is longer is cut */
#define THREADS 32u  /* shown, but with --all */
#define EVENTS	5u   /* shown of each CPU */

static const char *const mode_words[] = {
	[KTRX_MODE_UNKNOWN] = "mode unknown", [KTRX_MODE_IDLE] = "idle",
	[KTRX_MODE_KERNEL] = "kernel mode",   [KTRX_MODE_USER] = "user mode",
	[KTRX_MODE_INTERRUPT] = "interrupt",
};

static const char *const wait_words[] = {
	[KTRX_WAIT_NONE] = "",
	[KTRX_WAIT_SPIN] = "spins for",
	[KTRX_WAIT_LOCK] = "waits for lock",
	[KTRX_WAIT_EVENT] = "waits for event",
	[KTRX_WAIT_TIME] = "waits for time",
	[KTRX_WAIT_THREAD] = "waits for the end of",
	[KTRX_WAIT_DEVICE] = "waits for device",
};

const char *why_say_mode(uint8_t mode)
{
	return mode < sizeof(mode_words) / sizeof(mode_words[0]) ? mode_words[mode] : "mode unknown";
}

const char *why_say_wait(uint8_t wait)
{
	return wait < sizeof(wait_words) / sizeof(wait_words[0]) ? wait_words[wait] : "";
}

const char *why_say_state(const struct why_thread *thread)
{
	static const char *const told[] = { "unknown", "running", "runnable", "waiting" };
	static const char *const concluded[] = {
		[THREADS_UNKNOWN] = "unknown", [THREADS_RUNNING] = "running", [THREADS_RUNNABLE] = "runnable",
		[THREADS_SLEEPING] = "asleep", [THREADS_WAITING] = "asleep",  [THREADS_STOPPED] = "stopped",
		[THREADS_DEAD] = "dead",
	};

	if (thread->has_holder && thread->holder.state && thread->holder.state < 4)
		return told[thread->holder.state];
	return concluded[thread->state];
}

static void put_line(struct output *out, const char *line)
{
	output_format(out, "%.*s\n", (int)COLUMNS, line);
}

/* "2.31 s ago", "never". */
static const char *ago(const struct why_evidence *evidence, uint64_t stamp, char *buffer, size_t size)
{
	char ticks[WHY_WORDS];

	if (stamp == 0 || stamp > evidence->end)
		why_say(buffer, size, "%s", stamp ? "now" : "never");
	else
		why_say(buffer, size, "%s ago",
			why_say_ticks(evidence, evidence->end - stamp, ticks, sizeof(ticks)));
	return buffer;
}

static void put_cpu_state(struct output *out, const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	char line[512], actor[WHY_WORDS] = "", event[WHY_WORDS], beat[WHY_WORDS];

	if (cpu->running != UINT32_MAX)
		why_say_actor(evidence, cpu->running + 1, actor, sizeof(actor));
	why_say(line, sizeof(line), "CPU %-3" PRIu32 " %s%s%s%s; last event %s, heartbeat %s", cpu->number,
		cpu->has_row ? why_say_mode(cpu->row.mode) : "",
		cpu->row.interrupts == KTRX_INTERRUPTS_OFF ? ", interrupts off" : "",
		cpu->has_row && *actor ? ", " : "", actor,
		ago(evidence, cpu->last_stamp, event, sizeof(event)),
		cpu->has_row ? ago(evidence, cpu->row.heartbeat_stamp, beat, sizeof(beat)) : "unknown");
	put_line(out, line);
}

/* What a CPU or thread waits for and holds. */
static void put_holder(struct output *out, const struct why_evidence *evidence,
		       const struct ktrx_holder *holder)
{
	char line[512], object[WHY_WORDS], place[WHY_WORDS], since[WHY_WORDS];

	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		if (!holder->held[n].object)
			continue;
		why_say(line, sizeof(line), "        has %s, taken %s in %s",
			why_say_object(evidence, holder->held[n].object, object, sizeof(object)),
			ago(evidence, holder->held[n].stamp, since, sizeof(since)),
			why_say_call(evidence, holder->held[n].pc, place, sizeof(place)));
		put_line(out, line);
	}
	if (!holder->wait)
		return;
	why_say(line, sizeof(line), "        %s %s since %s in %s", why_say_wait(holder->wait),
		why_say_object(evidence, holder->object, object, sizeof(object)),
		ago(evidence, holder->wait_stamp, since, sizeof(since)),
		why_say_call(evidence, holder->wait_pc, place, sizeof(place)));
	put_line(out, line);
}

static void put_stack(struct output *out, const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	char line[512], place[WHY_WORDS];

	if (cpu->has_registers) {
		why_say(line, sizeof(line), "        at %s",
			why_say_place(evidence, cpu->pc, place, sizeof(place)));
		put_line(out, line);
	} else if (cpu->has_row && cpu->row.heartbeats) {
		why_say(line, sizeof(line), "        at %s, when it last beat",
			why_say_place(evidence, cpu->row.pc, place, sizeof(place)));
		put_line(out, line);
	}
	for (uint32_t n = 0; n < cpu->frames; n++) {
		why_say(line, sizeof(line), "        by %s",
			why_say_call(evidence, cpu->frame[n], place, sizeof(place)));
		put_line(out, line);
	}
}

static void put_events(struct output *out, const struct why_evidence *evidence, const struct why_last *last)
{
	char line[512], when[WHY_WORDS];

	for (uint32_t n = last->count > EVENTS ? last->count - EVENTS : 0; n < last->count; n++) {
		const struct why_event *event = &last->event[n];

		why_say(line, sizeof(line), "        %12s  %s",
			ago(evidence, event->stamp, when, sizeof(when)), event->text);
		put_line(out, line);
	}
}

static void put_thread(struct output *out, const struct why_evidence *evidence,
		       const struct why_thread *thread)
{
	char line[512], actor[WHY_WORDS], when[WHY_WORDS], cpu[16] = "-";
	const uint32_t on = thread->has_holder ? thread->holder.cpu : thread->cpu;
	const uint64_t seen = thread->last.count ? thread->last.event[thread->last.count - 1].stamp : 0;

	if (on != KTRX_NO_CPU)
		why_say(cpu, sizeof(cpu), "%" PRIu32, on);
	why_say(line, sizeof(line), "%-36s %-9s CPU %-4s seen %s",
		why_say_actor(evidence, thread->id + 1, actor, sizeof(actor)), why_say_state(thread), cpu,
		ago(evidence, seen, when, sizeof(when)));
	put_line(out, line);
	if (thread->has_holder)
		put_holder(out, evidence, &thread->holder);
}

void why_report_evidence(struct output *out, const struct why_evidence *evidence, bool all)
{
	uint32_t shown = 0;

	output_text(out, "\n");
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		put_cpu_state(out, evidence, cpu);
		if (cpu->has_holder)
			put_holder(out, evidence, &cpu->holder);
		put_stack(out, evidence, cpu);
		put_events(out, evidence, &cpu->last);
	}
	output_text(out, "\n");
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (thread->idle || thread->state == THREADS_DEAD || (shown++ >= THREADS && !all))
			continue;
		put_thread(out, evidence, thread);
	}
	if (shown > THREADS && !all)
		output_format(out, "and %" PRIu32 " threads more\n", shown - THREADS);
}
