/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests tables of system calls: valid and invalid lines, machines, and the built-in tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/tables.h"
#include "kdump/context.h"

static struct calls_table *make(const char *text, uint16_t machine)
{
	struct calls_table *table;

	assert_int_equal(calls_table_create(&table, text, machine, 8), 0);
	return table;
}

static void lines_of_calls_are_parsed(void **state)
{
	struct calls_table *table = make("33 write size, fd fd ,\tdata buffer,size\n"
					 "1 exit void, int status\n"
					 "2 fork pid\n3 bare\n4\n5 \n33 write size, fd fd\n"
					 "8191 last int\n8192 beyond int\n0x10 sixteen int",
					 EM_NONE);
	const struct calls_call *call = calls_table_call(table, 33);

	(void)state;
	assert_string_equal(call->name, "write");
	assert_int_equal(call->arguments, 1); /* if two lines define the same call, the second line is used */
	assert_int_equal(call->argument[0].type->base, CALLS_FD);
	assert_string_equal(call->argument[0].name, "fd");
	assert_int_equal(calls_table_call(table, 1)->result->base, CALLS_VOID);
	assert_int_equal(calls_table_call(table, 2)->arguments, 0);
	assert_true(calls_table_call(table, 2)->typed);
	assert_false(calls_table_call(table, 3)->typed);
	assert_null(calls_table_call(table, 4));
	assert_null(calls_table_call(table, 5));
	assert_string_equal(calls_table_call(table, 8191)->name, "last");
	assert_null(calls_table_call(table, 8192));
	assert_null(calls_table_call(table, UINT32_MAX));
	assert_string_equal(calls_table_call(table, 16)->name, "sixteen");
	calls_table_destroy(table);
}

static void errors_and_signals_have_names(void **state)
{
	struct calls_table *table =
		make("error 2 ENOENT\nerror 4095 ELAST\nerror 4096 EFAR\nerror -1 ENEGATIVE\nerror 5\n"
		     "signal 2 SIGINT\nsignal 256 SIGFAR\n# error 7 ENONE\nerror 9 EMYOWN\n",
		     EM_NONE);

	(void)state;
	assert_string_equal(calls_table_error(table, 2), "ENOENT");
	assert_string_equal(calls_table_error_text(table, 2), "No such file or directory");
	assert_string_equal(calls_table_error_text(table, 9), "EMYOWN");
	assert_string_equal(calls_table_error(table, 4095), "ELAST");
	assert_null(calls_table_error(table, 4096));
	assert_null(calls_table_error(table, -1));
	assert_null(calls_table_error(table, INT32_MIN));
	assert_null(calls_table_error(table, 5));
	assert_null(calls_table_error(table, 7));
	assert_null(calls_table_error_text(table, 7));
	assert_string_equal(calls_table_signal(table, 2), "SIGINT");
	assert_null(calls_table_signal(table, 256));
	assert_null(calls_table_signal(table, UINT32_MAX));
	calls_table_destroy(table);
}

static void structs_are_chosen_by_size(void **state)
{
	struct calls_table *table =
		make("struct pair 8, int a 0, int b 4\nstruct pair 16, long a 0, long b 8+4\n"
		     "struct odd 7, int outside 7, int wide 4+4, int ok 3\nstruct none 0\n",
		     EM_NONE);
	const struct calls_layout *layout = calls_table_layout(table, "pair", 16);

	(void)state;
	assert_int_equal(layout->size, 16);
	assert_int_equal(layout->field[0].width, 8);
	assert_int_equal(layout->field[1].width, 4);
	assert_int_equal(calls_table_layout(table, "pair", 8)->size, 8);
	assert_int_equal(calls_table_layout(table, "pair", 12)->size, 8);
	assert_int_equal(calls_table_layout(table, "pair", 100)->size, 16);
	assert_non_null(calls_table_layout(table, "pair", 1));
	assert_null(calls_table_layout(table, "none", 0));
	layout = calls_table_layout(table, "odd", 7);
	assert_int_equal(layout->fields, 1);
	assert_int_equal(layout->field[0].width, 4);
	calls_table_destroy(table);
}

/*
 * A `struct` line for i386 replaces the line for all machines, even if the latter declares a larger struct.
 */
