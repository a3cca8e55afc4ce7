/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "calls/tables.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/machine.h"
#include "ktread/ktread.h"

/* Keywords for types. spec/ktrx-proc.md (normative) has the same list. */
static const struct {
	const char *word;
	enum calls_base base;
} words[] = {
	{ "int", CALLS_INT },	      { "uint", CALLS_UINT },
	{ "long", CALLS_LONG },	      { "ulong", CALLS_ULONG },
	{ "size", CALLS_SIZE },	      { "off", CALLS_OFF },
	{ "ptr", CALLS_PTR },	      { "path", CALLS_PATH },
	{ "str", CALLS_STR },	      { "data", CALLS_DATA },
	{ "buffer", CALLS_BUFFER },   { "sockaddr", CALLS_STRUCTURE },
	{ "fd", CALLS_FD },	      { "pid", CALLS_PID },
	{ "uid", CALLS_UID },	      { "gid", CALLS_GID },
	{ "uid16", CALLS_UID },	      { "gid16", CALLS_GID },
	{ "mode", CALLS_MODE },	      { "sig", CALLS_SIG },
	{ "ms", CALLS_MS },	      { "time", CALLS_TIME },
	{ "utime", CALLS_UTIME },     { "ipv4", CALLS_IPV4 },
	{ "ipv4_be", CALLS_IPV4 },    { "ipv6", CALLS_IPV6 },
	{ "port_be", CALLS_PORT },    { "void", CALLS_VOID },
	{ "atfd", CALLS_FD },	      { "text", CALLS_TEXT },
	{ "strings", CALLS_STRINGS }, { "sigset", CALLS_SIGSET },
	{ "sigset32", CALLS_SIGSET }, { "sigset_arg", CALLS_SIGSET },
	{ "fdset", CALLS_FDSET },     { "cpuset", CALLS_FDSET },
	{ "sockopt", CALLS_SOCKOPT }, { "wstatus", CALLS_WSTATUS },
	{ "control", CALLS_CONTROL }, { "dirents", CALLS_DIRENTS },
};

/*
 * A value from a line "flags" or "enum". It is stored here until all lines are read; then the values of each
 * type are stored together.
 */
struct line {
	unsigned type; /* index in table->type[] of the value's type */
	bool flag;
	unsigned order;
	struct calls_value value;
};

struct parser {
	struct calls_table *table;
	struct line *line;
	size_t lines;
	uint32_t room;
	const char *machine; /* name by which lines "on MACHINE" select the machine; "": none */
	bool memory;	     /* true if memory ran out */
};

/* ---- words of a line ---- */

/* Returns the next word, NUL-terminated; "" at the end. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " ");
	char *end = word + strcspn(word, " ");

	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static char *next_name(char **at)
{
	char *name = next_word(at);

	if (strlen(name) > CALLS_NAME)
		name[CALLS_NAME] = '\0';
	return name;
}

/* Returns the text before the next comma, NUL-terminated; NULL at the end. */
static char *next_item(char **at)
{
	char *item = *at, *comma;

	if (!item)
		return NULL;
	comma = strchr(item, ',');
	*at = comma ? comma + 1 : NULL;
	if (comma)
		*comma = '\0';
	return item;
}

/*
 * Parses a number: decimal, 0x…, or octal with a leading zero; it may be negative. Returns false if the text
 * is not a number.
 */
static bool to_number(const char *word, uint64_t *value)
{
	char *end;

	*value = strtoull(word, &end, 0);
	return end != word && *end == '\0';
}

/* ---- types of values ---- */

