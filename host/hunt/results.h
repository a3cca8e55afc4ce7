/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The file results.jsonl of a hunt, which is needed to resume the hunt. */
#ifndef HUNT_RESULTS_H
#define HUNT_RESULTS_H

#include <jansson.h>
#include <stdio.h>

#include "hunt.h"

/* Called with the result of each run in the file of the earlier hunt. */
typedef void hunt_take_result(struct hunt *hunt, const struct hunt_run *run);

/*
 * Creates the directory and the file; with options->resume, reads an existing file instead and continues
 * it. The caller closes *file. Returns 0, or a negative number with hunt->error: HUNT_E_RESULTS if the file
 * has results and the options ask neither to resume nor to replace them.
 */
int hunt_results_open(struct hunt *hunt, FILE **file, hunt_take_result *take);
/*
 * Copies a text of a run from the JSON object; "" if it is not a string. Truncates and escapes the text,
 * because it may quote the guest, or come from a file of another user.
 */
void hunt_copy_text(char *to, size_t size, const json_t *json, const char *name);
/* Appends the result of a run. Returns 0, or -1 if it cannot be written. */
int hunt_results_add(FILE *file, const struct hunt_run *run);
/* Returns the result of a run as a JSON object, which the caller releases; NULL if memory runs out. */
json_t *hunt_run_json(const struct hunt_run *run);

#endif
