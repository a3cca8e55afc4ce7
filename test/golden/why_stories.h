/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Stories by subject, each subject in its own file. Each function makes the traces of a subject and saves them. */
#ifndef TEST_GOLDEN_WHY_STORIES_H
#define TEST_GOLDEN_WHY_STORIES_H

void make_answers(void);
void make_overdue(void);
void make_runnable(void);
void make_yields(void);

#endif
