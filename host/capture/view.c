/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "run_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/open.h"
#include "cpu_state.h"
#include "error.h"
#include "memory.h"
#include "plan.h"
#include "wait.h"
#include "watch.h"

/* ---- The walk of the stacks ---- */

/*
 * Walks the stacks of halted CPUs, as cpu_state.h describes, in a thread. A step of the walk reads the
 * kernel's file, which may be on a slow file system, and the caller must not wait for that.
 */

#define WAIT_NS 20000000L /* maximum time, in ns, to wait for the end of a step */

/* While a step runs, only its thread uses the members without a comment. */
struct capture_walk {
	pthread_mutex_t lock; /* for `running` and `abandoned` */
	pthread_cond_t ended;
	bool running;	/* a step runs */
	bool abandoned; /* the owner has closed the walk while a step ran; this step frees the walk */
	struct capture_stack_kernel kernel;
	char *registers, *elf;
	struct capture_stacks *stacks;
	struct capture_stack_page page;
};

static void free_walk(struct capture_walk *walk)
{
	capture_stacks_close(walk->stacks);
	pthread_cond_destroy(&walk->ended);
	pthread_mutex_destroy(&walk->lock);
	free(walk->registers);
	free(walk->elf);
	free(walk);
}

static void *run_step(void *context)
{
	struct capture_walk *walk = context;
	bool abandoned;

	if (walk->stacks)
		capture_stacks_put(walk->stacks, &walk->page);
	else if (capture_stacks_open(&walk->stacks, walk->registers, &walk->kernel) != 0)
		walk->stacks = NULL;
	pthread_mutex_lock(&walk->lock);
	walk->running = false;
	abandoned = walk->abandoned;
	pthread_cond_signal(&walk->ended);
	pthread_mutex_unlock(&walk->lock);
	if (abandoned)
		free_walk(walk);
	return NULL;
}

/* Starts a step. The thread gets no signals that are meant for the program. */
static void start_step(struct capture_walk *walk)
{
	sigset_t all, before;
	pthread_t thread;
	int error;

	walk->running = true;
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* base/changed.h */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, run_step, walk);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		run_step(walk);
	else
		pthread_detach(thread);
}

/* Begins the first step, which opens the kernel's file. Returns NULL if memory runs out. */
static struct capture_walk *capture_walk_open(const char *registers,
					      const struct capture_stack_kernel *kernel)
{
	struct capture_walk *walk = calloc(1, sizeof(*walk));
	pthread_condattr_t attributes;

	if (!walk)
		return NULL;
	pthread_mutex_init(&walk->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&walk->ended, &attributes);
	pthread_condattr_destroy(&attributes);
	walk->kernel = *kernel;
	walk->registers = strdup(registers);
	walk->elf = strdup(kernel->elf ? kernel->elf : "");
	walk->kernel.elf = walk->elf;
	if (!walk->registers || !walk->elf) {
		free_walk(walk);
		return NULL;
	}
	start_step(walk);
	return walk;
}

/* Returns whether the last step has ended. Waits for that for a few milliseconds. */
static bool capture_walk_is_ready(struct capture_walk *walk)
{
	struct timespec end;
	int error = 0;
	bool ready;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += WAIT_NS;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_nsec -= 1000000000L;
		end.tv_sec++;
	}
	pthread_mutex_lock(&walk->lock);
	while (walk->running && !error)
		error = pthread_cond_timedwait(&walk->ended, &walk->lock, &end);
	ready = !walk->running;
	pthread_mutex_unlock(&walk->lock);
	return ready;
}

/* Returns the stacks; NULL if memory ran out. Requires: capture_walk_is_ready() has returned true. */
static struct capture_stacks *capture_walk_stacks(struct capture_walk *walk)
{
	return walk->stacks;
}

/* Begins a step that continues with a page (copied). Requires: as capture_walk_stacks(). */
static void capture_walk_put(struct capture_walk *walk, const struct capture_stack_page *page)
{
	walk->page = *page;
	start_step(walk);
}

/* Frees the walk and its stacks. If a step runs, it frees them when it ends. `walk` may be NULL. */
static void capture_walk_close(struct capture_walk *walk)
{
	bool running;

	if (!walk)
		return;
	pthread_mutex_lock(&walk->lock);
	running = walk->running;
	walk->abandoned = true;
	pthread_mutex_unlock(&walk->lock);
	if (!running)
		free_walk(walk);
}

