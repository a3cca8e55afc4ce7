/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "why/pulse.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/wellknown.h"
#include "base/escape.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"

#define LOOP_REACH 256u /* size of a small loop, in bytes */
#define NAME_MOST  32u
#define MANY_BEATS 25u
#define MOMENT_MS  100u
#define MASKED_MS  1000u
/* the number N: a timer is regular if it has ticked at least N times, and at most one tick in N was late */
#define TICKS 8u
/*
 * the number N: a timer ticks without a reason if at least one tick in N came while the CPU idled and woke no
 * thread. If there are fewer such ticks, the kernel may have programmed them for wakeups that were later not
 * needed.
 */
#define NEEDLESS 16u
/*
 * time in ms: if a machine that recorded nothing was watched for less than this, the host may not have run it
 */
#define WATCHED_MS 1000u

static bool is_high(uint64_t address)
{
	return address >> 63;
}

uint64_t why_ms(const struct why_evidence *evidence, uint64_t ms)
{
	return evidence->info->frequency / 1000 * ms;
}

bool why_shows_activity(const struct why_evidence *evidence)
{
	return evidence->known > 0 || evidence->missing_hooks != WHY_ALL_HOOKS;
}

bool why_records_wake_nobody(const struct why_evidence *evidence)
{
	return scheduling_recorded(evidence->scheduling, WELLKNOWN_WAKE_NOBODY) &&
	       !scheduling_off(evidence->scheduling, WELLKNOWN_WAKE_NOBODY, evidence->first, evidence->end);
}

bool why_is_whole_since(const struct why_evidence *evidence, uint64_t stamp)
{
	return evidence->gap <= stamp;
}

uint64_t why_silence(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint64_t last = cpu->row.heartbeats ? cpu->row.heartbeat_stamp : cpu->row.now;

	return why_age(evidence, last);
}

/* Returns whether the CPU should have heartbeats: it had one, or another CPU had at least MANY_BEATS. */
static bool should_have_heartbeats(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->has_row &&
	       (cpu->row.heartbeats > 0 || (cpu->row.online && evidence->most_beats >= MANY_BEATS));
}

/*
 * Returns whether each CPU has had a heartbeat shortly before the end. If the host saw no activity after
 * that, the whole machine may have stopped.
 */
static bool all_are_silent_alike(const struct why_evidence *evidence)
{
	return evidence->longest_silence < why_ms(evidence, WHY_STOPPED_MS);
}

void why_pulse_settle(struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (should_have_heartbeats(evidence, cpu) &&
		    why_silence(evidence, cpu) > evidence->longest_silence)
			evidence->longest_silence = why_silence(evidence, cpu);
	}
}

bool why_has_stopped(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	if (!should_have_heartbeats(evidence, cpu) || evidence->info->frequency == 0 || evidence->reset ||
	    evidence->panic.stamp || evidence->info->outcome != KTRX_OUTCOME_RUNNING)
		return false;
	return why_silence(evidence, cpu) >= why_ms(evidence, WHY_STOPPED_MS) ||
	       (evidence->stalled && all_are_silent_alike(evidence));
}

bool why_may_have_stopped(const struct why_evidence *evidence)
{
	return evidence->info->form == KTREAD_FORM_RAM && !evidence->made_progress &&
	       evidence->info->outcome == KTRX_OUTCOME_RUNNING;
}

bool why_is_there(const struct why_cpu *cpu)
{
	return cpu->last_stamp || (cpu->has_row && cpu->row.online);
}

bool why_is_offline(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const bool runs_kernel = cpu->has_registers && !cpu->without_stack &&
				 (is_high(cpu->pc) ||
				  (evidence->symbols && why_side_of(evidence, cpu->pc) == WHY_SIDE_KERNEL));

	return cpu->has_row && !why_is_there(cpu) && cpu->row.heartbeats == 0 && !runs_kernel;
}

const struct why_thread *why_runs(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->running == UINT32_MAX ? NULL : why_thread_find(evidence, cpu->running);
}

bool why_runs_work(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	return thread && !thread->idle;
}

bool why_holds_lock(const struct ktrx_holder *holder, uint64_t lock)
{
	for (uint32_t n = 0; lock && n < KTRX_HELD; n++)
		if (holder->held[n].object == lock)
			return true;
	return false;
}

bool why_is_gone(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->state == THREADS_DEAD ||
	       (!thread->has_holder && !(evidence->missing_hooks & KTRX_HOOK_THREAD) && !evidence->refused &&
		!thread->idle && thread->id != 0);
}

