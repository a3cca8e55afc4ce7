/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "kernel_elf.h"
#include "plan.h"

/* path relative to the directory of the program, both when installed and in the build directory */
#define PLUGIN "/../lib/ktrace-schedule.so"

/*
 * An instruction takes 4 ns. With sleep=off, the clock of an idle machine jumps to the next timer. With
 * sleep=on, real time would move the clock.
 */
#define ICOUNT "shift=2,sleep=off"
#define RTC    "base=2024-01-01,clock=vm"
#define SEED   "1" /* seed of QEMU's own random numbers: rdrand, rng-seed in a device tree */

/*
 * Writes the script to a file in `directory`, and the file's name to `path`. Returns 0 or CAPTURE_E_SYSTEM.
 */
static int write_input(const char *script, const char *directory, char path[SCHEDULE_PATH])
{
	FILE *file;

	if (snprintf(path, SCHEDULE_PATH, "%s/input", directory) >= (int)SCHEDULE_PATH)
		return capture_fail(CAPTURE_E_SYSTEM, "%.200s: name too long", directory);
	file = fopen(path, "we");
	if (!file)
		return capture_fail_errno("%s", path);
	fputs(script, file);
	return fclose(file) == 0 ? 0 : capture_fail_errno("%s", path);
}

/* Writes the addresses of the functions that are to be recorded. Returns 0 or CAPTURE_E_SYSTEM. */
static int write_functions(const struct capture_schedule *schedule, const char *directory,
			   char path[SCHEDULE_PATH])
{
	FILE *file;

	if (snprintf(path, SCHEDULE_PATH, "%s/functions", directory) >= (int)SCHEDULE_PATH)
		return capture_fail(CAPTURE_E_SYSTEM, "%.200s: name too long", directory);
	file = fopen(path, "we");
	if (!file)
		return capture_fail_errno("%s", path);
	if (schedule->address_count)
		fwrite(schedule->addresses, sizeof(schedule->addresses[0]), schedule->address_count, file);
	return fclose(file) == 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_schedule_open(const struct capture_schedule *schedule, const char *self, const char *directory,
			  struct capture_schedule_files *files, struct schedule_control **control)
{
	struct schedule_control begin = { .magic = SCHEDULE_MAGIC,
					  .noise = schedule->noise,
					  .later = schedule->later,
					  .change = schedule->change,
					  .hooks = schedule->hooks,
					  .deadline = schedule->deadline,
					  .word = schedule->word,
					  .position = schedule->position,
					  .functions = schedule->functions,
					  .mark = schedule->mark,
					  .watches = schedule->watches,
					  .records = schedule->records };
	const size_t bytes = schedule_bytes(schedule->records);
	const char *slash = strrchr(self, '/');
	void *page = MAP_FAILED;
	int fd;

	memcpy(begin.watch, schedule->watch, sizeof(begin.watch));
	*control = NULL;
	if (snprintf(files->plugin, sizeof(files->plugin), "%.*s" PLUGIN, slash ? (int)(slash - self) : 0,
		     self) >= (int)sizeof(files->plugin))
		return capture_fail(CAPTURE_E_USAGE, "%.200s…: name too long", self);
	if (access(files->plugin, R_OK) != 0)
		return capture_fail(CAPTURE_E_USAGE, "%s: the schedule plugin is missing: %s", files->plugin,
				    strerror(errno));
	if (capture_path_join(files->control, directory, "schedule") != 0)
		return CAPTURE_E_SYSTEM;
	if (schedule->input && write_input(schedule->input, directory, begin.input) != 0)
		return CAPTURE_E_SYSTEM;
	if (schedule->functions.end && write_functions(schedule, directory, begin.functions.file) != 0)
		return CAPTURE_E_SYSTEM;
	fd = open(files->control, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, &begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
	    ftruncate(fd, (off_t)bytes) == 0)
		page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		capture_fail_errno("%s", files->control);
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return CAPTURE_E_SYSTEM;
	*control = page;
	return 0;
}

void capture_schedule_close(struct schedule_control *control)
{
	if (control)
		munmap(control, schedule_bytes(control->records));
}

static bool given(char *const *words, const char *name)
{
	struct capture_qemu_option option;
	size_t at = 1;

	while (capture_qemu_option_next(words, &at, &option))
		if (capture_qemu_option_is(&option, name))
			return true;
	return false;
}

/* ---- Causes of differences between runs ---------------------------------------------------------- */

/* A sentence to which text is appended. Text that does not fit is left out. */
struct sentence {
	char *text;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void append(struct sentence *sentence, const char *format, ...)
{
	va_list arguments;
	int length;

	if (sentence->used + 1 >= sentence->size)
		return;
	va_start(arguments, format);
	length = vsnprintf(sentence->text + sentence->used, sentence->size - sentence->used, format,
			   arguments);
	va_end(arguments);
	if (length > 0)
		sentence->used += (size_t)length < sentence->size - sentence->used
					  ? (size_t)length
					  : sentence->size - sentence->used - 1;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool has(const char *list, const char *key, const char *wanted)
{
	char value[32];

	return capture_qemu_property(list, NULL, key, value, sizeof(value)) && strcmp(value, wanted) == 0;
}

/* Returns true if the option defines a disk. */
static bool is_disk(const struct capture_qemu_option *option)
{
	static const char *const disks[] = { "blockdev", "cdrom", "drive", "fda", "fdb",
					     "hda",	 "hdb",	  "hdc",   "hdd", "sd" };

	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++)
		if (capture_qemu_option_is(option, disks[i]))
			return !has(option->value, "if", "pflash");
	return false;
}

/* Returns true for memory that the guest can write and that QEMU saves in the file. */
static bool is_writable_flash(const struct capture_qemu_option *option)
{
	if (capture_qemu_option_is(option, "pflash") || capture_qemu_option_is(option, "mtdblock"))
		return true;
	return capture_qemu_option_is(option, "drive") && has(option->value, "if", "pflash") &&
	       !has(option->value, "readonly", "on") && !has(option->value, "snapshot", "on");
}

static bool has_disks(char *const *words)
{
	struct capture_qemu_option option;
	size_t at = 1;

	while (capture_qemu_option_next(words, &at, &option))
		if (option.value ? is_disk(&option) : !option.name[0])
			return true;
	return false;
}

/* Returns true for a disk to which the guest can write, so that its contents differ in the next run. */
static bool is_writable_disk(const struct capture_qemu_option *option)
{
	char file[8];

	if (capture_qemu_option_is(option, "drive") &&
	    !capture_qemu_property(option->value, NULL, "file", file, sizeof(file)))
		return false;
	return is_disk(option) && !capture_qemu_option_is(option, "cdrom") &&
	       !has(option->value, "readonly", "on") && !has(option->value, "read-only", "on") &&
	       !has(option->value, "snapshot", "on") && !has(option->value, "media", "cdrom");
}

static const char *hazard_of(const struct capture_qemu_option *option, bool snapshot)
{
	const char *value = option->value;

	if (!value)
		return NULL;
	if ((capture_qemu_option_is(option, "netdev") && !begins_with(value, "hubport")) ||
	    (capture_qemu_option_is(option, "nic") && strcmp(value, "none") != 0) ||
	    (capture_qemu_option_is(option, "net") && !begins_with(value, "none") &&
	     !begins_with(value, "nic")))
		return "packets arrive at other times";
	if (!snapshot && (is_writable_disk(option) || is_writable_flash(option)))
		return "the guest can write to it; add -snapshot";
	if (capture_qemu_option_is(option, "rtc") && !has(value, "clock", "vm"))
		return "the guest reads the host's clock; leave it out";
	if ((capture_qemu_option_is(option, "display") && strcmp(value, "none") != 0) ||
	    capture_qemu_option_is(option, "vnc"))
		return "a display is drawn in real time; use -display none";
	if (capture_qemu_option_is(option, "device") && begins_with(value, "virtio-rng"))
		return "the guest reads the host's random numbers";
	if (capture_qemu_option_is(option, "device") &&
	    (begins_with(value, "vfio") || begins_with(value, "usb-host") || begins_with(value, "vhost")))
		return "a device of the host";
	if ((capture_qemu_option_is(option, "chardev") || capture_qemu_option_is(option, "serial")) &&
	    (begins_with(value, "socket") || begins_with(value, "tcp") || begins_with(value, "udp") ||
	     begins_with(value, "telnet") || begins_with(value, "unix") || begins_with(value, "pty")))
		return "input arrives at other times";
	if (capture_qemu_option_is(option, "virtfs") || capture_qemu_option_is(option, "fsdev"))
		return "the guest can write to a directory of the host";
	return NULL;
}

void capture_schedule_hazards(char *const *words, char *text, size_t size)
{
	struct sentence sentence = { .text = text, .size = size };
	bool snapshot = given(words, "snapshot");
	struct capture_qemu_option option;
	size_t at = 1;

	text[0] = '\0';
	while (capture_qemu_option_next(words, &at, &option)) {
		const char *hazard = hazard_of(&option, snapshot);

		if (hazard)
			append(&sentence, "%s-%s %s (%s)", sentence.used ? ", " : "", option.name,
			       option.value, hazard);
		else if (!option.value && !option.name[0] && !snapshot)
			append(&sentence, "%s%s (the guest can write to it; add -snapshot)",
			       sentence.used ? ", " : "", words[option.index]);
	}
}

bool capture_schedule_writes(char *const *words)
{
	struct capture_qemu_option option;
	size_t at = 1;

	while (!given(words, "snapshot") && capture_qemu_option_next(words, &at, &option))
		if (option.value ? is_writable_disk(&option) || is_writable_flash(&option) : !option.name[0])
			return true;
	return false;
}

/* ---- Options that are added ---------------------------------------------------------------------- */

int capture_schedule_add(const struct capture_schedule_files *files, const struct capture_qemu_line *line,
			 char *const *words, struct capture_words *extended)
{
	if (line->accelerator[0] && strcmp(line->accelerator, "tcg") != 0)
		return capture_fail(CAPTURE_E_USAGE,
				    "a run can be repeated only if QEMU itself runs the guest's code, and "
				    "with %s it does not: leave the accelerator out, or use tcg",
				    line->accelerator);
	if (line->own_clock)
		return capture_fail(CAPTURE_E_USAGE, "-icount: leave it out; --seed and --deterministic add "
						     "-icount " ICOUNT);
	if (!line->accelerator[0]) {
		capture_words_add(extended, "-accel");
		capture_words_add(extended, "tcg,thread=single");
	}
	capture_words_add(extended, "-icount");
	capture_words_add(extended, ICOUNT);
	if (!given(words, "rtc")) {
		capture_words_add(extended, "-rtc");
		capture_words_add(extended, RTC);
	}
	if (!given(words, "seed")) {
		capture_words_add(extended, "-seed");
		capture_words_add(extended, SEED);
	}
	/* without this option, a disk would start a request in another thread */
	if (has_disks(words)) {
		capture_words_add(extended, "-global");
		capture_words_add(extended, "virtio-mmio.ioeventfd=off");
		capture_words_add(extended, "-global");
		capture_words_add(extended, "virtio-pci.ioeventfd=off");
	}
	/* Without this option, QEMU draws its display in real time, which ends the CPUs' time slices. */
	if (!given(words, "nographic") && !given(words, "display") && !given(words, "vnc") &&
	    !given(words, "curses")) {
		capture_words_add(extended, "-display");
		capture_words_add(extended, "none");
	}
	capture_words_add(extended, "-plugin");
	return capture_plan_add_plugin(extended, files->plugin, "control", files->control);
}

/* ---- Hooks in the kernel's file ------------------------------------------------------------------ */

const char *const capture_noise_names[CAPTURE_NOISE_KINDS] = { "timers", "hooks", "both" };

bool capture_schedule_has_hooks(const struct schedule_noise *noise, const struct schedule_noise *later)
{
	return noise->kind != SCHEDULE_TIMERS || later->kind != SCHEDULE_TIMERS;
}

int capture_schedule_find_hooks(struct schedule_hooks *hooks, const char *path)
{
	struct capture_kernel kernel;

	*hooks = (struct schedule_hooks){ 0 };
	if (!*path)
		return capture_fail(
			CAPTURE_E_USAGE,
			"--noise hooks: the QEMU command line names no kernel (-kernel) in which to "
			"find the hooks: give its ELF file with --elf");
	if (capture_kernel_read(&kernel, path) != 0)
		return capture_fail(CAPTURE_E_USAGE,
				    "--noise hooks needs the kernel's ELF file; give it with --elf: %s",
				    capture_message());
	if (!kernel.root_address)
		return capture_fail(CAPTURE_E_USAGE,
				    "--noise hooks: %s has no symbol ktrace_root: it has no ktrace, or its "
				    "symbols were removed; use --noise timers",
				    path);
	if (!kernel.switch_points)
		return capture_fail(CAPTURE_E_USAGE,
				    "--noise hooks: %s calls no hook for locks or threads "
				    "(ktrace/hooks.h); use --noise timers",
				    path);
	for (uint32_t n = 0; n < kernel.switch_points && n < SCHEDULE_HOOKS_MOST; n++)
		hooks->address[hooks->count++] = kernel.switch_point[n];
	return 0;
}

static int complete(int fd, const char *ram, const char *kernel, char *const *words)
{
	const size_t size = strlen(ram) + 1;
	struct schedule_control control;
	int error;

	if (pread(fd, &control, sizeof(control), 0) != (ssize_t)sizeof(control) || size > SCHEDULE_PATH)
		return CAPTURE_E_SYSTEM;
	memcpy(control.ram, ram, size);
	control.disks = has_disks(words);
	if (capture_schedule_has_hooks(&control.noise, &control.later) && control.hooks.count == 0) {
		error = capture_schedule_find_hooks(&control.hooks, kernel);
		if (error)
			return error;
	}
	return pwrite(fd, &control, sizeof(control), 0) == (ssize_t)sizeof(control) ? 0 : CAPTURE_E_SYSTEM;
}

int capture_schedule_complete(const char *control, const char *ram, const char *kernel, char *const *words)
{
	int fd = open(control, O_RDWR | O_CLOEXEC);
	int error = fd >= 0 ? complete(fd, ram, kernel, words) : CAPTURE_E_SYSTEM;

	if (error == CAPTURE_E_SYSTEM)
		capture_fail_errno("%s", control);
	if (fd >= 0)
		close(fd);
	return error;
}
