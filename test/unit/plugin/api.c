/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The versions of QEMU's plugin interface. The functions of QEMU in this file behave as in each version. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/api.h"

/* ---- QEMU -------------------------------------------------------------------------------------- */

#define FLAGS	 100 /* position of the flags in this test's struct CPUState */
#define RELATIVE UINT32_C(0x20000)

struct CPUState {
	uint32_t word[200];
};

struct qemu_plugin_insn {
	unsigned char bytes[32];
	size_t size;
};

static int version;
static struct CPUState cpus[3];
__thread struct CPUState *current_cpu;
static qemu_plugin_vcpu_udata_cb registered;
static void *registered_data;

void tcg_cflags_set(struct CPUState *cpu, uint32_t flags);

void tcg_cflags_set(struct CPUState *cpu, uint32_t flags)
{
	cpu->word[FLAGS] |= flags;
}

struct CPUState *qemu_get_cpu(int index)
{
	return &cpus[index];
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes, size_t size)
{
	if (version < 3)
		return (size_t)(uintptr_t)insn->bytes;
	memcpy(bytes, insn->bytes, size);
	return size;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_vcpu_udata_cb call,
					  enum qemu_plugin_cb_flags flags, void *data)
{
	(void)tb;
	assert_int_equal(flags, QEMU_PLUGIN_CB_NO_REGS);
	registered = call;
	registered_data = data;
}

static const char *load(int number)
{
	const struct qemu_info info = { .target_name = "x86_64", .version = { number < 2 ? 0 : 2, number } };

	version = number;
	return api_open(&info);
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void a_plugin_states_a_version_that_qemu_supports(void **state)
{
	(void)state;
	assert_int_equal(qemu_plugin_version, 2); /* QEMU lacks the function of version 1 */
	assert_string_equal(load(1), "this version of QEMU's plugin interface is unknown");
	for (int number = 2; number <= 5; number++)
		assert_null(load(number));
}

static void bytes_are_copied(void **state)
{
	const struct qemu_plugin_insn insn = { { 0x0f, 0x1f, 0x40, 0x11 }, 4 }, longer = { { 0 }, 17 };

	(void)state;
	for (int number = 2; number <= 4; number++) {
		unsigned char bytes[API_INSTRUCTION_MOST] = { 0 };

		load(number);
		assert_int_equal(api_bytes(&insn, bytes), 4);
		assert_memory_equal(bytes, insn.bytes, 4);
		assert_int_equal(bytes[4], 0);
		assert_int_equal(api_bytes(&longer, bytes), 0);
	}
}

static void code_is_translated_for_each_address(void **state)
{
	(void)state;
	load(3);
	cpus[1].word[FLAGS] = UINT32_C(0xff000000) | RELATIVE;
	api_begin_cpu(1);
	assert_int_equal(cpus[1].word[FLAGS], UINT32_C(0xff000000) | RELATIVE);
	load(4);
	api_begin_cpu(1);
	assert_int_equal(cpus[1].word[FLAGS], UINT32_C(0xff000000));
	cpus[1].word[FLAGS] = UINT32_C(0x200000) | RELATIVE; /* 0x200000 is unknown */
	api_begin_cpu(1);
	assert_int_equal(cpus[1].word[FLAGS], UINT32_C(0x200000) | RELATIVE);
}

static void the_cpu_of_a_shared_thread_is_found(void **state)
{
	(void)state;
	current_cpu = &cpus[2];
	load(4);
	assert_false(api_has_wrong_cpus());
	assert_int_equal(api_cpu(1), 1);
	assert_true(api_share_thread());
	assert_true(api_has_wrong_cpus());
	assert_int_equal(api_cpu(1), 2);
	assert_int_equal(api_cpu(0), 2);
	current_cpu = &cpus[0];
	assert_int_equal(api_cpu(1), 0);
	load(3);
	assert_false(api_has_wrong_cpus());
	assert_int_equal(api_cpu(1), 1);
}

static void executions_are_counted(void **state)
{
	uint64_t executions = 0;

	(void)state;
	load(2);
	api_count_block(NULL, &executions);
	assert_ptr_equal(registered_data, &executions);
	registered(0, registered_data);
	registered(1, registered_data);
	assert_int_equal(executions, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plugin_states_a_version_that_qemu_supports),
		cmocka_unit_test(bytes_are_copied),
		cmocka_unit_test(code_is_translated_for_each_address),
		cmocka_unit_test(the_cpu_of_a_shared_thread_is_found),
		cmocka_unit_test(executions_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
