/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests what `ktrace why` concludes from registers, for example, a caller whose address is only in the link
 * register. Uses the symbols of this test program.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "why/finding.h"
#include "why/pulse.h"

extern const char __ehdr_start[]; /* defined by the linker: start of this program */

uint64_t ktrace_root[4]; /* the reader of symbols uses this address to find out where the program runs */

#define STORED UINT64_C(0xffff000012345678) /* the return address that the stack contains */

static struct symbols *symbols;
static struct why_evidence *evidence;
static char text[512];

static int begin(void **state)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)__ehdr_start;

	(void)state;
	script_begin(2);
	script_info()->machine = header->e_machine;
	script_info()->self = (uintptr_t)ktrace_root;
	return symbols_open(&symbols, "/proc/self/exe", script_info()) < 0;
}

static int end(void **state)
{
	(void)state;
	why_evidence_free(evidence);
	symbols_close(symbols);
	script_end();
	return 0;
}

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("nop; nop");
}

__attribute__((noinline)) static uintptr_t caller(void)
{
	leaf();
	return (uintptr_t)__builtin_return_address(0);
}

/* CPU 0 is at `pc`. Its stack contains one return address, or none. */
static const struct why_cpu *stand(uintptr_t pc, uint64_t link, uint64_t stored)
{
	int length = snprintf(text, sizeof(text), "cpu 0 pc=%" PRIxPTR " sp=1000 x29=2000 x30=%" PRIx64 "\n",
			      pc, link);

	if (stored)
		snprintf(text + length, sizeof(text) - (size_t)length, "stack 0 %" PRIx64 "\n", stored);
	script_info()->registers = text;
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
	return &evidence->cpu[0];
}

static void link_register_has_caller_of_leaf(void **state)
{
	const uintptr_t from = (uintptr_t)caller + 8;
	const struct why_cpu *cpu = stand((uintptr_t)leaf + 1, from, STORED);

	(void)state;
	assert_int_equal(cpu->frames, 2);
	assert_true(cpu->frame[0] == from && cpu->frame[1] == STORED);
}

static void link_register_is_only_caller(void **state)
{
	(void)state;
	assert_int_equal(stand((uintptr_t)leaf + 1, caller(), 0)->frames, 1);
}

/* The function has called another function, so the link register points into the function itself. */
static void link_into_same_function_is_no_caller(void **state)
{
	const struct why_cpu *cpu = stand((uintptr_t)caller + 2, (uintptr_t)caller + 8, STORED);

	(void)state;
	assert_int_equal(cpu->frames, 1);
	assert_true(cpu->frame[0] == STORED);
}

/* The first function of a thread was not called: the kernel made its frame, with the function's own address. */
static void first_function_of_a_thread_has_no_caller(void **state)
{
	(void)state;
	assert_int_equal(stand((uintptr_t)caller + 8, 0, (uintptr_t)caller)->frames, 0);
	why_evidence_free(evidence);
	evidence = NULL;
	assert_int_equal(stand((uintptr_t)caller + 8, 0, (uintptr_t)leaf)->frames, 1);
}

#if defined(__x86_64__)
#define CALL "call"
#elif defined(__aarch64__)
#define CALL "bl"
#else
#define CALL "jal"
#endif

/* A function that ends with a call that does not return, and the function that it calls, without padding. */
extern const char last_call[], called_last[];
__asm__(".pushsection .text\n"
	".type last_call, %function\n"
	"last_call:\n"
	"	nop\n"
	"	" CALL " called_last\n"
	".size last_call, . - last_call\n"
	".type called_last, %function\n"
	"called_last:\n"
	"	nop\n"
	"	nop\n"
	".size called_last, . - called_last\n"
	".popsection\n");

/* The return address is the start of the called function, as if the function had not been called. */
static void caller_directly_before_the_called_function_is_a_caller(void **state)
{
	const struct why_cpu *cpu = stand((uintptr_t)called_last + 1, 0, (uintptr_t)called_last);

	(void)state;
	assert_int_equal(cpu->frames, 1);
	assert_true(cpu->frame[0] == (uintptr_t)called_last);
}

static void data_is_no_caller(void **state)
{
	const struct why_cpu *cpu = stand((uintptr_t)caller + 8, 0, (uintptr_t)ktrace_root);

	(void)state;
	assert_int_equal(cpu->frames, 0);
}