/* Finds or adds a type. Returns its index; 0, which is the type "hex", if the type cannot be added. */
static unsigned find_type(struct parser *parser, const char *name)
{
	struct calls_table *table = parser->table;
	const unsigned place = calls_table_place(table, name);
	size_t length = strlen(name);
	struct calls_type *type;

	if (place > 0)
		return place - 1;
	if (table->types == CALLS_TYPES_MAX)
		return 0;
	type = calloc(1, sizeof(*type));
	if (!type) {
		parser->memory = true;
		return 0;
	}
	memcpy(type->name, name, length);
	type->keyed = length > 1 && name[length - 1] == '^';
	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (strcmp(words[n].word, name) == 0)
			type->base = words[n].base;
	table->type[table->types] = type;
	calls_table_chain(table, table->types);
	return table->types++;
}

static const struct calls_type *type_of(struct parser *parser, char **at)
{
	char *name = next_name(at);

	return parser->table->type[find_type(parser, *name ? name : "hex")];
}

/* Parses "flags TYPE VALUE NAME" or "enum TYPE VALUE NAME". */
static void take_value(struct parser *parser, char *at, bool flag)
{
	char *type = next_name(&at), *number = next_word(&at);
	struct calls_value value = { .name = next_name(&at) };
	struct line *larger;

	if (!to_number(number, &value.value) || !*value.name || (flag && value.value == 0))
		return;
	larger = base_grow(parser->line, &parser->room, parser->lines + 1, sizeof(*larger));
	if (!larger) {
		parser->memory = true;
		return;
	}
	parser->line = larger;
	parser->line[parser->lines] = (struct line){ .type = find_type(parser, type),
						     .flag = flag,
						     .order = (unsigned)parser->lines,
						     .value = value };
	parser->lines++;
}

/* Parses "field TYPE MASK". */
static void take_field(struct parser *parser, char *at)
{
	char *type = next_name(&at);
	uint64_t mask;

	if (*type && to_number(next_word(&at), &mask))
		parser->table->type[find_type(parser, type)]->mask = mask;
}

static unsigned find_argument(const struct calls_call *call, const char *name)
{
	unsigned n = 0;

	while (n < call->arguments && strcmp(call->argument[n].name, name) != 0)
		n++;
	return n;
}

/*
 * Returns true if the last argument has the same name as an earlier argument. Names must be unique, because
 * arguments are members of a JSON object.
 */
static bool is_named_before(const struct calls_call *call)
{
	return find_argument(call, call->argument[call->arguments - 1].name) + 1 < call->arguments;
}

/* ---- system calls ---- */

/* Cuts "[COUNT]" off a type and returns COUNT; NULL if there is none. */
static const char *take_count(char *type)
{
	char *count = strchr(type, '['), *end = count ? strchr(count, ']') : NULL;

	if (!end)
		return NULL;
	*count = *end = '\0';
	return count + 1;
}

static unsigned access_of(char mark)
{
	return mark == '<'   ? CALLS_GIVEN
	       : mark == '>' ? CALLS_FILLED
	       : mark == '=' ? CALLS_GIVEN | CALLS_FILLED
			     : 0;
}

/* Parses "TYPE", "<TYPE" or ">TYPE[COUNT]". Returns COUNT or NULL. */
static const char *take_argument_type(struct parser *parser, struct calls_argument *argument, char *type)
{
	const char *count;

	argument->access = (uint8_t)access_of(*type);
	if (argument->access)
		type++;
	count = take_count(type);
	argument->type = parser->table->type[find_type(parser, *type ? type : "hex")];
	return count;
}

/* Parses an argument: its type, as take_argument_type() does, and its name. */
static const char *take_argument(struct parser *parser, struct calls_argument *argument, char *at)
{
	const char *count = take_argument_type(parser, argument, next_name(&at));

	argument->name = next_name(&at);
	return count;
}

/*
 * Parses COUNT, the number of values at the address in an argument: "2" is the number itself; "=" means the
 * result of the call; "len" means the value of the argument `len`; "*len" means the number to which the
 * argument `len` points.
 */
