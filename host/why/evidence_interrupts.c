/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Fills in struct why_interrupts: the interrupts of each CPU, and the periods without interrupts. */
#include <string.h>

#include "analyze/keyed.h"
#include "ktrx/slot.h"
#include "why/evidence_state.h"
#include "why/pulse.h"

static struct why_irqs_open *open_of(struct why_reader *reader, const struct why_cpu *cpu)
{
	return &reader->open[cpu->number];
}

static struct why_irq_kind *kind_of(struct why_interrupts *interrupts, uint32_t number)
{
	for (uint32_t n = 0; n < interrupts->kinds; n++)
		if (interrupts->kind[n].number == number)
			return &interrupts->kind[n];
	if (interrupts->kinds == WHY_IRQ_KINDS)
		return NULL;
	interrupts->kind[interrupts->kinds] = (struct why_irq_kind){ .number = number };
	return &interrupts->kind[interrupts->kinds++];
}

/* ---- Periods without interrupts ------------------------------------------------------------------ */

static void quiet_begin(struct why_reader *reader, struct why_irqs_open *open, uint64_t stamp,
			uint32_t thread)
{
	open->from = open->last_event = stamp;
	open->unseen = open->events = 0;
	open->others = reader->irqs;
	open->thread = thread;
}

/* time in µs: if two events of a CPU are at most this far apart, the CPU counts as running between them */
#define GRAIN_US 2000u

/* Returns for how many ticks between two events it is unknown whether the CPU ran. */
static uint64_t unseen(const struct why_reader *reader, uint64_t from, uint64_t to)
{
	const uint64_t grain = reader->evidence->info->frequency / 1000000u * GRAIN_US;
	const uint64_t ticks = elapsed(from, to);

	return ticks > grain ? ticks - grain : 0;
}

/* Returns the number of ticks of the period for which events show that the CPU ran. */
static uint64_t proven(const struct why_quiet *quiet)
{
	return quiet->to - quiet->from - quiet->unseen;
}

/*
 * Ends the current period at an interrupt. Stores the period in `quiet` if it has the longest running time so
 * far, which is the time for which events show that the CPU ran.
 */
static void quiet_end(struct why_reader *reader, struct why_interrupts *interrupts,
		      struct why_irqs_open *open, const struct ktread_event *event, uint64_t pc)
{
	const struct why_thread *thread = why_thread_find(reader->evidence, open->thread);
	struct why_quiet quiet = { .from = open->from,
				   .to = event->stamp,
				   .unseen = open->unseen + unseen(reader, open->last_event, event->stamp),
				   .events = open->events,
				   .others = reader->irqs - open->others,
				   .thread = open->thread,
				   .pc = pc };

	if (open->from == 0 || open->thread != event->thread || !thread ||
	    why_idles_on(reader->evidence, thread, event->cpu) || event->stamp < open->last_event)
		return;
	if (proven(&quiet) <= proven(&interrupts->quiet) / 2)
		return;
	if (pc == interrupts->quiet.pc)
		interrupts->quiets++;
	else if (proven(&quiet) > proven(&interrupts->quiet))
		interrupts->quiets = 1;
	if (proven(&quiet) > proven(&interrupts->quiet))
		interrupts->quiet = quiet;
}

/*
 * Handles an event that is not about an interrupt. A switch or an event of another thread begins a new
 * period. So does a system call, because interrupts were enabled in user mode. So does an event about an IPI
 * or a wait for a lock, because the CPU may have waited for another CPU. Any other event continues the
 * current period.
 */
static void quiet_event(struct why_reader *reader, struct why_irqs_open *open,
			const struct ktread_event *event, const struct wellknown *known)
{
	if (known->kind == WELLKNOWN_SWITCH || known->kind == WELLKNOWN_SYSCALL_ENTER ||
	    known->kind == WELLKNOWN_SYSCALL_EXIT || known->kind == WELLKNOWN_IPI_SEND ||
	    known->kind == WELLKNOWN_IPI_RECEIVE || known->kind == WELLKNOWN_LOCK_CONTEND) {
		quiet_begin(reader, open, event->stamp, UINT32_MAX);
		return;
	}
	if (open->thread == UINT32_MAX)
		open->thread = event->thread;
	if (event->thread != open->thread) {
		quiet_begin(reader, open, event->stamp, event->thread);
		return;
	}
	open->unseen += unseen(reader, open->last_event, event->stamp);
	if (event->stamp > open->last_event)
		open->last_event = event->stamp;
	open->events++;
}

/* ---- Interrupts ---------------------------------------------------------------------------------- */

