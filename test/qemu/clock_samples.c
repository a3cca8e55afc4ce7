/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * clock_samples TRACE: prints the number of measurements of the clock that was measured least often. With one
 * measurement, the clock's offset at that time is known; with several, its drift is known, too.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ktread/trace.h"

int main(int argc, char **argv)
{
	struct ktread *trace;
	uint32_t least = 0;

	if (argc != 2 || ktread_open(&trace, argv[1], NULL) != 0)
		return 1;
	for (uint32_t cpu = 0; cpu < trace->measured.cpus; cpu++) {
		/* number of measurements of this CPU's clock, plus one */
		uint32_t pieces = trace->measured.clock[cpu].pieces;

		if (pieces > 0 && (least == 0 || pieces - 1 < least))
			least = pieces - 1;
	}
	printf("%" PRIu32 "\n", least);
	ktread_close(trace);
	return 0;
}
