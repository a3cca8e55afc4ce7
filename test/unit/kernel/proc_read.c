/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that the host's reader reads every type of record that the kernel library writes, in both formats. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ktread/ktread.h>
#include <ktread/proc.h>

#include "test/fake/machine.h"
#include "unit/support/proc_support.h"

static struct proc_sink sink;
static char path[] = "/tmp/ktrace-proc-read-XXXXXX";
static struct ktread_proc *trace;
static const struct ktread_proc_record *record;
static bool foreign;

static void write_all(uint32_t format)
{
	static const uint64_t words[4] = { 0x1111, 0x2222, UINT64_MAX, 7 };
	struct proc_process *self = proc_first();
	struct ktrace_proc_sink_config config = proc_config();

	foreign = format != KTRACE_PROC_FORMAT_KTRX;
	config.format = format;
	config.data_max = 20;
	proc_kernel.table = "30 open fd, path path\n";
	proc_start();
	fake.thread = 9;
	fake.cpu = 1;
	ktrace_root.frequency = 1000000000;
	assert_int_equal(proc_open(&sink, &config), KTRACE_OK);
	proc_trace(self, &sink, KTRACE_PROC_ALL);
	memcpy(proc_user, "what the program has, and more", 30);
	ktrace_proc_syscall(&self->trace, &self->thread, 30, 3, words);
	ktrace_proc_namei(&self->trace, &self->thread, "/etc/motd", 9);
	ktrace_proc_denied(&self->trace, &self->thread, KTRX_PROC_DENIED_RIGHTS, 6, 4, "/etc/motd");
	ktrace_proc_genio(&self->trace, &self->thread, 5, 1, PROC_USER_BASE, 30);
	ktrace_proc_psig(&self->trace, &self->thread, 11, -3, 0x401000, words);
	ktrace_proc_csw(&self->trace, &self->thread, 1, 1, "pipe");
	assert_int_equal(ktrace_proc_user(&self->trace, &self->thread, PROC_USER_BASE, 4), KTRACE_OK);
	ktrace_proc_struct(&self->trace, &self->thread, "pair", words, 16);
	ktrace_proc_struct_array(&self->trace, &self->thread, "word", words, 8, 4);
	ktrace_proc_sysctl(&self->trace, &self->thread, "kern.ostype", 11);
	ktrace_proc_fault(&self->trace, &self->thread, 0x5000, 2, 1);
	ktrace_proc_fault_end(&self->trace, &self->thread, 14);
	ktrace_proc_exec(&self->trace, &self->thread, 0);
	ktrace_proc_sysret(&self->trace, &self->thread, 30, 13, -1);
	ktrace_proc_exit(&self->trace, &self->thread, 6, 1);
}

static void open_file(enum ktread_proc_format format)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(sink.file.bytes, 1, sink.file.size, file), sink.file.size);
	assert_int_equal(fclose(file), 0);
	/* the format that the reader detects from the contents */
	assert_int_equal(ktread_proc_open(&trace, path, NULL), 0);
	assert_int_equal(ktread_proc_info(trace)->format, format);
}

/* Reads the next record, which must have this type. */
static void next(uint16_t type)
{
	assert_int_equal(ktread_proc_next(trace, &record), 1);
	assert_int_equal(record->type, type);
	if (type == KTRX_PROC_TABLE || type == KTRX_PROC_END)
		return; /* records of these types belong to no process */
	assert_int_equal(record->pid, 1);
	assert_string_equal(record->name, "first");
	assert_int_equal(record->lost, 0);
	assert_int_equal(record->cpu, 1);
}

/*
 * If the format has records of this type, reads the next record, which must have it. Returns false for
 * DragonFly's format, which does not have them.
 */
static bool next_ours(uint16_t type)
{
	if (!foreign)
		next(type);
	return !foreign;
}

static void data_equal(const char *bytes)
{
	assert_int_equal(record->data_size, strlen(bytes));
	assert_memory_equal(record->data, bytes, record->data_size);
}

