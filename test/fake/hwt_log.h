/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A log of a backend's accesses to the registers of a model, one per line, and the first rule that the
 * backend broke. Golden logs are in test/golden/hwt. After an intended change, run the test with UPDATE=1,
 * and check the difference.
 */
#ifndef TEST_FAKE_HWT_LOG_H
#define TEST_FAKE_HWT_LOG_H

/* Clears the log and the first broken rule. */
void fake_log_reset(void);

void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *fake_log_text(void);

/* Logs that a rule of the manual was broken. Remembers the rule if it is the first one. */
void fake_log_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the first broken rule, or NULL if no rule was broken. */
const char *fake_log_first_broken(void);

/* Fails the test if the log differs from test/golden/hwt/NAME.log. */
void fake_log_golden(const char *name);

#endif
