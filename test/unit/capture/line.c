/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests reading a QEMU command line, and adding options to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "capture/error.h"
#include "capture/plan.h"

#define LINE(...) ((char *const[]){ "qemu-system-x86_64", __VA_ARGS__, NULL })

static void ram_size(const char *expected_machine, uint64_t mib, char *const *words)
{
	struct capture_qemu_line line;

	assert_int_equal(capture_qemu_line_read(&line, words), 0);
	assert_string_equal(line.machine, expected_machine);
	assert_int_equal(line.ram_bytes, mib << 20);
}

static void memory_is_read_in_all_forms(void **state)
{
	(void)state;
	ram_size("", 128, LINE("-nographic"));
	ram_size("", 256, LINE("-m", "256"));
	ram_size("", 1024, LINE("-m", "1G"));
	ram_size("", 2048, LINE("-m", "size=2G,slots=2,maxmem=4G"));
	ram_size("", 512, LINE("-m", "512M,slots=1"));
	ram_size("", 64, LINE("-m", "32", "--m", "64"));
	ram_size("", 128, LINE("-append", "-m 64"));
	ram_size("raspi3b", 1024, LINE("-M", "raspi3b"));
	ram_size("virt", 128, LINE("-machine", "type=virt,highmem=off"));
	ram_size("q35", 192, LINE("-M", "q35,memory.size=192M"));
	ram_size("q35", 128, LINE("-M", "pc", "-machine", "q35"));
}

static void flags_are_read(void **state)
{
	struct capture_qemu_line line;

	(void)state;
	assert_int_equal(
		capture_qemu_line_read(&line, LINE("-S", "-s", "-no-reboot", "-kernel", "k", "-append", "a")),
		0);
	assert_string_equal(line.architecture, "x86_64");
	assert_string_equal(line.kernel_path, "k");
	assert_true(line.paused && line.gdb && line.kernel && !line.stays_on_reset && !line.uses_terminal);
	assert_int_equal(line.append_at, 7);
	assert_int_equal(capture_qemu_line_read(&line, LINE("-nographic", "-action", "reboot=shutdown")), 0);
	assert_true(line.uses_terminal && !line.stays_on_reset && !line.ends_without_event);
	assert_int_equal(capture_qemu_line_read(&line, LINE("-serial", "mon:stdio", "-device",
							    "isa-debug-exit,iobase=0xf4")),
			 0);
	assert_true(line.uses_terminal && line.stays_on_reset && line.ends_without_event);
	assert_int_equal(capture_qemu_line_read(&line, LINE("-device", "help")), 0);
	assert_true(line.asks_only);
	assert_int_equal(capture_qemu_line_read(&line, LINE("-version")), 0);
	assert_true(line.asks_only);
}

static void refused(const char *word, char *const *words)
{
	struct capture_qemu_line line;

	assert_int_equal(capture_qemu_line_read(&line, words), CAPTURE_E_USAGE);
	assert_non_null(strstr(capture_message(), word));
}

static void untraceable_line_is_refused(void **state)
{
	(void)state;
	refused("-daemonize", LINE("-daemonize"));
	refused("-mem-path", LINE("-mem-path", "/dev/hugepages"));
	refused("12Q", LINE("-m", "12Q"));
	refused("share=on", LINE("-object", "memory-backend-ram,id=r,size=1G", "-M", "memory-backend=r"));
	refused("share=on", LINE("-object", "memory-backend-file,id=r,mem-path=f", "-M", "memory-backend=r"));
	refused("no -object", LINE("-M", "memory-backend=r"));
	refused("several", LINE("-numa", "node,memdev=a", "-numa", "node,memdev=b"));
}

static void shared_memory_of_line_is_used(void **state)
{
	struct capture_qemu_line line;

	(void)state;
	assert_int_equal(capture_qemu_line_read(
				 &line, LINE("-M", "q35,memory-backend=r", "-object",
					     "memory-backend-file,id=r,size=1G,share=on,mem-path=/tmp/a,,b")),
			 0);
	assert_string_equal(line.backend, "r");
	assert_string_equal(line.backend_path, "/tmp/a,b");
	assert_int_equal(
		capture_qemu_line_read(&line, LINE("-numa", "node,memdev=r", "-object",
						   "memory-backend-file,id=r,size=1G,share=yes,mem-path=f")),
		0);
	assert_string_equal(line.backend, "r");
}

