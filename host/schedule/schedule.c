/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A plugin for QEMU that chooses, by a seed, which CPU of a guest runs, and for how long. It can also halt
 * the machine at a virtual time. It needs -icount, with which everything that a guest can observe depends on
 * the virtual clock only. The guest cannot see the plugin: it adds a timer of the virtual clock that belongs
 * to no device, and this timer changes only the order in which CPUs run.
 *
 *	-plugin ktrace-schedule.so,control=FILE		FILE holds a struct schedule_control
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parts.h"
#include "qemu.h"

#define IDLE_STEP  INT64_C(100000000) /* length of a slice in ns while the machine only waits for input */
#define FAIR_SLICE INT64_C(20000)     /* length of a slice in ns if there is no seed */
/*
 * Length of a slice in ns if all other CPUs are idle. An interrupt for another CPU ends it earlier. But a CPU
 * may also be woken without an interrupt, for example when firmware starts CPUs.
 */
#define LONE_SLICE INT64_C(100000)

static struct schedule_control *control;
static struct noise noise;
static bool changed; /* true if control->later is used now, instead of control->noise */
/* all other CPUs were idle when the slice began, and no interrupt has woken one of them since */
static bool lone;

static struct {
	_Alignas(16) unsigned char bytes[QEMU_TIMER_BYTES];
} slice_timer, deadline_timer;

static struct QEMUTimer *timer_of(void *storage)
{
	return storage;
}

/* ---- Slices of time in which one CPU runs ------------------------------------------------------ */

#define NO_CPU UINT_MAX

static unsigned hooked = NO_CPU; /* the CPU that has executed a hook, and whose slice therefore ends soon */
static uint64_t after_hook;	 /* time in ns from this hook to the end of the slice */
/* true if the slice began because of a hook, so that it delays the CPU that executed the hook */
static bool delays;

/*
 * Chooses the CPU that runs alone next. This is a CPU other than `other` if possible. Without a seed, the
 * CPUs take turns. With hooks, they also take turns when a slice ends without a hook. Returns false if all
 * CPUs are idle.
 */
static bool choose_cpu(unsigned other)
{
	unsigned busy = cpus_thaw(), chosen;
	const int excluded = other != NO_CPU && busy > 1 ? cpus_number(other) : -1;

	if (busy == 0)
		return false;
	if (noise.mean == 0 || (noise.has_hooks && other == NO_CPU)) {
		cpus_choose(cpus_next());
		return true;
	}
	busy -= excluded >= 0;
	chosen = noise_cpu(&noise, busy);
	chosen += excluded >= 0 && chosen >= (unsigned)excluded;
	cpus_choose(chosen);
	return true;
}

static int64_t next_length(void)
{
	return noise.has_slices ? (int64_t)noise_next(&noise) : FAIR_SLICE;
}

/* Sets the timer to the end of the slice, or to the time of the change if that is earlier. */
static void set_timer(int64_t length)
{
	const int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	const int64_t change = changed ? 0 : (int64_t)control->change;

	if (change != 0 && now + length > change)
		length = change > now ? change - now : 0;
	timer_mod_ns(timer_of(&slice_timer), now + length);
	control->slice_end = (uint64_t)(now + length);
}

/*
 * Chooses a CPU, and sets the timer. If all CPUs are idle, the next timer may wake some of them, so the
 * choice is made again at that time. `delay`: length of the slice if the slice delays the CPU `other`;
 * otherwise 0.
 */
static void begin_slice(unsigned other, int64_t delay)
{
	int64_t length;

	hooked = NO_CPU;
	delays = lone = false;
	if (choose_cpu(other)) {
		lone = !cpus_others_may_run();
		delays = delay != 0 && !lone;
		length = lone ? LONE_SLICE : delays ? delay : next_length();
	} else {
		length = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_ALL_ATTRIBUTES);
		length = length >= 0 ? length : IDLE_STEP;
	}
	set_timer(length);
}

/* Called when an interrupt may have woken a CPU other than the chosen one. */
static void shorten_slice(void)
{
	if (lone)
		set_timer(next_length());
	lone = false;
}

static void see_interrupts(void)
{
	cpus_see_interrupts(shorten_slice);
}

/* Lets other CPUs run, and delays the CPU that has executed a hook. */
static void begin_delay(void)
{
	control->hook_cuts++;
	begin_slice(hooked, (int64_t)noise_delay(&noise));
}

static void end_slice(void *data)
{
	(void)data;
	control->cuts++;
	if (!changed && control->change != 0 &&
	    qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) >= (int64_t)control->change) {
		noise_begin(&noise, &control->later);
		changed = true;
	}
	if (hooked != NO_CPU && noise.has_hooks)
		begin_delay();
	else
		begin_slice(NO_CPU, 0);
}

/* Called when the chosen CPU is idle. Returns true if another CPU runs now. */
static bool choose_again(void)
{
	if (!cpus_are_frozen())
		return false;
	begin_slice(NO_CPU, 0);
	return cpus_are_frozen();
}

/*
 * Called when a CPU executes an instruction that waits. Returns false if this CPU continues, because no other
 * CPU can run or because the seed decides so. With some seeds, a waiting CPU usually continues, which delays
 * the CPU for which it waits.
 */
static bool gives_way(void)
{
	return cpus_others_may_run() && (noise.mean == 0 || noise_gives_way(&noise));
}

static void yield(unsigned cpu)
{
	if (cpus_are_frozen())
		begin_slice(cpu, 0);
}

