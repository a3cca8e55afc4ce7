/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which runs of a hunt count as failed, and which failures count as the same failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "hunt/hunt.h"

static struct hunt_run ended(int status, const char *text)
{
	struct hunt_run run = { .seed = 3, .status = status };

	snprintf(run.text, sizeof(run.text), "%s", text);
	return run;
}

static struct hunt_run found(int status, const char *text, const char *verdict, const char *what)
{
	struct hunt_run run = ended(status, text);

	run.wrong = true;
	snprintf(run.verdict, sizeof(run.verdict), "%s", verdict);
	snprintf(run.what, sizeof(run.what), "%s", what);
	return run;
}

/* Fails the test unless the run counts as failed with this key or, if the key is NULL, as not failed. */
static void judged(const char *expected, struct hunt_run base, struct hunt_run run)
{
	char key[HUNT_TEXT * 2];
	bool failed = hunt_judge(&base, &run, key, sizeof(key));

	assert_int_equal(failed, expected != NULL);
	assert_string_equal(key, expected ? expected : "");
}

#define CLEAN ended(CAPTURE_CLEAN, "clean exit")

/* Addresses are numbers even without 0x, but words such as "dead" and "a0" are not. */
static void addresses_without_a_prefix_are_numbers(void **state)
{
	(void)state;
	judged("panic: fault at #, pc #: a# is dead, cafe#x", CLEAN,
	       found(CAPTURE_PANIC, "panic", "panic",
		     "fault at ffff800012, pc 8000abcd: a0 is dead, cafe5x"));
}

static void run_like_seed_0_has_not_failed(void **state)
{
	(void)state;
	judged(NULL, CLEAN, CLEAN);
	judged(NULL, ended(CAPTURE_FAILED, "status 3"), ended(CAPTURE_FAILED, "status 3"));
	judged(NULL, ended(CAPTURE_TIMEOUT, "timeout"), ended(CAPTURE_TIMEOUT, "timeout"));
}

static void panic_reset_stall_and_missing_text_are_failures(void **state)
{
	(void)state;
	judged("panic", CLEAN, ended(CAPTURE_PANIC, "panic"));
	judged("no heartbeat of CPU # for # s", CLEAN,
	       ended(CAPTURE_STALL, "no heartbeat of CPU 1 for 5.0 s"));
	judged("the guest reset", CLEAN, ended(CAPTURE_RESET, "the guest reset"));
	judged("TEXT was not seen", CLEAN, ended(CAPTURE_NOT_SEEN, "TEXT was not seen"));
	/* A panic is a failure even if the run with seed 0 ended with the same panic. */
	judged("panic", ended(CAPTURE_PANIC, "panic"), ended(CAPTURE_PANIC, "panic"));
}

static void other_end_than_that_of_seed_0_is_a_failure(void **state)
{
	(void)state;
	judged("status #", CLEAN, ended(CAPTURE_FAILED, "status 3"));
	judged("status #", ended(CAPTURE_FAILED, "status 3"), ended(CAPTURE_FAILED, "status 4"));
	judged("clean exit", ended(CAPTURE_FAILED, "status 3"), CLEAN);
	judged("clean exit", ended(CAPTURE_TIMEOUT, "timeout"), CLEAN);
}

static void run_that_does_not_end_fails_only_if_seed_0_ended(void **state)
{
	(void)state;
	judged("it did not end", CLEAN, ended(CAPTURE_TIMEOUT, "timeout of 2 s"));
	judged("it did not end", ended(CAPTURE_FAILED, "status 3"), ended(CAPTURE_TIMEOUT, "timeout of 2 s"));
	judged(NULL, ended(CAPTURE_TIMEOUT, "timeout of 2 s"), ended(CAPTURE_TIMEOUT, "timeout of 3 s"));
	judged(NULL, ended(CAPTURE_PANIC, "panic"), ended(CAPTURE_TIMEOUT, "timeout of 2 s"));
}

static void run_that_could_not_be_made_has_not_failed(void **state)
{
	(void)state;
	judged(NULL, CLEAN, ended(HUNT_NOT_RUN, "no QEMU"));
	judged(NULL, CLEAN, found(HUNT_NOT_RUN, "no QEMU", "deadlock", "two threads wait"));
	judged(NULL, CLEAN, ended(CAPTURE_QEMU_DIED, "QEMU was ended by signal 9"));
	judged(NULL, CLEAN, ended(CAPTURE_NO_KTRACE, "no ktrace in the guest"));
	judged(NULL, CLEAN, ended(CAPTURE_SIGNALLED + 2, "stopped by signal 2"));
}

static void finding_of_why_is_a_failure_with_each_status(void **state)
{
	static const int statuses[] = { CAPTURE_CLEAN, CAPTURE_FAILED,	CAPTURE_PANIC,	 CAPTURE_STALL,
					CAPTURE_RESET, CAPTURE_TIMEOUT, CAPTURE_NOT_SEEN };

	(void)state;
	for (size_t n = 0; n < sizeof(statuses) / sizeof(statuses[0]); n++)
		judged("deadlock: two threads wait", ended(statuses[n], "x"),
		       found(statuses[n], "x", "deadlock", "two threads wait"));
}

