/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/open.h"
#include "cpu_state.h"
#include "error.h"
#include "watch.h"
#include "memory.h"
#include "run_state.h"
#include "plan.h"

/* minimum time between two searches, as a multiple of the search's duration */
#define SEARCH_SHARE 10.0
#define MOVE_STEP_MS 1
#define MOVE_STEPS   20

int capture_view_open(struct capture_view *view, const char *path, const struct capture_map *map,
		      const char *architecture)
{
	return capture_ram_open(&view->memory, path, map, architecture);
}

static void drop_image(struct capture_view *view)
{
	ktread_image_close(view->image);
	view->image = NULL;
}

static void search(struct capture_view *view)
{
	double begin = capture_now();

	if (begin < view->next_search)
		return;
	if (ktread_image_find(&view->image, view->memory) != 0)
		view->image = NULL;
	else
		view->root = ktread_image_physical(view->image);
	view->search_seconds = capture_now() - begin;
	view->next_search = capture_now() + (capture_now() - begin) * SEARCH_SHARE;
}

/*
 * Waits briefly for a new record, because its timestamp is the current time, and then takes a sample of the
 * clock.
 */
static void sample_clock(struct capture_view *view)
{
	const struct timespec step = { .tv_nsec = MOVE_STEP_MS * 1000000L };
	struct ktread_pulse before = view->watch.last, pulse;

	if (before.frequency || !capture_frequency_is_due(&view->frequency))
		return;
	for (int i = 0; i < MOVE_STEPS; i++) {
		nanosleep(&step, NULL);
		if (ktread_image_pulse(view->image, &pulse) != 0 || pulse.nonce != before.nonce)
			return;
		if (pulse.slots != before.slots) {
			capture_frequency_sample(&view->frequency, view->image);
			return;
		}
	}
}

bool capture_view_look(struct capture_view *view, bool running)
{
	struct ktread_pulse pulse;
	bool booted;

	if (!view->image && view->memory)
		search(view);
	if (view->image && ktread_image_pulse(view->image, &pulse) != 0)
		drop_image(view);
	if (!view->image || !running)
		capture_watch_pause(&view->watch, capture_now());
	if (!view->image)
		return false;
	booted = capture_watch_feed(&view->watch, &pulse, capture_now());
	if (booted)
		capture_frequency_reset(&view->frequency);
	if (running)
		sample_clock(view);
	return booted;
}

int capture_view_search_again(struct capture_view *view)
{
	const double begin = capture_now();
	struct ktread_pulse pulse;
	int error;

	drop_image(view);
	error = ktread_image_find(&view->image, view->memory);
	view->search_seconds = capture_now() - begin;
	if (!error)
		error = ktread_image_pulse(view->image, &pulse);
	if (error)
		return capture_fail(error == KTREAD_E_ABSENT ? CAPTURE_E_ABSENT : CAPTURE_E_FORMAT, "%s",
				    ktread_image_message());
	view->root = ktread_image_physical(view->image);
	capture_watch_feed(&view->watch, &pulse, capture_now());
	return 0;
}

void capture_view_explain_loss(const struct capture_view *view, bool may_reset, char *text, size_t size)
{
	text[0] = '\0';
	if (!view->root)
		return;
	snprintf(text, size,
		 "ktrace_root was found at physical 0x%" PRIx64 ", with %" PRIu64
		 " slots of events, and has been overwritten since: "
		 "by a stack overflow, a stray write%s; guard pages below stacks catch an overflow; "
		 "while the guest runs, 'ktrace why' and 'ktrace extract' read its RAM",
		 view->root, view->watch.last.slots, may_reset ? " or a reset" : "");
}

void capture_view_close(struct capture_view *view)
{
	drop_image(view);
	ktread_memory_close(view->memory);
	view->memory = NULL;
}

#define PATIENCE 2.0 /* maximum time, in seconds, for the whole inspection */

static int page_path(const struct capture_inspection *inspection, char path[PATH_MAX])
{
	return capture_path_join(path, inspection->directory, "page");
}

