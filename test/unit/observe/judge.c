/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which findings follow from samples of registers, and which must not be reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "observe/observe.h"

/* Adds a sample of an x86_64 guest with one CPU. */
static void add(struct observe *observe, unsigned pc, unsigned flags, unsigned cpl, unsigned hlt,
		unsigned rax)
{
	char text[300];

	snprintf(
		text, sizeof(text),
		"\nCPU#0\nRAX=%016x RBX=0000000000000000\nRIP=%016x RFL=%08x [-------] CPL=%u II=0 A20=1 SMM=0 HLT=%u\n",
		rax, pc, flags, cpl, hlt);
	assert_true(observe_add(observe, text));
}

/* Returns a guest whose CPU 0 has run long enough for a conclusion. */
static struct observe guest(void)
{
	struct observe observe = { .machine = EM_X86_64, .state = "running" };

	observe.cpu[0].ran = 2;
	return observe;
}

static struct findings judge(const struct observe *observe)
{
	struct findings findings = { 0 };

	observe_judge(&findings, observe, NULL);
	assert_true(findings.count > 0);
	return findings;
}

static void expect(const struct observe *observe, const char *kind, enum finding_mark mark,
		   enum finding_certainty certain, const char *evidence)
{
	struct findings findings = judge(observe);

	assert_string_equal(findings.finding[0].kind, kind);
	assert_int_equal(findings.finding[0].mark, mark);
	assert_int_equal(findings.finding[0].certain, certain);
	assert_non_null(strstr(findings.finding[0].evidence[0], evidence));
	findings_free(&findings);
}

static void a_halted_cpu_without_interrupts_is_dead(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 20; n++)
		add(&observe, 0x1000, 0x2, 0, 1, 0);
	expect(&observe, "halted", FINDING_WRONG, FINDING_CERTAIN, "no interrupt can wake it");
}

static void a_halted_cpu_with_interrupts_is_not(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 20; n++)
		add(&observe, 0x1000, 0x202, 0, 1, 0);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE,
	       "waits for an interrupt with interrupts enabled");
	/* A CPU is not dead if its interrupts were disabled in only some of the samples. */
	add(&observe, 0x1000, 0x2, 0, 1, 0);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "sometimes enabled");
}

static void a_spin_with_interrupts_disabled_is_likely(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 24; n++)
		add(&observe, 0x1000 + n % 3 * 2, 0x2, 0, 0, 1);
	expect(&observe, "kernel-spin", FINDING_WRONG, FINDING_LIKELY,
	       "with interrupts disabled, in all 24 samples");
}

static void a_spin_of_another_cpu_is_only_possible(void **state)
{
	struct observe observe = guest();

	(void)state;
	observe.cpu[1].ran = 2;
	for (unsigned n = 0; n < 24; n++)
		assert_true(observe_add(&observe, "CPU#0\nRIP=0000000000001000 RFL=00000202 CPL=0 HLT=1\n"
						  "CPU#1\nRIP=0000000000002000 RFL=00000002 CPL=0 HLT=0\n"));
	expect(&observe, "kernel-spin", FINDING_NOTE, FINDING_POSSIBLE, "CPU 0: waits for an interrupt");
	observe.cpu[1].has_code = true;
	memcpy(observe.cpu[1].at, (const unsigned char[]){ 0xeb, 0xfe }, 2);
	expect(&observe, "kernel-spin", FINDING_NOTE, FINDING_POSSIBLE, "CPU 0: waits for an interrupt");
}

static void a_spin_with_interrupts_enabled_is_only_reported(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 24; n++)
		add(&observe, 0x1000 + n % 3 * 2, 0x202, 0, 0, 1);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "spins in 4 bytes");
}

static void a_loop_that_works_is_only_reported(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 24; n++)
		add(&observe, 0x1000 + n % 3 * 2, 0x2, 0, 0, n);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "its registers change");
}

static void a_cpu_that_had_no_time_to_run_is_unknown(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 24; n++)
		add(&observe, 0x1000, 0x2, 0, 0, 1);
	observe.cpu[0].ran = 0.2;
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "CPU 0: at 0x1000, for 0.2 s");
	observe.cpu[0].ran = -1; /* the time that the CPU has run is unknown */
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "CPU 0: at 0x1000");
}