static void set_count(const struct calls_call *call, struct calls_argument *argument, const char *word)
{
	uint64_t number;

	if (strcmp(word, "=") == 0) {
		argument->counted = CALLS_COUNT_RESULT;
	} else if (to_number(word, &number) && number <= UINT16_MAX) {
		argument->counted = CALLS_COUNT_NUMBER;
		argument->count = (uint16_t)number;
	} else {
		for (unsigned n = 0; n < call->arguments; n++)
			if (strcmp(call->argument[n].name, word + (*word == '*')) == 0) {
				argument->counted = *word == '*' ? CALLS_COUNT_AT : CALLS_COUNT_ARGUMENT;
				argument->count = (uint16_t)n;
			}
	}
}

static void take_arguments(struct parser *parser, struct calls_call *call, char *at)
{
	const char *count[CALLS_ARGUMENTS];
	char *item;

	while (call->arguments < CALLS_ARGUMENTS && (item = next_item(&at)) != NULL) {
		struct calls_argument *argument = &call->argument[call->arguments];

		count[call->arguments++] = take_argument(parser, argument, item);
		if (isdigit((unsigned char)*argument->name) || is_named_before(call))
			argument->name = "";
	}
	for (unsigned n = 0; n < call->arguments; n++)
		if (count[n])
			set_count(call, &call->argument[n], count[n]);
}

/* Parses "NUMBER NAME RESULT, TYPE NAME, …". If NUMBER is "*", looks up the number by NAME. */
static void take_call(struct parser *parser, const char *number, char *at)
{
	struct calls_table *table = parser->table;
	uint64_t value = CALLS_CALLS_MAX;
	bool named = strcmp(number, "*") == 0;
	struct calls_table_call *call;
	char *name = next_name(&at), *item;

	if (!*name || (!named && (!to_number(number, &value) || value >= CALLS_CALLS_MAX)) ||
	    table->calls == CALLS_CALLS_MAX)
		return;
	call = calloc(1, sizeof(*call));
	if (!call) {
		parser->memory = true;
		return;
	}
	call->named = named;
	call->public.name = name;
	item = next_item(&at);
	call->public.typed = item && item[strspn(item, " ")] != '\0';
	if (call->public.typed)
		call->public.result = type_of(parser, &item);
	take_arguments(parser, &call->public, at);
	table->call[table->calls++] = call;
	table->has_names = table->has_names || named;
	if (!named)
		table->by_number[value] = &call->public;
}

static struct calls_call *find_call(struct calls_table *table, const char *name)
{
	for (unsigned n = table->calls; n-- > 0;)
		if (strcmp(table->call[n]->public.name, name) == 0)
			return &table->call[n]->public;
	return NULL;
}

/*
 * Parses one difference between a variant and its call, and stores it in the variant: "RESULT", "-ARGUMENT"
 * or "ARGUMENT=TYPE/NAME".
 */
static void take_difference(struct parser *parser, const struct calls_call *call,
			    struct calls_variant *variant, char *word)
{
	char *type = strchr(word, '='), *name = type ? strchr(type, '/') : NULL;
	const char *count;
	unsigned n;

	if (name) {
		*type++ = *name++ = '\0';
		n = find_argument(call, word);
		if (n == call->arguments)
			return;
		variant->is[n] = (struct calls_argument){ .name = name };
		count = take_argument_type(parser, &variant->is[n], type);
		if (count)
			set_count(call, &variant->is[n], count);
	} else if (*word == '-') {
		n = find_argument(call, word + 1);
		variant->unused |= n < call->arguments ? UINT32_C(1) << n : 0;
	} else {
		variant->result = parser->table->type[find_type(parser, word)];
	}
}

/* Parses "when CALL ARGUMENT VALUE COUNT DIFFERENCE…". */
static void take_variant(struct parser *parser, char *at)
{
	struct calls_call *call = find_call(parser->table, next_name(&at));
	const char *argument = next_name(&at), *symbol = next_name(&at);
	struct calls_variant *variant;
	uint64_t arguments;
	char *word;
	unsigned n;

	if (!call || !to_number(next_word(&at), &arguments) || arguments > call->arguments)
		return;
	n = find_argument(call, argument);
	if (n == call->arguments)
		return;
	variant = calloc(1, sizeof(*variant));
	if (!variant) {
		parser->memory = true;
		return;
	}
	*variant = (struct calls_variant){
		.next = call->variant, .argument = n, .symbol = symbol, .arguments = (unsigned)arguments
	};
	for (word = next_name(&at); *word; word = next_name(&at))
		take_difference(parser, call, variant, word);
	call->variant = variant;
}

