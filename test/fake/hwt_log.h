/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a backend did to the registers of a model, a line each, and the first rule that it broke. Golden logs are in
 * test/golden/hwt; after a change that is meant, run the test with UPDATE=1 and look at the difference.
 */
#ifndef TEST_FAKE_HWT_LOG_H
#define TEST_FAKE_HWT_LOG_H

/* Empty, and nothing broken. */
void fake_log_reset(void);

void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *fake_log_text(void);

/* A rule of the manual was broken, which is a line in the log, too. */
void fake_log_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first one; NULL: none. */
const char *fake_log_first_broken(void);

/* Fails the test if the log is not, byte for byte, test/golden/hwt/NAME.log. */
void fake_log_golden(const char *name);

#endif
