/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * kdump [-f FILE] [-m MAX] [-p PID]: a process trace (ktrace.out) in words, line by line as the host's kdump has them. It
 * knows calls, names, data, signals, context switches, utrace, settings and lives; of the rest it says at the end that
 * there is some.
 */
#include <error.h>
#include <line.h>
#include <option.h>
#include <program.h>
#include <records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <table.h>
#include <unistd.h>

#define COLUMNS	  80
#define TAB	  8
#define USUAL_MAX 64
#define NAMES	  64 /* processes whose names are kept at a time */
#define NAME_MOST 32

static struct records records;
static struct table table;
static bool table_is_over; /* a record that is none of it came: the next belongs to another session */
static struct line out;
static unsigned data_max = USUAL_MAX;
static unsigned left_out;

static union {
	char bytes[KTRX_PROC_USER_MAX * 2 + 64];
	uint64_t words[1];
	struct ktrx_proc_sysret sysret;
	struct ktrx_proc_genio genio;
	struct ktrx_proc_psig psig;
	struct ktrx_proc_csw csw;
	struct ktrx_proc_ctor ctor;
	struct ktrx_proc_dtor dtor;
	struct ktrx_proc_end end;
} payload;
static size_t payload_size; /* of it that is here */

/* ---- Names of processes ------------------------------------------------------------------------ */

static struct {
	uint32_t pid;
	char name[NAME_MOST + 1];
} names[NAMES];
static unsigned next_name;

static void keep_name(uint32_t pid)
{
	unsigned n = 0;

	while (n < NAMES && names[n].pid != pid)
		n++;
	if (n == NAMES)
		n = next_name++ % NAMES;
	names[n].pid = pid;
	memset(names[n].name, 0, sizeof(names[n].name));
	memcpy(names[n].name, payload.bytes, payload_size < NAME_MOST ? payload_size : NAME_MOST);
}

static const char *name_of(uint32_t pid)
{
	for (unsigned n = 0; n < NAMES; n++)
		if (names[n].pid == pid)
			return names[n].name;
	return "";
}

/* ---- Values ------------------------------------------------------------------------------------ */

static void put_hex(uint64_t value)
{
	line_put(&out, value ? "0x%lx" : "%lx", value);
}

static void put_octal(uint32_t value)
{
	if (value > 7)
		put_octal(value >> 3);
	else
		line_byte(&out, '0');
	if (value)
		line_byte(&out, (char)('0' + (value & 7)));
}

static void put_signal(uint32_t number)
{
	struct table_line line;
	char text[TABLE_WORD];

	format(text, sizeof(text), "%u", number);
	if (table_find(&table, "signal", text, &line) && table_word(&line, 2, text))
		line_put(&out, "%s", text);
	else
		line_put(&out, "SIG %u", number);
}

static bool find_value(const char *type, uint64_t wanted, char *name)
{
	uint64_t value;
	size_t at = 0;

	while (table_each(&table, "enum", type, &at, &value, name))
		if (value == wanted)
			return true;
	return false;
}

/* Bits that are a value of their own, by "field TYPE MASK"; 0: none. */
static uint64_t field_mask(const char *type)
{
	struct table_line line;
	char word[TABLE_WORD];

	return table_find(&table, "field", type, &line) && table_word(&line, 2, word) ? table_number(word)
										      : 0;
}

static bool put_name(bool any, const char *name)
{
	line_put(&out, any ? "|%s" : "%s", name);
	return true;
}

static void put_flags(const char *type, uint64_t value)
{
	uint64_t mask = field_mask(type), flag;
	char name[TABLE_WORD];
	bool any = false;
	size_t at = 0;

	if ((mask || value == 0) && find_value(type, mask ? value & mask : value, name)) {
		any = put_name(any, name);
		value &= ~mask;
	}
	while (table_each(&table, "flags", type, &at, &flag, name)) {
		if ((value & flag) != flag)
			continue;
		any = put_name(any, name);
		value &= ~flag;
	}
	if (value == 0 && any)
		return;
	if (any)
		line_byte(&out, '|');
	put_hex(value);
}

static void put_value(const char *type, uint64_t value)
{
	char name[TABLE_WORD];
	uint64_t first;
	size_t at = 0;

	if (strcmp(type, "sig") == 0) {
		put_signal((uint32_t)value);
	} else if (table_each(&table, "flags", type, &at, &first, name)) {
		put_hex(value);
		if (value == 0 && !find_value(type, 0, name))
			return;
		line_byte(&out, '<');
		put_flags(type, value);
		line_byte(&out, '>');
	} else if (find_value(type, value, name)) {
		line_put(&out, "%s", name);
	} else if (strcmp(type, "mode") == 0) {
		put_octal((uint32_t)value);
	} else {
		put_hex(value);
	}
}

