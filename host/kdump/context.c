/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/context.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/put.h"
#include "kdump/tables.h"

#define NANO 1000000000u
/* of a session's table: each has all of it made anew, and a hostile trace may have it grow by bytes */
#define GROWTHS_MOST 64u

/* One that many sessions share is made once. */
static int take_table(struct kdump_context *context)
{
	const struct ktread_proc_info *info = context->info;
	const char *text = kdump_tables_choose(context->trace, context->options->table);
	const char *lasting = text == ktread_proc_table(context->trace) ? NULL : text;
	struct kdump_table *table;
	int result;

	if (lasting && lasting == context->text && info->machine == context->machine &&
	    info->address_size == context->address_size)
		return 0;
	result = kdump_table_create(&table, text, info->machine, info->address_size == 4 ? 4 : 8);
	if (result < 0)
		return result;
	kdump_table_destroy(context->words.table);
	context->words.table = table;
	context->text = lasting;
	context->machine = info->machine;
	context->address_size = info->address_size;
	return 0;
}

int kdump_context_take_session(struct kdump_context *context)
{
	const struct ktread_proc_info *info = context->info;
	bool grown = context->heads == info->heads && context->format == info->format;
	int result = 0;

	context->growths = grown ? context->growths + 1 : 0;
	if (context->growths <= GROWTHS_MOST)
		result = take_table(context);
	if (result < 0)
		return result;
	context->heads = info->heads;
	context->tables = info->tables;
	context->format = info->format;
	context->dragonfly = info->format == KTREAD_PROC_DRAGONFLY;
	context->ktrx = info->format == KTREAD_PROC_KTRX;
	context->own_table = *ktread_proc_table(context->trace) != '\0';
	base_ticks_scale_init(&context->scale, info->frequency);
	return 0;
}

int kdump_context_open(struct kdump_context *context, const struct kdump_options *options,
		       struct ktread_proc *trace, struct base_output *out, enum kdump_style style)
{
	*context = (struct kdump_context){
		.options = options,
		.out = out,
		.trace = trace,
		.info = ktread_proc_info(trace),
		.words = { .style = style, .decimal = options->decimal, .raw = options->raw },
	};
	return kdump_context_take_session(context);
}

void kdump_context_close(struct kdump_context *context)
{
	kdump_table_destroy(context->words.table);
	context->words.table = NULL;
	for (unsigned n = 0; n < KDUMP_FOREIGN; n++)
		kdump_table_destroy(context->foreign[n]);
}

uint32_t kdump_context_abi(const struct kdump_context *context, uint32_t pid)
{
	const struct kdump_abi *abi = &context->abi[pid % KDUMP_ABIS];

	return abi->pid == pid ? abi->flags : 0;
}

enum kdump_foreign kdump_context_foreign(const struct kdump_context *context, uint32_t pid)
{
	uint32_t flags = kdump_context_abi(context, pid);

	if (context->dragonfly || context->options->table)
		return KDUMP_FOREIGN;
	/* an ELF machine; of kernels with a table of their own only they know what it means */
	if (context->ktrx)
		return flags == EM_386 && !context->own_table ? KDUMP_LINUX32 : KDUMP_FOREIGN;
	if ((flags & KDUMP_SV_ABI) == KDUMP_SV_LINUX)
		return flags & KDUMP_SV_LP64 ? KDUMP_LINUX64 : KDUMP_LINUX32;
	if ((flags & KDUMP_SV_ABI) == KDUMP_SV_FREEBSD && flags & KDUMP_SV_ILP32 &&
	    context->info->address_size == 8)
		return KDUMP_FREEBSD32;
	return KDUMP_FOREIGN;
}