static void lines_of_a_machine_come_first(void **state)
{
	static const char text[] = "on i386 struct pair 8, long a 0, long b 4\n"
				   "struct pair 16, long a 0, long b 8\n"
				   "* lseek off, fd fd, off offset, whence whence\n"
				   "on i386 * lseek long, fd fd, long offset, whence whence\n";
	struct calls_table *table = make(text, EM_386), *wide = make(text, EM_X86_64);
	const struct calls_call *call = calls_table_call(table, 19);

	(void)state;
	assert_int_equal(calls_table_layout(table, "pair", UINT32_MAX)->size, 8);
	assert_int_equal(calls_table_layout(table, "pair", 16)->size, 8);
	assert_int_equal(calls_table_layout(wide, "pair", UINT32_MAX)->size, 16);
	assert_int_equal(calls_table_layout(wide, "pair", 8)->size, 16);
	assert_non_null(call);
	assert_string_equal(call->name, "lseek");
	assert_int_equal(call->result->base, CALLS_LONG);
	calls_table_destroy(table);
	calls_table_destroy(wide);
}

/* x32 shares the first 512 numbers with the machine's own calls. */
static void x32_calls_share_arguments(void **state)
{
	struct calls_table *table =
		make("* getpid pid\n* kill int, pid pid, sig sig\n* ioctl int, fd fd", EM_X86_64);
	struct calls_table *other = make("* getpid pid", EM_AARCH64);
	const struct calls_call *call = calls_table_call(table, 0x40000000 | 62);

	(void)state;
	assert_non_null(call);
	assert_string_equal(call->name, "__X32_SYSCALL_BIT|kill");
	assert_int_equal(call->arguments, 2);
	assert_int_equal(call->argument[1].type->base, CALLS_SIG);
	assert_ptr_equal(calls_table_call(table, 0x40000000 | 62), call);
	assert_string_equal(calls_table_call(table, 62)->name, "kill");
	call = calls_table_call(table, 0x40000000 | 514);
	assert_non_null(call);
	assert_string_equal(call->name, "__X32_SYSCALL_BIT|ioctl");
	assert_false(call->typed);
	assert_null(calls_table_call(table, 0x40000000 | 1023));
	assert_null(calls_table_call(table, 0x40000000 | 1024));
	assert_null(calls_table_call(table, 0xffffffff));
	assert_null(calls_table_call(other, 0x40000000 | 62));
	calls_table_destroy(table);
	calls_table_destroy(other);
}

/*
 * The names of a call's arguments, and of a struct's fields, must be unique, because in JSON they are members
 * of one object.
 */
static void repeated_names_are_dropped(void **state)
{
	struct calls_table *table = make("1 move int, int from, int to, int from, int 0\n"
					 "struct pair 8, int a 0, int a 4, int b 4\n",
					 EM_NONE);
	const struct calls_call *call = calls_table_call(table, 1);
	const struct calls_layout *layout = calls_table_layout(table, "pair", 8);

	(void)state;
	assert_int_equal(call->arguments, 4);
	assert_string_equal(call->argument[1].name, "to");
	assert_string_equal(call->argument[2].name, "");
	assert_string_equal(call->argument[3].name, "");
	assert_int_equal(layout->fields, 2);
	assert_string_equal(layout->field[1].name, "b");
	calls_table_destroy(table);
}

static const char *put(struct calls_table *table, enum kdump_style style, const char *type, uint64_t value)
{
	static char text[KDUMP_WORDS_MOST];
	const struct kdump_words words = { .table = table, .style = style };

	*kdump_put_value(text, &words, calls_table_type(table, type), value) = '\0';
	return text;
}

static void values_are_shown_by_name(void **state)
{
	struct calls_table *table = make(
		"field how 3\nenum how 0 READ\nenum how 1 WRITE\nflags how 8 APPEND\nflags how 0x10 SYNC\n"
		"enum where -100 HERE\nenum where 5 FIVE\nflags bits 1 ONE\n",
		EM_NONE);

	(void)state;
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "how", 0x19), "WRITE|APPEND|SYNC");
	assert_string_equal(put(table, KDUMP_STYLE_BSD, "how", 0x19), "0x19<WRITE|APPEND|SYNC>");
	assert_string_equal(put(table, KDUMP_STYLE_JSON, "how", 0x19), "\"WRITE|APPEND|SYNC\"");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "how", 0x42), "0x42");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "how", 0x4a), "APPEND|0x42");
	assert_string_equal(put(table, KDUMP_STYLE_BSD, "how", 0), "0<READ>");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "bits", 0), "0");
	assert_string_equal(put(table, KDUMP_STYLE_BSD, "bits", 2), "0x2");
	/* A 32-bit number has the same name with and without sign extension to 64 bits. */
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "where", UINT64_C(0xffffff9c)), "HERE");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "where", UINT64_C(0xffffffffffffff9c)), "HERE");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "where", UINT64_C(0x1ffffff9c)), "0x1ffffff9c");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "where", 6), "6");
	assert_string_equal(put(table, KDUMP_STYLE_PLAIN, "where", UINT64_C(0x100000005)), "0x100000005");
	calls_table_destroy(table);
}

