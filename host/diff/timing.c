/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Excludes from the comparison what depends on timing: the last calls of threads that other threads end,
 * repeated calls that failed, and the parts of transfers.
 */
#include <string.h>

#include "diff/trace.h"

/* ---- Why threads end ---- */

/*
 * Finds out why threads end. A thread may be ended by another thread: by a signal, or because the other
 * thread ends the process, causes a fault or runs another program. Then the last calls of the ended thread
 * depend on timing. If a thread ends itself, or ends because of its own fault, its last calls are the same in
 * each run. So the comparison finds out which of these two cases applies to a thread.
 */

/* maximum number of calls that a thread may begin after another thread began to end it */
#define LATE_MOST    8u
#define CLONE_THREAD UINT64_C(0x10000)

/*
 * Returns whether a fault, or a call of the thread itself, causes this signal. Signals have the numbers of
 * Linux or of the BSDs.
 */
static bool is_synchronous(uint32_t number)
{
	/* SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGXFSZ, SIGSYS */
	static const uint8_t numbers[] = { 4, 5, 6, 7, 8, 11, 13, 25, 31 };

	for (size_t n = 0; n < sizeof(numbers); n++)
		if (number == numbers[n])
			return true;
	return false;
}

/*
 * Returns whether no fault causes this signal. Knows only signals that have the same number on all systems.
 */
static bool is_from_outside(uint32_t number)
{
	/* SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGALRM, SIGTERM */
	static const uint8_t numbers[] = { 1, 2, 3, 9, 14, 15 };

	for (size_t n = 0; n < sizeof(numbers); n++)
		if (number == numbers[n])
			return true;
	return false;
}

void diff_end_signal(struct diff_thread *thread, uint32_t number, uint64_t arrived, bool by_other)
{
	thread->signal = number;
	thread->arrived = arrived;
	thread->sent = by_other ? arrived : 0;
}

void diff_end_process(struct diff_trace *trace, uint32_t thread, uint64_t stamp)
{
	struct diff_thread *first = &trace->thread[trace->thread[thread].process];

	first->exit[first->exits++ % DIFF_EXITS] = stamp;
}

void diff_end_child(struct diff_trace *trace, uint32_t parent, uint32_t child, const struct diff_step *step)
{
	const char *name = trace->kind[step->kind].name;
	/* The first argument of clone() is its flags. */
	const bool clones = strcmp(name, "clone") == 0 && step->values > 0 &&
			    step->form[0] == DIFF_FORM_NUMBER && trace->value[step->value] & CLONE_THREAD;

	if (child != DIFF_NONE && (clones || diff_shares_process(name)))
		trace->thread[child].process = trace->thread[parent].process;
}

/* If the last signal that a thread got was sent by this call, stores when the call sent the signal. */
static void find_kill(struct diff_trace *trace, const struct diff_step *step)
{
	const uint8_t place = trace->kind[step->kind].kills;
	struct diff_thread *thread;
	uint32_t target;
	uint64_t id;

	if (place == 0 || step->values <= place || step->result_form == DIFF_FORM_ERROR)
		return;
	id = trace->value[step->value + place - 1];
	target = id > 0 && id < DIFF_NONE ? diff_trace_find(trace, (uint32_t)id) : DIFF_NONE;
	if (target == DIFF_NONE || target == step->thread)
		return;
	thread = &trace->thread[target];
	if (thread->signal && thread->signal == trace->value[step->value + place] &&
	    step->stamp <= thread->seen && step->stamp > thread->sent)
		thread->sent = step->stamp;
}