/*
 * Called when a CPU executes a hook. Returns true if its slice ends soon. A slice that delays another CPU
 * does not end at hooks: the delay would be too short.
 */
static bool ends_at_hook(void)
{
	control->hook_calls++;
	if (!noise.has_hooks || delays || hooked != NO_CPU || !cpus_others_may_run())
		return false;
	return noise_hook(&noise, &after_hook);
}

static void pass_hook(unsigned cpu)
{
	if (!cpus_are_frozen())
		return;
	hooked = cpu;
	if (after_hook == 0)
		begin_delay();
	else
		set_timer((int64_t)after_hook);
}

/* ---- The end of the run ------------------------------------------------------------------------ */

static enum schedule_end reason; /* the reason why the machine is being halted */

/* must not be called from a timer callback: it waits for running callbacks, and would wait for itself */
static void halt_machine(void)
{
	pause_all_vcpus();
	functions_flush();
	control->now = (uint64_t)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	control->end = reason;
	vm_stop(QEMU_RUN_STATE_PAUSED);
}

/* May be called while a CPU executes a block, when the clock cannot be read. */
static void end(enum schedule_end why)
{
	if (reason != SCHEDULE_RUNS)
		return;
	reason = why;
	cpus_call(halt_machine);
}

static void reach_deadline(void *data)
{
	(void)data;
	end(SCHEDULE_DEADLINE);
}

static void reach_word(void)
{
	end(SCHEDULE_WORD);
}

static void leave(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	functions_flush();
	if (control->now == 0)
		control->now = (uint64_t)qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* ---- Loading ----------------------------------------------------------------------------------- */

static int refuse(const char *what, const char *why)
{
	fprintf(stderr, "ktrace-schedule: %s%s%s\n", what, *why != '\0' ? ": " : "", why);
	return -1;
}

static int has_functions(void)
{
	return timer_init_full != NULL && timer_mod_ns != NULL && qemu_clock_get_ns != NULL &&
	       qemu_clock_deadline_ns_all != NULL && qemu_get_cpu != NULL && cpu_thread_is_idle != NULL &&
	       cpu_stop_current != NULL && cpu_resume != NULL && async_run_on_cpu != NULL &&
	       pause_all_vcpus != NULL && vm_stop != NULL;
}

static int map_control(const char *path)
{
	struct schedule_control begin;
	void *page = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool known = fd >= 0 && read(fd, &begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
		     begin.magic == SCHEDULE_MAGIC;

	if (known)
		page = mmap(NULL, schedule_bytes(begin.records), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || (known && page == MAP_FAILED))
		refuse(path, strerror(errno));
	else if (!known)
		refuse(path, "written by another version of ktrace");
	if (fd >= 0)
		close(fd);
	control = page;
	return page == MAP_FAILED ? -1 : 0;
}

static void start_timers(void)
{
	timer_init_full(timer_of(&slice_timer), NULL, QEMU_CLOCK_VIRTUAL, QEMU_SCALE_NS, 0, end_slice, NULL);
	timer_init_full(timer_of(&deadline_timer), NULL, QEMU_CLOCK_VIRTUAL, QEMU_SCALE_NS, 0, reach_deadline,
			NULL);
	timer_mod_ns(timer_of(&slice_timer), 1);
	if (control->deadline != 0)
		timer_mod_ns(timer_of(&deadline_timer), (int64_t)control->deadline);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	static const char argument[] = "control=";
	const char *message = api_open(info);

	if (message != NULL)
		return refuse(message, "");
	if (!info->system_emulation)
		return refuse("schedules whole machines only, not programs under qemu-user", "");
	if (argc != 1 || strncmp(argv[0], argument, sizeof(argument) - 1) != 0)
		return refuse("expected one argument, control=FILE", "");
	if (!has_functions() || !api_share_thread())
		return refuse("this QEMU does not export the functions of its timers",
			      "use one that is built with --enable-modules, such as Debian's");
	if (map_control(argv[0] + sizeof(argument) - 1) != 0)
		return -1;
	message = cpus_open(info->system.max_vcpus);
	if (message != NULL)
		return refuse(message, "");
	idle_open(choose_again);
	message = accelerator_open(id, idle_confirm, cpus_interrupted, see_interrupts);
	if (message != NULL)
		return refuse(message, "");
	noise_begin(&noise, &control->noise);
	control->mean = noise.mean;
	yield_open(info->target_name, gives_way, yield);
	if (control->noise.kind != SCHEDULE_TIMERS || control->later.kind != SCHEDULE_TIMERS)
		hooks_open(&control->hooks, ends_at_hook, pass_hook);
	start_timers();
	message = control->input[0] != '\0' ? input_open(control->input) : NULL;
	if (message != NULL)
		return refuse(control->input, message);
	message = control->disks != 0 ? disks_open(info->target_name) : NULL;
	if (message != NULL)
		return refuse(message, "");
	if (control->watches != 0)
		message = access_open(info->target_name, control);
	if (message == NULL && control->word != 0)
		message = watch_open(control, reach_word);
	if (message == NULL && control->mark.word != 0)
		message = mark_open(control);
	if (message == NULL && control->functions.end != 0)
		message = functions_open(info, control);
	if (message != NULL)
		return refuse(message, "");
	blocks_open(id);
	qemu_plugin_register_atexit_cb(id, leave, NULL);
	return 0;
}