/* Returns the extended command line as one string. */
static const char *extend(const struct capture_plan *plan, char *const *words)
{
	static char text[4096];
	struct capture_words extended = { 0 };
	struct capture_qemu_line line;

	text[0] = '\0';
	assert_int_equal(capture_qemu_line_read(&line, words), 0);
	if (capture_plan_extend(plan, &line, words, &extended) == 0) {
		for (size_t i = 1; i < extended.count; i++) {
			strcat(text, extended.word[i]);
			strcat(text, "|");
		}
	}
	capture_words_free(&extended);
	return text;
}

static void missing_options_are_added_once(void **state)
{
	struct capture_plan plan = { .path = "/t/r,am", .config = "/t/qmp.cfg" };

	(void)state;
	assert_string_equal(
		extend(&plan, LINE("-m", "64")),
		"-m|64|-object|memory-backend-file,id=ktrace-ram,size=67108864,mem-path=/t/r,,am,share=on|"
		"-machine|memory-backend=ktrace-ram|-no-reboot|-no-shutdown|-S|-readconfig|/t/qmp.cfg|");
	assert_string_equal(
		extend(&plan, LINE("-S", "-no-reboot", "-M", "memory-backend=r", "-object",
				   "memory-backend-file,id=r,share=on,mem-path=f")),
		"-S|-no-reboot|-M|memory-backend=r|-object|memory-backend-file,id=r,share=on,mem-path=f|"
		"-no-shutdown|-readconfig|/t/qmp.cfg|");
	assert_null(strstr(extend(&plan, LINE("-action", "panic=exit-failure")), "-no-shutdown"));
	assert_null(strstr(extend(&plan, LINE("-action", "reboot=reset,shutdown=poweroff")), "-no-shutdown"));
	assert_non_null(strstr(extend(&plan, LINE("-action", "reboot=shutdown")), "-no-shutdown"));
	plan.allow_reboot = true;
	plan.transport = CAPTURE_DEBUGCON;
	assert_string_equal(extend(&plan, LINE("-s")),
			    "-s|-chardev|file,id=ktrace-out,path=/t/r,,am|-device|"
			    "isa-debugcon,chardev=ktrace-out,iobase=0xe9|-S|-readconfig|/t/qmp.cfg|");
	plan.transport = CAPTURE_SEMIHOSTING;
	assert_string_equal(extend(&plan, LINE("-s")), "");
	assert_non_null(strstr(capture_message(), "no semihosting"));
}

static void events_are_added_to_kernel_arguments(void **state)
{
	struct capture_plan plan = { .path = "/t/ram", .config = "/t/c", .events = "sched,irq" };

	(void)state;
	assert_non_null(strstr(extend(&plan, LINE("-kernel", "k", "-append", "a b")),
			       "-append|a b debug=sched,irq|"));
	assert_non_null(strstr(extend(&plan, LINE("-kernel", "k")), "-append|debug=sched,irq|"));
	assert_string_equal(extend(&plan, LINE("-hda", "d")), "");
	assert_non_null(strstr(capture_message(), "-kernel"));
}

static void programs_and_architectures_are_known(void **state)
{
	(void)state;
	assert_string_equal(capture_qemu_program("/opt/bin/qemu-system-riscv64"), "qemu-system-riscv64");
	assert_null(capture_qemu_program("qemu-system-"));
	assert_null(capture_qemu_program("/qemu-system-x86_64/run"));
	assert_string_equal(capture_qemu_architecture("x64"), "x86_64");
	assert_string_equal(capture_qemu_architecture("arm64"), "aarch64");
	assert_string_equal(capture_qemu_architecture("mips"), "mips");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_read_in_all_forms),
		cmocka_unit_test(flags_are_read),
		cmocka_unit_test(untraceable_line_is_refused),
		cmocka_unit_test(shared_memory_of_line_is_used),
		cmocka_unit_test(missing_options_are_added_once),
		cmocka_unit_test(events_are_added_to_kernel_arguments),
		cmocka_unit_test(programs_and_architectures_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
