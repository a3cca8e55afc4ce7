/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/perfetto_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perfetto/text.h"

char *perfetto_output;

int perfetto_begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u64 ran ns");
	script_type(BLOCK, "sched", "block", "pointer queue");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(EXIT, "sched", "exit", "");
	script_type(ENTER, "syscall", "enter", "u16 nr,u64 arg");
	script_type(RETURN, "syscall", "exit", "u16 nr,i64 result");
	script_type(IRQ_ENTER, "irq", "enter", "u8 irq");
	script_type(IRQ_EXIT, "irq", "exit", "u8 irq");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,string name");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_type(NOTE, "mine", "note", "u8 a,i32 b,pointer c,string d,bool e,char f,i64 g");
	script_type(FREE, "counter", "memory", "u64 free bytes,i64 debt");
	script_type(CREATE, "sched", "create", "u32 thread,string name,u32 process");
	return 0;
}

int perfetto_end(void **state)
{
	(void)state;
	free(perfetto_output);
	perfetto_output = NULL;
	script_end();
	return 0;
}

static unsigned char *read_back(int fd, size_t *length)
{
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = malloc((size_t)size + 1);

	assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
	*length = (size_t)size;
	return bytes;
}

struct export_report perfetto_export(void)
{
	static const char common[] = "trusted_packet_sequence_id=1 sequence_flags=2 ";
	struct export_report report = { 0 };
	int fd = memfd_create("perfetto", 0);
	unsigned char *bytes;
	size_t length, size;
	FILE *text;
	char *at;

	assert_true(fd >= 0);
	assert_int_equal(export_perfetto.write(script_trace(), fd, &report), 0);
	bytes = read_back(fd, &length);
	text = open_memstream(&perfetto_output, &size);
	assert_int_equal(perfetto_text(text, bytes, length), 0);
	fclose(text);
	for (at = perfetto_output; (at = strstr(at, common));)
		memmove(at, at + strlen(common), strlen(at + strlen(common)) + 1);
	free(bytes);
	close(fd);
	return report;
}

void perfetto_expect(const char *packet)
{
	char line[1024];
	const char *at;

	snprintf(line, sizeof(line), "packet{%s}\n", packet);
	at = strstr(perfetto_output, line);
	if (!at)
		print_error("missing: %sin:\n%s", line, perfetto_output);
	assert_non_null(at);
	assert_null(strstr(at + 1, line));
}

void perfetto_expect_none(const char *text)
{
	if (strstr(perfetto_output, text))
		print_error("unexpected: %s in:\n%s", text, perfetto_output);
	assert_null(strstr(perfetto_output, text));
}

void perfetto_expect_end(const char *time, const char *tail)
{
	char start[64], wanted[512];
	const char *at = perfetto_output, *newline, *found = NULL;

	snprintf(start, sizeof(start), "packet{timestamp=%s ", time);
	snprintf(wanted, sizeof(wanted), "%s}", tail);
	while (!found && (at = strstr(at, start))) {
		newline = strchr(at, '\n');
		if ((size_t)(newline - at) > strlen(wanted) &&
		    strncmp(newline - strlen(wanted), wanted, strlen(wanted)) == 0)
			found = at;
		at = newline;
	}
	if (!found)
		print_error("no packet at %s ends in %s:\n%s", time, wanted, perfetto_output);
	assert_non_null(found);
}
