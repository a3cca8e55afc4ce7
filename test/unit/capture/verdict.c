/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the verdict of `ktrace run`, and the conditions under which a guest counts as silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>

#include "capture/run.h"
#include "capture/watch.h"
#include "ktrx/v2.h"

#define EXITED(status) ((status) << 8)

static int judge(const char *words, struct capture_facts facts)
{
	char text[256];
	int verdict;

	facts.state = facts.state ? facts.state : "";
	verdict = capture_verdict(&facts, text, sizeof(text));
	if (!strstr(text, words))
		fail_msg("'%s' does not contain '%s'", text, words);
	return verdict;
}

#define JUDGE(words, ...) judge(words, (struct capture_facts){ __VA_ARGS__ })

static void outcome_in_trace_has_precedence(void **state)
{
	(void)state;
	assert_int_equal(JUDGE("clean", .ran = 1, .found = 1, .outcome = KTRX_OUTCOME_EXITED,
			       .has_wait_status = 1, .wait_status = EXITED(33), .ends_without_event = 1),
			 CAPTURE_CLEAN);
	assert_int_equal(JUDGE("status 3", .ran = 1, .found = 1, .outcome = KTRX_OUTCOME_EXITED, .status = 3),
			 CAPTURE_FAILED);
	assert_int_equal(JUDGE("panicked", .ran = 1, .found = 1, .outcome = KTRX_OUTCOME_PANIC,
			       .shutdown = CAPTURE_SHUTDOWN_RESET),
			 CAPTURE_PANIC);
	assert_int_equal(JUDGE("panicked", .ran = 1, .found = 1, .outcome = KTRX_OUTCOME_PANIC, .limit = 5,
			       .end = CAPTURE_END_TIMEOUT),
			 CAPTURE_PANIC);
}

static void kernel_with_ktrace_but_without_event_is_named(void **state)
{
	(void)state;
	assert_int_equal(JUDGE("triple-faulted); ktrace is linked in, but the kernel recorded no event",
			       .ran = 1, .linked = 1, .shutdown = CAPTURE_SHUTDOWN_RESET),
			 CAPTURE_NO_KTRACE);
	/* a linker script may place the events where the loader does not load them */
	assert_int_equal(JUDGE("no event before the run ended (ktrace doctor checks where its events are)",
			       .ran = 1, .linked = 1, .end = CAPTURE_END_TIMEOUT, .limit = 5),
			 CAPTURE_NO_KTRACE);
	assert_int_equal(JUDGE("no ktrace in the guest: it is not linked in, or has recorded no event",
			       .ran = 1, .shutdown = CAPTURE_SHUTDOWN_RESET),
			 CAPTURE_NO_KTRACE);
}

static void end_by_ktrace_is_named(void **state)
{
	(void)state;
	assert_int_equal(JUDGE("5 s", .ran = 1, .found = 1, .end = CAPTURE_END_TIMEOUT, .limit = 5,
			       .shutdown = CAPTURE_SHUTDOWN_USER),
			 CAPTURE_TIMEOUT);
	assert_int_equal(JUDGE("stall", .ran = 1, .found = 1, .end = CAPTURE_END_STALL, .limit = 30,
			       .stuck = KTRX_NO_CPU),
			 CAPTURE_STALL);
	assert_int_equal(JUDGE("signal 2", .ran = 1, .end = CAPTURE_END_SIGNAL, .signal = SIGINT),
			 CAPTURE_SIGNALLED + SIGINT);
}

static void otherwise_end_of_qemu_decides(void **state)
{
	(void)state;
	assert_int_equal(JUDGE("off", .ran = 1, .found = 1, .shutdown = CAPTURE_SHUTDOWN_GUEST),
			 CAPTURE_CLEAN);
	assert_int_equal(JUDGE("reset", .ran = 1, .found = 1, .shutdown = CAPTURE_SHUTDOWN_RESET),
			 CAPTURE_RESET);
	assert_int_equal(JUDGE("panicked", .ran = 1, .found = 1, .shutdown = CAPTURE_SHUTDOWN_PANIC),
			 CAPTURE_PANIC);
	assert_int_equal(JUDGE("ended QEMU with status 7", .ran = 1, .found = 1,
			       .shutdown = CAPTURE_SHUTDOWN_FAILURE, .has_wait_status = 1,
			       .wait_status = 7 << 8),
			 CAPTURE_CLEAN);
	assert_int_equal(JUDGE("quit", .ran = 1, .found = 1, .shutdown = CAPTURE_SHUTDOWN_USER),
			 CAPTURE_CLEAN);
	assert_int_equal(JUDGE("signal", .ran = 1, .found = 1, .shutdown = CAPTURE_SHUTDOWN_SIGNAL),
			 CAPTURE_QEMU_DIED);
	assert_int_equal(JUDGE("signal 9", .ran = 1, .found = 1, .has_wait_status = 1, .wait_status = SIGKILL,
			       .ends_without_event = 1),
			 CAPTURE_QEMU_DIED);
	assert_int_equal(JUDGE("status 33", .ran = 1, .found = 1, .has_wait_status = 1,
			       .wait_status = EXITED(33), .ends_without_event = 1),
			 CAPTURE_CLEAN);
	assert_int_equal(
		JUDGE("status 1", .ran = 1, .found = 1, .has_wait_status = 1, .wait_status = EXITED(1)),
		CAPTURE_QEMU_DIED);
	assert_int_equal(JUDGE("status is unknown", .ran = 1, .found = 1), CAPTURE_QEMU_DIED);
	assert_int_equal(JUDGE("internal-error", .ran = 1, .found = 1, .stopped_for_good = 1,
			       .state = "internal-error", .shutdown = CAPTURE_SHUTDOWN_USER),
			 CAPTURE_QEMU_DIED);
	assert_int_equal(JUDGE("did not start", .has_wait_status = 1, .wait_status = EXITED(1)),
			 CAPTURE_QEMU_DIED);
}

