/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Prints findings and evidence as one JSON object, which man/ktrace-why.1 describes. All members are always
 * present; an unknown value is null.
 */
#include <inttypes.h>

#include "analyze/order.h"
#include "base/json.h"
#include "why/answers.h"
#include "why/pulse.h"
#include "why/report.h"

/* Writes a number, or null if it is not known. */
static void put_known(struct base_output *out, const char *key, bool known, uint64_t number)
{
	base_json_key(out, key);
	if (known)
		base_output_format(out, "%" PRIu64, number);
	else
		base_output_text(out, "null");
}

/* Writes "0x…", or null for 0. */
static void put_address(struct base_output *out, const char *key, uint64_t address)
{
	base_json_key(out, key);
	if (address)
		base_output_format(out, "\"0x%" PRIx64 "\"", address);
	else
		base_output_text(out, "null");
}

/* Writes the seconds from a timestamp to the end of the trace, or null if there is no timestamp. */
static void put_age(struct base_output *out, const struct why_evidence *evidence, const char *key,
		    uint64_t stamp)
{
	const uint64_t frequency = evidence->info->frequency;

	base_json_key(out, key);
	if (stamp == 0 || frequency == 0)
		base_output_text(out, "null");
	else
		base_output_format(out, "%.9f", (double)why_age(evidence, stamp) / (double)frequency);
}

static void put_object(struct base_output *out, const struct why_evidence *evidence, const char *key,
		       uint64_t address)
{
	char words[WHY_WORDS];

	base_json_key(out, key);
	if (!address) {
		base_output_text(out, "null");
		return;
	}
	base_output_text(out, "{");
	put_address(out, "address", why_object_is_elsewhere(evidence, address) ? 0 : address);
	base_json_put(out, "name", why_object_name(evidence, address));
	base_json_put(out, "text", why_say_object(evidence, address, words, sizeof(words)));
	base_output_text(out, "}");
}

typedef const char *say_place(const struct why_evidence *evidence, uint64_t address, char *buffer,
			      size_t size);

static void put_place(struct base_output *out, const struct why_evidence *evidence, const char *key,
		      uint64_t pc, say_place *say)
{
	char words[WHY_WORDS];

	base_json_put(out, key, pc ? say(evidence, pc, words, sizeof(words)) : "");
}

/* ---- Findings ------------------------------------------------------------------------------------ */

static void put_actor(struct base_output *out, const struct why_evidence *evidence,
		      const struct why_actor *actor)
{
	const bool is_cpu = actor->id & KTRX_HOLDER_CPU;
	char words[WHY_WORDS];

	base_json_begin(out, NULL, '{');
	base_json_put(out, "text", why_say_actor(evidence, actor->id, words, sizeof(words)));
	put_known(out, "cpu", is_cpu, actor->id & ~KTRX_HOLDER_CPU);
	put_known(out, "thread", !is_cpu, actor->id - 1);
	put_object(out, evidence, "holds", actor->holds);
	put_object(out, evidence, "waits", actor->waits);
	put_age(out, evidence, "waiting", actor->ticks ? evidence->end - actor->ticks : 0);
	put_place(out, evidence, "place", actor->pc, actor->exact ? why_say_place : why_say_call);
	base_output_text(out, "}");
}

static void put_finding(struct base_output *out, const struct why_evidence *evidence,
			const struct why_finding *finding)
{
	static const struct finding_keys earlier = { "verdict", "sure", "text", "lines", "missing" };

	base_json_begin(out, NULL, '{');
	finding_put_json(out, &finding->base, &earlier);
	finding_put_ids_json(out, &finding->base);
	base_json_begin(out, "actors", '[');
	for (uint32_t n = 0; n < finding->actors; n++)
		put_actor(out, evidence, &finding->actor[n]);
	base_output_text(out, "]}");
}

/* ---- Evidence ------------------------------------------------------------------------------------ */