void diff_ends_find(struct diff_trace *trace)
{
	bool exits_thread = !trace->trace; /* `exit` ends only the thread, as on Linux */

	for (uint32_t n = 0; n < trace->kinds; n++)
		exits_thread |= strcmp(trace->kind[n].name, "exit_group") == 0;
	for (uint32_t n = 0; n < trace->steps; n++) {
		const struct diff_step *step = &trace->step[n];
		const struct diff_kind *kind = &trace->kind[step->kind];

		find_kill(trace, step);
		if (kind->exits && step->result_form != DIFF_FORM_ERROR &&
		    (!exits_thread || strcmp(kind->name, "exit") != 0))
			diff_end_process(trace, step->thread, step->stamp);
	}
	for (uint32_t n = 0; n < trace->threads; n++) {
		const struct diff_thread *thread = &trace->thread[n];

		if (thread->ended && thread->arrived && is_synchronous(thread->signal))
			diff_end_process(trace, n, thread->arrived);
	}
}

/* Returns whether a fault of another thread of the process has ended the thread. */
static bool has_others_fault(const struct diff_thread *thread)
{
	return is_synchronous(thread->signal) && thread->arrived == 0;
}

/*
 * Returns whether a thread ended soon after a timestamp: it began at most LATE_MOST calls after that
 * timestamp.
 */
static bool ends_soon_after(const struct diff_trace *trace, const struct diff_thread *thread, uint64_t stamp)
{
	uint32_t calls = 0;

	if (stamp == 0 || stamp > thread->seen)
		return false;
	for (uint32_t n = thread->steps; n > 0 && calls <= LATE_MOST; n--) {
		const struct diff_step *step = diff_step_of(trace, thread, n - 1);

		if (step->stamp <= stamp)
			break;
		calls += trace->kind[step->kind].call;
	}
	return calls <= LATE_MOST;
}

/*
 * Returns whether the last call of a thread sends a signal. The thread may have sent this signal to itself.
 */
static bool sends_last(const struct diff_trace *trace, const struct diff_thread *thread)
{
	for (uint32_t n = thread->steps; n > 0; n--) {
		const struct diff_kind *kind = &trace->kind[diff_step_of(trace, thread, n - 1)->kind];

		if (kind->call)
			return kind->kills != 0;
	}
	return false;
}

enum diff_end diff_end_of(const struct diff_trace *trace, const struct diff_thread *thread)
{
	const struct diff_thread *first = &trace->thread[thread->process];

	if (!thread->ended || thread->leaves || (is_synchronous(thread->signal) && !has_others_fault(thread)))
		return DIFF_END_ITSELF;
	if (thread->signal == 0 || has_others_fault(thread))
		for (uint32_t n = 0; n < DIFF_EXITS; n++)
			if (ends_soon_after(trace, thread, first->exit[n]))
				return DIFF_END_BY_OTHER;
	/* A signal for a process ends all its threads. */
	if (ends_soon_after(trace, thread, thread->sent) ||
	    (first->ended && first->signal == thread->signal && ends_soon_after(trace, thread, first->sent)))
		return DIFF_END_BY_OTHER;
	return is_from_outside(thread->signal) && !sends_last(trace, thread) ? DIFF_END_BY_SIGNAL
									     : DIFF_END_ITSELF;
}

/* ---- Calls that are repeated after a failure ---- */

/*
 * Finds calls that failed and that the program repeats after a sleep, such as an open() that fails while
 * another program has the lock file. The number of failed attempts depends on timing, so they are not
 * compared. Other calls between the attempts are compared as usual.
 */

#define TRY_MOST 16u /* maximum number of steps in an attempt and the sleep that follows it */

static bool is_wait(const char *name)
{
	return strcmp(name, "wait4") == 0 || strcmp(name, "waitpid") == 0;
}

/*
 * Returns whether a call failed. A wait4() that returned 0 counts as failed: with WNOHANG, 0 means that the
 * child still runs.
 */
static bool has_failed(const struct diff_trace *trace, const struct diff_step *step)
{
	const struct diff_kind *kind = &trace->kind[step->kind];

	if (!kind->call || step->interrupted)
		return false;
	if (step->result_form == DIFF_FORM_ERROR)
		return true;
	return (step->result_form == DIFF_FORM_NUMBER || step->result_form == DIFF_FORM_PROCESS) &&
	       step->result == 0 && is_wait(kind->name);
}