static void finish(struct capture_inspection *inspection)
{
	char path[PATH_MAX];

	capture_walk_close(inspection->walk);
	inspection->walk = NULL;
	inspection->walking = false;
	inspection->done = true;
	if (page_path(inspection, path) == 0)
		unlink(path);
}

/* Asks QEMU to save the next page of a stack. Finishes the inspection if no page is needed. */
static void ask_for_page(struct capture_inspection *inspection, struct capture_machine *machine)
{
	char path[PATH_MAX], arguments[CAPTURE_QMP_MOST + 1];
	struct capture_stack_page *page = &inspection->page;
	struct capture_stacks *stacks = capture_walk_stacks(inspection->walk);

	if (page_path(inspection, path) != 0 || !stacks || !capture_stacks_wanted(stacks, page, 1)) {
		finish(inspection);
		return;
	}
	capture_qmp_put_save(arguments, page->address, CAPTURE_STACK_PAGE, path, page->cpu);
	capture_machine_ask(machine, "memsave", arguments);
}

static void take_page(struct capture_inspection *inspection, bool refused)
{
	struct capture_stack_page *page = &inspection->page;
	char path[PATH_MAX];
	ssize_t got = -1;
	int fd = !refused && page_path(inspection, path) == 0 ? base_open_regular(path, O_RDONLY | O_NOFOLLOW)
							      : -1;

	if (fd >= 0) {
		got = read(fd, page->bytes, sizeof(page->bytes));
		close(fd);
	}
	page->readable = got == (ssize_t)sizeof(page->bytes);
	capture_walk_put(inspection->walk, page);
}

/* Adds the stacks that the walk has found so far to the text: the next step may not end in time. */
static void take_stacks(struct capture_inspection *inspection)
{
	struct capture_stacks *stacks = capture_walk_stacks(inspection->walk);
	char *text = stacks ? capture_stacks_text(stacks) : NULL;

	if (!text)
		return;
	free(inspection->text);
	inspection->text = text;
}

/* Continues if the last step of the walk has ended. */
static void continue_walk(struct capture_inspection *inspection, struct capture_machine *machine)
{
	inspection->walking = !capture_walk_is_ready(inspection->walk);
	if (inspection->walking)
		return;
	take_stacks(inspection);
	ask_for_page(inspection, machine);
}

/* Processes the answer to the last request and sends the next request. */
static void continue_inspection(struct capture_inspection *inspection, struct capture_machine *machine)
{
	if (inspection->walk) {
		take_page(inspection, machine->refused);
	} else {
		inspection->text = machine->answer ? capture_registers_of_qemu(machine->answer) : NULL;
		if (inspection->text)
			inspection->walk = capture_walk_open(inspection->text, &inspection->kernel);
		if (!inspection->walk) {
			finish(inspection);
			return;
		}
	}
	continue_walk(inspection, machine);
}

void capture_inspection_set_kernel(struct capture_inspection *inspection, const struct capture_view *view,
				   const char *elf, const struct capture_kernel *file)
{
	struct capture_stack_kernel *kernel = &inspection->kernel;

	kernel->elf = elf;
	kernel->self = view->image ? ktread_image_virtual(view->image) : 0;
	capture_build_id_find(&kernel->id, view->image, view->memory, file);
}

bool capture_inspection_step(struct capture_inspection *inspection, struct capture_machine *machine)
{
	if (inspection->done)
		return true;
	if (inspection->begun == 0) {
		inspection->begun = capture_now();
		capture_machine_pause(machine);
		capture_machine_ask(machine, "human-monitor-command",
				    "{\"command-line\":\"" CAPTURE_QMP_REGISTERS "\"}");
	} else if (inspection->walking && capture_now() - inspection->begun < PATIENCE) {
		continue_walk(inspection, machine);
	} else if (machine->answered && !inspection->walking) {
		continue_inspection(inspection, machine);
	} else if (machine->ended || capture_now() - inspection->begun >= PATIENCE) {
		finish(inspection);
	}
	return inspection->done;
}

void capture_inspection_reset(struct capture_inspection *inspection)
{
	capture_walk_close(inspection->walk);
	free(inspection->text);
	*inspection = (struct capture_inspection){ .directory = inspection->directory };
}
