/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Parses the grammar of doc/rules.md by recursive descent. Nesting is limited: a rule contains events, and an
 * event contains conditions.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rules.h"
#include "analyze/threads.h"
#include "ktrx/v2.h"

struct parser {
	struct rule_words words;
	struct rules *rules;
	struct rules_error *error;
	bool optional;
};

__attribute__((format(printf, 2, 3))) static int fail(struct parser *parser, const char *format, ...)
{
	const struct rule_word *word = &parser->words.word;
	va_list arguments;

	parser->error->line = word->line;
	parser->error->column = word->column;
	va_start(arguments, format);
	vsnprintf(parser->error->text, sizeof(parser->error->text), format, arguments);
	va_end(arguments);
	if (word->kind == RULE_WORD_BAD)
		snprintf(parser->error->text, sizeof(parser->error->text), "%s", word->text);
	return KTREAD_E_FORMAT;
}

/*
 * Reports an unexpected word. `words`: the words that may come here, separated by blanks. If the unexpected
 * word is similar to one of these words, suggests that word.
 */
static int fail_expected(struct parser *parser, const char *wanted, const char *words)
{
	const struct rule_word *word = &parser->words.word;
	char list[160], text[SUGGESTIONS_TEXT] = "", *rest = list, *one;
	struct suggestions similar;

	snprintf(list, sizeof(list), "%s", words);
	suggestions_start(&similar, word->text, strlen(word->text));
	while ((one = strsep(&rest, " ")))
		if (*one)
			suggestions_offer(&similar, one);
	if (word->kind == RULE_WORD_NAME && !word->begins)
		suggestions_text(&similar, text, sizeof(text));
	if (word->kind == RULE_WORD_END || word->begins)
		return fail(parser, "expected %s, but the rule ends", wanted);
	return fail(parser, "expected %s instead of '%s'%s", wanted, word->text, text);
}

/* If the next word of this statement is `text`, takes it and returns true. Otherwise returns false. */
static bool accept(struct parser *parser, const char *text)
{
	const struct rule_word *word = &parser->words.word;

	if (word->begins || (word->kind != RULE_WORD_NAME && word->kind != RULE_WORD_MARK) ||
	    strcmp(word->text, text) != 0)
		return false;
	rule_words_next(&parser->words);
	return true;
}

static int expect(struct parser *parser, const char *text)
{
	char wanted[RULES_WORD + 2];

	if (accept(parser, text))
		return 0;
	snprintf(wanted, sizeof(wanted), "'%s'", text);
	return fail_expected(parser, wanted, text);
}

static int take_name(struct parser *parser, const char *what, char *name)
{
	const struct rule_word *word = &parser->words.word;

	if (word->kind != RULE_WORD_NAME || word->begins)
		return fail_expected(parser, what, "");
	memcpy(name, word->text, RULES_WORD);
	rule_words_next(&parser->words);
	return 0;
}