/* Returns whether a step is a call, such as nanosleep(), that only waited for a time to pass. */
static bool is_pause(const struct diff_trace *trace, const struct diff_step *step)
{
	const struct diff_kind *kind = &trace->kind[step->kind];

	if (kind->poll)
		return step->result_form == DIFF_FORM_NUMBER && step->result == 0;
	return kind->pauses && (step->result_form != DIFF_FORM_ERROR || step->interrupted);
}

/*
 * Returns whether two steps are the same call with the same arguments. In output of strace, the data to which
 * pointers point must be the same; in other traces, the pointers.
 */
static bool is_same_call(const struct diff_trace *trace, const struct diff_step *first,
			 const struct diff_step *second)
{
	if (first->key != second->key || first->values != second->values || trace->kind[first->kind].hidden)
		return false;
	for (uint8_t n = 0; n < first->values; n++)
		if (first->form[n] != second->form[n] ||
		    trace->value[first->value + n] != trace->value[second->value + n])
			return false;
	return true;
}

/*
 * Returns the index of the first step after the call at index `from` and the events that were recorded during
 * that call.
 */
static uint32_t end_of_call(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	uint32_t n = from + 1;

	while (n < thread->steps && n <= from + TRY_MOST && diff_step_of(trace, thread, n)->inside)
		n++;
	return n;
}

/*
 * Returns whether all events that were recorded during the call at index `from` were also recorded during the
 * call at index `again`.
 */
static bool records_the_same(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from,
			     uint32_t again)
{
	const uint32_t ends = end_of_call(trace, thread, from), last = end_of_call(trace, thread, again);

	for (uint32_t n = from + 1; n < ends; n++) {
		uint32_t like = again + 1;

		while (like < last &&
		       diff_step_of(trace, thread, like)->key != diff_step_of(trace, thread, n)->key)
			like++;
		if (like >= last)
			return false;
	}
	return true;
}

static void drop_call(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	const uint32_t end = end_of_call(trace, thread, from);

	for (uint32_t n = from; n < end; n++)
		trace->step[trace->order[thread->first + n]].dropped = true;
}

/*
 * If the call at index `from` failed and is repeated after a sleep, drops that call and the sleeps directly
 * before the next attempt.
 */
static void drop_try(const struct diff_trace *trace, const struct diff_thread *thread, uint32_t from)
{
	const struct diff_step *first = diff_step_of(trace, thread, from);
	uint32_t pause = from, n;

	if (!has_failed(trace, first))
		return;
	for (n = from + 1; n < thread->steps && n <= from + TRY_MOST; n++) {
		const struct diff_step *step = diff_step_of(trace, thread, n);

		if (!trace->kind[step->kind].call)
			continue;
		if (is_same_call(trace, first, step))
			break;
		if (!is_pause(trace, step))
			pause = from;
		else if (pause == from)
			pause = n;
	}
	if (n >= thread->steps || n > from + TRY_MOST || pause == from ||
	    !records_the_same(trace, thread, from, n) ||
	    diff_trace_gap_between(trace, first->stamp, diff_step_of(trace, thread, n)->stamp))
		return;
	drop_call(trace, thread, from);
	for (; pause < n; pause++)
		if (trace->kind[diff_step_of(trace, thread, pause)->kind].call)
			drop_call(trace, thread, pause);
}

static void drop_of_thread(struct diff_trace *trace, struct diff_thread *thread)
{
	uint32_t *order = &trace->order[thread->first];
	uint32_t kept = 0;

	for (uint32_t n = 0; n < thread->steps; n++)
		drop_try(trace, thread, n);
	for (uint32_t n = 0; n < thread->steps; n++) {
		if (trace->step[order[n]].dropped)
			trace->noise[DIFF_NOISE_LOOP]++;
		else
			order[kept++] = order[n];
	}
	thread->steps = kept;
}

void diff_retries_drop(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->threads; n++)
		drop_of_thread(trace, &trace->thread[n]);
}

/* ---- Transfers in several parts ---- */

