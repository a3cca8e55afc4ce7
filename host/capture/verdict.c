/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "ktrx/v2.h"
#include "run.h"

struct sentence {
	char *text;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int conclude(struct sentence sentence, int verdict,
							  const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence.text, sentence.size, format, arguments);
	va_end(arguments);
	return verdict;
}

/*
 * Returns the verdict that follows from the outcome that the kernel recorded. No other source is as reliable.
 */
static int by_outcome(const struct capture_facts *facts, struct sentence sentence)
{
	if (facts->outcome == KTRX_OUTCOME_PANIC)
		return conclude(sentence, CAPTURE_PANIC, "the guest panicked");
	if (facts->status != 0)
		return conclude(sentence, CAPTURE_FAILED, "the guest exited with status %d", facts->status);
	return conclude(sentence, CAPTURE_CLEAN, "clean exit");
}

static int by_end(const struct capture_facts *facts, struct sentence sentence)
{
	if (facts->end == CAPTURE_END_STALL && facts->stuck != KTRX_NO_CPU)
		return conclude(sentence, CAPTURE_STALL, "stall: no heartbeat of CPU %u for %g s",
				facts->stuck, facts->limit);
	if (facts->end == CAPTURE_END_STALL)
		return conclude(sentence, CAPTURE_STALL, "stall: no event and no heartbeat for %g s",
				facts->limit);
	if (facts->end == CAPTURE_END_TIMEOUT)
		return conclude(sentence, CAPTURE_TIMEOUT, "timeout after %g s", facts->limit);
	if (facts->end == CAPTURE_END_DEADLINE)
		return conclude(sentence, CAPTURE_TIMEOUT, "the virtual deadline of %.9g s was reached",
				facts->limit);
	if (facts->end == CAPTURE_END_WORD)
		return conclude(sentence, CAPTURE_CLEAN, "the event was reached");
	if (facts->end == CAPTURE_END_SEEN)
		return conclude(sentence, CAPTURE_CLEAN, "the expected text was seen");
	return conclude(sentence, CAPTURE_SIGNALLED + facts->signal, "stopped by signal %d (%s)",
			facts->signal, strsignal(facts->signal));
}

/*
 * Returns the verdict according to QEMU's exit status, for a QEMU that ended without a SHUTDOWN event, or
 * because the guest reported a failure.
 */
static int by_status(const struct capture_facts *facts, struct sentence sentence)
{
	const int status = facts->wait_status;
	const bool by_guest = facts->ends_without_event || facts->shutdown == CAPTURE_SHUTDOWN_FAILURE;

	if (facts->has_wait_status && WIFSIGNALED(status))
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU died of signal %d (%s)", WTERMSIG(status),
				strsignal(WTERMSIG(status)));
	if (!facts->has_wait_status)
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU ended, and its status is unknown");
	if (!by_guest)
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU ended with status %d",
				WEXITSTATUS(status));
	/*
	 * A status from isa-debug-exit is an odd number, and each kernel defines its meaning: the status does
	 * not show a failure.
	 */
	return conclude(sentence, CAPTURE_CLEAN, "the guest ended QEMU with status %d", WEXITSTATUS(status));
}

static int by_shutdown(const struct capture_facts *facts, struct sentence sentence)
{
	switch (facts->shutdown) {
	case CAPTURE_SHUTDOWN_GUEST:
		return conclude(sentence, CAPTURE_CLEAN, "the guest powered off");
	case CAPTURE_SHUTDOWN_RESET:
		return conclude(sentence, CAPTURE_RESET, "the guest reset (or triple-faulted)");
	case CAPTURE_SHUTDOWN_PANIC:
		return conclude(sentence, CAPTURE_PANIC, "the guest panicked");
	case CAPTURE_SHUTDOWN_USER:
		return conclude(sentence, CAPTURE_CLEAN, "QEMU was asked to quit");
	case CAPTURE_SHUTDOWN_SIGNAL:
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU was ended by a signal");
	case CAPTURE_SHUTDOWN_ERROR:
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU shut down by itself");
	case CAPTURE_SHUTDOWN_FAILURE:
	case CAPTURE_SHUTDOWN_NONE:
		break;
	}
	return by_status(facts, sentence);
}

static int by_all(const struct capture_facts *facts, struct sentence sentence)
{
	if (!facts->ran && facts->end == CAPTURE_END_NONE)
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU did not start the guest");
	if (facts->found && facts->outcome != KTRX_OUTCOME_RUNNING)
		return by_outcome(facts, sentence);
	if (facts->end != CAPTURE_END_NONE)
		return by_end(facts, sentence);
	if (facts->stopped_for_good && strcmp(facts->state, "guest-panicked") == 0)
		return conclude(sentence, CAPTURE_PANIC, "the guest panicked");
	if (facts->stopped_for_good && strcmp(facts->state, "shutdown") != 0)
		return conclude(sentence, CAPTURE_QEMU_DIED, "QEMU stopped the guest for good (%s)",
				facts->state);
	return by_shutdown(facts, sentence);
}

int capture_verdict(const struct capture_facts *facts, char *text, size_t size)
{
	struct sentence sentence = { text, size };
	int verdict = by_all(facts, sentence);
	size_t length;

	/* a panic, a stall or a reset is more important than the absence of the expected text */
	if (facts->unseen &&
	    (verdict == CAPTURE_CLEAN || verdict == CAPTURE_FAILED || verdict == CAPTURE_TIMEOUT)) {
		length = strlen(text);
		snprintf(text + length, size - length, "; the expected text was not seen");
		verdict = CAPTURE_NOT_SEEN;
	}
	length = strlen(text);

	/* report a missing trace, unless QEMU or the user ended the run */
	if (facts->found || facts->may_lack_ktrace || verdict == CAPTURE_QEMU_DIED ||
	    verdict >= CAPTURE_SIGNALLED)
		return verdict;
	if (facts->sent) /* the guest may still have ktrace */
		snprintf(text + length, size - length, "; the guest dumped nothing over %s", facts->sent);
	else if (facts->linked)
		snprintf(text + length, size - length,
			 "; ktrace is linked in, but the kernel recorded no event before the run ended "
			 "(ktrace doctor checks where its events are)");
	else
		snprintf(text + length, size - length,
			 "; no ktrace in the guest: it is not linked in, or has recorded no event");
	return CAPTURE_NO_KTRACE;
}