static void caller_on_stack_is_not_repeated(void **state)
{
	const uintptr_t from = (uintptr_t)caller + 8;

	(void)state;
	assert_int_equal(stand((uintptr_t)leaf + 1, from, from)->frames, 1);
}

/* The link register has an arbitrary value. */
static void link_outside_code_is_no_caller(void **state)
{
	(void)state;
	assert_int_equal(stand((uintptr_t)leaf + 1, 0x1234, STORED)->frames, 1);
}

static void link_is_ignored_outside_kernel(void **state)
{
	(void)state;
	assert_int_equal(stand(0x1234, (uintptr_t)caller + 8, STORED)->frames, 1);
}

/*
 * The number of addresses that are read from a message is limited. Numbers that are not code addresses do not
 * count.
 */
static void only_code_addresses_of_message_are_named(void **state)
{
	const uintptr_t last = (uintptr_t)caller + 8;
	struct why_findings *findings;
	char line[32];

	(void)state;
	script_type(1, "ktrace", "panic", "string message");
	snprintf(text, sizeof(text), "fault 0x0 error 0x2 of 0x10, flags 0x246, at 0x%" PRIxPTR, last);
	script_event(1, 1000, 0, 1, text);
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
	assert_int_equal(why_find(&findings, evidence), 0);
	snprintf(line, sizeof(line), "0x%" PRIxPTR " is ", last);
	assert_int_equal(strncmp(why_findings_at(findings, 0)->base.evidence[1], line, strlen(line)), 0);
	why_findings_free(findings);
}

__attribute__((noinline)) static void kernel_panic(void)
{
	__asm__ volatile("nop; nop; nop; nop");
	leaf();
	__asm__ volatile("nop; nop");
}

static void a_panic(const char *message, const char *registers)
{
	script_type(1, "ktrace", "panic", "string message");
	script_info()->registers = registers;
	script_event(1, 1000, 0, 1, message);
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
}

/* A prompt or a reset that follows a panic is not the cause of the panic. */
static void frames_after_panic_are_left_out(void **state)
{
	const uintptr_t prompt = (uintptr_t)leaf + 1, gave_up = (uintptr_t)kernel_panic + 4;
	struct why_findings *findings;

	(void)state;
	snprintf(text, sizeof(text),
		 "cpu 0 pc=%" PRIxPTR " sp=1000\nstack 0 %" PRIxPTR " %" PRIxPTR " %" PRIx64 "\n", prompt,
		 prompt, gave_up, STORED);
	a_panic("out of pages", text);
	assert_int_equal(why_find(&findings, evidence), 0);
	assert_string_equal(why_findings_at(findings, 0)->base.evidence[1],
			    "  called from 0xffff000012345678");
	why_findings_free(findings);
}

/* The stack contains a panic function but no caller of it. */
static void panic_in_last_frame_is_shown(void **state)
{
	struct why_findings *findings;

	(void)state;
	snprintf(text, sizeof(text), "cpu 0 pc=%" PRIxPTR " sp=1000\nstack 0 %" PRIxPTR "\n",
		 (uintptr_t)leaf + 1, (uintptr_t)kernel_panic + 4);
	a_panic("out of pages", text);
	assert_int_equal(why_find(&findings, evidence), 0);
	assert_non_null(strstr(why_findings_at(findings, 0)->base.evidence[1], "kernel_panic"));
	why_findings_free(findings);
}

/*
 * The panic message names the thread whose stack has overflowed. The kernel may have checked the stack when
 * another thread was already running.
 */
static void overflow_found_later_names_no_owner(void **state)
{
	struct why_findings *findings;

	(void)state;
	a_panic("stack overrun at 0x201ca0: thread 7 (reader)", "cpu 0 pc=1000 sp=1000\n");
	assert_int_equal(why_find(&findings, evidence), 0);
	assert_int_equal(why_findings_at(findings, 0)->verdict, WHY_STACK_OVERFLOW);
	assert_string_equal(why_findings_at(findings, 0)->base.what,
			    "the kernel found a stack overflow, on CPU 0 in thread 1");
	why_findings_free(findings);
}

static void stack_smashing_is_no_overflow(void **state)
{
	struct why_findings *findings;

	(void)state;
	a_panic("stack smashing detected", "cpu 0 pc=1000 sp=1000\n");
	assert_int_equal(why_find(&findings, evidence), 0);
	assert_int_equal(why_findings_at(findings, 0)->verdict, WHY_PANIC);
	why_findings_free(findings);
}