/*
 * Finds calls that transfer one block of data in several parts. Each call requests the bytes that the
 * previous call has not transferred. The number of parts depends on timing.
 */

#define SIZE 2u /* index of the argument that is the number of bytes */

/* The parts of a transfer that have been found so far. */
struct transfer {
	bool begun;		 /* true if the last call is a part of a transfer */
	struct diff_step *first; /* the first part; NULL if the next call cannot be another part */
	uint64_t stamp;		 /* timestamp of the last part */
	uint64_t left;		 /* number of bytes that no part has transferred yet */
	uint64_t inside[DIFF_RECENT];
	uint32_t insides;
};

static uint64_t value_of(const struct diff_trace *trace, const struct diff_step *step, uint32_t n)
{
	return n < step->values ? trace->value[step->value + n] : UINT64_MAX;
}

/* Returns whether a call has transferred only a part of the bytes that it requested. */
static bool is_part(const struct diff_trace *trace, const struct diff_step *step)
{
	return trace->kind[step->kind].transfer && step->result_form == DIFF_FORM_NUMBER &&
	       step->values > SIZE && step->form[SIZE] == DIFF_FORM_NUMBER && step->result > 0 &&
	       step->result < value_of(trace, step, SIZE);
}

/*
 * Returns whether a call requests the rest of the transfer. A call that has not returned may be the last
 * part.
 */
static bool continues(const struct diff_trace *trace, const struct transfer *transfer,
		      const struct diff_step *step)
{
	const bool moves = step->result_form == DIFF_FORM_NUMBER && step->result > 0;

	return transfer->first && step->key == transfer->first->key &&
	       (moves || step->result_form == DIFF_FORM_UNKNOWN) &&
	       value_of(trace, step, 0) == value_of(trace, transfer->first, 0) &&
	       value_of(trace, step, SIZE) == transfer->left &&
	       !diff_trace_gap_between(trace, transfer->stamp, step->stamp);
}

/* Adds a part to a transfer. Sets the duration of the transfer to unknown. */
static void add_part(const struct diff_trace *trace, struct transfer *transfer, const struct diff_step *step)
{
	struct diff_step *first = transfer->first;

	first->took = 0;
	first->result += step->result;
	transfer->stamp = step->stamp;
	transfer->left -= step->result;
	if (step->result_form == DIFF_FORM_UNKNOWN)
		first->result_form = DIFF_FORM_UNKNOWN;
	if (!is_part(trace, step))
		transfer->first = NULL;
}

/* Returns whether an event within the transfer is equal to an event of an earlier part. */
static bool is_repeated(struct transfer *transfer, const struct diff_step *step)
{
	for (uint32_t n = 0; n < transfer->insides && n < DIFF_RECENT; n++)
		if (transfer->inside[n] == step->key)
			return true;
	transfer->inside[transfer->insides++ % DIFF_RECENT] = step->key;
	return false;
}

static void join_thread(struct diff_trace *trace, struct diff_thread *thread)
{
	struct transfer transfer = { .begun = false };
	uint32_t *order = &trace->order[thread->first];
	uint32_t kept = 0;

	for (uint32_t n = 0; n < thread->steps; n++) {
		struct diff_step *step = &trace->step[order[n]];
		const bool call = trace->kind[step->kind].call;

		if (call ? continues(trace, &transfer, step)
			 : step->inside && transfer.begun && is_repeated(&transfer, step)) {
			if (call)
				add_part(trace, &transfer, step);
			trace->noise[DIFF_NOISE_LOOP]++;
			continue;
		}
		order[kept++] = order[n];
		if (!call)
			continue;
		transfer.begun = is_part(trace, step);
		transfer.first = transfer.begun ? step : NULL;
		transfer.stamp = step->stamp;
		transfer.left = transfer.begun ? value_of(trace, step, SIZE) - step->result : 0;
		transfer.insides = 0;
	}
	thread->steps = kept;
}

void diff_transfers_join(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->threads; n++)
		join_thread(trace, &trace->thread[n]);
}
