/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that make and save traces of stories. Each function makes all stories on one subject, and is
 * in a file of its own.
 */
#ifndef TEST_GOLDEN_WHY_STORIES_H
#define TEST_GOLDEN_WHY_STORIES_H

void make_answers(void);
void make_crowds(void);
void make_numbers(void);
void make_overdue(void);
void make_retries(void);
void make_runnable(void);
void make_states(void);
void make_timeouts(void);
void make_worst(void);
void make_yields(void);

#endif
