/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * kdump [-f FILE] [-m MAX] [-p PID]: prints a process trace (ktrace.out) as text, in the format of the host's
 * kdump, for all record types of ktrx/proc.h. For a record of an unknown type it prints the bytes. At the end
 * it prints the number of records of unknown types.
 */
#include <error.h>
#include <kdump_parts.h>
#include <option.h>
#include <program.h>
#include <records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <words.h>

#define USUAL_MAX 64
#define INVALID	  "invalid record"

static struct records records;
static struct table table;
/*
 * True: another record has followed the last part of the table, so a further table belongs to a new session.
 */
static bool table_is_over;
static struct line out;
static unsigned data_max = USUAL_MAX;
static unsigned unknown; /* number of records of unknown types */

static union {
	char bytes[KTRX_PROC_USER_MAX * 2 + 64];
	uint64_t words[1];
	struct ktrx_proc_sysret sysret;
	struct ktrx_proc_genio genio;
	struct ktrx_proc_psig psig;
	struct ktrx_proc_csw csw;
	struct ktrx_proc_ctor ctor;
	struct ktrx_proc_dtor dtor;
	struct ktrx_proc_capfail capfail;
	struct ktrx_proc_fault fault;
	struct ktrx_proc_faultend faultend;
	struct ktrx_proc_struct_array array;
	struct ktrx_proc_end end;
} payload;
static size_t payload_size; /* number of bytes of the payload that were read from the file */

/* Writes the variable part of the payload: the bytes after the first `fixed` bytes. */
static void put_rest(size_t fixed)
{
	words_quoted(&out, payload.bytes + fixed, payload_size - fixed);
	if (records.record.flags & KTRX_PROC_CUT)
		line_put(&out, "...");
}

/* ---- System calls ------------------------------------------------------------------------------ */

/*
 * Returns true if an argument is the mode of open(), and the flags before it do not contain O_CREAT: the mode
 * is then unused.
 */
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
	bool known = words_call(&out, &table, call->number, &line), any = false;

	for (unsigned n = 0; n < call->args && n < KTRX_PROC_ARGS_MAX; n++) {
		if (known && !table_word(&line, 3 + 2 * n, type))
			break;
		if (known && n > 0 && is_unused(type, before, argument[n - 1]))
			continue;
		line_byte(&out, any ? ',' : '(');
		any = true;
		words_value(&out, &table, known ? type : "", argument[n]);
		string_copy(before, known ? type : "", sizeof(before));
	}
	if (any)
		line_byte(&out, ')');
}

static void put_return(void)
{
	struct table_line line;
	int64_t result = payload.sysret.result;

	words_call(&out, &table, payload.sysret.number, &line);
	if (payload.sysret.error)
		line_put(&out, " -1 errno %d %s", payload.sysret.error, error_text(payload.sysret.error));
	else if (result < 0 || result > 9)
		line_put(&out, " %ld/0x%lx", result, (uint64_t)result);
	else
		line_put(&out, " %ld", result);
}

/* ---- Data of read and write -------------------------------------------------------------------- */

/* Returns how many of `size` data bytes must be printed: all, or at most MAX (option -m). */
static size_t shown_size(size_t size)
{
	return data_max && size > data_max ? data_max : size;
}

static void put_data(void)
{
	size_t here = records.record.size - sizeof(payload.genio);
	const char *bytes = payload.bytes + sizeof(payload.genio);

	line_put(&out, "fd %d %s %lu byte%s", payload.genio.fd, payload.genio.write ? "wrote" : "read",
		 payload.genio.size, payload.genio.size == 1 ? "" : "s");
	if (here != payload.genio.size)
		line_put(&out, " (%lu recorded)", here);
	line_byte(&out, '\n');
	words_data(&out, bytes, shown_size(payload_size - sizeof(payload.genio)));
}

/* Writes the bytes of a record of an unknown type. */
static void put_unknown(void)
{
	size_t size = shown_size(payload_size);

	line_put(&out, "%u byte%s", records.record.size, records.record.size == 1 ? "" : "s");
	if (size == 0)
		return;
	line_byte(&out, '\n');
	words_bytes(&out, payload.bytes, size);
}

/* ---- Structs ----------------------------------------------------------------------------------- */

/* Returns the size of the name at offset `from` of the payload, including its NUL, or 0 if it has no NUL. */
static size_t name_size(size_t from)
{
	for (size_t n = from; n < payload_size; n++)
		if (payload.bytes[n] == '\0')
			return n + 1 - from;
	return 0;
}

static void put_structure(void)
{
	size_t head = name_size(0);

	if (head == 0) {
		line_put(&out, INVALID);
		return;
	}
	line_put(&out, "struct %s ", payload.bytes);
	structure_put(&out, &table, payload.bytes, payload.bytes + head, payload_size - head, false);
}