/* A byte as vis(3) has it, where it is followed by that one. */
static void put_visible(char byte, char next)
{
	unsigned char c = (unsigned char)byte;

	if (c == '\\')
		line_put(&out, "\\\\");
	else if (c == '\r')
		line_put(&out, "\\r");
	else if (c == '\n')
		line_put(&out, "\\n");
	else if (c == '\t')
		line_put(&out, "\\t");
	else if (c == 0)
		line_put(&out, next >= '0' && next <= '7' ? "\\000" : "\\0");
	else if (c < ' ')
		line_put(&out, "\\^"), line_byte(&out, (char)(c + '@'));
	else if (c < 0x7f)
		line_byte(&out, byte);
	else
		line_put(&out, "\\x%02x", c);
}

static void put_quoted(const char *text, size_t length)
{
	line_byte(&out, '"');
	for (size_t i = 0; i < length; i++)
		put_visible(text[i], i + 1 < length ? text[i + 1] : '\0');
	line_put(&out, records.record.flags & KTRX_PROC_CUT ? "\"..." : "\"");
}

/* ---- Calls ------------------------------------------------------------------------------------- */

static bool put_call_name(uint32_t number, struct table_line *line)
{
	char text[TABLE_WORD];
	bool known;

	format(text, sizeof(text), "%u", number);
	known = table_find(&table, text, NULL, line) && table_word(line, 1, text);
	line_put(&out, known ? "%s" : "[%s]", text);
	return known;
}

/* The mode of open() means nothing unless the flags before it say so. */
static bool is_unused(const char *type, const char *type_before, uint64_t before)
{
	char name[TABLE_WORD];
	uint64_t flag;
	size_t at = 0;

	if (strcmp(type, "mode") != 0)
		return false;
	while (table_each(&table, "flags", type_before, &at, &flag, name))
		if (strcmp(name, "O_CREAT") == 0)
			return !(before & flag);
	return false;
}

static void put_call(void)
{
	const struct ktrx_proc_syscall *call = (const void *)payload.bytes;
	const uint64_t *argument = payload.words + 1;
	char type[TABLE_WORD], before[TABLE_WORD] = "";
	struct table_line line;
	bool known = put_call_name(call->number, &line), any = false;

	for (unsigned n = 0; n < call->args && n < KTRX_PROC_ARGS_MAX; n++) {
		if (known && !table_word(&line, 3 + 2 * n, type))
			break;
		if (known && n > 0 && is_unused(type, before, argument[n - 1]))
			continue;
		line_byte(&out, any ? ',' : '(');
		any = true;
		put_value(known ? type : "", argument[n]);
		string_copy(before, known ? type : "", sizeof(before));
	}
	if (any)
		line_byte(&out, ')');
}

static void put_return(void)
{
	struct table_line line;
	int64_t result = payload.sysret.result;

	put_call_name(payload.sysret.number, &line);
	if (payload.sysret.error)
		line_put(&out, " -1 errno %d %s", payload.sysret.error, error_text(payload.sysret.error));
	else if (result < 0 || result > 9)
		line_put(&out, " %ld/0x%lx", result, (uint64_t)result);
	else
		line_put(&out, " %ld", result);
}

/* ---- Data -------------------------------------------------------------------------------------- */

static bool is_binary(const char *bytes, size_t size)
{
	for (size_t n = 0; n < size; n++)
		if ((bytes[n] < ' ' || bytes[n] == 0x7f) && bytes[n] && !strchr("\n\r\t", bytes[n]))
			return true;
	return false;
}

/* Lines of text between quotation marks, folded at the edge of the screen. */
static void put_text(const char *bytes, size_t size)
{
	unsigned column = TAB;

	line_put(&out, "       \"");
	for (size_t n = 0; n < size; n++) {
		char next = n + 1 < size ? bytes[n + 1] : '\0';
		bool plain = bytes[n] == '\n' || bytes[n] == '\t';
		unsigned width = bytes[n] == '\t'		       ? TAB - column % TAB
				 : bytes[n] >= ' ' && bytes[n] != '\\' ? 1
								       : 2;

		if (bytes[n] == '\0' && next >= '0' && next <= '7')
			width = 4;
		if (column == 0) {
			line_byte(&out, '\t');
			column = TAB;
		}
		if (bytes[n] != '\n' && column + width > COLUMNS - 2) {
			line_put(&out, "\\\n\t");
			column = TAB;
		}
		if (plain)
			line_byte(&out, bytes[n]);
		else
			put_visible(bytes[n], next);
		column = bytes[n] == '\n' ? 0 : column + width;
	}
	line_put(&out, column == 0 ? "       \"" : "\"");
}