static void missing_trace_is_reported(void **state)
{
	(void)state;
	assert_int_equal(JUDGE("no ktrace", .ran = 1, .shutdown = CAPTURE_SHUTDOWN_GUEST), CAPTURE_NO_KTRACE);
	assert_int_equal(JUDGE("no ktrace", .ran = 1, .end = CAPTURE_END_TIMEOUT), CAPTURE_NO_KTRACE);
	/* The guest sent no dump, although its kernel may contain ktrace. */
	assert_int_equal(JUDGE("; the guest dumped nothing over virtio", .ran = 1, .sent = "virtio",
			       .end = CAPTURE_END_TIMEOUT),
			 CAPTURE_NO_KTRACE);
	assert_int_equal(JUDGE("signal 9", .ran = 1, .has_wait_status = 1, .wait_status = SIGKILL),
			 CAPTURE_QEMU_DIED);
}

static void silence_is_measured(void **state)
{
	struct ktread_pulse pulse = { .nonce = 1, .slots = 10, .cpus = 2, .online = 2 };
	struct capture_watch watch = { 0 };

	(void)state;
	assert_true(capture_watch_silence(&watch, 99) == 0);
	assert_true(capture_watch_feed(&watch, &pulse, 100));
	assert_false(capture_watch_feed(&watch, &pulse, 103));
	assert_true(capture_watch_silence(&watch, 104) == 4);
	assert_false(watch.has_heartbeats);
	pulse.heartbeats = 1;
	capture_watch_feed(&watch, &pulse, 105);
	assert_true(watch.has_heartbeats && capture_watch_silence(&watch, 105) == 0);
	pulse.idle = 1;
	capture_watch_feed(&watch, &pulse, 110);
	assert_true(capture_watch_silence(&watch, 110) == 5);
	pulse.idle = 2;
	capture_watch_feed(&watch, &pulse, 111);
	assert_true(capture_watch_silence(&watch, 112) == 1);
	capture_watch_pause(&watch, 120);
	assert_true(capture_watch_silence(&watch, 120) == 0);
	pulse.nonce = 2;
	pulse.heartbeats = 0;
	assert_true(capture_watch_feed(&watch, &pulse, 130));
	assert_true(watch.boots == 2 && !watch.has_heartbeats);
}

static void stuck_cpu_is_detected(void **state)
{
	struct ktread_pulse pulse = { .nonce = 1, .online = 2, .heartbeats = 9, .quiet_cpu = KTRX_NO_CPU };
	struct capture_watch watch = { 0 };

	(void)state;
	capture_watch_feed(&watch, &pulse, 100);
	capture_watch_feed(&watch, &pulse, 110);
	assert_true(capture_watch_stuck(&watch, 110) == 0);
	pulse.quiet_cpu = 1;
	pulse.quiet_stamp = 500;
	capture_watch_feed(&watch, &pulse, 111);
	pulse.slots = pulse.heartbeats = 99;
	capture_watch_feed(&watch, &pulse, 114);
	assert_true(capture_watch_stuck(&watch, 115) == 4 && capture_watch_silence(&watch, 115) == 1);
	pulse.quiet_stamp = 501;
	capture_watch_feed(&watch, &pulse, 116);
	assert_true(capture_watch_stuck(&watch, 117) == 1);
	capture_watch_pause(&watch, 118);
	assert_true(capture_watch_stuck(&watch, 118) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outcome_in_trace_has_precedence),
		cmocka_unit_test(kernel_with_ktrace_but_without_event_is_named),
		cmocka_unit_test(end_by_ktrace_is_named),
		cmocka_unit_test(otherwise_end_of_qemu_decides),
		cmocka_unit_test(missing_trace_is_reported),
		cmocka_unit_test(silence_is_measured),
		cmocka_unit_test(stuck_cpu_is_detected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