/* In the row of a thread that has not run, the number of the CPU is 0. */
uint32_t why_cpu_of(const struct why_thread *thread)
{
	const struct ktrx_holder *row = &thread->holder;

	if (!thread->has_holder || row->state == KTRX_THREAD_UNKNOWN)
		return thread->cpu;
	return row->state == KTRX_THREAD_RUNNABLE && row->cause == KTRX_CAUSE_START ? KTRX_NO_CPU : row->cpu;
}

bool why_ended_well(const struct why_evidence *evidence)
{
	return evidence->info->outcome == KTRX_OUTCOME_EXITED && evidence->info->status == 0;
}

bool why_waits_mean_nothing(const struct why_evidence *evidence)
{
	return why_ended_well(evidence) || evidence->panic.stamp || evidence->reset || evidence->cut ||
	       evidence->info->frequency == 0;
}

bool why_idle_is_stale(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);
	const struct ktrx_holder *row;

	if (cpu->row.mode != KTRX_MODE_IDLE || cpu->row.mode_stamp == 0 || !thread || thread->idle)
		return false;
	row = &thread->holder;
	/*
	 * If the context switch came after the mode was set, its timestamp is later than the timestamp of the
	 * mode, and the thread has run since that switch. If a mode is set after a switch, the timestamp of
	 * the mode is equal to or later than that of the switch.
	 */
	if (thread->has_holder && row->state != KTRX_THREAD_UNKNOWN)
		return row->state == KTRX_THREAD_RUNNING && row->cpu == cpu->number &&
		       row->state_stamp > cpu->row.mode_stamp;
	return thread->state == THREADS_RUNNING && thread->cpu == cpu->number &&
	       thread->since > cpu->row.mode_stamp;
}

bool why_idles_on(const struct why_evidence *evidence, const struct why_thread *thread, uint32_t cpu)
{
	const struct ktrx_cpu *row;

	if (thread->idle)
		return true;
	if (cpu >= evidence->cpus || evidence->cpu[cpu].row.mode != KTRX_MODE_IDLE)
		return false;
	row = &evidence->cpu[cpu].row;
	if (!thread->has_holder)
		return evidence->switched && row->switches == 0 && evidence->cpu[cpu].switches.count == 0;
	return thread->holder.state == KTRX_THREAD_RUNNING && thread->holder.cpu == cpu &&
	       thread->holder.state_stamp <= row->mode_stamp;
}

bool why_idles(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	if (why_stays_in_handler(evidence, cpu) || why_stays_awake(evidence, cpu))
		return false;
	if (cpu->row.mode == KTRX_MODE_IDLE)
		return !why_idle_is_stale(evidence, cpu);
	if (!thread || !thread->idle)
		return false;
	if (!evidence->idle_recorded)
		return evidence->switched;
	/*
	 * A CPU that has left idle mode only a moment ago still counts as idle: it may be looking for a
	 * runnable thread.
	 */
	return cpu->row.mode != KTRX_MODE_UNKNOWN &&
	       why_age(evidence, cpu->row.mode_stamp) < why_ms(evidence, MOMENT_MS);
}

bool why_is_in_idle_thread(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return why_idles(evidence, cpu) &&
	       (!why_runs_work(evidence, cpu) || (cpu->row.mode == KTRX_MODE_IDLE && cpu->row.mode_stamp &&
						  !(cpu->awake && cpu->mask == INTERRUPTS_MASKED)));
}

bool why_wakes_masked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const uint16_t machine = evidence->info->machine;

	return (machine == EM_AARCH64 || machine == EM_RISCV) && !why_leaves_pending(cpu) &&
	       why_is_in_idle_thread(evidence, cpu);
}

/*
 * Returns whether the CPU never had a tick, and its thread tries again and again to take a lock that another
 * thread holds. Such a CPU may take no interrupt for long, even if interrupts are enabled most of the time.
 */
static bool tries_without_ticks(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct why_thread *thread = why_runs(evidence, cpu);

	return cpu->row.heartbeats == 0 && thread && thread->has_holder &&
	       thread->holder.state == KTRX_THREAD_RUNNING && thread->holder.wait == KTRX_WAIT_LOCK &&
	       thread->holder.owner && thread->holder.owner != thread->id + 1;
}

/*
 * Returns whether the registers show that a CPU has had interrupts disabled for long: they are disabled
 * now, and the CPU has been silent. Does not count a CPU that idles if an interrupt wakes it nevertheless.
 */