/* As many bytes a row, two by two, as leave the line shorter than the screen. */
static void put_bytes(const char *bytes, size_t size)
{
	size_t width = 2;

	while (13 + (width + 2) / 2 + 1 + 3 * (width + 2) + 4 < COLUMNS)
		width += 2;
	for (size_t row = 0; row < size; row += width) {
		line_put(&out, row ? "\n       0x%04lx" : "       0x%04lx", row);
		for (size_t n = row; n < row + width; n++) {
			line_put(&out, n % 2 ? "" : " ");
			if (n < size)
				line_put(&out, "%02x", (unsigned char)bytes[n]);
			else
				line_put(&out, "  ");
		}
		line_put(&out, "  |");
		for (size_t n = row; n < size && n < row + width; n++)
			line_byte(&out, bytes[n] >= ' ' && bytes[n] <= '~' ? bytes[n] : '.');
		line_byte(&out, '|');
	}
	if (size % width != 0)
		line_byte(&out, '\n');
}

static void put_data(void)
{
	size_t here = records.record.size - sizeof(payload.genio),
	       size = payload_size - sizeof(payload.genio);
	const char *bytes = payload.bytes + sizeof(payload.genio);

	line_put(&out, "fd %d %s %lu byte%s", payload.genio.fd, payload.genio.write ? "wrote" : "read",
		 payload.genio.size, payload.genio.size == 1 ? "" : "s");
	if (here != payload.genio.size)
		line_put(&out, " (%lu recorded)", here);
	line_byte(&out, '\n');
	if (data_max && size > data_max)
		size = data_max;
	if (is_binary(bytes, size))
		put_bytes(bytes, size);
	else
		put_text(bytes, size);
}

/* ---- All others -------------------------------------------------------------------------------- */

static void put_delivery(void)
{
	char name[TABLE_WORD];

	put_signal(payload.psig.signal);
	if (payload.psig.handler == 0)
		line_put(&out, " SIG_DFL code=");
	else if (payload.psig.handler == 1)
		line_put(&out, " SIG_IGN code=");
	else
		line_put(&out, " caught handler=0x%lx mask=0x%lx code=", payload.psig.handler,
			 payload.psig.mask[0]);
	if (find_value("sicode", (uint64_t)payload.psig.code, name))
		line_put(&out, "%s", name);
	else
		put_hex((uint32_t)payload.psig.code);
}

static void put_switch(void)
{
	line_put(&out, "%s", payload.csw.out ? "stop" : "resume");
	if (payload.csw.out)
		line_put(&out, "%s", payload.csw.voluntary ? " voluntary" : " preempted");
	if (payload_size > sizeof(payload.csw)) {
		line_byte(&out, ' ');
		put_quoted(payload.bytes + sizeof(payload.csw), payload_size - sizeof(payload.csw));
	}
}

static void put_said(void)
{
	line_put(&out, "%lu ", payload_size);
	for (size_t n = 0; n < payload_size; n++)
		line_put(&out, " %02x", (unsigned char)payload.bytes[n]);
}

static void put_birth(void)
{
	line_put(&out, "parent %d ", (int)payload.ctor.parent);
	put_quoted(payload.bytes + sizeof(payload.ctor), payload_size - sizeof(payload.ctor));
}

static void put_death(void)
{
	if (payload.dtor.signaled)
		put_signal(payload.dtor.status);
	else
		line_put(&out, "status %u", payload.dtor.status);
}

static void put_end(void)
{
	if (payload.end.reason == KTRX_PROC_ENDED_CLOSED)
		line_put(&out, "closed");
	else if (payload.end.reason == KTRX_PROC_ENDED_LIMIT)
		line_put(&out, "limit reached");
	else
		line_put(&out, "error %d %s", payload.end.error, error_text(payload.end.error));
	line_put(&out, ": %lu records, %lu bytes, %lu lost", payload.end.records, payload.end.bytes,
		 payload.end.lost);
}