/*
 * Parses "pointer TYPE <TYPE" or "pointer TYPE >TYPE[COUNT]". A value of the first TYPE is an address. The
 * rest of the line describes the data at that address.
 */
static void take_pointer(struct parser *parser, char *at)
{
	const struct calls_call none = { .arguments = 0 };
	char *name = next_name(&at);
	unsigned type = find_type(parser, name);
	struct calls_argument *pointer;
	const char *count;

	if (!*name || parser->table->type[type]->pointer)
		return;
	pointer = calloc(1, sizeof(*pointer));
	if (!pointer) {
		parser->memory = true;
		return;
	}
	count = take_argument(parser, pointer, at);
	if (count)
		set_count(&none, pointer, count);
	parser->table->type[type]->pointer = pointer;
}

/* Parses "error NUMBER NAME" or "signal NUMBER NAME". */
static void take_numbered(const char **names, uint32_t most, char *at)
{
	uint64_t number;
	char *word = next_word(&at), *name = next_name(&at);

	if (*name && to_number(word, &number) && number < most)
		names[number] = name;
}

/* ---- structs ---- */

/* Parses a field of a struct: "TYPE NAME OFFSET" or "TYPE NAME OFFSET+WIDTH". */
static void take_struct_field(struct parser *parser, struct calls_layout *layout, char *at)
{
	struct calls_field field = { .type = type_of(parser, &at) };
	char *offset, *plus;
	uint64_t number, width = 0;

	field.name = next_name(&at);
	offset = next_word(&at);
	plus = strchr(offset, '+');
	if (plus)
		*plus = '\0';
	if (!*field.name || !to_number(offset, &number) || number >= layout->size ||
	    (plus && !to_number(plus + 1, &width)) || width > layout->size - number)
		return;
	field.offset = (uint32_t)number;
	field.width = (uint32_t)width;
	for (unsigned n = 0; n < layout->fields; n++)
		if (strcmp(layout->field[n].name, field.name) == 0)
			return;
	layout->field[layout->fields++] = field;
	layout->descriptors |= field.type->base == CALLS_FD;
}

/* Sets missing widths: a field without a width extends to the next field, or to the end of the struct. */
static void set_widths(struct calls_layout *layout)
{
	for (unsigned n = 0; n < layout->fields; n++) {
		struct calls_field *field = &layout->field[n];
		uint32_t end = layout->size;

		for (unsigned other = 0; other < layout->fields; other++)
			if (layout->field[other].offset > field->offset && layout->field[other].offset < end)
				end = layout->field[other].offset;
		if (field->width == 0)
			field->width = end - field->offset;
	}
}

/* Parses "struct NAME SIZE, …". */
static void take_struct(struct parser *parser, char *at, bool own)
{
	struct calls_table *table = parser->table;
	char *head = next_item(&at), *item;
	char *name = next_name(&head);
	struct calls_layout *layout;
	uint64_t size;

	if (!*name || !to_number(next_word(&head), &size) || size == 0 || size > UINT16_MAX ||
	    table->layouts == CALLS_LAYOUTS_MAX)
		return;
	layout = calloc(1, sizeof(*layout));
	if (!layout) {
		parser->memory = true;
		return;
	}
	layout->name = name;
	layout->size = (uint32_t)size;
	layout->own = own;
	while (layout->fields < CALLS_FIELDS && (item = next_item(&at)) != NULL)
		take_struct_field(parser, layout, item);
	set_widths(layout);
	table->layout[table->layouts++] = layout;
}

/* ---- lines of the table ---- */