static void add_sample(struct why_interrupts *interrupts, const struct why_irqs_open *open,
		       const struct ktread_event *event, uint64_t pc)
{
	if (pc == 0)
		return;
	interrupts->sample[interrupts->samples++ % WHY_SAMPLES] =
		(struct why_sample){ .stamp = event->stamp,
				     .pc = pc,
				     .thread = event->thread,
				     .context = open->depth ? KTRX_CONTEXT_INTERRUPT : KTRX_CONTEXT_THREAD };
}

/* Updates the count of interrupts in a row that have the same number. */
static void add_to_run(struct why_interrupts *interrupts, const struct why_irqs_open *open, uint64_t stamp,
		       uint64_t number, uint64_t pc)
{
	if (interrupts->run && number == interrupts->number && open->depth == 0) {
		interrupts->run++;
		interrupts->run_at_one_place &= pc == interrupts->pc;
		return;
	}
	interrupts->run = 1;
	interrupts->run_first = stamp;
	interrupts->run_at_one_place = true;
}

/*
 * time in µs: if less time passes between two interrupts, a CPU can do little more than leave one handler and
 * enter the next
 */
#define CLOSE_US 50u

static bool is_close(const struct why_reader *reader, const struct why_irqs_open *open, uint64_t stamp)
{
	return open->depth == 0 && open->left && stamp >= open->left &&
	       stamp - open->left <= reader->evidence->info->frequency / 1000000u * CLOSE_US;
}

static void count_entry(const struct why_reader *reader, struct why_interrupts *interrupts, uint64_t stamp,
			bool close)
{
	struct why_irq_kind *kind = kind_of(interrupts, interrupts->number);

	interrupts->entered++;
	if (!kind)
		return;
	if (kind->entered++ == 0) {
		kind->first = kind->after = stamp;
	} else if (elapsed(kind->last, stamp) > why_ms(reader->evidence, 1)) {
		kind->pauses++;
		kind->paused += elapsed(kind->last, stamp);
		kind->after = stamp;
	}
	kind->last = stamp;
	kind->ended += interrupts->over;
	kind->close += close;
}

/*
 * Counts the interval since the previous interrupt: in `near` if it is not longer than WHY_TICK_MS, otherwise
 * in `far`.
 */
static void note_distance(const struct why_reader *reader, struct why_interrupts *interrupts, uint64_t stamp)
{
	if (interrupts->entered == 0)
		return;
	if (elapsed(interrupts->stamp, stamp) > why_ms(reader->evidence, WHY_TICK_MS))
		interrupts->far++;
	else
		interrupts->near++;
}

static bool is_idle(const struct why_reader *reader, const struct ktread_event *event)
{
	const struct why_thread *thread = why_thread_find(reader->evidence, event->thread);

	return event->thread == 0 || (thread && why_idles_on(reader->evidence, thread, event->cpu));
}

/* Counts the previous interrupt if it came while the CPU idled, and no wakeup was recorded since. */
static void count_idle(const struct why_reader *reader, struct why_interrupts *interrupts,
		       const struct ktread_event *event)
{
	struct why_irq_kind *kind = interrupts->entered ? kind_of(interrupts, interrupts->number) : NULL;

	if (kind && interrupts->idled) {
		if (scheduling_covers(reader->evidence->scheduling, WELLKNOWN_WAKE, interrupts->stamp,
				      event->stamp))
			kind->woke_nobody++;
		else
			kind->woke_unknown++;
	}
	interrupts->idled = is_idle(reader, event);
	interrupts->working += !interrupts->idled;
}

static void enter(struct why_reader *reader, struct why_interrupts *interrupts, struct why_irqs_open *open,
		  const struct ktread_event *event, const struct wellknown *known)
{
	struct ktread_value name;
	uint64_t number = 0, pc = 0;

	wellknown_number(known, event, WELLKNOWN_NUMBER, &number);
	wellknown_number(known, event, WELLKNOWN_PLACE, &pc);
	if (open->depth == 0) {
		open->since = event->stamp;
		count_idle(reader, interrupts, event);
		note_distance(reader, interrupts, event->stamp);
		quiet_end(reader, interrupts, open, event, pc);
		quiet_begin(reader, open, event->stamp, event->thread);
	}
	add_to_run(interrupts, open, event->stamp, number, pc);
	add_sample(interrupts, open, event, pc);
	reader->irqs++;
	interrupts->number = (uint32_t)number;
	interrupts->stamp = event->stamp;
	interrupts->pc = pc;
	interrupts->left = false;
	interrupts->over = open->early && open->early_number == number;
	open->early = false;
	memset(interrupts->name, 0, sizeof(interrupts->name));
	if (wellknown_string(known, event, WELLKNOWN_NAME, &name))
		memcpy(interrupts->name, name.string,
		       name.length < sizeof(interrupts->name) ? name.length : sizeof(interrupts->name) - 1);
	count_entry(reader, interrupts, event->stamp, is_close(reader, open, event->stamp));
	if (open->depth < WHY_IRQ_NESTED) {
		open->nest[open->depth].number = (uint32_t)number;
		open->nest[open->depth].over = interrupts->over;
	}
	if (why_records(reader, WELLKNOWN_IRQ_EXIT)) {
		open->depth++;
		open->inside = true;
		open->entered = event->stamp;
		open->interrupted = event->thread;
	}
}