static void put_path(void)
{
	put_quoted(payload.bytes, payload_size);
}

/* ---- Records ----------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	size_t least; /* bytes that it has at least */
	void (*put)(void);
} kinds[] = {
	[KTRX_PROC_SYSCALL] = { "CALL", sizeof(struct ktrx_proc_syscall), put_call },
	[KTRX_PROC_SYSRET] = { "RET ", sizeof(struct ktrx_proc_sysret), put_return },
	[KTRX_PROC_NAMEI] = { "NAMI", 0, put_path },
	[KTRX_PROC_GENIO] = { "GIO ", sizeof(struct ktrx_proc_genio), put_data },
	[KTRX_PROC_PSIG] = { "PSIG", sizeof(struct ktrx_proc_psig), put_delivery },
	[KTRX_PROC_CSW] = { "CSW ", sizeof(struct ktrx_proc_csw), put_switch },
	[KTRX_PROC_USER] = { "USER", 0, put_said },
	[KTRX_PROC_SYSCTL] = { "SCTL", 0, put_path },
	[KTRX_PROC_PROCCTOR] = { "FORK", sizeof(struct ktrx_proc_ctor), put_birth },
	[KTRX_PROC_PROCDTOR] = { "EXIT", sizeof(struct ktrx_proc_dtor), put_death },
	[KTRX_PROC_END] = { "END ", sizeof(struct ktrx_proc_end), put_end },
};

static const char *word_of(unsigned type)
{
	static const char *const lives[] = { "FORK", "EXEC", "SET " };

	if (type == KTRX_PROC_PROCCTOR && payload.ctor.flags < sizeof(lives) / sizeof(lives[0]))
		return lives[payload.ctor.flags];
	return kinds[type].word;
}

/* A session's table may come in several records. */
static bool take_table(const char *text, size_t size)
{
	if (table_is_over) {
		free(table.text);
		table = (struct table){ 0 };
		table_is_over = false;
	}
	return table_add(&table, text, size);
}

static void show(uint32_t only)
{
	const struct ktrx_proc_record *record = &records.record;

	table_is_over = true;
	if (record->type == KTRX_PROC_NAME)
		keep_name(record->pid);
	if (record->type == KTRX_PROC_NAME || (only && record->pid != only))
		return;
	if (record->type >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[record->type].word ||
	    payload_size < kinds[record->type].least) {
		left_out++;
		return;
	}
	if (record->lost)
		line_put(&out, "%6u %-8s Events dropped: %u.\n", record->pid, name_of(record->pid),
			 record->lost);
	line_put(&out, "%6u %-8s %s  ", record->pid, name_of(record->pid), word_of(record->type));
	kinds[record->type].put();
	line_byte(&out, '\n');
	line_flush(&out);
}

/* A table may be longer than what is read at once of any other record. */
static int take(uint32_t only)
{
	static char text[32 << 10];
	int64_t n;

	if (records.record.type != KTRX_PROC_TABLE) {
		n = records_read(&records, payload.bytes, sizeof(payload.bytes));
		payload_size = n > 0 ? (size_t)n : 0;
		if (n >= 0)
			show(only);
		return n < 0 ? (int)n : 0;
	}
	n = records_read(&records, text, sizeof(text));
	if (n > 0 && !take_table(text, (size_t)n))
		return -ENOMEM;
	return n < 0 ? (int)n : 0;
}

int main(int argc, char **argv)
{
	struct options options = { .words = argv, .next = 1, .letters = "f:m:p:" };
	const char *path = "ktrace.out";
	uint32_t only = 0;
	int letter, error;

	while ((letter = next_option(&options))) {
		if (letter == 'f')
			path = options.value;
		else if (letter == 'm')
			data_max = parse_number(options.value, USUAL_MAX);
		else if (letter == 'p')
			only = parse_number(options.value, 0);
		else
			break;
	}
	if (letter || options.next < argc) {
		dprintf(STDERR, "usage: kdump [-f FILE] [-m MAX] [-p PID]\n");
		return 2;
	}
	error = records_open(&records, path);
	while (!error && (error = records_next(&records)) > 0)
		error = take(only);
	if (error)
		dprintf(STDERR, "kdump: %s: %s\n", path, error_text(error));
	else if (left_out)
		dprintf(STDERR, "kdump: %u records are not shown; the host's kdump has words for them\n",
			left_out);
	return error ? 1 : 0;
}
