/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Keeps the events of a kernel's trace in memory while hardware trace is merged into that trace. */
#include "flow/views.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/index.h"
#include "analyze/wellknown.h"
#include "ktrx/v2.h"

struct cpu_events {
	struct flow_kernel_event *event;
	size_t count;
	uint32_t room;
};

struct flow_kernel {
	struct cpu_events *cpu; /* events of each CPU, indexed by CPU */
	uint32_t cpus;
};

static struct cpu_events *events_of(struct flow_kernel *kernel, uint32_t cpu)
{
	struct cpu_events *grown = base_grow(kernel->cpu, &kernel->cpus, (size_t)cpu + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	kernel->cpu = grown;
	return &kernel->cpu[cpu];
}

/*
 * Returns the thread that runs after an event. After a switch, this is not the thread that recorded the
 * event.
 */
static uint32_t thread_after(const struct ktread_event *event, const struct wellknown *known)
{
	uint32_t next;

	return known->kind == WELLKNOWN_SWITCH && wellknown_thread(known, event, WELLKNOWN_NEXT, &next)
		       ? next
		       : event->thread;
}

static int keep(struct flow_kernel *kernel, const struct ktread_event *event, const struct wellknown *known)
{
	struct cpu_events *events = events_of(kernel, event->cpu);
	const uint32_t thread = thread_after(event, known);
	struct flow_kernel_event *grown;
	uint32_t changes = 0;

	if (!events)
		return KTREAD_E_MEMORY;
	grown = base_grow(events->event, &events->room, events->count + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	events->event = grown;
	if (events->count) {
		const struct flow_kernel_event *last = &grown[events->count - 1];

		changes = last->changes + (last->thread != thread || known->kind == WELLKNOWN_SWITCH);
	}
	events->event[events->count++] = (struct flow_kernel_event){
		.stamp = event->stamp, .thread = thread, .changes = changes, .type = event->id
	};
	return 0;
}

static int read_all(struct flow_kernel *kernel, struct ktread *trace)
{
	struct wellknown_table *known = calloc(1, sizeof(*known));
	const uint32_t cpus = ktread_info(trace)->cpus;
	const struct ktread_event *event;
	int status = known ? 1 : KTREAD_E_MEMORY;

	for (uint64_t kept = 0; status > 0 && kept < FLOW_KERNEL_EVENTS_MOST; kept++) {
		status = ktread_next(trace, &event);
		if (status > 0 && event->cpu < cpus && keep(kernel, event, wellknown_of(known, event)) < 0)
			status = KTREAD_E_MEMORY;
	}
	free(known);
	return status < 0 ? status : ktread_rewind(trace);
}

int flow_kernel_read(struct flow_kernel **kernel, struct ktread *trace)
{
	int status;

	*kernel = calloc(1, sizeof(**kernel));
	status = *kernel ? read_all(*kernel, trace) : KTREAD_E_MEMORY;
	if (status == 0)
		return 0;
	flow_kernel_free(*kernel);
	*kernel = NULL;
	return status;
}

void flow_kernel_free(struct flow_kernel *kernel)
{
	if (!kernel)
		return;
	for (uint32_t cpu = 0; cpu < kernel->cpus; cpu++)
		free(kernel->cpu[cpu].event);
	free(kernel->cpu);
	free(kernel);
}

/* Returns the number of events of the CPU that are at or before a timestamp. */
static size_t count_until(const struct cpu_events *events, uint64_t stamp)
{
	return base_count_up_to(events->event, events->count, sizeof(*events->event),
				offsetof(struct flow_kernel_event, stamp), stamp);
}

const struct flow_kernel_event *flow_kernel_after(const struct flow_kernel *kernel, uint32_t cpu,
						  uint64_t stamp, const struct flow_kernel_event **end)
{
	const struct cpu_events *events = cpu < kernel->cpus ? &kernel->cpu[cpu] : NULL;
	const size_t at = events ? count_until(events, stamp) : 0;

	*end = events ? events->event + events->count : NULL;
	return events && at < events->count ? &events->event[at] : NULL;
}

uint32_t flow_kernel_thread(const struct flow_kernel *kernel, uint32_t cpu, uint64_t stamp)
{
	const struct cpu_events *events = cpu < kernel->cpus ? &kernel->cpu[cpu] : NULL;
	const size_t at = events ? count_until(events, stamp) : 0;

	return at ? events->event[at - 1].thread : KTREAD_NO_THREAD;
}

uint32_t flow_kernel_only_thread(const struct flow_kernel *kernel, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct cpu_events *events = cpu < kernel->cpus ? &kernel->cpu[cpu] : NULL;
	const size_t first = events ? count_until(events, from) : 0,
		     last = events ? count_until(events, to) : 0;

	if (first == 0 || last < first || events->event[first - 1].changes != events->event[last - 1].changes)
		return KTREAD_NO_THREAD;
	return events->event[first - 1].thread;
}

uint32_t flow_kernel_cpu(const struct flow_kernel *kernel, uint32_t thread, uint64_t stamp)
{
	for (uint32_t cpu = 0; cpu < kernel->cpus; cpu++)
		if (flow_kernel_thread(kernel, cpu, stamp) == thread)
			return cpu;
	return KTRX_NO_CPU;
}
