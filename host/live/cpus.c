/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/cpus.h"

#include <string.h>

static enum live_share share_of_mode(const struct live_cpu *cpu, uint8_t mode)
{
	switch (mode) {
	case KTRX_MODE_IDLE:
		return LIVE_IDLE;
	case KTRX_MODE_KERNEL:
		return LIVE_KERNEL;
	case KTRX_MODE_USER:
		return LIVE_USER;
	case KTRX_MODE_INTERRUPT:
		return LIVE_IRQ;
	default:
		return cpu->follows ? cpu->told : LIVE_UNKNOWN;
	}
}

/*
 * Whether the CPU has made progress since the last sample. Idling counts as progress, except in the handler of an interrupt. Where
 * there was no heartbeat yet, as in a kernel that hangs before its first tick has ended, calls of other hooks count.
 */
static bool makes_progress(const struct live_cpu *cpu, const struct ktrx_cpu *row, enum live_share share)
{
	return row->heartbeats != cpu->heartbeats || (share == LIVE_IDLE && row->nesting == 0) ||
	       (row->heartbeats == 0 && row->now != cpu->hook);
}

void live_cpu_sample(struct live_cpu *cpu, const struct ktrx_cpu *row, bool beats, uint64_t now)
{
	enum live_share share = share_of_mode(cpu, row->mode);

	cpu->online = row->online != 0;
	if (!cpu->online) {
		cpu->met = false;
		return;
	}
	if (!cpu->met || makes_progress(cpu, row, share))
		cpu->beat = now;
	cpu->met = true;
	cpu->heartbeats = row->heartbeats;
	cpu->hook = row->now;
	cpu->pc = row->pc;
	cpu->thread = row->heartbeats || row->mode != KTRX_MODE_UNKNOWN ? row->thread : cpu->told_thread;
	cpu->stuck = 0;
	if ((row->heartbeats || row->nesting || (beats && row->mode != KTRX_MODE_UNKNOWN)) &&
	    now - cpu->beat >= LIVE_STUCK_NS) {
		share = LIVE_STUCK;
		cpu->stuck = (double)(now - cpu->beat) / 1e9;
	}
	cpu->now = share;
	cpu->sample[share]++;
	cpu->nested += row->nesting != 0 && share != LIVE_STUCK;
}

/* What the time from the last event to this one was spent on. */
static void take_time(struct live_cpu *cpu, const struct ktread_event *event)
{
	if (event->lost) {
		cpu->follows = cpu->waits = cpu->irq = false;
	} else if (cpu->follows && event->stamp > cpu->stamp) {
		cpu->covered += event->stamp - cpu->stamp;
		if (cpu->irq)
			cpu->in_irq += event->stamp - cpu->stamp;
	}
	cpu->stamp = event->stamp > cpu->stamp || !cpu->follows ? event->stamp : cpu->stamp;
}

static void take_lock(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known)
{
	if (known->kind == WELLKNOWN_LOCK_CONTEND || known->kind == WELLKNOWN_LOCK_ACQUIRE ||
	    known->kind == WELLKNOWN_SWITCH) {
		cpu->lock_name[0] = '\0';
		cpu->owner = 0;
	}
	if (known->kind == WELLKNOWN_LOCK_CONTEND)
		cpu->waits = wellknown_number(known, event, WELLKNOWN_OBJECT, &cpu->lock);
	else if (known->kind == WELLKNOWN_LOCK_ACQUIRE || known->kind == WELLKNOWN_SWITCH)
		cpu->waits = false;
}

void live_cpu_event(struct live_cpu *cpu, const struct ktread_event *event, const struct wellknown *known,
		    bool idle)
{
	take_time(cpu, event);
	take_lock(cpu, event, known);
	cpu->irq = known->kind == WELLKNOWN_IRQ_ENTER ||
		   (known->kind != WELLKNOWN_IRQ_EXIT && event->context == KTRX_CONTEXT_INTERRUPT);
	cpu->told = idle ? LIVE_IDLE : known->kind == WELLKNOWN_SYSCALL_EXIT ? LIVE_USER : LIVE_KERNEL;
	cpu->told_thread = event->thread;
	if (known->kind == WELLKNOWN_SWITCH)
		wellknown_thread(known, event, WELLKNOWN_NEXT, &cpu->told_thread);
	cpu->follows = true;
}

void live_cpu_close(struct live_cpu *cpu)
{
	double samples = 0, at_work = 0, irq = 0;

	for (unsigned i = 0; i < LIVE_SHARES; i++)
		samples += cpu->sample[i];
	if (cpu->in_irq)
		irq = (double)cpu->in_irq / (double)cpu->covered;
	else if (samples > 0) /* the kernel has no events of interrupts */
		irq = cpu->nested / samples;
	for (unsigned i = 0; i < LIVE_SHARES; i++)
		cpu->share[i] = samples > 0 ? cpu->sample[i] / samples : 0;
	/* Interrupts take their part of all that a CPU does unless it is stuck. */
	at_work = samples > 0 ? 1 - cpu->share[LIVE_STUCK] - cpu->share[LIVE_IRQ] : 0;
	for (unsigned i = 0; i < LIVE_SHARES; i++)
		if (i != LIVE_STUCK && i != LIVE_IRQ)
			cpu->share[i] *= 1 - irq;
	cpu->share[LIVE_IRQ] += at_work * irq;
	memset(cpu->sample, 0, sizeof(cpu->sample));
	cpu->covered = cpu->in_irq = cpu->nested = 0;
}

const char *live_share_name(enum live_share share)
{
	static const char *const name[LIVE_SHARES] = { "user", "kernel", "irq", "idle", "stuck", "unknown" };

	return name[share];
}