static void lines_of_other_machines_are_skipped(void **state)
{
	static const char text[] =
		"on x86_64 error 1 EX86\non aarch64 error 1 EARM\non\n* getpid pid\n* no_such_call int\n";
	struct calls_table *intel = make(text, EM_X86_64), *arm = make(text, EM_AARCH64),
			   *none = make(text, EM_NONE);

	(void)state;
	assert_string_equal(calls_table_error(intel, 1), "EX86");
	assert_string_equal(calls_table_error(arm, 1), "EARM");
	assert_null(calls_table_error(none, 1));
	assert_null(calls_table_call(none, 39));
	if (calls_table_call(intel, 39)) { /* only if libseccomp is installed */
		assert_string_equal(calls_table_call(intel, 39)->name, "getpid");
		assert_string_equal(calls_table_call(arm, 172)->name, "getpid");
		assert_true(calls_table_call(arm, 172)->typed);
		assert_string_equal(calls_table_call(intel, 0)->name, "read");
		assert_false(calls_table_call(intel, 0)->typed);
		assert_ptr_equal(calls_table_call(intel, 0), calls_table_call(intel, 0));
	}
	calls_table_destroy(intel);
	calls_table_destroy(arm);
	calls_table_destroy(none);
}

/* The text defines more entries of each kind than a table can store. */
static void too_many_lines_are_cut(void **state)
{
	size_t room = 3u << 20, length = 0;
	char *text = malloc(room);
	struct calls_table *table;

	(void)state;
	assert_non_null(text);
	for (unsigned n = 0; length < room - 400; n++)
		length += (size_t)snprintf(
			text + length, room - length,
			"%u c%u t%u, t%u a\nflags t%u %u F\nstruct s%u 8, t%u f 0\n* n%u int\n", n, n, n,
			n + 1, n % 600, n + 1, n, n, n);
	table = make(text, EM_X86_64);
	assert_string_equal(calls_table_call(table, 7)->name, "c7");
	assert_int_equal(calls_table_call(table, 7)->arguments, 1);
	calls_table_destroy(table);
	free(text);
}

/*
 * Tests arguments that are addresses of values. The number of values is given in each of the possible forms.
 */
static void addresses_of_values_are_parsed(void **state)
{
	struct calls_table *table =
		make("1 poll int, =pollfd[nfds] fds, uint nfds\n"
		     "2 accept fd, >sockaddr[*len] addr, =uint len\n"
		     "3 pipe int, >fd[2] fds\n4 wait int, >epoll_event[=] events\n"
		     "5 getcwd size, >text[nothing] buf\n6 bad int, <\n7 bad int, <[2 x\n",
		     EM_NONE);
	const struct calls_argument *argument = calls_table_call(table, 1)->argument;

	(void)state;
	assert_int_equal(argument->access, CALLS_GIVEN | CALLS_FILLED);
	assert_int_equal(argument->counted, CALLS_COUNT_ARGUMENT);
	assert_int_equal(argument->count, 1);
	assert_string_equal(argument->type->name, "pollfd");
	assert_int_equal(argument[1].access, 0);
	argument = calls_table_call(table, 2)->argument;
	assert_int_equal(argument->access, CALLS_FILLED);
	assert_int_equal(argument->counted, CALLS_COUNT_AT);
	assert_int_equal(argument->count, 1);
	argument = calls_table_call(table, 3)->argument;
	assert_int_equal(argument->counted, CALLS_COUNT_NUMBER);
	assert_int_equal(argument->count, 2);
	assert_int_equal(argument->type->base, CALLS_FD);
	assert_int_equal(calls_table_call(table, 4)->argument->counted, CALLS_COUNT_RESULT);
	assert_int_equal(calls_table_call(table, 5)->argument->counted, CALLS_COUNT_ONE);
	assert_int_equal(calls_table_call(table, 6)->argument->access, CALLS_GIVEN);
	assert_string_equal(calls_table_call(table, 6)->argument->type->name, "hex");
	assert_int_equal(calls_table_call(table, 7)->arguments, 1);
	calls_table_destroy(table);
}