static void leave(struct why_interrupts *interrupts, struct why_irqs_open *open, uint64_t stamp)
{
	struct why_irq_kind *kind =
		open->depth == 1 && open->since ? kind_of(interrupts, open->nest[0].number) : NULL;

	if (kind)
		kind->handled += elapsed(open->since, stamp);
	if (open->depth > 0)
		open->depth--;
	open->inside = false;
	open->left = stamp;
	interrupts->left = open->depth == 0;
}

enum why_origin why_origin(const struct why_reader *reader, const struct ktread_event *event)
{
	const struct why_irqs_open *open =
		event->cpu < reader->evidence->cpus ? &reader->open[event->cpu] : NULL;

	if (event->context != KTRX_CONTEXT_THREAD)
		return WHY_BY_INTERRUPT;
	if (!open || !open->inside)
		return WHY_BY_THREAD;
	if (scheduling_covers(reader->evidence->scheduling, WELLKNOWN_SWITCH, open->entered, event->stamp))
		return WHY_BY_INTERRUPT;
	return event->thread == open->interrupted ? WHY_BY_EITHER : WHY_BY_THREAD;
}

/*
 * Assigns an EOI to an interrupt that has the same number and no EOI yet: to the innermost such interrupt in
 * progress or, if none is in progress, to the newest interrupt. If the newest interrupt has another number,
 * or has an EOI already, the EOI belongs to an interrupt whose irq.enter is not recorded yet.
 */
static void end(struct why_interrupts *interrupts, struct why_irqs_open *open, uint64_t number)
{
	struct why_irq_kind *kind = kind_of(interrupts, (uint32_t)number);
	bool newest = interrupts->entered && number == interrupts->number && !interrupts->over;
	uint32_t n = open->depth < WHY_IRQ_NESTED ? open->depth : WHY_IRQ_NESTED;

	interrupts->ended++;
	while (n > 0 && (open->nest[n - 1].number != number || open->nest[n - 1].over))
		n--;
	if (n == 0 && !newest) {
		open->early = true;
		open->early_number = (uint32_t)number;
		return;
	}
	if (n > 0)
		open->nest[n - 1].over = true;
	if (newest && (n == 0 || n == open->depth))
		interrupts->over = true;
	if (kind)
		kind->ended++;
}

/* Measures how long the CPU recorded no event before this one, after its newest heartbeat. */
static void note_pause(struct why_cpu *cpu, struct why_irqs_open *open, uint64_t stamp)
{
	const uint64_t beat = cpu->row.heartbeat_stamp, since = open->newest > beat ? open->newest : beat;

	if (stamp > since && stamp - since > cpu->pause)
		cpu->pause = stamp - since;
	if (stamp > open->newest)
		open->newest = stamp;
}

void why_interrupt_event(struct why_reader *reader, struct why_cpu *cpu, const struct ktread_event *event,
			 const struct wellknown *known)
{
	struct why_irqs_open *open = open_of(reader, cpu);
	uint64_t number = 0;

	cpu->interrupts.events++;
	note_pause(cpu, open, event->stamp);
	if (event->context == KTRX_CONTEXT_NMI)
		return;
	switch (known->kind) {
	case WELLKNOWN_IRQ_ENTER:
		enter(reader, &cpu->interrupts, open, event, known);
		return;
	case WELLKNOWN_IRQ_EXIT:
		leave(&cpu->interrupts, open, event->stamp);
		return;
	case WELLKNOWN_IRQ_EOI:
		if (wellknown_number(known, event, WELLKNOWN_NUMBER, &number))
			end(&cpu->interrupts, open, number);
		return;
	case WELLKNOWN_WAKE:
		cpu->interrupts.idled = false;
		break;
	case WELLKNOWN_SWITCH:
	case WELLKNOWN_SYSCALL_ENTER:
	case WELLKNOWN_SYSCALL_EXIT:
		open->inside = false;
		open->since = 0;
		break;
	default:
		break;
	}
	if (event->context != KTRX_CONTEXT_THREAD)
		return;
	cpu->interrupts.outside += open->depth == 0;
	cpu->interrupts.run = 0;
	quiet_event(reader, open, event, known);
}

void why_interrupt_gap(struct why_reader *reader, struct why_cpu *cpu)
{
	struct why_irqs_open *open = open_of(reader, cpu);

	cpu->interrupts = (struct why_interrupts){ 0 };
	/* the CPU paused at most from its newest event until the event after the gap */
	*open = (struct why_irqs_open){ .newest = open->newest };
}