static struct hunt_run violating(struct hunt_run run)
{
	snprintf(run.rule, sizeof(run.rule), "short-locks");
	snprintf(run.violation, sizeof(run.violation), "VIOLATED 2 times");
	return run;
}

static void violated_rule_is_a_failure_of_its_own_kind(void **state)
{
	struct hunt_run base = CLEAN, run = violating(CLEAN);
	char text[HUNT_SENTENCE], key[HUNT_TEXT * 2];

	(void)state;
	judged("rule short-locks", CLEAN, violating(CLEAN));
	judged("rule short-locks", violating(CLEAN), violating(CLEAN));
	assert_int_equal(hunt_judge(&base, &run, key, sizeof(key)), HUNT_BY_RULE);
	hunt_describe(&run, HUNT_BY_RULE, text, sizeof(text));
	assert_string_equal(text, "rule short-locks: VIOLATED 2 times");
}

static void other_failure_comes_before_a_violated_rule(void **state)
{
	(void)state;
	judged("panic", CLEAN, violating(ended(CAPTURE_PANIC, "panic")));
	judged("deadlock: two threads wait", CLEAN,
	       violating(found(CAPTURE_CLEAN, "clean exit", "deadlock", "two threads wait")));
	judged(NULL, CLEAN, violating(ended(HUNT_NOT_RUN, "no QEMU")));
}

/* ---- Keys of failures ---------------------------------------------------------------------------- */

static void same_key(bool expected, const char *a, const char *b)
{
	struct hunt_run base = CLEAN, first = found(CAPTURE_PANIC, "panic", "crash", a),
			second = found(CAPTURE_PANIC, "panic", "crash", b);
	char key[2][HUNT_TEXT * 2];

	assert_true(hunt_judge(&base, &first, key[0], sizeof(key[0])));
	assert_true(hunt_judge(&base, &second, key[1], sizeof(key[1])));
	assert_int_equal(strcmp(key[0], key[1]) == 0, expected);
}

static void failures_that_differ_in_numbers_have_equal_keys(void **state)
{
	(void)state;
	same_key(true, "CPU 0 has waited for 1.25 s", "CPU 3 has waited for 12 s");
	same_key(true, "read of 0x1f40", "read of 0xffffffff80001000");
	same_key(true, "read of 0x0", "read of 0xdeadbeef");
	same_key(true, "thread 12 (mail/0) at pc 8040ffa0", "thread 7 (mail/1) at pc 1");
	same_key(true, "5 of 7", "12 of 13");
	same_key(true, "at wakeup_race.c:12", "at wakeup_race.c:120");
}

static void failures_that_differ_in_words_have_different_keys(void **state)
{
	(void)state;
	same_key(false, "mail/0 has missed its wakeup", "pipe/0 has missed its wakeup");
	same_key(false, "CPU 0 waits", "CPU 0 waits 1");
	same_key(false, "a.b", "a,b");
	same_key(false, "ends with 7.", "ends with 7");
}

static void verdict_is_part_of_the_key(void **state)
{
	struct hunt_run base = CLEAN;
	struct hunt_run first = found(CAPTURE_TIMEOUT, "timeout", "deadlock", "threads wait"),
			second = found(CAPTURE_TIMEOUT, "timeout", "livelock", "threads wait");
	char key[2][HUNT_TEXT * 2];

	(void)state;
	assert_true(hunt_judge(&base, &first, key[0], sizeof(key[0])));
	assert_true(hunt_judge(&base, &second, key[1], sizeof(key[1])));
	assert_string_not_equal(key[0], key[1]);
}

static void key_is_cut_to_its_size(void **state)
{
	struct hunt_run base = CLEAN, run = found(CAPTURE_PANIC, "panic", "crash", "");
	char key[8] = "xxxxxxx";

	(void)state;
	memset(run.what, 'a', sizeof(run.what) - 1);
	assert_true(hunt_judge(&base, &run, key, sizeof(key)));
	assert_string_equal(key, "crash: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_without_a_prefix_are_numbers),
		cmocka_unit_test(run_like_seed_0_has_not_failed),
		cmocka_unit_test(panic_reset_stall_and_missing_text_are_failures),
		cmocka_unit_test(other_end_than_that_of_seed_0_is_a_failure),
		cmocka_unit_test(run_that_does_not_end_fails_only_if_seed_0_ended),
		cmocka_unit_test(run_that_could_not_be_made_has_not_failed),
		cmocka_unit_test(finding_of_why_is_a_failure_with_each_status),
		cmocka_unit_test(violated_rule_is_a_failure_of_its_own_kind),
		cmocka_unit_test(other_failure_comes_before_a_violated_rule),
		cmocka_unit_test(failures_that_differ_in_numbers_have_equal_keys),
		cmocka_unit_test(failures_that_differ_in_words_have_different_keys),
		cmocka_unit_test(verdict_is_part_of_the_key),
		cmocka_unit_test(key_is_cut_to_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