static void put_structures(void)
{
	size_t from = sizeof(payload.array), head = name_size(from), size = payload.array.element_size;
	const char *name = payload.bytes + from;

	if (head == 0) {
		line_put(&out, INVALID);
		return;
	}
	line_put(&out, "struct %s[] = { ", name);
	from += head;
	for (uint32_t n = 0; size > 0 && n < payload.array.count && size <= payload_size - from; n++) {
		if (n > 0)
			line_put(&out, "\n             ");
		structure_put(&out, &table, name, payload.bytes + from, size, true);
		from += size;
	}
	line_put(&out, " }");
}

/* ---- Denied operations ------------------------------------------------------------------------- */

static void put_rights(const char *before, uint64_t rights)
{
	line_put(&out, "%s", before);
	words_flags(&out, &table, "rights", rights);
}

static void put_denied(void)
{
	static const char *const reasons[] = {
		[KTRX_PROC_DENIED_OTHER] = "denied",
		[KTRX_PROC_DENIED_RIGHTS] = "permission denied",
		[KTRX_PROC_DENIED_OWNER] = "not the owner",
		[KTRX_PROC_DENIED_PRIVILEGE] = "not privileged",
		[KTRX_PROC_DENIED_SYSCALL] = "disallowed system call",
		[KTRX_PROC_DENIED_DESCRIPTOR] = "descriptor opened for something else",
	};
	const struct ktrx_proc_capfail *fail = &payload.capfail;
	bool known = fail->reason < sizeof(reasons) / sizeof(reasons[0]);
	struct table_line line;

	line_put(&out, "%s", reasons[known ? fail->reason : KTRX_PROC_DENIED_OTHER]);
	if (fail->number != UINT32_MAX) {
		line_put(&out, " in ");
		words_call(&out, &table, fail->number, &line);
	}
	if (fail->needed || fail->held) {
		put_rights(": needs ", fail->needed);
		put_rights(", has ", fail->held);
	}
	if (payload_size > sizeof(*fail)) {
		line_byte(&out, ' ');
		words_quoted(&out, payload.bytes + sizeof(*fail), payload_size - sizeof(*fail));
	}
}

/* ---- Page faults ------------------------------------------------------------------------------- */

static void put_fault(void)
{
	faults_put(&out, &payload.fault);
}

static void put_fault_end(void)
{
	faults_put_end(&out, &table, &records, &payload.faultend);
}

/* ---- All other records ------------------------------------------------------------------------- */

/*
 * Finds the name of the reason for which a signal was sent. The table may contain names that are valid only
 * for one signal; their type is, for example, "sicode_SIGSEGV".
 */
static bool find_code(char *name)
{
	uint64_t code = (uint64_t)(int64_t)payload.psig.code;
	char type[TABLE_WORD], text[TABLE_WORD];
	struct table_line found;

	format(text, sizeof(text), "%u", payload.psig.signal);
	if (table_find(&table, "signal", text, &found) && table_word(&found, 2, text)) {
		format(type, sizeof(type), "sicode_%s", text);
		if (words_find(&table, type, code, name))
			return true;
	}
	return words_find(&table, "sicode", code, name);
}

static void put_handler(void)
{
	if (payload.psig.handler == KTRX_PROC_HANDLER_UNKNOWN)
		line_put(&out, " caught handler=unknown");
	else
		line_put(&out, " caught handler=0x%lx", payload.psig.handler);
	line_put(&out, " mask=0x%lx code=", payload.psig.mask[0]);
}

static void put_delivery(void)
{
	char name[TABLE_WORD];

	words_signal(&out, &table, payload.psig.signal);
	if (payload.psig.handler == 0)
		line_put(&out, " SIG_DFL code=");
	else if (payload.psig.handler == 1)
		line_put(&out, " SIG_IGN code=");
	else
		put_handler();
	if (find_code(name))
		line_put(&out, "%s", name);
	else
		words_hex(&out, (uint32_t)payload.psig.code);
}

static void put_switch(void)
{
	line_put(&out, "%s", payload.csw.out ? "stop" : "resume");
	if (payload.csw.out)
		line_put(&out, "%s", payload.csw.voluntary ? " voluntary" : " preempted");
	if (payload_size > sizeof(payload.csw)) {
		line_byte(&out, ' ');
		put_rest(sizeof(payload.csw));
	}
	if (payload.csw.count)
		line_put(&out, ", %lu times", payload.csw.count);
}

