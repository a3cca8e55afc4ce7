/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the QEMU options that make runs repeatable, and the warnings about options with which repeated runs
 * differ.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/schedule.h"

#define LINE(...)    ((char *const[]){ "qemu-system-x86_64", __VA_ARGS__, NULL })
#define PLUGIN_WORDS "-plugin|/lib/s.so,control=/tmp/a,,b|"

/* Returns, as one string, the arguments that are added to this command line; "" if the line is refused. */
static const char *added(char *const *words)
{
	static const struct capture_schedule_files files = { .plugin = "/lib/s.so", .control = "/tmp/a,b" };
	static char text[1024];
	struct capture_words extended = { 0 };
	struct capture_qemu_line line;

	text[0] = '\0';
	assert_int_equal(capture_qemu_line_read(&line, words), 0);
	if (capture_schedule_add(&files, &line, words, &extended) == 0) {
		for (size_t i = 0; i < extended.count; i++) {
			strcat(text, extended.word[i]);
			strcat(text, "|");
		}
	}
	capture_words_free(&extended);
	return text;
}

static void options_for_equal_runs_are_added(void **state)
{
	(void)state;
	assert_string_equal(
		added(LINE("-smp", "4")),
		"-accel|tcg,thread=single|-icount|shift=2,sleep=off|-rtc|base=2024-01-01,clock=vm|"
		"-seed|1|-display|none|" PLUGIN_WORDS);
	assert_string_equal(
		added(LINE("-nographic", "-accel", "tcg", "-seed", "9", "-cdrom", "a.iso")),
		"-icount|shift=2,sleep=off|-rtc|base=2024-01-01,clock=vm|"
		"-global|virtio-mmio.ioeventfd=off|-global|virtio-pci.ioeventfd=off|" PLUGIN_WORDS);
}

static void options_that_are_given_are_not_added_again(void **state)
{
	(void)state;
	assert_string_equal(
		added(LINE("-accel", "tcg", "-rtc", "base=utc,clock=vm", "-seed", "9", "-nographic")),
		"-icount|shift=2,sleep=off|" PLUGIN_WORDS);
	assert_string_equal(
		added(LINE("-M", "virt,accel=tcg", "--rtc", "clock=vm", "--seed", "9", "-display", "none")),
		"-icount|shift=2,sleep=off|" PLUGIN_WORDS);
}

static void refused(const char *part, char *const *words)
{
	assert_string_equal(added(words), "");
	assert_non_null(strstr(capture_message(), part));
}

static void lines_that_cannot_be_repeated_are_refused(void **state)
{
	(void)state;
	refused("with kvm it does not", LINE("-enable-kvm"));
	refused("with kvm it does not", LINE("-accel", "kvm"));
	refused("with kvm it does not", LINE("-M", "q35,accel=kvm:tcg"));
	refused("with hvf it does not", LINE("-accel", "hvf"));
	refused("-icount: leave it out", LINE("-icount", "shift=0"));
}

/* ---- Options that make runs differ --------------------------------------------------------------- */

#define PACKETS	 "packets arrive at other times"
#define WRITABLE "the guest can write to it; add -snapshot"
#define INPUT	 "input arrives at other times"

