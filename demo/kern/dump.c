/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "args.h"
#include "dump.h"
#include "print.h"

#define NAME_MAX 16
#define PATH_MAX 256

/*
 * Path of the output file on the host, for transports that write a file of the host. If empty, the host
 * chooses the path.
 */
static char path[PATH_MAX];

static void dump_at_end(void *unused)
{
	(void)unused;
	dump_now(KTRACE_DUMP_PAUSE | (ktrace_root.outcome == KTRX_OUTCOME_PANIC ? KTRACE_DUMP_SEIZE : 0));
}

void dump_init(void)
{
	struct arg_walk walk = { 0 };
	char name[NAME_MAX];
	struct ktrace_transport *transport;
	int error;

	if (!arg_next(&walk, "transport", name, sizeof(name)))
		return;
	walk.at = NULL;
	arg_next(&walk, "file", path, sizeof(path));
	transport = arch_transport(name, path);
	error = transport ? ktrace_transport_set(transport) : KTRACE_OUTPUT_ABSENT;
	if (error < 0) {
		kprintf("transport=%s: error %d\n", name, error);
		return;
	}
	ktrace_set_end_hook(dump_at_end, NULL);
	if (arg_has("dump", "start"))
		dump_now(0);
}

void dump_now(unsigned how)
{
	int error = ktrace_dump(NULL, how | (arg_has("dump", "v1") ? KTRACE_DUMP_V1 : KTRACE_DUMP_V2));

	if (error < 0)
		kprintf("dump: error %d\n", error);
}