static void a_jump_to_itself_is_certain_if_no_interrupt_can_end_it(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 24; n++)
		add(&observe, 0x1000, 0x2, 0, 0, 1);
	observe.cpu[0].has_code = true;
	memcpy(observe.cpu[0].at, (const unsigned char[]){ 0xeb, 0xfe }, 2);
	expect(&observe, "halted", FINDING_WRONG, FINDING_CERTAIN, "jumps to itself");
	add(&observe, 0x1000, 0x202, 0, 0, 1);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "spins in 0 bytes");
}

static void a_program_is_no_problem(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 24; n++)
		add(&observe, 0x1000, 0x202, 3, 0, 1);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "runs a program");
}

static void one_dead_cpu_of_two_is_no_dead_machine(void **state)
{
	struct observe observe = guest();

	(void)state;
	for (unsigned n = 0; n < 20; n++)
		assert_true(observe_add(&observe, "CPU#0\nRIP=0000000000001000 RFL=00000002 CPL=0 HLT=1\n"
						  "CPU#1\nRIP=0000000000002000 RFL=00000202 CPL=0 HLT=1\n"));
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "no interrupt can wake it");
}

static void wfi_is_idle_even_if_interrupts_are_disabled(void **state)
{
	struct observe observe = guest();

	(void)state;
	observe.machine = EM_AARCH64;
	for (unsigned n = 0; n < 20; n++)
		assert_true(observe_add(
			&observe,
			"CPU#0\n PC=0000000000001000 X00=0000000000000000\nPSTATE=000003c5 ---- EL1h\n"));
	observe.cpu[0].has_code = true;
	memcpy(observe.cpu[0].before + 4, (const unsigned char[]){ 0x7f, 0x20, 0x03, 0xd5 }, 4);
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "waits for an interrupt");
}

static void riscv_does_not_show_whether_interrupts_are_enabled(void **state)
{
	struct observe observe = guest();

	(void)state;
	observe.machine = EM_RISCV;
	for (unsigned n = 0; n < 24; n++)
		assert_true(observe_add(&observe,
					"CPU#0\n pc       0000000000001000\n mstatus  0000000a00000000\n"));
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "spins in 0 bytes");
}

static void the_state_of_qemu_is_a_verdict(void **state)
{
	struct observe observe = guest();

	(void)state;
	add(&observe, 0x1000, 0x2, 0, 1, 0);
	strcpy(observe.state, "guest-panicked");
	expect(&observe, "panic", FINDING_WRONG, FINDING_CERTAIN, "CPU 0: at 0x1000");
	strcpy(observe.state, "paused");
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "CPU 0: at 0x1000");
	strcpy(observe.state, "shutdown");
	expect(&observe, "unknown", FINDING_NOTE, FINDING_POSSIBLE, "CPU 0: at 0x1000");
}

static void malformed_text_has_no_cpus(void **state)
{
	struct observe observe = guest();

	(void)state;
	assert_false(observe_add(&observe, ""));
	assert_false(observe_add(&observe, "RIP=0000000000001000\n"));
	observe_add(&observe, "CPU#4000000000\nRIP=0000000000001000\n");
	observe_add(&observe, "CPU#0\n");
	assert_int_equal(observe.cpus, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_halted_cpu_without_interrupts_is_dead),
		cmocka_unit_test(a_halted_cpu_with_interrupts_is_not),
		cmocka_unit_test(a_spin_with_interrupts_disabled_is_likely),
		cmocka_unit_test(a_spin_with_interrupts_enabled_is_only_reported),
		cmocka_unit_test(a_loop_that_works_is_only_reported),
		cmocka_unit_test(a_cpu_that_had_no_time_to_run_is_unknown),
		cmocka_unit_test(a_jump_to_itself_is_certain_if_no_interrupt_can_end_it),
		cmocka_unit_test(a_program_is_no_problem),
		cmocka_unit_test(a_spin_of_another_cpu_is_only_possible),
		cmocka_unit_test(one_dead_cpu_of_two_is_no_dead_machine),
		cmocka_unit_test(wfi_is_idle_even_if_interrupts_are_disabled),
		cmocka_unit_test(riscv_does_not_show_whether_interrupts_are_enabled),
		cmocka_unit_test(the_state_of_qemu_is_a_verdict),
		cmocka_unit_test(malformed_text_has_no_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