static void variant_is_selected_by_an_argument(void **state)
{
	struct calls_table *table =
		make("1 fcntl int, fd fd, cmd cmd, hex arg\nenum cmd 1 GETFD\nfield op 3\n"
		     "enum op 2 WAKE\nflags op 4 PRIVATE\n2 futex int, op op, uint val, hex more\n"
		     "when fcntl cmd GETFD 2 fdflags\nwhen futex op WAKE 2\nwhen none cmd GETFD 2\n"
		     "when fcntl none GETFD 2\nwhen fcntl cmd GETFD 9\nwhen\n",
		     EM_NONE);
	const struct calls_variant *variant;

	(void)state;
	variant = calls_call_variant(calls_table_call(table, 1), (uint64_t[]){ 3, 1, 0 }, 3);
	assert_non_null(variant);
	assert_int_equal(variant->arguments, 2);
	assert_string_equal(variant->result->name, "fdflags");
	assert_null(calls_call_variant(calls_table_call(table, 1), (uint64_t[]){ 3, 2, 0 }, 3));
	assert_null(calls_call_variant(calls_table_call(table, 1), (uint64_t[]){ 3 }, 1));
	variant = calls_call_variant(calls_table_call(table, 2), (uint64_t[]){ 6, 1, 0 }, 3);
	assert_non_null(variant);
	assert_null(variant->result);
	calls_table_destroy(table);
}

static void check_next(struct calls_arguments *arguments, const char *name, enum calls_base base,
		       uint64_t value)
{
	struct calls_one one;

	assert_true(calls_arguments_next(arguments, &one));
	assert_string_equal(one.name, name);
	assert_int_equal(one.type->base, base);
	assert_int_equal(one.value, value);
}

/*
 * The value of `op` changes the other arguments: unused ones are left out, and others get a different type
 * and name.
 */
static void variant_changes_arguments(void **state)
{
	struct calls_table *table = make(
		"1 wake int, ptr at, op op, <pair time, ptr to, uint bits\nenum op 7 BITS\nenum op 8 MOVE\n"
		"when wake op BITS 5 -time -to -none\nwhen wake op MOVE 4 long time=uint/count none=uint/x\n",
		EM_NONE);
	const uint64_t bits[] = { 1, 7, 2, 3, 4 }, move[] = { 1, 8, 2, 3, 4 };
	struct calls_arguments arguments;
	struct calls_one one;

	(void)state;
	calls_arguments_begin(&arguments, table, 1, bits, 5, false);
	check_next(&arguments, "at", CALLS_PTR, 1);
	check_next(&arguments, "op", CALLS_SYMBOL, 7);
	check_next(&arguments, "bits", CALLS_UINT, 4);
	assert_false(calls_arguments_next(&arguments, &one));
	calls_arguments_begin(&arguments, table, 1, move, 5, false);
	check_next(&arguments, "at", CALLS_PTR, 1);
	check_next(&arguments, "op", CALLS_SYMBOL, 8);
	check_next(&arguments, "count", CALLS_UINT, 2);
	check_next(&arguments, "to", CALLS_PTR, 3);
	assert_false(calls_arguments_next(&arguments, &one));
	assert_int_equal(arguments.variant->result->base, CALLS_LONG);
	/* With `true`, unused arguments are shown, too. */
	calls_arguments_begin(&arguments, table, 1, bits, 5, true);
	for (unsigned n = 0; n < 5; n++)
		assert_true(calls_arguments_next(&arguments, &one));
	calls_table_destroy(table);
}

/*
 * The variant changes several arguments. One of them becomes the address of values, and another has the
 * number of these values.
 */
static void variant_changes_addresses(void **state)
{
	struct calls_table *table = make("1 ipc int, op op, hex first, hex second, ptr ptr\nenum op 1 SEMOP\n"
					 "when ipc op SEMOP 4 first=int/id ptr=<gid16[second]/list\n",
					 EM_NONE);
	struct calls_arguments arguments;
	struct calls_one one;

	(void)state;
	calls_arguments_begin(&arguments, table, 1, (uint64_t[]){ 1, 5, 2, 0x1000 }, 4, false);
	check_next(&arguments, "op", CALLS_SYMBOL, 1);
	check_next(&arguments, "id", CALLS_INT, 5);
	check_next(&arguments, "second", CALLS_HEX, 2);
	assert_true(calls_arguments_next(&arguments, &one));
	assert_string_equal(one.name, "list");
	assert_non_null(one.pointer);
	assert_int_equal(one.pointer->access, CALLS_GIVEN);
	assert_int_equal(one.pointer->counted, CALLS_COUNT_ARGUMENT);
	assert_int_equal(one.pointer->count, 2);
	assert_int_equal(calls_table_type_size(table, one.pointer->type), 2);
	calls_arguments_begin(&arguments, table, 1, (uint64_t[]){ 2, 5, 2, 0x1000 }, 4, false);
	check_next(&arguments, "op", CALLS_SYMBOL, 2);
	check_next(&arguments, "first", CALLS_HEX, 5);
	calls_table_destroy(table);
}

