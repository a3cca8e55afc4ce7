/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * callcost: measures the duration of a system call on this machine, in picoseconds. The duration is measured
 * in three cases: with all events of the kernel's trace off; with the events of system calls on; and while
 * the process is traced into a file, with all facilities except the data of input and output. The cases
 * alternate; for each case, the minimum of several rounds is printed.
 */
#include <error.h>
#include <program.h>
#include <stdio.h>
#include <sys/ktrace.h>
#include <unistd.h>

#define CALLS	20000u
#define ROUNDS	5
#define FILE_OF "/tmp/callcost.out"
#define TRACED	(KTRFAC_MASK & ~KTRFAC_GENIO)

static int failed;

static void must(int64_t result, const char *what)
{
	if (result >= 0)
		return;
	dprintf(STDERR, "callcost: %s: %s\n", what, error_text(result));
	failed = 1;
}

static void set_events(const char *text)
{
	must(setting_set(text), text);
}

static void begin_trace(void)
{
	must(close(open(FILE_OF, O_WRONLY | O_CREAT | O_TRUNC, 0600)), FILE_OF);
	must(ktrace(FILE_OF, KTROP_SET, TRACED, getpid()), "ktrace");
}

static void end_trace(void)
{
	must(ktrace(FILE_OF, KTROP_CLEAR, TRACED, getpid()), "ktrace");
	must(unlink(FILE_OF), FILE_OF);
}

/* Measures the time of a system call, and stores it in *least if it is lower than *least. */
static void measure(uint64_t *least)
{
	uint64_t begin = now_ns(), took;

	for (unsigned i = 0; i < CALLS; i++)
		getpid();
	took = (now_ns() - begin) * 1000 / CALLS;
	if (took < *least)
		*least = took;
}

int main(int argc, char **argv)
{
	uint64_t plain = UINT64_MAX, events = UINT64_MAX, traced = UINT64_MAX;

	(void)argc, (void)argv;
	set_events("*=off");
	for (int round = 0; round < ROUNDS; round++) {
		measure(&plain);
		set_events("syscall=on");
		measure(&events);
		set_events("syscall=off");
		begin_trace();
		measure(&traced);
		end_trace();
	}
	printf("callcost: plain %lu ps, events %lu ps, traced %lu ps\n", plain, events, traced);
	return failed;
}
