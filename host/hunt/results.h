/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The file results.jsonl of a hunt, by which it can be resumed. */
#ifndef HUNT_RESULTS_H
#define HUNT_RESULTS_H

#include <jansson.h>
#include <stdio.h>

#include "hunt.h"

/* Takes over the result of a run of an earlier hunt. */
typedef void hunt_take_result(struct hunt *hunt, const struct hunt_run *run);

/*
 * Creates the folder and the file; with options->resume, reads an existing file instead and continues it. The
 * caller closes *file. Returns 0, or a negative number with hunt->error: HUNT_E_RESULTS if the file has
 * results that are neither to be continued nor replaced.
 */
int hunt_results_open(struct hunt *hunt, FILE **file, hunt_take_result *take);
/* Appends a run. Returns 0, or -1 if it cannot be written. */
int hunt_results_add(FILE *file, const struct hunt_run *run);
/* Describes a run as an object, for the caller to release; NULL if memory is short. */
json_t *hunt_run_json(const struct hunt_run *run);

#endif
