/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"
#include "page/pass.h"

/*
 * Maximum number of lanes. When it is reached, a new thread uses the lane of an ended thread with the same
 * id.
 */
#define LANES_MOST (4 * THREADS_MAX)

static struct page_owner *owner_at(struct page_pass *pass, struct page_owners *owners, uint32_t n)
{
	struct page_owner *larger = base_grow(owners->owner, &owners->room, (size_t)n + 1, sizeof(*larger));

	if (!larger) {
		pass->error = KTREAD_E_MEMORY;
		return NULL;
	}
	owners->owner = larger;
	return &larger[n];
}

/*
 * Returns the number of the string that is the name of a thread's process, for example "init (1)"; 0 if it is
 * unknown.
 */
static uint32_t name_process(struct page_pass *pass, uint32_t thread)
{
	const uint32_t id = processes_of(pass->page->processes, thread);
	const struct processes_process *process = id ? processes_find(pass->page->processes, id) : NULL;
	const bool redact = pass->page->options.redact;
	const char *command = process && !redact ? process->command : "";
	char text[PROCESSES_COMMAND + 32];

	if (id == 0)
		return 0;
	if (*command == '\0' && !redact)
		command = ktread_thread_name(pass->page->trace, id);
	if (command && *command)
		snprintf(text, sizeof(text), "%.*s (%u)", (int)PROCESSES_COMMAND, command, id);
	else
		snprintf(text, sizeof(text), "process %u", id);
	return page_string(&pass->strings, text, strlen(text));
}

/*
 * Describes a thread's lane, with this name. If `length` is 0 or the page is redacted, describes the lane
 * without a name.
 */
static void describe_thread(struct page_pass *pass, struct page_owner *owner, uint32_t id, const char *name,
			    size_t length)
{
	const uint32_t group = name_process(pass, id);
	const uint32_t string = page_string(&pass->strings, name, pass->page->options.redact ? 0 : length);

	owner->idle = id == 0 || threads_name_is_idle(name, length);
	if (owner->lane == 0)
		owner->lane = 1 + page_lane_add(&pass->lanes, PAGE_LANE_THREAD, id, string, group,
						owner->idle ? PAGE_LANE_IDLE : 0);
	else
		page_lane_change(&pass->lanes, owner->lane - 1, PAGE_LANE_THREAD, id, string, group,
				 owner->idle ? PAGE_LANE_IDLE : 0);
}

struct page_owner *page_owner_thread(struct page_pass *pass, const struct threads_thread *thread)
{
	struct page_owner *owner = owner_at(pass, &pass->of_threads, thread->index);
	const char *name;

	if (!owner || (owner->lane && owner->life == thread->life))
		return owner;
	if (pass->lanes.count < LANES_MOST)
		owner->lane = 0;
	owner->life = thread->life;
	name = ktread_thread_name(pass->page->trace, thread->id);
	describe_thread(pass, owner, thread->id, name ? name : "", name ? strlen(name) : 0);
	return owner;
}

struct page_owner *page_owner_cpu(struct page_pass *pass, uint32_t cpu)
{
	struct page_owner *owner = owner_at(pass, &pass->cpus, cpu);
	char name[32] = "CPU unknown";

	if (!owner || owner->lane)
		return owner;
	if (cpu < THREADS_CPUS_MAX)
		snprintf(name, sizeof(name), "CPU %u", cpu);
	owner->lane =
		1 + page_lane_add(&pass->lanes, cpu < THREADS_CPUS_MAX ? PAGE_LANE_CPU : PAGE_LANE_OTHER, cpu,
				  page_string(&pass->strings, name, strlen(name)), 0, 0);
	return owner;
}

struct page_owner *page_owner_of(struct page_pass *pass, struct spans_owner who)
{
	return who.cpu ? page_owner_cpu(pass, who.number)
		       : page_owner_thread(pass, threads_at(pass->threads, who.number));
}

void page_owners_event(struct page_pass *pass, const struct ktread_event *event,
		       const struct wellknown *known)
{
	const struct threads_thread *thread;
	struct page_owner *owner;
	struct ktread_value name;
	uint32_t id = event->thread;

	if (known->kind != WELLKNOWN_CREATE &&
	    (known->kind != WELLKNOWN_PROCESS_EXEC || pass->page->options.redact))
		return;
	if (known->kind == WELLKNOWN_CREATE && !wellknown_thread(known, event, WELLKNOWN_THREAD, &id))
		return;
	thread = threads_find(pass->threads, id);
	if (!thread || id == 0 || !wellknown_string(known, event, WELLKNOWN_NAME, &name))
		return;
	if (known->kind == WELLKNOWN_PROCESS_EXEC) {
		const char *slash = memrchr(name.string, '/', name.length);

		if (slash) {
			name.length -= (uint16_t)(slash + 1 - name.string);
			name.string = slash + 1;
		}
	}
	owner = page_owner_thread(pass, thread);
	if (owner)
		describe_thread(pass, owner, id, name.string, name.length);
}