/*
 * The instruction that returns to user mode also enables interrupts, so the kernel cannot call a hook for
 * this.
 */
static void interrupts_are_unknown_in_user_mode(void **state)
{
	(void)state;
	script_cpu(0)->mode = KTRX_MODE_USER;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->interrupts = script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(stand((uintptr_t)leaf, 0, 0)->row.interrupts, KTRX_INTERRUPTS_UNKNOWN);
	assert_int_equal(evidence->cpu[1].row.interrupts, KTRX_INTERRUPTS_OFF);
}

/* ---- CPUs that seem to idle ------------------------------------------------------------------------ */

#if defined(__x86_64__)
#define WAIT	"hlt"
#define PAUSE	"pause"
#define MASKED	"flags=46 cs=8"
#define ENABLED "flags=246 cs=8"
#elif defined(__aarch64__)
#define WAIT	"wfi"
#define PAUSE	"yield"
#define MASKED	"pstate=3c5"
#define ENABLED "pstate=345"
#endif

#ifdef WAIT
#define SECOND UINT64_C(1000000000)

extern const uint64_t after_wait; /* the address at which a CPU stands that waits in idle_loop() */

__attribute__((noinline, used)) static void idle_loop(void)
{
	__asm__ volatile(WAIT "\n1: nop\n.pushsection .data.rel.ro, \"aw\"\n.balign 8\n"
			      ".globl after_wait\nafter_wait: .quad 1b\n.popsection");
}

__attribute__((noinline, used)) static void spin_for_device(void)
{
	__asm__ volatile("1: nop\nnop\nnop\nnop\n" PAUSE "\nnop\nnop");
}

__attribute__((noinline, used)) static void handle_interrupt(void)
{
	__asm__ volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop");
}

static void run_cpu(uint32_t cpu, uint64_t beat, uint64_t pc)
{
	struct ktrx_cpu *row = script_cpu(cpu);

	row->online = 1;
	row->mode = KTRX_MODE_IDLE;
	row->mode_stamp = row->heartbeat_stamp = row->now = beat;
	row->heartbeats = 200;
	row->pc = pc;
}

/* CPU 0 had its last heartbeat at `beat_at`, 3 s ago, and is at `pc` now. Returns whether it spins. */
static bool cpu_spins(uint64_t beat_at, uint64_t pc, const char *registers)
{
	struct why_findings *findings;
	bool found = false;

	script_type(1, "mine", "other", "");
	script_info()->cpus = 2;
	run_cpu(0, SECOND, beat_at);
	run_cpu(1, 4 * SECOND, after_wait);
	script_event(1, SECOND, 0, 0);
	script_event(1, 4 * SECOND, 1, 0);
	snprintf(text, sizeof(text), "cpu 0 pc=%" PRIx64 " sp=1000 %s\n", pc, registers);
	script_info()->registers = text;
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
	assert_int_equal(why_find(&findings, evidence), 0);
	for (uint32_t n = 0; n < why_findings_count(findings); n++)
		found |= why_findings_at(findings, n)->verdict == WHY_KERNEL_SPIN;
	why_findings_free(findings);
	return found;
}

/* The CPU used to wait in idle_loop(). It has left the wait, so it took an interrupt. */
static void cpu_that_left_its_wait_does_not_idle(void **state)
{
	(void)state;
	assert_true(cpu_spins(after_wait, (uintptr_t)handle_interrupt + 4, MASKED));
}

static void cpu_that_waits_idles(void **state)
{
	(void)state;
	assert_false(cpu_spins(after_wait, after_wait, MASKED));
}

static void cpu_with_interrupts_enabled_idles(void **state)
{
	(void)state;
	assert_false(cpu_spins(after_wait, (uintptr_t)handle_interrupt + 4, ENABLED));
}

/* The loop may be an idle loop that does not halt. */
static void cpu_in_loop_with_pause_may_idle(void **state)
{
	(void)state;
	assert_false(cpu_spins(after_wait, (uintptr_t)spin_for_device + 4, MASKED));
}

/* Nothing shows that the CPU takes interrupts while it idles. */
static void cpu_that_was_never_seen_waiting_may_idle(void **state)
{
	(void)state;
	assert_false(cpu_spins((uintptr_t)leaf + 1, (uintptr_t)handle_interrupt + 4, MASKED));
}

