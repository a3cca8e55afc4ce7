/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "path.h"
#include "trace_unit.h"

#define PLUGIN "/../lib/ktrace-pt.so" /* from the folder of the program, installed or not */

int capture_trace_unit_find(struct capture_trace_unit *unit, const char *self, const char *out)
{
	const char *slash = strrchr(self, '/');
	int length = slash ? (int)(slash - self) : 0;

	*unit = (struct capture_trace_unit){ 0 };
	if (snprintf(unit->plugin, sizeof(unit->plugin), "%.*s" PLUGIN, length, self) >=
	    (int)sizeof(unit->plugin))
		return capture_fail(CAPTURE_E_USAGE, "%.200s…: name too long", self);
	if (access(unit->plugin, R_OK) != 0)
		return capture_fail(CAPTURE_E_USAGE, "%s is the trace unit, and it is not there: %s",
				    unit->plugin, strerror(errno));
	if (!out)
		return 0;
	if (capture_path_absolute(unit->out, out) != 0)
		return CAPTURE_E_SYSTEM;
	if (unlink(unit->out) != 0 && errno != ENOENT)
		return capture_fail_errno("%s", unit->out);
	return 0;
}

int capture_trace_unit_add(const struct capture_trace_unit *unit, struct capture_words *words,
			   const char *architecture, const char *ram)
{
	char plugin[PATH_MAX * 2], argument[2][PATH_MAX * 2], size[32] = "", range[64] = "";

	if (strcmp(architecture, "x86_64") != 0 && strcmp(architecture, "aarch64") != 0)
		return capture_fail(CAPTURE_E_USAGE,
				    "%s: there is no trace unit for it; x86_64 and aarch64 have one",
				    architecture);
	if (capture_double_commas(unit->plugin, plugin, sizeof(plugin)) != 0 ||
	    capture_double_commas(ram, argument[0], sizeof(argument[0])) != 0 ||
	    capture_double_commas(unit->out, argument[1], sizeof(argument[1])) != 0)
		return CAPTURE_E_USAGE;
	if (unit->ring_bytes)
		snprintf(size, sizeof(size), ",size=%" PRIu64, unit->ring_bytes);
	if (unit->end)
		snprintf(range, sizeof(range), ",range=%#" PRIx64 "-%#" PRIx64, unit->begin, unit->end);
	capture_words_add(words, "-plugin");
	capture_words_format(words, "%s%s%s%s%s%s%s", plugin, ram[0] ? ",ram=" : "", argument[0],
			     unit->out[0] ? ",out=" : "", argument[1], size, range);
	return 0;
}

int capture_trace_unit_check(const char *accelerator)
{
	if (!accelerator[0] || strcmp(accelerator, "tcg") == 0)
		return 0;
	return capture_fail(CAPTURE_E_USAGE,
			    "the trace unit sees what QEMU itself runs, and with %s that is nothing: "
			    "leave the accelerator out, or use tcg",
			    accelerator);
}