/* Returns true if the payload consists of printable ASCII characters, tabs and newlines. */
static bool is_text(void)
{
	for (size_t n = 0; n < payload_size; n++)
		if ((payload.bytes[n] < ' ' || payload.bytes[n] > '~') && payload.bytes[n] != '\t' &&
		    payload.bytes[n] != '\n')
			return false;
	return payload_size > 0;
}

static void put_user(void)
{
	if (is_text()) {
		words_quoted(&out, payload.bytes, payload_size);
		return;
	}
	line_put(&out, "%lu ", payload_size);
	for (size_t n = 0; n < payload_size; n++)
		line_put(&out, " %02x", (unsigned char)payload.bytes[n]);
}

static void put_creation(void)
{
	line_put(&out, "parent %d ", (int)payload.ctor.parent);
	put_rest(sizeof(payload.ctor));
}

static void put_exit(void)
{
	if (payload.dtor.signaled)
		words_signal(&out, &table, payload.dtor.status);
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
	put_rest(0);
}

/* ---- Printing a record ------------------------------------------------------------------------- */

static const struct {
	const char *word;
	size_t least; /* minimum size of the payload; a smaller one is invalid */
	void (*put)(void);
} kinds[] = {
	[KTRX_PROC_SYSCALL] = { "CALL", sizeof(struct ktrx_proc_syscall), put_call },
	[KTRX_PROC_SYSRET] = { "RET ", sizeof(struct ktrx_proc_sysret), put_return },
	[KTRX_PROC_NAMEI] = { "NAMI", 0, put_path },
	[KTRX_PROC_GENIO] = { "GIO ", sizeof(struct ktrx_proc_genio), put_data },
	[KTRX_PROC_PSIG] = { "PSIG", sizeof(struct ktrx_proc_psig), put_delivery },
	[KTRX_PROC_CSW] = { "CSW ", sizeof(struct ktrx_proc_csw), put_switch },
	[KTRX_PROC_USER] = { "USER", 0, put_user },
	[KTRX_PROC_STRUCT] = { "STRU", 1, put_structure },
	[KTRX_PROC_SYSCTL] = { "SCTL", 0, put_path },
	[KTRX_PROC_PROCCTOR] = { "FORK", sizeof(struct ktrx_proc_ctor), put_creation },
	[KTRX_PROC_PROCDTOR] = { "EXIT", sizeof(struct ktrx_proc_dtor), put_exit },
	[KTRX_PROC_CAPFAIL] = { "CAP ", sizeof(struct ktrx_proc_capfail), put_denied },
	[KTRX_PROC_FAULT] = { "PFLT", sizeof(struct ktrx_proc_fault), put_fault },
	[KTRX_PROC_FAULTEND] = { "PRET", sizeof(struct ktrx_proc_faultend), put_fault_end },
	[KTRX_PROC_STRUCT_ARRAY] = { "STRU", sizeof(struct ktrx_proc_struct_array), put_structures },
	[KTRX_PROC_END] = { "END ", sizeof(struct ktrx_proc_end), put_end },
};

static bool is_known(unsigned type)
{
	return type < sizeof(kinds) / sizeof(kinds[0]) && kinds[type].word;
}

static void put_word(unsigned type)
{
	static const char *const lives[] = { "FORK", "EXEC", "SET " };
	bool life = type == KTRX_PROC_PROCCTOR && payload.ctor.flags < sizeof(lives) / sizeof(lives[0]);

	if (is_known(type))
		line_put(&out, "%s  ", life ? lives[payload.ctor.flags] : kinds[type].word);
	else
		line_put(&out, "UNKNOWN(%u)  ", type);
}

static void put_payload(unsigned type)
{
	if (!is_known(type))
		put_unknown();
	else if (payload_size < kinds[type].least)
		line_put(&out, INVALID);
	else
		kinds[type].put();
}

/* Adds text to the table. A session's table may be split into several records. */
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
		names_keep(record->pid, payload.bytes, payload_size);
	if (record->type == KTRX_PROC_FAULT)
		faults_note(record);
	if (record->type == KTRX_PROC_NAME || (only && record->pid != only))
		return;
	unknown += !is_known(record->type);
	if (record->lost)
		line_put(&out, "%6u %-8s Events dropped: %u.\n", record->pid, names_of(record->pid),
			 record->lost);
	line_put(&out, "%6u %-8s ", record->pid, names_of(record->pid));
	put_word(record->type);
	put_payload(record->type);
	line_byte(&out, '\n');
	line_flush(&out);
}

/*
 * Reads the payload of a record. Prints the record, or adds the text of a record of type TABLE to the table.
 * Such a text needs a larger buffer.
 */
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
	else if (unknown)
		dprintf(STDERR, "kdump: %s: %u record%s an unknown type\n", path, unknown,
			unknown == 1 ? " has" : "s have");
	return error ? 1 : 0;
}