struct kdump_table *kdump_context_table(struct kdump_context *context, enum kdump_foreign whose)
{
	static const struct {
		const char *table;
		uint16_t machine;
		uint8_t address_size;
	} of[] = {
		[KDUMP_FREEBSD32] = { "freebsd", EM_386, 4 },
		[KDUMP_LINUX32] = { "linux", EM_386, 4 },
		[KDUMP_LINUX64] = { "linux", EM_X86_64, 8 },
	};

	if (whose == KDUMP_FOREIGN)
		return context->words.table;
	if (!context->foreign[whose] &&
	    kdump_table_create(&context->foreign[whose], kdump_tables_text(of[whose].table),
			       of[whose].machine, of[whose].address_size) < 0)
		return context->words.table;
	return context->foreign[whose];
}

struct kdump_table *kdump_context_calls(struct kdump_context *context, uint32_t pid)
{
	return kdump_context_table(context, kdump_context_foreign(context, pid));
}

uint64_t kdump_nanoseconds(const struct kdump_context *context, uint64_t ticks)
{
	return context->scale.frequency ? base_ticks_nanoseconds(&context->scale, ticks) : ticks;
}

uint64_t kdump_absolute(const struct kdump_context *context, uint64_t stamp)
{
	const struct ktread_proc_info *info = context->info;

	if (info->wall_ns == 0 || context->scale.frequency == 0)
		return kdump_nanoseconds(context, stamp);
	if (stamp >= info->wall_stamp)
		return info->wall_ns + kdump_nanoseconds(context, stamp - info->wall_stamp);
	return info->wall_ns - kdump_nanoseconds(context, info->wall_stamp - stamp);
}

static char *put_seconds(char *at, const struct kdump_context *context, uint64_t nanoseconds)
{
	if (context->scale.frequency == 0)
		return base_put_decimal(at, nanoseconds);
	at = base_put_decimal(at, nanoseconds / NANO);
	*at++ = '.';
	if (context->ktrx || context->info->format == KTREAD_PROC_FREEBSD1)
		return base_put_six(base_put_three(at, (uint32_t)(nanoseconds % NANO / 1000000)),
				    (uint32_t)(nanoseconds % 1000000));
	return base_put_six(at, (uint32_t)(nanoseconds % NANO / 1000));
}

char *kdump_put_duration(char *at, const struct kdump_context *context, uint64_t ticks)
{
	return put_seconds(at, context, kdump_nanoseconds(context, ticks));
}

/* Stamps of several CPUs need not be in order. */
static char *put_since(char *at, const struct kdump_context *context, uint64_t stamp, uint64_t since)
{
	bool back = stamp < since;

	*at = '-';
	at = kdump_put_duration(at + back, context, back ? since - stamp : stamp - since);
	*at = ' ';
	return at + 1;
}

char *kdump_put_times(char *at, struct kdump_context *context, uint64_t stamp)
{
	const struct kdump_options *options = context->options;

	if (!context->any) {
		context->any = true;
		context->first = context->previous = stamp;
	}
	if (options->absolute) {
		at = put_seconds(at, context, kdump_absolute(context, stamp));
		*at++ = ' ';
	}
	if (options->elapsed)
		at = put_since(at, context, stamp, context->first);
	if (options->relative)
		at = put_since(at, context, stamp, context->previous);
	context->previous = stamp;
	return at;
}

#define SMALL 4096u /* no address */

static bool has(uint64_t value, uint64_t flag)
{
	return flag && (value & flag) == flag;
}

/* The mode of open() means nothing unless the flags before it say so. */
static bool is_unused(const struct kdump_arguments *arguments, const struct kdump_type *type)
{
	const struct kdump_type *flags = arguments->before;

	return type && type->base == KDUMP_MODE && flags && flags->creates[0] &&
	       !has(arguments->value_before, flags->creates[0]) &&
	       !has(arguments->value_before, flags->creates[1]);
}