static void take_line(struct parser *parser, char *line)
{
	char *word = next_word(&line);
	const bool own = strcmp(word, "on") == 0;

	if (own) {
		if (strcmp(next_word(&line), parser->machine) != 0)
			return;
		word = next_word(&line);
	}
	if (strcmp(word, "*") == 0 || (*word >= '0' && *word <= '9'))
		take_call(parser, word, line);
	else if (strcmp(word, "error") == 0)
		take_numbered(parser->table->error, CALLS_ERRORS_MAX, line);
	else if (strcmp(word, "signal") == 0)
		take_numbered(parser->table->signal, CALLS_SIGNALS, line);
	else if (strcmp(word, "flags") == 0 || strcmp(word, "enum") == 0)
		take_value(parser, line, *word == 'f');
	else if (strcmp(word, "field") == 0)
		take_field(parser, line);
	else if (strcmp(word, "struct") == 0)
		take_struct(parser, line, own);
	else if (strcmp(word, "when") == 0)
		take_variant(parser, line);
	else if (strcmp(word, "pointer") == 0)
		take_pointer(parser, line);
}

/* Replaces characters that would have to be escaped in some output. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if (*text == '\t' || *text == '\r')
			*text = ' ';
		else if (*text != '\n' && (*text < ' ' || *text > '~' || *text == '"' || *text == '\\'))
			*text = '?';
	}
}

static int by_type(const void *first, const void *second)
{
	const struct line *a = first, *b = second;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->flag != b->flag)
		return a->flag ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/*
 * If the flag makes open() create a file, stores it in the type. The flag is recognised by its name, because
 * its value differs from kernel to kernel.
 */
static void set_creating(struct calls_type *type, const struct calls_value *flag)
{
	if (strcmp(flag->name, "O_CREAT") == 0)
		type->creates[0] = flag->value;
	else if (strcmp(flag->name, "O_TMPFILE") == 0)
		type->creates[1] = flag->value;
}

/*
 * Attaches the values to their types. If the table does not define how the values of a type are shown, they
 * are shown as names. A value without a name is shown as a number.
 */
static int attach_values(struct parser *parser)
{
	struct calls_table *table = parser->table;

	table->value = calloc(parser->lines + 1, sizeof(*table->value));
	if (!table->value)
		return KTREAD_E_MEMORY;
	if (parser->lines)
		qsort(parser->line, parser->lines, sizeof(*parser->line), by_type);
	for (size_t n = 0; n < parser->lines; n++) {
		struct calls_type *type = table->type[parser->line[n].type];

		table->value[n] = parser->line[n].value;
		if (type->base == CALLS_HEX && strcmp(type->name, "hex") != 0)
			type->base = CALLS_SYMBOL;
		if (parser->line[n].flag)
			set_creating(type, &table->value[n]);
		if (parser->line[n].flag && type->flags++ == 0)
			type->flag = &table->value[n];
		if (!parser->line[n].flag && type->symbols++ == 0)
			type->symbol = &table->value[n];
	}
	return 0;
}

/*
 * Returns the name with which lines "on MACHINE" select the machine; "" if it has none. ktrace does not run
 * on i386, but its programs run on x86_64.
 */
static const char *machine_name(uint16_t machine)
{
	const char *name = machine == EM_386 ? "i386" : base_machine_name(machine);

	return name ? name : "";
}

int calls_table_parse(struct calls_table *table)
{
	struct parser parser = { .table = table, .machine = machine_name(table->machine) };
	char *line = table->text, *end;
	int result;

	find_type(&parser, "hex"); /* type 0 is "hex"; it is used instead of a type that cannot be added */
	if (parser.memory)
		return KTREAD_E_MEMORY;
	make_printable(table->text);
	for (; *line && !parser.memory; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line != '#')
			take_line(&parser, line);
	}
	result = attach_values(&parser);
	calls_table_find_structures(table);
	free(parser.line);
	return parser.memory ? KTREAD_E_MEMORY : result;
}