static void check_call(void)
{
	next(KTRX_PROC_SYSCALL);
	assert_int_equal(record->tid, 9);
	assert_int_equal(record->syscall.number, 30);
	assert_int_equal(record->syscall.args, 3);
	assert_int_equal(record->syscall.arg[0], 0x1111);
	assert_int_equal(record->syscall.arg[2], UINT64_MAX);
	next(KTRX_PROC_NAMEI);
	data_equal("/etc/motd");
	if (next_ours(KTRX_PROC_CAPFAIL)) {
		assert_int_equal(record->capfail.reason, KTRX_PROC_DENIED_RIGHTS);
		assert_int_equal(record->capfail.number, 30);
		assert_int_equal(record->capfail.needed[0], 6);
		assert_int_equal(record->capfail.held[0], 4);
		data_equal("/etc/motd");
	}
	next(KTRX_PROC_GENIO);
	assert_int_equal(record->genio.fd, 5);
	assert_int_equal(record->genio.write, 1);
	assert_int_equal(record->genio.size, foreign ? 20 : 30);
	assert_int_equal(record->flags, foreign ? 0 : KTRX_PROC_CUT);
	data_equal("what the program has");
}

static void check_others(void)
{
	next(KTRX_PROC_PSIG);
	assert_int_equal(record->psig.signal, 11);
	assert_int_equal(record->psig.code, -3);
	assert_int_equal(record->psig.handler, 0x401000);
	assert_int_equal(record->psig.mask[0], 0x1111);
	assert_int_equal(record->psig.mask[1], 0x2222);
	next(KTRX_PROC_CSW);
	assert_int_equal(record->csw.out, 1);
	assert_int_equal(record->csw.voluntary, 1);
	data_equal(foreign ? "" : "pipe");
	next(KTRX_PROC_USER);
	data_equal("what");
	if (next_ours(KTRX_PROC_STRUCT)) {
		assert_string_equal(record->structure.name, "pair");
		assert_int_equal(record->data_size, 16);
	}
	if (next_ours(KTRX_PROC_STRUCT_ARRAY)) {
		assert_string_equal(record->structure.name, "word");
		assert_int_equal(record->structure.element_size, 8);
		assert_int_equal(record->structure.count, 4);
		assert_int_equal(record->data_size, 32);
	}
	next(KTRX_PROC_SYSCTL);
	data_equal("kern.ostype");
	if (next_ours(KTRX_PROC_FAULT)) {
		assert_int_equal(record->fault.address, 0x5000);
		assert_int_equal(record->fault.access, 2);
		assert_int_equal(record->fault.user, 1);
	}
	if (next_ours(KTRX_PROC_FAULTEND))
		assert_int_equal(record->faultend.result, 14);
}

static void check_end(void)
{
	if (next_ours(KTRX_PROC_NAME))
		data_equal("first");
	if (next_ours(KTRX_PROC_PROCCTOR))
		assert_int_equal(record->ctor.flags, KTRX_PROC_CTOR_EXEC);
	next(KTRX_PROC_SYSRET);
	assert_int_equal(record->sysret.number, 30);
	assert_int_equal(record->sysret.error, 13);
	assert_int_equal(record->sysret.result, -1);
	if (next_ours(KTRX_PROC_PROCDTOR)) {
		assert_int_equal(record->dtor.status, 6);
		assert_int_equal(record->dtor.signaled, 1);
	}
	if (next_ours(KTRX_PROC_END)) {
		assert_int_equal(record->end.reason, KTRX_PROC_ENDED_CLOSED);
		assert_int_equal(record->end.records, sink.sink.records);
		assert_int_equal(record->end.bytes, sink.file.size - 64);
	}
	assert_int_equal(ktread_proc_next(trace, &record), 0);
}

static void ktrx_traces_are_read_back(void **state)
{
	(void)state;
	write_all(KTRACE_PROC_FORMAT_KTRX);
	open_file(KTREAD_PROC_KTRX);
	assert_int_equal(ktread_proc_info(trace)->frequency, 1000000000);
	next(KTRX_PROC_TABLE);
	assert_string_equal(ktread_proc_table(trace), "30 open fd, path path\n");
	next(KTRX_PROC_NAME);
	next(KTRX_PROC_PROCCTOR);
	assert_int_equal(record->ctor.parent, 0);
	assert_int_equal(record->ctor.flags, KTRX_PROC_CTOR_SET);
	data_equal("first");
	check_call();
	check_others();
	check_end();
}

static void dragonfly_traces_are_read_back(void **state)
{
	(void)state;
	write_all(KTRACE_PROC_FORMAT_DRAGONFLY);
	open_file(KTREAD_PROC_DRAGONFLY);
	check_call();
	check_others();
	check_end();
}

static int teardown(void **state)
{
	ktread_proc_close(trace);
	trace = NULL;
	proc_free(&sink);
	return proc_check(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ktrx_traces_are_read_back, proc_reset, teardown),
		cmocka_unit_test_setup_teardown(dragonfly_traces_are_read_back, proc_reset, teardown),
	};
	int failed, file = mkstemp(path);

	if (file < 0)
		return 1;
	close(file);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
