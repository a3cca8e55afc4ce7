/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* hwt: hardware trace, recorded and shown, with the options of FreeBSD's hwt(8). */
#include "cmd/command.h"
#include "cmd/hwt.h"

static int run_hwt(int argc, char **argv)
{
	struct hwt_args args = { .name = argv[0], .thread = -1, .pid = -1 };
	int status = hwt_args_parse(&args, argc, argv);

	if (status >= 0)
		return status;
	return args.command ? hwt_record(&args) : hwt_view(&args);
}

const struct command command_hwt = {
	.name = "hwt",
	.tool = "hwt",
	.purpose = "hardware trace: which instructions ran, who called whom",
	.run = run_hwt,
};
