/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the stacks of CPUs show: handlers that have not returned, recursion, and stacks that were left. Also
 * recognizes panic messages about a stack overflow.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "why/pulse.h"

/* number of bytes: a stack pointer that is farther below the stack than this may be in another stack */
#define BELOW (UINT64_C(64) << 10)
/*
 * minimum number of nested page faults that prove a bug in the kernel: no handler nests so many faults by
 * design
 */
#define NEST 32u
/*
 * `DEEP`: minimum number of return addresses in a row that show a recursion without end; `PERIOD`: maximum
 * number of functions that call each other in turn
 */
#define DEEP   24u
#define PERIOD 4u
#define PHRASE 40u /* maximum number of bytes between "stack" and a word for its overflow */

bool why_is_in_handler(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	struct symbol symbol;
	uint64_t handler;

	if (!cpu->vector || symbols_find(evidence->symbols, cpu->vector, &symbol) != 0)
		return false;
	handler = cpu->vector - symbol.offset;
	if (symbols_find(evidence->symbols, cpu->pc, &symbol) == 0 && cpu->pc - symbol.offset == handler)
		return true;
	for (uint32_t n = 0; n < cpu->frames; n++)
		if (symbols_find_call(evidence->symbols, cpu->frame[n], &symbol) == 0 &&
		    cpu->frame[n] - symbol.offset == handler)
			return true;
	return false;
}

bool why_nests_faults(const struct why_evidence *evidence, const struct why_thread *thread)
{
	return thread->fault_nest.count >= NEST && evidence->fault_exits &&
	       why_side_of(evidence, thread->fault_nest.ip) != WHY_SIDE_USER;
}

bool why_recurses(const struct why_cpu *cpu)
{
	uint32_t run;

	for (uint32_t period = 1; period <= PERIOD; period++) {
		run = 0;
		for (uint32_t n = period; n < cpu->frames && run < DEEP - PERIOD; n++)
			run = cpu->frame[n] == cpu->frame[n - period] ? run + 1 : 0;
		if (run >= DEEP - PERIOD)
			return true;
	}
	return false;
}

bool why_left_stack(const struct why_evidence *evidence, const struct why_cpu *cpu,
		    const struct why_thread *thread)
{
	return cpu && cpu->has_registers && cpu->side != PRIVILEGE_USER && cpu->sp && thread &&
	       thread->has_holder && thread->holder.stack_low && cpu->sp < thread->holder.stack_low &&
	       (thread->holder.stack_low - cpu->sp < BELOW || why_nests_faults(evidence, thread) ||
		why_recurses(cpu));
}

/* Returns whether the text begins with this word, in letters of either case. */
static bool begins(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word)) == 0;
}

/*
 * Returns whether one of these words is the name of a stack's owner, or a word beside it: "of thread 5".
 * Other words show that the message is about something else, such as a stack of free pages.
 */
static bool is_about_owner(const char *word, size_t length)
{
	static const char *const words[] = {
		"a",	"an",	"at",	     "been",	 "below",     "boot",	 "by",	   "call",
		"core", "cpu",	"current",   "detected", "exception", "fatal",	 "for",	   "has",
		"idle", "in",	"interrupt", "irq",	 "is",	      "isr",	 "its",	   "kernel",
		"main", "of",	"on",	     "pid",	 "possible",  "process", "system", "task",
		"the",	"this", "thread",    "tid",	 "to",	      "user",	 "was",
	};

	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (strlen(words[n]) == length && begins(word, words[n]))
			return true;
	return isdigit((unsigned char)*word) || memchr(word, '\'', length) || memchr(word, '"', length);
}

/* Returns whether each word from `text` to `end` is about the owner of a stack, or is a thread's name. */
static bool are_about_owner(const char *text, const char *end)
{
	bool is_name = false;

	while (text < end) {
		size_t length = 0;

		while (text + length < end &&
		       (isalnum((unsigned char)text[length]) || strchr("_/'\"", text[length])))
			length++;
		if (length && !is_name && !is_about_owner(text, length))
			return false;
		if (text + length < end && !strchr(" -", text[length]))
			return false;
		is_name =
			length && (begins(text, "thread") || begins(text, "task") || begins(text, "process"));
		text += length + 1;
	}
	return true;
}

/*
 * Returns whether the word before `at` can precede the word "stack" (is_about_owner()). Also returns true if
 * there is no separate word before `at` in its phrase.
 */
static bool is_own(const char *message, const char *at)
{
	const char *end = at, *word;

	while (end > message && strchr(" -", end[-1]))
		end--;
	for (word = end; word > message && (isalnum((unsigned char)word[-1]) || word[-1] == '\''); word--)
		;
	return word == end || end == at || is_about_owner(word, (size_t)(end - word));
}

/* Returns whether the text after "stack" says that the stack overflowed, such as " of thread 5 exhausted". */
static bool overflows_after(const char *text)
{
	static const char *const words[] = { "overflow", "overrun", "overran", "exhausted", "guard page" };

	text += strspn(text, " -_");
	for (const char *at = text; *at && at < text + PHRASE; at++)
		for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
			if (begins(at, words[n]) && are_about_owner(text, at))
				return true;
	return false;
}

/* Returns whether the text after "stack" adds nothing but its owner: "overflow of the stack" may end so. */
static bool ends_phrase(const char *text)
{
	if (*text == ' ' && isalpha((unsigned char)text[1]))
		return is_about_owner(text + 1, strcspn(text + 1, " .,:;!?\n"));
	return *text == '\0' || strchr(" .,;!?'\"\n", *text);
}

/* Returns whether the words before `stack` say that it overflowed, such as "overflow of the". */
static bool overflows_before(const char *message, const char *stack)
{
	static const char *const phrases[] = { "overflow of ", "overflow in ", "overflow on ",
					       "overrun of ",  "guard page ",  "overflowed ",
					       "overflown ",   "overran ",     "exhausted " };
	const char *from = stack - message > PHRASE ? stack - PHRASE : message;

	if (!ends_phrase(stack + 5))
		return false;
	for (; from < stack; from++)
		for (size_t n = 0; n < sizeof(phrases) / sizeof(phrases[0]); n++)
			if (begins(from, phrases[n]) && are_about_owner(from + strlen(phrases[n]), stack) &&
			    (n >= 5 || is_own(message, from)))
				return true;
	return false;
}

/*
 * Returns whether "stack" at `at` is a word, also in "kstack" and "StackOverflow", and not a part of a name.
 */
static bool is_word(const char *message, const char *at)
{
	const char *before = at > message && tolower((unsigned char)at[-1]) == 'k' ? at - 1 : at;
	const bool begins_word =
		before == message || *at == 'S' || !(isalnum((unsigned char)before[-1]) || before[-1] == '_');

	return begins_word && !islower((unsigned char)at[5]) &&
	       !(at[5] == '.' && isalpha((unsigned char)at[6])) && is_own(message, before);
}

/*
 * Knows the phrases that several kernels use. The words "stack" and "overflow" alone are not enough, because
 * they may be about different things.
 */
bool why_message_shows_overflow(const char *message)
{
	for (const char *at = message; (at = strcasestr(at, "stack")); at += strlen("stack"))
		if (is_word(message, at) && (overflows_after(at + 5) || overflows_before(message, at)))
			return true;
	return false;
}