static bool is_masked_for_long(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->mask == INTERRUPTS_MASKED && cpu->side != PRIVILEGE_USER &&
	       !tries_without_ticks(evidence, cpu) && why_has_stopped(evidence, cpu) &&
	       why_silence(evidence, cpu) >= why_ms(evidence, MASKED_MS) && !why_wakes_masked(evidence, cpu);
}

static void set_interrupts(struct ktrx_cpu *row, uint8_t interrupts)
{
	row->interrupts = interrupts;
	row->interrupts_stamp = row->interrupts_pc = 0;
}

/*
 * Returns whether the CPU has taken an interrupt since the kernel last reported that it disabled interrupts.
 * They were enabled after that report, for example in a program, and disabled again at an unknown place.
 */
static bool was_interrupted_since(const struct ktrx_cpu *row)
{
	return row->hooks & KTRX_HOOK_IRQ && row->irq_stamp > row->interrupts_stamp;
}

static void disabled_after_interrupt(struct ktrx_cpu *row)
{
	row->interrupts_stamp = row->irq_stamp;
	row->interrupts_pc = 0;
}

void why_mask_settle(struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		struct why_cpu *cpu = &evidence->cpu[n];
		const bool off = cpu->row.interrupts == KTRX_INTERRUPTS_OFF;

		if (off && cpu->mask == INTERRUPTS_ENABLED)
			set_interrupts(&cpu->row, KTRX_INTERRUPTS_UNKNOWN);
		else if (off && was_interrupted_since(&cpu->row))
			disabled_after_interrupt(&cpu->row);
		else if (!off && cpu->has_row && is_masked_for_long(evidence, cpu))
			set_interrupts(&cpu->row, KTRX_INTERRUPTS_OFF);
	}
}

bool why_spins_for_something(const struct why_cpu *cpu)
{
	return (cpu->has_holder && cpu->holder.wait != KTRX_WAIT_NONE) ||
	       (cpu->has_row && cpu->row.ipi_cpu != 0);
}

bool why_any_cpu_works(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_is_there(cpu) && !why_spins_for_something(cpu) && !why_idles(evidence, cpu))
			return true;
	}
	return false;
}

const struct why_irq_kind *why_newest_kind(const struct why_interrupts *interrupts)
{
	for (uint32_t n = 0; n < interrupts->kinds; n++)
		if (interrupts->kind[n].number == interrupts->number)
			return &interrupts->kind[n];
	return NULL;
}

bool why_ticks_always(const struct why_cpu *cpu)
{
	return cpu->interrupts.near >= TICKS && cpu->interrupts.far <= cpu->interrupts.near / TICKS;
}

const struct why_irq_kind *why_most_frequent(const struct why_cpu *cpu)
{
	const struct why_irq_kind *most = NULL;

	for (uint32_t n = 0; n < cpu->interrupts.kinds; n++)
		if (!most || cpu->interrupts.kind[n].entered > most->entered)
			most = &cpu->interrupts.kind[n];
	return most;
}

static bool is_needless(const struct why_irq_kind *kind, uint64_t count)
{
	return count >= TICKS && count >= kind->entered / NEEDLESS;
}

bool why_ticks_without_reason(const struct why_cpu *cpu)
{
	const struct why_irq_kind *most = why_most_frequent(cpu);

	return why_ticks_always(cpu) && most && is_needless(most, most->woke_nobody);
}

/*
 * Returns true if why_ticks_without_reason() does, and also if it is unknown whether ticks woke threads.
 */
static bool may_tick_without_reason(const struct why_cpu *cpu)
{
	const struct why_irq_kind *most = why_most_frequent(cpu);

	return why_ticks_always(cpu) && most && is_needless(most, most->woke_nobody + most->woke_unknown);
}

const struct why_cpu *why_stopped_ticking(const struct why_evidence *evidence)
{
	if (!why_may_have_stopped(evidence) || why_ms(evidence, WATCHED_MS) == 0 ||
	    why_silent_ticks(evidence) < why_ms(evidence, WATCHED_MS))
		return NULL;
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (may_tick_without_reason(&evidence->cpu[n]))
			return &evidence->cpu[n];
	return NULL;
}

static void add_place(struct why_places *places, uint64_t pc)
{
	if (places->count == 0 || pc < places->lowest)
		places->lowest = pc;
	if (places->count == 0 || pc > places->highest)
		places->highest = pc;
	places->count++;
}

/*
 * Adds the places where interrupts on one CPU interrupted the thread after `since`. Returns the timestamp of
 * the newest of these interrupts, or `newest` if that is later.
 */