/* ---- The view and the inspection ---- */

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
	struct ktread_pulse before, pulse;
	double since = capture_now(), time;

	if (view->watch.last.frequency || !capture_frequency_is_due(&view->frequency) ||
	    ktread_image_pulse(view->image, &before) != 0 || before.nonce != view->watch.last.nonce)
		return;
	for (int i = 0; i < MOVE_STEPS; i++, since = time) {
		nanosleep(&step, NULL);
		time = capture_now();
		if (ktread_image_pulse(view->image, &pulse) != 0 || pulse.nonce != before.nonce)
			return;
		if (pulse.slots != before.slots) {
			capture_frequency_sample(&view->frequency, view->image, since);
			return;
		}
	}
}

/*
 * Longest time, in seconds, between two looks that counts as silence of the guest. If more time has passed,
 * the host has held up ktrace, and perhaps the guest as well: for example, it has stopped the virtual machine
 * in which both run.
 */
#define LOOK_MOST CAPTURE_SHARE_EVERY

bool capture_view_look(struct capture_view *view, bool running, double lost)
{
	const double now = capture_now(), unseen = view->looked > 0 ? now - view->looked : 0;
	struct ktread_pulse pulse;
	bool booted;

	if (unseen - LOOK_MOST > lost)
		lost = unseen - LOOK_MOST;
	if (lost > 0)
		capture_watch_skip(&view->watch, lost, now);
	view->looked = now;
	if (!view->image && view->memory)
		search(view);
	if (view->image && ktread_image_pulse(view->image, &pulse) != 0)
		drop_image(view);
	if (!view->image || !running)
		capture_watch_pause(&view->watch, now);
	if (!view->image)
		return false;
	booted = capture_watch_feed(&view->watch, &pulse, now);
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

/*
 * Maximum times, in seconds, for one answer of QEMU and for one part of the walk; and for the whole
 * inspection, which takes long on a busy host
 */
#define ONE_PATIENCE 2.0
#define ALL_PATIENCE 10.0

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
	inspection->moved = capture_now();
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
	inspection->moved = capture_now();
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

static bool has_patience(const struct capture_inspection *inspection)
{
	const double now = capture_now();

	return now - inspection->moved < ONE_PATIENCE && now - inspection->begun < ALL_PATIENCE;
}

bool capture_inspection_step(struct capture_inspection *inspection, struct capture_machine *machine)
{
	if (inspection->done)
		return true;
	if (inspection->begun == 0) {
		inspection->begun = inspection->moved = capture_now();
		capture_machine_pause(machine);
		capture_machine_ask(machine, "human-monitor-command",
				    "{\"command-line\":\"" CAPTURE_QMP_REGISTERS "\"}");
	} else if (inspection->walking && has_patience(inspection)) {
		continue_walk(inspection, machine);
	} else if (machine->answered && !inspection->walking) {
		continue_inspection(inspection, machine);
	} else if (machine->ended || !has_patience(inspection)) {
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

/* ---- Memory that the guest shares with the host ---- */

/*
 * Notices when the guest stores a dump in memory that it shares with the host (ivshmem). A write to such
 * memory does not change the time of its file, so the heads of both dumps are read again and again.
 */

#define HEAD 16384u /* bytes of a dump that are compared: two dumps differ in them, because time has passed */

void capture_shared_look(struct capture_run *run)
{
	struct capture_shared *shared = &run->shared;
	uint64_t words[HEAD / sizeof(uint64_t)], hash = 0;
	bool stored = false;
	struct stat status;
	int fd;

	if (run->options->transport != CAPTURE_IVSHMEM)
		return;
	fd = base_open_regular(run->place.file, O_RDONLY);
	if (fd < 0)
		return;
	if (fstat(fd, &status) != 0)
		status.st_size = 0;
	for (int half = 0; half < 2; half++) {
		memset(words, 0, sizeof(words));
		if (pread(fd, words, sizeof(words), status.st_size / 2 * half) < 0)
			break;
		stored |= words[0] != 0;
		for (size_t n = 0; n < HEAD / sizeof(words[0]); n++)
			hash = (hash ^ words[n]) * UINT64_C(0x100000001b3);
	}
	close(fd);
	if (stored && (shared->changed == 0 || hash != shared->hash))
		shared->changed = capture_now();
	shared->hash = hash;
}