static void put_holder(struct base_output *out, const struct why_evidence *evidence,
		       const struct ktrx_holder *holder)
{
	base_json_begin(out, "holds", '[');
	for (uint32_t n = 0; n < KTRX_HELD; n++) {
		if (!holder->held[n].object)
			continue;
		base_json_begin(out, NULL, '{');
		put_object(out, evidence, "lock", holder->held[n].object);
		put_age(out, evidence, "since", holder->held[n].stamp);
		put_place(out, evidence, "place", holder->held[n].pc, why_say_call);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
	base_json_key(out, "waits");
	if (holder->wait == KTRX_WAIT_NONE ||
	    (holder->state == KTRX_THREAD_RUNNABLE && holder->wait != KTRX_WAIT_LOCK)) {
		base_output_text(out, "null");
		return;
	}
	base_output_text(out, "{");
	base_json_put(out, "kind", why_say_wait(holder->wait));
	put_object(out, evidence, "object", holder->object);
	put_age(out, evidence, "since", holder->wait_stamp);
	put_place(out, evidence, "place", holder->wait_pc, why_say_call);
	base_output_text(out, "}");
}

static void put_last(struct base_output *out, const struct why_evidence *evidence,
		     const struct why_last *last)
{
	base_json_begin(out, "events", '[');
	for (uint32_t n = 0; n < last->count; n++) {
		base_json_begin(out, NULL, '{');
		put_age(out, evidence, "ago", last->event[n].stamp);
		base_json_put_format(out, "id", "\"%" PRIu32 ".%" PRIu64 "\"", last->event[n].ring,
				     last->event[n].slot);
		base_json_put(out, "text", last->event[n].text);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
}

static const char *say_interrupts(const struct ktrx_cpu *row)
{
	return row->interrupts == KTRX_INTERRUPTS_ON	? "on"
	       : row->interrupts == KTRX_INTERRUPTS_OFF ? "off"
							: "";
}

/*
 * Writes the members for a CPU's row in the kernel's table. If the kernel does not call the hooks for
 * interrupts and preemption, writes null for `nesting` and `preempt`, not 0.
 */
static void put_cpu_row(struct base_output *out, const struct why_evidence *evidence,
			const struct why_cpu *cpu)
{
	const struct ktrx_cpu *row = &cpu->row;

	base_json_put(out, "mode", why_is_offline(evidence, cpu) ? "offline" : why_say_mode(row->mode));
	base_json_put(out, "interrupts", say_interrupts(row));
	put_known(out, "nesting", row->hooks & KTRX_HOOK_IRQ, row->nesting);
	put_known(out, "preempt", row->hooks & KTRX_HOOK_PREEMPT, row->preempt);
	put_known(out, "heartbeats", cpu->has_row, row->heartbeats);
	put_age(out, evidence, "heartbeat", row->heartbeat_stamp);
}

/*
 * maximum number of CPUs that are listed for each CPU that waits for IPI answers, because each CPU may wait
 * for all others
 */
#define UNANSWERED_MOST 64u

/*
 * Writes the CPUs that have not answered an IPI of this CPU, which waits for them; null if it waits for
 * none.
 */
static void put_answers(struct base_output *out, const struct why_evidence *evidence,
			const struct why_cpu *cpu)
{
	const uint32_t from = cpu->row.ipi_cpu;
	uint32_t count = 0;

	base_json_key(out, "asks");
	if (!why_awaits_answer(cpu)) {
		base_output_text(out, "null");
		return;
	}
	base_output_text(out, "{");
	put_known(out, "cpu", from != KTRX_ALL_CPUS, from - 1);
	base_json_put_number(out, "what", cpu->row.ipi_what);
	put_age(out, evidence, "since", cpu->row.ipi_stamp);
	put_place(out, evidence, "place", cpu->row.ipi_pc, why_say_call);
	base_json_begin(out, "unanswered", '[');
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *asked = &evidence->cpu[n];
		const bool off = asked->row.interrupts == KTRX_INTERRUPTS_OFF;

		if (!why_awaits_answer_of(cpu, asked) || count++ >= UNANSWERED_MOST)
			continue;
		base_json_begin(out, NULL, '{');
		base_json_put_number(out, "cpu", n);
		base_json_put(out, "interrupts", say_interrupts(&asked->row));
		put_age(out, evidence, "since", off ? asked->row.interrupts_stamp : 0);
		put_place(out, evidence, "place", off ? asked->row.interrupts_pc : 0, why_say_call);
		put_age(out, evidence, "answered", asked->row.ipi_answered);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
	if (count > UNANSWERED_MOST)
		base_json_put_number(out, "more", count - UNANSWERED_MOST);
	base_output_text(out, "}");
}

static void put_cpu(struct base_output *out, const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	char place[WHY_WORDS];

	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "cpu", cpu->number);
	put_known(out, "thread", cpu->running != UINT32_MAX, cpu->running);
	put_cpu_row(out, evidence, cpu);
	put_age(out, evidence, "event", cpu->last_stamp);
	base_json_put_number(out, "lost", cpu->lost);
	put_holder(out, evidence, &cpu->holder);
	put_answers(out, evidence, cpu);
	if (cpu->has_registers)
		base_json_put(out, "place",
			      cpu->pc ? why_say_standing(evidence, cpu, place, sizeof(place)) : "");
	else
		put_place(out, evidence, "place", cpu->row.pc, why_say_place);
	base_json_put_bool(out, "registers", cpu->has_registers);
	base_json_begin(out, "stack", '[');
	for (uint32_t n = 0; n < cpu->frames; n++) {
		char words[WHY_WORDS];

		base_json_put(out, NULL, why_say_frame(evidence, cpu, n, words, sizeof(words)));
	}
	base_output_text(out, "]");
	put_last(out, evidence, &cpu->last);
	base_output_text(out, "}");
}

static void put_thread(struct base_output *out, const struct why_evidence *evidence,
		       const struct why_thread *thread)
{
	const uint32_t on = why_cpu_of(thread);

	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "thread", thread->id);
	base_json_put(out, "name", thread->name);
	base_json_put_bool(out, "idle", thread->idle);
	base_json_put(out, "state", why_say_state(evidence, thread));
	put_known(out, "cpu", on != KTRX_NO_CPU, on);
	put_age(out, evidence, "event",
		thread->last.count ? thread->last.event[thread->last.count - 1].stamp : 0);
	put_holder(out, evidence, &thread->holder);
	put_last(out, evidence, &thread->last);
	base_output_text(out, "}");
}

void why_report_json(struct base_output *out, const struct why_evidence *evidence,
		     const struct why_findings *findings)
{
	char order[ORDER_TEXT];

	base_output_text(out, "{");
	base_json_put_number(out, "version", WHY_JSON_VERSION);
	base_json_put(out, "verdict", why_verdict_word(why_findings_at(findings, 0)->verdict));
	base_json_put(out, "kernel", evidence->info->kernel);
	base_json_put(out, "ended", evidence->ended);
	base_json_begin(out, "findings", '[');
	for (uint32_t n = 0; n < why_findings_count(findings); n++)
		put_finding(out, evidence, why_findings_at(findings, n));
	base_output_text(out, "]");
	base_json_begin(out, "cpus", '[');
	for (uint32_t n = 0; n < evidence->cpus; n++)
		put_cpu(out, evidence, &evidence->cpu[n]);
	base_output_text(out, "]");
	base_json_begin(out, "threads", '[');
	for (uint32_t n = 0; n < evidence->threads; n++)
		put_thread(out, evidence, &evidence->thread[n]);
	base_output_text(out, "]");
	if (order_say_json(evidence->trace, order) > 0)
		base_output_format(out, ",%s", order);
	base_output_text(out, "}\n");
}