static uint64_t add_samples(struct why_places *places, const struct why_interrupts *interrupts,
			    uint32_t thread, uint64_t since, uint64_t newest)
{
	const uint64_t oldest = interrupts->samples > WHY_SAMPLES ? interrupts->samples - WHY_SAMPLES : 0;

	for (uint64_t n = oldest; n < interrupts->samples; n++) {
		const struct why_sample *sample = &interrupts->sample[n % WHY_SAMPLES];

		if (sample->thread != thread || sample->stamp <= since ||
		    sample->context != KTRX_CONTEXT_THREAD)
			continue;
		add_place(places, sample->pc);
		if (sample->stamp >= newest) {
			newest = sample->stamp;
			places->newest = sample->pc;
		}
	}
	return newest;
}

void why_places_of(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t thread,
		   uint64_t since, struct why_places *places)
{
	const uint64_t beat = cpu->row.heartbeat_stamp;
	uint64_t newest = 0;

	*places = (struct why_places){ 0 };
	for (uint32_t n = 0; n < evidence->cpus; n++)
		newest = add_samples(places, &evidence->cpu[n].interrupts, thread, since, newest);
	/*
	 * Samples that are taken at heartbeats have no timestamps. So these samples are used only if all of
	 * them (KTRX_SAMPLES) were taken after `since`.
	 */
	if (places->count || !cpu->has_row || cpu->row.thread != thread ||
	    cpu->row.heartbeats < KTRX_SAMPLES || why_ms(evidence, WHY_STOPPED_MS) == 0 || beat < since ||
	    beat - since < why_ms(evidence, WHY_STOPPED_MS))
		return;
	for (uint64_t n = 0; n < KTRX_SAMPLES; n++)
		/* 0: the kernel does not pass the interrupted place to ktrace_heartbeat() */
		if (cpu->row.sample[n] == 0)
			return;
	for (uint64_t n = 0; n < KTRX_SAMPLES; n++)
		add_place(places, cpu->row.sample[n]);
	places->newest = cpu->row.sample[(cpu->row.heartbeats + KTRX_SAMPLES - 1) % KTRX_SAMPLES];
}

bool why_places_are_one(const struct why_evidence *evidence, const struct why_places *places)
{
	struct symbol first, last;

	if (evidence->symbols && symbols_find(evidence->symbols, places->lowest, &first) == 0 &&
	    symbols_find(evidence->symbols, places->highest, &last) == 0)
		return places->lowest - first.offset == places->highest - last.offset;
	return places->highest - places->lowest < LOOP_REACH;
}

const char *why_say_beat(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			 size_t size)
{
	char ticks[WHY_WORDS];

	if (cpu->row.heartbeats == 0)
		return why_say(buffer, size, "CPU %" PRIu32 " never had a heartbeat", cpu->number);
	return why_say(buffer, size, "the last heartbeat of CPU %" PRIu32 " was %s ago", cpu->number,
		       why_say_ticks(evidence, why_silence(evidence, cpu), ticks, sizeof(ticks)));
}

const char *why_say_running(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			    size_t size)
{
	if (cpu->running == UINT32_MAX)
		return why_say(buffer, size, "an unknown thread");
	return why_say_actor(evidence, cpu->running + 1, buffer, size);
}

const char *why_say_irq(uint32_t number, const char *name, char *buffer, size_t size)
{
	char escaped[NAME_MOST + 1];

	*base_escape_text(escaped, name, strlen(name), NAME_MOST) = '\0';
	if (*name)
		return why_say(buffer, size, "interrupt %" PRIu32 " (%s)", number, escaped);
	return why_say(buffer, size, "interrupt %" PRIu32, number);
}

/* Functions that decide whether code belongs to the kernel or to a program. */

/*
 * number of bytes: if the kernel's file is unknown, its code is assumed to be at most this far from
 * ktrace_root
 */
#define IMAGE_REACH (UINT64_C(256) << 20)
/*
 * number of bytes: a pc is one of several places if it is at most this far from the lowest or highest place
 */
#define NEAR_REACH 256u

/*
 * Returns whether the kernel runs in the upper half of the address space. Addresses of callers, which hooks
 * record, show this even if the recorded address of ktrace_root is in the lower half.
 */
