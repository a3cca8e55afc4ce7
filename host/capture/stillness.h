/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Does anything go on in a machine that is about to be halted? The newest stamp of one that hangs as a whole
 * tells nothing of how long it has.
 */
#ifndef CAPTURE_STILLNESS_H
#define CAPTURE_STILLNESS_H

#include "ktread/memory.h"

/* Lets the machine run for that long; NULL where it runs anyway. 0 or an error. */
typedef int capture_pass_time(void *context, int ms);

/*
 * Watches until a slot or a heartbeat comes, all CPUs say that they idle, or CAPTURE_STILLNESS_MS are over.
 * `seconds`: for how long nothing came, 0 if something did, negative if that is not known. 0 or an error.
 */
#define CAPTURE_STILLNESS_MS 1000
int capture_stillness(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds);

/*
 * The same of the RAM file of a machine that runs: whether it goes on is seen in its memory. `seconds` is
 * negative also where nobody can write to the file any more, as the guest is gone, and where there is no
 * ktrace in it. `machine` as for ktread_memory_open_ram().
 */
void capture_stillness_of_file(const char *path, const char *machine, double *seconds);

#endif