/* "so^" behind a level SOL_SOCKET is "so_SOL_SOCKET"; where there is none, a number or an address. */
static const struct kdump_type *resolve(const struct kdump_table *table, const struct kdump_type *type,
					const char *key, uint64_t value)
{
	static const struct kdump_type number = { .base = KDUMP_INT };
	char name[2 * KDUMP_NAME + 2];

	if (!type || !type->keyed)
		return type;
	snprintf(name, sizeof(name), "%.*s_%s", (int)strlen(type->name) - 1, type->name, key ? key : "");
	type = kdump_table_type(table, name);
	return type || value >= SMALL ? type : &number;
}

void kdump_arguments_begin(struct kdump_arguments *arguments, struct kdump_table *table, uint32_t number,
			   const uint64_t *word, unsigned words, bool all)
{
	const struct kdump_call *call = kdump_table_call(table, number);
	const struct kdump_variant *variant = kdump_call_variant(call, word, words);

	*arguments = (struct kdump_arguments){
		.most = variant ? variant->arguments
			: call	? call->arguments
				: 0,
		.table = table,
		.call = call,
		.typed = call && call->typed && !all,
		.word = word,
		.words = words,
		.narrow = kdump_table_address_size(table) == 4,
	};
}

static uint64_t take_word(struct kdump_arguments *arguments, const struct kdump_type *type)
{
	uint64_t value = arguments->word[arguments->next_word++];

	if (arguments->narrow && type && type->base == KDUMP_OFF && arguments->next_word < arguments->words)
		value = (uint32_t)value | arguments->word[arguments->next_word++] << 32;
	return value;
}

/* How it reads, and whether it is shown at all, depends on nothing before it, nor does what follows on it. */
static bool stands_alone(const struct kdump_type *type)
{
	return !type ||
	       (type->symbols == 0 && !type->keyed && type->base != KDUMP_MODE && type->base != KDUMP_OFF);
}

static void set_type(struct kdump_one *one, const struct kdump_type *type,
		     const struct kdump_argument *pointer)
{
	static const struct kdump_type address = { .name = "ptr", .base = KDUMP_PTR };

	one->pointer = pointer ? pointer : type ? type->pointer : NULL;
	one->type = one->pointer ? &address : type;
}

/* The value of the argument that `one` has the type of by the table; false if it means nothing. */
static bool take_argument(struct kdump_arguments *arguments, struct kdump_one *one)
{
	const struct kdump_type *type = one->type;

	one->value = take_word(arguments, type);
	type = resolve(arguments->table, type, arguments->key, one->value);
	set_type(one, type, NULL);
	if (type && type->symbols && !type->flags && !type->mask)
		arguments->key = kdump_type_symbol(type, one->value);
	return !is_unused(arguments, type);
}

static void take_description(const struct kdump_argument *argument, struct kdump_one *one)
{
	set_type(one, argument->type, argument->access ? argument : NULL);
	one->name = argument->name;
}

bool kdump_arguments_next(struct kdump_arguments *arguments, struct kdump_one *one)
{
	const struct kdump_call *call = arguments->call;

	while (arguments->next_word < arguments->words) {
		*one = (struct kdump_one){ .name = "", .number = arguments->next_word };
		if (arguments->typed && arguments->next == arguments->most)
			return false;
		if (arguments->typed)
			take_description(&call->argument[arguments->next], one);
		arguments->next++;
		if (stands_alone(one->type))
			one->value = arguments->word[arguments->next_word++];
		else if (!take_argument(arguments, one))
			continue;
		arguments->before = one->type;
		arguments->value_before = one->value;
		return true;
	}
	return false;
}

char *kdump_put_call_name(char *at, const struct kdump_context *context, struct kdump_table *calls,
			  uint32_t number)
{
	const struct kdump_call *call = kdump_table_call(calls, number);

	if (call)
		at = kdump_put_name(at, call->name);
	if (call && !context->options->numbers)
		return at;
	*at = '[';
	at = base_put_signed(at + 1, (int32_t)number);
	*at = ']';
	return at + 1;
}