static void hazards(const char *expected, char *const *words)
{
	char text[512];

	capture_schedule_hazards(words, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void networks_are_reported(void **state)
{
	(void)state;
	hazards("-netdev user,id=n (" PACKETS ")", LINE("-netdev", "user,id=n"));
	hazards("-nic tap (" PACKETS ")", LINE("-nic", "tap"));
	hazards("-net user (" PACKETS ")", LINE("-net", "user"));
	hazards("", LINE("-netdev", "hubport,id=h,hubid=0"));
	hazards("", LINE("-nic", "none"));
	hazards("", LINE("-net", "none"));
	hazards("", LINE("-net", "nic"));
}

static void writable_disks_are_reported(void **state)
{
	(void)state;
	hazards("-drive file=x (" WRITABLE ")", LINE("-drive", "file=x"));
	hazards("-hda x (" WRITABLE ")", LINE("-hda", "x"));
	hazards("-pflash x (" WRITABLE ")", LINE("-pflash", "x"));
	hazards("x.img (" WRITABLE ")", LINE("x.img"));
	hazards("", LINE("-hda", "x", "-snapshot"));
	hazards("", LINE("-drive", "file=x", "--snapshot"));
	hazards("", LINE("-snapshot", "x.img"));
	hazards("", LINE("-cdrom", "x"));
	hazards("", LINE("-drive", "if=none,id=d"));
	hazards("", LINE("-drive", "file=x,readonly=on"));
	hazards("", LINE("-drive", "file=x,read-only=on"));
	hazards("", LINE("-drive", "file=x,snapshot=on"));
	hazards("", LINE("-drive", "file=x,media=cdrom"));
	hazards("-drive file=x,readonly=off (" WRITABLE ")", LINE("-drive", "file=x,readonly=off"));
}

static void clock_of_host_is_reported(void **state)
{
	(void)state;
	hazards("-rtc base=utc (the guest reads the host's clock; leave it out)", LINE("-rtc", "base=utc"));
	hazards("-rtc base=utc,clock=host (the guest reads the host's clock; leave it out)",
		LINE("-rtc", "base=utc,clock=host"));
	hazards("", LINE("-rtc", "base=2024-01-01,clock=vm"));
}

static void devices_of_host_are_reported(void **state)
{
	(void)state;
	hazards("-device virtio-rng-pci (the guest reads the host's random numbers)",
		LINE("-device", "virtio-rng-pci"));
	hazards("-device vfio-pci,host=01:00.0 (a device of the host)",
		LINE("-device", "vfio-pci,host=01:00.0"));
	hazards("-virtfs local,path=. (the guest can write to a directory of the host)",
		LINE("-virtfs", "local,path=."));
	hazards("", LINE("-device", "isa-debug-exit,iobase=0xf4"));
}

static void connections_are_reported(void **state)
{
	(void)state;
	hazards("-serial tcp::4444,server (" INPUT ")", LINE("-serial", "tcp::4444,server"));
	hazards("-chardev socket,id=c,path=s (" INPUT ")", LINE("-chardev", "socket,id=c,path=s"));
	hazards("-serial pty (" INPUT ")", LINE("-serial", "pty"));
	hazards("", LINE("-serial", "stdio", "-chardev", "file,id=c,path=f"));
}

static void files_that_the_guest_can_write_are_found(void **state)
{
	(void)state;
	assert_true(capture_schedule_writes(LINE("-kernel", "k", "-drive", "file=fs.img,format=raw")));
	assert_true(capture_schedule_writes(LINE("-pflash", "vars.fd")));
	assert_true(capture_schedule_writes(LINE("disk.img")));
	assert_false(capture_schedule_writes(LINE("-drive", "file=fs.img,format=raw", "-snapshot")));
	assert_false(capture_schedule_writes(LINE("-kernel", "k", "-initrd", "i")));
}

static void harmless_line_has_no_hazards(void **state)
{
	(void)state;
	hazards("", LINE("-m", "128M", "-smp", "4", "-nographic", "-no-reboot", "-kernel", "k", "-append",
			 "-netdev user"));
}

static void several_hazards_are_listed(void **state)
{
	(void)state;
	hazards("-netdev user (" PACKETS "), x.img (" WRITABLE "), -serial pty (" INPUT ")",
		LINE("-netdev", "user", "x.img", "-serial", "pty"));
}

static void list_of_hazards_is_cut(void **state)
{
	char text[12] = "xxxxxxxxxxx";

	(void)state;
	capture_schedule_hazards(LINE("-netdev", "user", "x.img"), text, sizeof(text));
	assert_string_equal(text, "-netdev use");
}

/* ---- The control file ---------------------------------------------------------------------------- */

static void make_file(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
}

static void control_file_contains_schedule(void **state)
{
	const struct capture_schedule schedule = { .on = true,
						   .noise = { 7, 1000 },
						   .later = { 8, 0, SCHEDULE_HOOKS },
						   .change = 500,
						   .hooks = { 1, { 4096 } },
						   .deadline = 900 };
	char folder[] = "/tmp/ktrace-unit-XXXXXX", bin[64], lib[64], self[64], plugin[64];
	struct capture_schedule_files files;
	struct schedule_control *control;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(bin, sizeof(bin), "%s/bin", folder);
	snprintf(lib, sizeof(lib), "%s/lib", folder);
	snprintf(self, sizeof(self), "%s/bin/ktrace", folder);
	snprintf(plugin, sizeof(plugin), "%s/lib/ktrace-schedule.so", folder);
	assert_int_equal(mkdir(bin, 0700), 0);
	assert_int_equal(mkdir(lib, 0700), 0);

	assert_int_equal(capture_schedule_open(&schedule, self, folder, &files, &control), CAPTURE_E_USAGE);
	assert_non_null(strstr(capture_message(), "the schedule plugin is missing"));
	assert_null(control);

	make_file(plugin);
	assert_int_equal(capture_schedule_open(&schedule, self, folder, &files, &control), 0);
	assert_int_equal(control->magic, SCHEDULE_MAGIC);
	assert_int_equal(control->noise.seed, 7);
	assert_int_equal(control->noise.mean, 1000);
	assert_int_equal(control->later.seed, 8);
	assert_int_equal(control->later.kind, SCHEDULE_HOOKS);
	assert_int_equal(control->hooks.count, 1);
	assert_int_equal(control->hooks.address[0], 4096);
	assert_int_equal(control->change, 500);
	assert_int_equal(control->deadline, 900);
	assert_int_equal(control->end, SCHEDULE_RUNS);
	capture_schedule_close(control);

	/* A file that exists already is not used. */
	assert_int_equal(capture_schedule_open(&schedule, self, folder, &files, &control), CAPTURE_E_SYSTEM);
	assert_null(control);
	unlink(files.control);
	unlink(plugin);
	rmdir(bin);
	rmdir(lib);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_for_equal_runs_are_added),
		cmocka_unit_test(options_that_are_given_are_not_added_again),
		cmocka_unit_test(lines_that_cannot_be_repeated_are_refused),
		cmocka_unit_test(networks_are_reported),
		cmocka_unit_test(writable_disks_are_reported),
		cmocka_unit_test(clock_of_host_is_reported),
		cmocka_unit_test(devices_of_host_are_reported),
		cmocka_unit_test(connections_are_reported),
		cmocka_unit_test(files_that_the_guest_can_write_are_found),
		cmocka_unit_test(harmless_line_has_no_hazards),
		cmocka_unit_test(several_hazards_are_listed),
		cmocka_unit_test(list_of_hazards_is_cut),
		cmocka_unit_test(control_file_contains_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