static bool is_number(const char *text, uint64_t *number)
{
	const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	errno = 0;
	*number = strtoull(text, &end, is_hex ? 16 : 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static int take_number(struct parser *parser, uint64_t *number)
{
	if (parser->words.word.begins || parser->words.word.kind != RULE_WORD_NAME ||
	    !is_number(parser->words.word.text, number))
		return fail_expected(parser, "a number", "");
	rule_words_next(&parser->words);
	return 0;
}

/* Parses "50ms" or "1.5s". */
static int take_time(struct parser *parser, uint64_t *time)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const struct rule_word *word = &parser->words.word;
	char *end = NULL;
	double value = word->kind == RULE_WORD_NAME && !word->begins ? strtod(word->text, &end) : 0;

	for (size_t n = 0; end && n < sizeof(units) / sizeof(units[0]); n++) {
		if (strcmp(end, units[n].name) != 0 ||
		    !(value * units[n].ns >= 1 && value * units[n].ns < 1e18))
			continue;
		*time = (uint64_t)(value * units[n].ns);
		rule_words_next(&parser->words);
		return 0;
	}
	return fail_expected(parser, "a time with its unit (such as 50ms)", "");
}

static int take_relation(struct parser *parser, enum rule_relation *relation)
{
	static const char *const texts[] = {
		[RULE_EQUAL] = "==", [RULE_UNEQUAL] = "!=", [RULE_LESS] = "<",	   [RULE_UP_TO] = "<=",
		[RULE_MORE] = ">",   [RULE_FROM] = ">=",    [RULE_HAS_BITS] = "&",
	};

	for (size_t n = 0; n < sizeof(texts) / sizeof(texts[0]); n++) {
		if (!accept(parser, texts[n]))
			continue;
		*relation = (enum rule_relation)n;
		return 0;
	}
	return fail_expected(parser, "one of == != < <= > >= &", "");
}

static int take_value(struct parser *parser, struct rule_condition *condition)
{
	const struct rule_word *word = &parser->words.word;
	bool minus = word->text[0] == '-';

	if (word->begins || (word->kind != RULE_WORD_NAME && word->kind != RULE_WORD_STRING))
		return fail_expected(parser, "a number, a \"string\" or a field", "");
	condition->string = word->kind == RULE_WORD_STRING;
	if (condition->string && condition->relation != RULE_EQUAL && condition->relation != RULE_UNEQUAL)
		return fail(parser, "strings are compared by == and != only");
	if (!condition->string && is_number(word->text + minus, &condition->number)) {
		if (minus && condition->number > (uint64_t)INT64_MAX)
			return fail(parser, "%s is out of range", word->text);
		condition->negative = minus && condition->number != 0;
		condition->number = minus ? -condition->number : condition->number;
	} else {
		memcpy(condition->other, word->text, RULES_WORD);
	}
	rule_words_next(&parser->words);
	return 0;
}

/* Parses "(" FIELD OPERATOR VALUE { "," … } ")" after the opening bracket. */
static int take_conditions(struct parser *parser, struct rule_condition *conditions, uint32_t *count)
{
	int status = 0;

	do {
		struct rule_condition *condition = &conditions[*count];

		if (*count == RULES_CONDITIONS)
			return fail(parser, "more than %u conditions", RULES_CONDITIONS);
		status = take_name(parser, "a field", condition->field);
		if (!status)
			status = take_relation(parser, &condition->relation);
		if (!status)
			status = take_value(parser, condition);
		++*count;
	} while (!status && accept(parser, ","));
	return status ? status : expect(parser, ")");
}

/* Parses CONTEXT { "or" CONTEXT } after "in". */
static int take_contexts(struct parser *parser, struct rule_event *event)
{
	static const char *const names[] = { "thread", "irq", "nmi", "early" };

	do {
		uint32_t n = 0;

		while (n < 4 && !accept(parser, names[n]))
			n++;
		if (n == 4)
			return fail_expected(parser, "a context (thread, irq, nmi, early)",
					     "thread irq nmi early");
		event->contexts |= (uint8_t)(1u << n);
	} while (accept(parser, "or"));
	return 0;
}

static int take_event(struct parser *parser, struct rule *rule, enum rule_role role)
{
	struct rule_event *event = &rule->event[rule->events];
	int status;

	if (rule->events == RULES_EVENTS)
		return fail(parser, "more than %u events in one rule", RULES_EVENTS);
	rule->events++;
	event->role = role;
	event->line = parser->words.word.line;
	event->column = parser->words.word.column;
	status = take_name(parser, "an event", event->pattern);
	if (!status && accept(parser, "("))
		status = take_conditions(parser, event->condition, &event->conditions);
	if (!status && accept(parser, "in"))
		status = take_contexts(parser, event);
	return status;
}

static int take_events(struct parser *parser, struct rule *rule, enum rule_role role, const char *between)
{
	int status;

	do
		status = take_event(parser, rule, role);
	while (!status && accept(parser, between));
	return status;
}

/* Parses NAME { "/" NAME }: one name for all events, or one name for each event. */
static int take_key(struct parser *parser, struct rule *rule)
{
	char(*name)[RULES_WORD] = rule->key[rule->keys];
	uint32_t count = 0;
	int status;

	do {
		if (count == rule->events)
			return fail(parser, "more names than the rule has events");
		status = take_name(parser, "a field after 'by'", name[count++]);
	} while (!status && accept(parser, "/"));
	if (!status && count != 1 && count != rule->events)
		return fail(parser, "%u names for %u events: give one for all, or one for each", count,
			    rule->events);
	for (uint32_t n = 1; !status && count == 1 && n < rule->events; n++)
		memcpy(name[n], name[0], RULES_WORD);
	rule->keys++;
	return status;
}

static int take_keys(struct parser *parser, struct rule *rule)
{
	int status;

	do {
		if (rule->keys == KEYED_WORDS)
			return fail(parser, "more than %u fields after 'by'", KEYED_WORDS);
		status = take_key(parser, rule);
	} while (!status && accept(parser, ","));
	return status;
}

/* Parses STATE { "or" STATE } into bits 1 << enum threads_state. */
static int take_states(struct parser *parser, uint32_t *states)
{
	static const struct {
		const char *name;
		enum threads_state state;
	} names[] = { { "running", THREADS_RUNNING },	{ "runnable", THREADS_RUNNABLE },
		      { "sleeping", THREADS_SLEEPING }, { "waiting", THREADS_WAITING },
		      { "stopped", THREADS_STOPPED },	{ "dead", THREADS_DEAD } };
	const uint32_t count = sizeof(names) / sizeof(names[0]);

	do {
		uint32_t n = 0;

		while (n < count && !accept(parser, names[n].name))
			n++;
		if (n == count)
			return fail_expected(parser, "a state of a thread",
					     "running runnable sleeping waiting stopped dead");
		*states |= 1u << names[n].state;
	} while (accept(parser, "or"));
	return 0;
}

static int find_depth(struct parser *parser, const struct rule_word *name, uint32_t *index)
{
	char text[SUGGESTIONS_TEXT];
	struct suggestions similar;

	suggestions_start(&similar, name->text, strlen(name->text));
	for (uint32_t n = 0; n + 1 < parser->rules->count; n++) {
		if (parser->rules->rule[n].form != RULE_DEPTH)
			continue;
		if (strcmp(parser->rules->rule[n].name, name->text) == 0) {
			*index = n;
			return 0;
		}
		suggestions_offer(&similar, parser->rules->rule[n].name);
	}
	suggestions_text(&similar, text, sizeof(text));
	parser->words.word = *name;
	return fail(parser, "no depth '%s' is defined above%s", name->text, text);
}

/* Parses FIELD "is" STATES or DEPTH ">" NUMBER after "while". */
static int take_while(struct parser *parser, struct rule *rule)
{
	const struct rule_word name = parser->words.word;
	char field[RULES_WORD];
	int status = take_name(parser, "a field that holds a thread, or a depth", field);

	if (status)
		return status;
	if (accept(parser, "is")) {
		memcpy(rule->thread_field, field, sizeof(field));
		return take_states(parser, &rule->thread_states);
	}
	status = find_depth(parser, &name, &rule->depth);
	if (!status)
		status = expect(parser, ">");
	rule->in_depth = true;
	return status ? status : take_number(parser, &rule->limit);
}

/* Parses the name of a mistake that a CPU descriptor can record, after "broken". */
static int take_broken(struct parser *parser, struct rule *rule)
{
	static const char *const words[] = {
		[KTRX_BROKEN_SWITCH_LOCKED] = "switch-locked",
		[KTRX_BROKEN_SWITCH_PREEMPT] = "switch-preempt",
		[KTRX_BROKEN_SWITCH_INTERRUPT] = "switch-interrupt",
		[KTRX_BROKEN_RELEASE] = "release",
		[KTRX_BROKEN_ACQUIRE] = "acquire",
	};

	rule->form = RULE_BROKEN;
	for (uint32_t n = 1; n < sizeof(words) / sizeof(words[0]); n++) {
		if (!accept(parser, words[n]))
			continue;
		rule->broken = n;
		return 0;
	}
	return fail_expected(parser, "what can be broken",
			     "switch-locked switch-preempt switch-interrupt release acquire");
}

static int take_never(struct parser *parser, struct rule *rule)
{
	int status;

	if (accept(parser, "broken"))
		return take_broken(parser, rule);
	status = take_event(parser, rule, RULE_SUBJECT);
	rule->form = RULE_NEVER;
	if (status)
		return status;
	if (accept(parser, "while"))
		return take_while(parser, rule);
	if (!accept(parser, "after"))
		return 0;
	rule->form = RULE_AFTER;
	return take_events(parser, rule, RULE_CAUSE, "or");
}

static int take_every(struct parser *parser, struct rule *rule)
{
	int status = take_event(parser, rule, RULE_CAUSE);

	rule->form = RULE_WITHIN;
	if (!status)
		status = expect(parser, "then");
	if (!status)
		status = take_events(parser, rule, RULE_SUBJECT, "or");
	if (!status)
		status = expect(parser, "within");
	return status ? status : take_time(parser, &rule->time);
}

static int take_always(struct parser *parser, struct rule *rule)
{
	int status = take_event(parser, rule, RULE_SUBJECT);

	rule->form = RULE_ALWAYS;
	if (!status)
		status = expect(parser, "has");
	if (!status)
		status = expect(parser, "(");
	return status ? status : take_conditions(parser, rule->required, &rule->requirements);
}

static int take_most(struct parser *parser, struct rule *rule)
{
	int status = expect(parser, "most");

	rule->form = RULE_MOST;
	if (!status)
		status = take_number(parser, &rule->limit);
	if (!status)
		status = take_events(parser, rule, RULE_SUBJECT, "or");
	if (!status && accept(parser, "per"))
		status = take_time(parser, &rule->time);
	return status;
}

/* Parses "up" EVENTS "," "down" EVENTS [ "," "none" EVENTS ]. */
static int take_depth(struct parser *parser, struct rule *rule)
{
	int status = expect(parser, "up");

	rule->form = RULE_DEPTH;
	if (!status)
		status = take_events(parser, rule, RULE_CAUSE, "or");
	if (!status)
		status = expect(parser, ",");
	if (!status)
		status = expect(parser, "down");
	if (!status)
		status = take_events(parser, rule, RULE_RELEASE, "or");
	if (status || !accept(parser, ","))
		return status;
	status = expect(parser, "none");
	return status ? status : take_events(parser, rule, RULE_SUBJECT, "or");
}

/* Parses the clauses that may follow any form. */
static int take_tail(struct parser *parser, struct rule *rule)
{
	int status = 0;

	if ((rule->form == RULE_AFTER || rule->form == RULE_WITHIN) && accept(parser, "unless"))
		status = take_events(parser, rule, RULE_RELEASE, "or");
	if (!status && accept(parser, "by"))
		status = take_keys(parser, rule);
	if (!status && accept(parser, "needs"))
		status = take_events(parser, rule, RULE_NEEDED, ",");
	if (status)
		return status;
	if (parser->words.word.kind != RULE_WORD_END && !parser->words.word.begins)
		return fail_expected(parser, "the end of the rule",
				     "while after unless by needs per within in or");
	if (rule->in_depth && rule->keys == 0 && parser->rules->rule[rule->depth].keys)
		return fail(parser, "'%s' needs a 'by', because its depth '%s' has one", rule->name,
			    parser->rules->rule[rule->depth].name);
	if (rule->in_depth && rule->keys != parser->rules->rule[rule->depth].keys)
		return fail(parser, "'%s' and its depth have different numbers of names in 'by'", rule->name);
	return 0;
}

static int take_body(struct parser *parser, struct rule *rule, bool depth)
{
	if (depth)
		return take_depth(parser, rule);
	if (accept(parser, "never"))
		return take_never(parser, rule);
	if (accept(parser, "every"))
		return take_every(parser, rule);
	if (accept(parser, "always"))
		return take_always(parser, rule);
	if (accept(parser, "at"))
		return take_most(parser, rule);
	return fail_expected(parser, "'never', 'every', 'always' or 'at most'", "never every always at");
}

static int take_statement(struct parser *parser)
{
	struct rule_word *word = &parser->words.word;
	struct rules *rules = parser->rules;
	struct rule *rule = &rules->rule[rules->count];
	bool depth = false;
	int status;

	if (word->kind != RULE_WORD_NAME)
		return fail(parser, "expected the name of a rule instead of '%s'", word->text);
	if (!word->begins)
		return fail(parser, "'%s' is outside of a rule: a rule begins in the first column",
			    word->text);
	word->begins = false;
	if (accept(parser, "optional")) {
		parser->optional = true;
		return 0;
	}
	if (rules->count == RULES_MAX)
		return fail(parser, "more than %u rules", RULES_MAX);
	depth = accept(parser, "depth");
	rule->line = word->line;
	for (uint32_t n = 0; n < rules->count; n++)
		if (strcmp(rules->rule[n].name, word->text) == 0)
			return fail(parser, "the name '%s' is already used in line %u", word->text,
				    rules->rule[n].line);
	rules->count++;
	rule->optional = parser->optional;
	status = take_name(parser, "a name", rule->name);
	if (!status)
		status = expect(parser, ":");
	if (!status)
		status = take_body(parser, rule, depth);
	return status ? status : take_tail(parser, rule);
}

/* Returns the maximum number of rules that the text can contain: each rule begins a line. */
static size_t most_rules(const char *text, size_t length)
{
	size_t lines = 1;

	for (size_t n = 0; n < length && lines < RULES_MAX; n++)
		lines += text[n] == '\n';
	return lines;
}

int rules_parse(struct rules **result, const char *text, size_t length, struct rules_error *error)
{
	struct parser parser = {
		.rules = calloc(1, sizeof(struct rules) + most_rules(text, length) * sizeof(struct rule)),
		.error = error,
	};
	int status = 0;

	*result = parser.rules;
	if (!parser.rules)
		return KTREAD_E_MEMORY;
	rule_words_open(&parser.words, text, length);
	while (!status && parser.words.word.kind != RULE_WORD_END)
		status = take_statement(&parser);
	return status;
}