static bool runs_high(const struct why_evidence *evidence)
{
	if (is_high(evidence->info->self))
		return true;
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct ktrx_cpu *row = &evidence->cpu[n].row;

		if (is_high(row->interrupts_pc) || is_high(row->broken_pc) || is_high(row->ipi_pc) ||
		    is_high(evidence->cpu[n].holder.wait_pc))
			return true;
	}
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (is_high(evidence->thread[n].holder.wait_pc))
			return true;
	return false;
}

/* Returns whether the trace shows that a CPU was in user mode. */
static bool has_users(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++)
		if (evidence->cpu[n].row.user_exits || evidence->cpu[n].row.mode == KTRX_MODE_USER ||
		    evidence->cpu[n].side == PRIVILEGE_USER)
			return true;
	for (uint32_t n = 0; n < evidence->threads; n++)
		if (evidence->thread[n].syscalls.count)
			return true;
	return false;
}

void why_side_settle(struct why_evidence *evidence)
{
	evidence->high = runs_high(evidence);
	evidence->users = has_users(evidence);
}

/*
 * Decides by the distance of `pc` from ktrace_root. Used if the kernel's file is unknown and the kernel runs
 * in the lower half of the address space.
 */
static enum why_side side_by_distance(const struct why_evidence *evidence, uint64_t pc)
{
	const uint64_t self = evidence->info->self;

	if (self == 0)
		return WHY_SIDE_UNKNOWN;
	if ((pc > self ? pc - self : self - pc) < IMAGE_REACH)
		return evidence->users ? WHY_SIDE_UNKNOWN : WHY_SIDE_KERNEL;
	return evidence->users ? WHY_SIDE_USER : WHY_SIDE_UNKNOWN;
}

enum why_side why_side_of(const struct why_evidence *evidence, uint64_t pc)
{
	if (is_high(pc))
		return WHY_SIDE_KERNEL;
	if (evidence->high)
		return symbols_has(evidence->symbols, pc) ? WHY_SIDE_UNKNOWN : WHY_SIDE_USER;
	if (!evidence->symbols)
		return side_by_distance(evidence, pc);
	if (symbols_has(evidence->symbols, pc))
		return symbols_has_code(evidence->symbols, pc) ? WHY_SIDE_KERNEL : WHY_SIDE_UNKNOWN;
	return evidence->users ? WHY_SIDE_USER : WHY_SIDE_UNKNOWN;
}

static enum why_side side_of_privilege(const struct why_cpu *cpu)
{
	return cpu->side == PRIVILEGE_USER     ? WHY_SIDE_USER
	       : cpu->side == PRIVILEGE_KERNEL ? WHY_SIDE_KERNEL
					       : WHY_SIDE_UNKNOWN;
}

enum why_side why_side_of_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const enum why_side side = side_of_privilege(cpu);

	return side == WHY_SIDE_UNKNOWN ? why_side_of(evidence, cpu->pc) : side;
}

/* Decides by the mode that the kernel set for the CPU, if it set that mode before `since`. */
static enum why_side side_of_mode(const struct why_cpu *cpu, uint64_t since)
{
	if (!cpu->has_row)
		return WHY_SIDE_UNKNOWN;
	if (cpu->row.mode == KTRX_MODE_USER)
		return WHY_SIDE_USER;
	return cpu->row.mode == KTRX_MODE_KERNEL && cpu->row.user_exits && cpu->row.mode_stamp <= since
		       ? WHY_SIDE_KERNEL
		       : WHY_SIDE_UNKNOWN;
}

enum why_side why_side_of_places(const struct why_evidence *evidence, const struct why_cpu *cpu,
				 const struct why_places *places, uint64_t since)
{
	const enum why_side by_address = why_side_of(evidence, places->newest);
	const enum why_side by_mode = side_of_mode(cpu, since), by_register = side_of_privilege(cpu);

	if (cpu->has_registers && by_register != WHY_SIDE_UNKNOWN && cpu->pc + NEAR_REACH >= places->lowest &&
	    cpu->pc <= places->highest + NEAR_REACH)
		return by_register;
	if (by_address != why_side_of(evidence, places->lowest) ||
	    by_address != why_side_of(evidence, places->highest))
		return WHY_SIDE_UNKNOWN;
	if (by_mode == WHY_SIDE_UNKNOWN || by_address == WHY_SIDE_UNKNOWN)
		return by_mode == WHY_SIDE_UNKNOWN ? by_address : by_mode;
	return by_mode == by_address ? by_mode : WHY_SIDE_UNKNOWN;
}

bool why_side_has_name(const struct why_evidence *evidence, uint64_t address)
{
	return is_high(address) || !evidence->high || !evidence->users;
}