#ifdef __x86_64__
/*
 * QEMU's registers show that the CPU has not halted. With KVM they always show this, so a CPU at a halt, or in a
 * loop with a pause, may idle nevertheless.
 */
static void cpu_that_has_not_halted_does_not_idle(void **state)
{
	static const struct {
		const void *at;
		const char *mode;
		bool spins;
	} cases[] = {
		{ (const char *)(uintptr_t)handle_interrupt + 4, MASKED " hlt=0", true },
		{ (const char *)(uintptr_t)handle_interrupt + 4, MASKED " hlt=1", false },
		{ (const char *)(uintptr_t)handle_interrupt + 4, ENABLED " hlt=0", false },
		{ (const char *)(uintptr_t)spin_for_device + 4, MASKED " hlt=0", false },
		{ NULL, MASKED " hlt=0", false },
	};

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		const uint64_t at = cases[n].at ? (uintptr_t)cases[n].at : after_wait;

		if (n > 0) {
			end(state);
			assert_int_equal(begin(state), 0);
		}
		assert_int_equal(cpu_spins((uintptr_t)leaf + 1, at, cases[n].mode), cases[n].spins);
	}
}

/* A loop "while (!flag);", as gcc -O0 compiles it. */
__attribute__((noinline, used)) static void spin_for_flag(void)
{
	__asm__ volatile("1: movl -0xc(%%rbp), %%eax\ntestl %%eax, %%eax\nje 1b" ::: "eax", "cc");
}

/* The last byte of `mov -0xc(%rbp), %eax` is the byte of hlt. */
static void operand_that_looks_like_a_halt_is_none(void **state)
{
	const unsigned char *code = (const unsigned char *)(uintptr_t)spin_for_flag;
	const struct why_cpu *cpu;

	(void)state;
	while (memcmp(code, "\x8b\x45\xf4", 3) != 0)
		code++;
	snprintf(text, sizeof(text), "cpu 0 pc=%" PRIxPTR " sp=1000 " MASKED " hlt=0\n", (uintptr_t)code + 3);
	script_info()->registers = text;
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
	cpu = &evidence->cpu[0];
	assert_false(why_has_halted(evidence, cpu));
	assert_true(why_is_awake(evidence, cpu));
	assert_true(why_may_run_masked(evidence, cpu));
}

/* With KVM, registers do not show that a CPU has halted. The kernel's file does. */
static void cpu_after_halt_has_halted(void **state)
{
	(void)state;
	snprintf(text, sizeof(text), "cpu 0 pc=%" PRIx64 " sp=1000 " MASKED " hlt=0\n", after_wait);
	script_info()->registers = text;
	assert_int_equal(why_evidence_read(&evidence, script_trace(), symbols), 0);
	assert_true(why_has_halted(evidence, &evidence->cpu[0]));
	assert_false(why_may_run_masked(evidence, &evidence->cpu[0]));
}
#endif
#endif

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(link_register_has_caller_of_leaf),
		TEST(link_register_is_only_caller),
		TEST(link_into_same_function_is_no_caller),
		TEST(first_function_of_a_thread_has_no_caller),
		TEST(caller_directly_before_the_called_function_is_a_caller),
		TEST(data_is_no_caller),
		TEST(caller_on_stack_is_not_repeated),
		TEST(link_outside_code_is_no_caller),
		TEST(link_is_ignored_outside_kernel),
		TEST(only_code_addresses_of_message_are_named),
		TEST(frames_after_panic_are_left_out),
		TEST(panic_in_last_frame_is_shown),
		TEST(overflow_found_later_names_no_owner),
		TEST(stack_smashing_is_no_overflow),
		TEST(interrupts_are_unknown_in_user_mode),
#ifdef WAIT
		TEST(cpu_that_left_its_wait_does_not_idle),
		TEST(cpu_that_waits_idles),
		TEST(cpu_with_interrupts_enabled_idles),
		TEST(cpu_in_loop_with_pause_may_idle),
		TEST(cpu_that_was_never_seen_waiting_may_idle),
#endif
#ifdef __x86_64__
		TEST(cpu_that_has_not_halted_does_not_idle),
		TEST(operand_that_looks_like_a_halt_is_none),
		TEST(cpu_after_halt_has_halted),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