/* The value of the previous argument selects the type of a keyed argument. */
static void keyed_pointer_is_selected_by_the_value_before(void **state)
{
	struct calls_table *table = make("1 ioctl int, request request, arg^ arg\nenum request 7 GET\n"
					 "pointer arg_GET >winsize\npointer arg_GET <other\npointer\n",
					 EM_NONE);
	struct calls_arguments arguments;
	struct calls_one one;

	(void)state;
	calls_arguments_begin(&arguments, table, 1, (uint64_t[]){ 7, 0x1000 }, 2, false);
	assert_true(calls_arguments_next(&arguments, &one));
	assert_null(one.pointer);
	assert_true(calls_arguments_next(&arguments, &one));
	assert_int_equal(one.number, 1);
	assert_non_null(one.pointer);
	assert_int_equal(one.pointer->access, CALLS_FILLED);
	assert_string_equal(one.pointer->type->name, "winsize");
	calls_arguments_begin(&arguments, table, 1, (uint64_t[]){ 8, 0x1000 }, 2, false);
	calls_arguments_next(&arguments, &one);
	assert_true(calls_arguments_next(&arguments, &one));
	assert_null(one.pointer);
	calls_table_destroy(table);
}

static void built_in_tables_are_parsed(void **state)
{
	static const char *const names[] = { "linux", "freebsd", "dragonfly" };
	static const struct {
		const char *table, *type, *name;
		uint64_t value;
	} known[] = {
		{ "linux", "open", "O_WRONLY|O_CREAT|O_TRUNC", 01101 },
		{ "linux", "sig", "SIGSEGV", 11 },
		{ "freebsd", "open", "O_WRONLY|O_CREAT|O_TRUNC", 0x601 },
		{ "freebsd", "sig", "SIGUSR1", 30 },
		{ "dragonfly", "open", "O_RDWR|O_APPEND", 10 },
		{ "dragonfly", "whence", "SEEK_END", 2 },
	};

	(void)state;
	assert_null(calls_tables_text("netbsd"));
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		struct calls_table *table = make(calls_tables_text(names[n]), EM_X86_64);

		assert_string_equal(calls_table_error(table, 2), "ENOENT");
		assert_string_equal(calls_table_signal(table, 9), "SIGKILL");
		assert_non_null(calls_table_layout(table, "stat", 128));
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (strcmp(known[k].table, names[n]) == 0)
				assert_string_equal(
					put(table, KDUMP_STYLE_PLAIN, known[k].type, known[k].value),
					known[k].name);
		calls_table_destroy(table);
	}
}

/* Replaces the reader's function, which the linked sources refer to. No test in this file calls it. */
const struct ktread_proc_info *ktread_proc_info(const struct ktread_proc *trace)
{
	(void)trace;
	return NULL;
}

const char *ktread_proc_table(const struct ktread_proc *trace)
{
	(void)trace;
	return "";
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_calls_are_parsed),
		cmocka_unit_test(errors_and_signals_have_names),
		cmocka_unit_test(structs_are_chosen_by_size),
		cmocka_unit_test(values_are_shown_by_name),
		cmocka_unit_test(lines_of_other_machines_are_skipped),
		cmocka_unit_test(too_many_lines_are_cut),
		cmocka_unit_test(built_in_tables_are_parsed),
		cmocka_unit_test(lines_of_a_machine_come_first),
		cmocka_unit_test(x32_calls_share_arguments),
		cmocka_unit_test(repeated_names_are_dropped),
		cmocka_unit_test(addresses_of_values_are_parsed),
		cmocka_unit_test(variant_is_selected_by_an_argument),
		cmocka_unit_test(variant_changes_arguments),
		cmocka_unit_test(variant_changes_addresses),
		cmocka_unit_test(keyed_pointer_is_selected_by_the_value_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
