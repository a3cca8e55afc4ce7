/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
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

#include "unit/support/flow_support.h"

struct flow *flow_test_open(const char *script)
{
	int fd = memfd_create("script", 0);
	struct flow *flow;
	char path[64];

	assert_true(fd >= 0 && write(fd, script, strlen(script)) == (ssize_t)strlen(script));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (flow_open(&flow, path, NULL) < 0)
		fail_msg("%s", flow_message());
	close(fd);
	return flow;
}

void flow_test_output(struct base_output *out)
{
	assert_int_equal(base_output_open(out, memfd_create("output", 0)), 0);
}

void flow_test_expect(struct base_output *out, const char *expected)
{
	int fd = out->fd;
	off_t size;
	char *text;

	assert_int_equal(base_output_close(out), 0);
	size = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(pread(fd, text, (size_t)size, 0), size);
	close(fd);
	if (strcmp(text, expected) != 0)
		print_error("--- expected\n%s--- written\n%s---\n", expected, text);
	assert_string_equal(text, expected);
	free(text);
}

char flow_test_noted[512];

void flow_test_note(void *to, const char *text)
{
	(void)to;
	snprintf(flow_test_noted, sizeof(flow_test_noted), "%s", text);
}

static int count_step(void *to, const struct hwt_step *step)
{
	(void)step;
	++*(unsigned *)to;
	return 0;
}

const struct flow_view flow_test_counter = { .step = count_step };
