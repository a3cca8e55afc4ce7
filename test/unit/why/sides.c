/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how `ktrace why` decides whether the kernel or a program spins: by the CPU's registers, by the mode
 * that the kernel has set, by addresses, and by the kernel's file.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/elf_file.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE   1u
#define WORKER 5u
#define LINKED UINT64_C(0x100000)
#define ROOT   (LINKED + 0x20000)
#define PROGRAM \
	UINT64_C(0x400000) /* address of a program that is in the range for which the kernel was linked */
#define OUTSIDE UINT64_C(0x10000000000)
#define LAST	(3000 * MS)

enum { OTHER = 1, SWITCH, ENTER, CALL, RETURN };

static const struct elf_file_section sections[] = {
	{ ".text", LINKED, 0x20000, ELF_FILE_CODE | ELF_FILE_BOTH },
	{ ".bss", ROOT, 0x800000, ELF_FILE_DATA | ELF_FILE_BOTH },
	{ NULL, 0, 0, 0 },
};
static const struct elf_file_symbol names[] = {
	{ "main", LINKED + 0x100, 0x80, STT_FUNC, 1 },
	{ "ktrace_root", ROOT, 0x200, STT_OBJECT, 2 },
	{ "memory", ROOT + 0x10000, 0x700000, STT_OBJECT, 2 },
	{ NULL, 0, 0, 0, 0 },
};

/*
 * For each machine: by how many bytes the kernel was moved, the registers in kernel mode, and the registers
 * in user mode.
 */
static const struct {
	uint16_t machine;
	uint64_t moved;
	const char *kernel, *user;
} machines[] = {
	{ EM_X86_64, UINT64_C(0xffffffff80000000), "cs=8", "cs=33" },
	{ EM_AARCH64, UINT64_C(0xffff000040000000), "pstate=600003c5", "pstate=80000000" },
	{ EM_RISCV, UINT64_C(0xffffffc080000000), "s0=8", "s0=33" },
};

static char registers[200];

/*
 * Makes the trace of a kernel that was moved by `moved` bytes. Thread 5 runs on CPU 0 and is interrupted at
 * `pc` every 10 ms.
 */
static void spin(unsigned machine, uint64_t moved, bool with_file, uint64_t pc)
{
	const struct elf_file file = { machines[machine].machine, ET_EXEC, sections, names };
	struct ktrx_cpu *cpu = script_cpu(0);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(ENTER, "irq", "enter", "u32 irq,u64 ip");
	script_type(CALL, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr,i64 result");
	script_thread(IDLE, "idle/0");
	script_info()->cpus = 1;
	script_info()->machine = machines[machine].machine;
	script_info()->self = moved + ROOT;
	if (with_file)
		why_kernel_file(&file);
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(SWITCH, MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	for (uint64_t stamp = 10 * MS; stamp <= LAST; stamp += 10 * MS) {
		script_event(ENTER, stamp, 0, WORKER, V(0), pc + stamp / MS % 20 / 10 * 4)->context =
			KTRX_CONTEXT_INTERRUPT;
		cpu->heartbeats++;
		cpu->heartbeat_stamp = cpu->now = stamp;
		cpu->pc = pc;
		cpu->thread = WORKER;
	}
}

/* Records a system call, which shows that the kernel has programs. */
static void call_kernel(void)
{
	script_event(CALL, 5 * MS, 0, WORKER, V(1));
	script_event(RETURN, 6 * MS, 0, WORKER, V(1), V(0));
}

static void stand(uint64_t pc, const char *level)
{
	snprintf(registers, sizeof(registers), "cpu 0 pc=%" PRIx64 " sp=1000 %s\n", pc, level);
	script_info()->registers = registers;
}

static void next(void)
{
	why_teardown(NULL);
	why_setup(NULL);
}

static void expect_user(void)
{
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_null(strstr(why_text(), "memory+"));
	assert_null(strstr(why_text(), "main+"));
}

static void expect_kernel(const char *place)
{
	why_says(place);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

static void expect_neither(void)
{
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

static void program_at_link_address_of_moved_kernel_is_user(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		spin(n, machines[n].moved, true, PROGRAM);
		expect_user();
		next();
		spin(n, machines[n].moved, false, PROGRAM);
		call_kernel();
		expect_user();
		next();
		spin(n, machines[n].moved, true, machines[n].moved + LINKED + 0x110);
		call_kernel();
		expect_kernel("spins in the kernel on CPU 0, at main+0x1");
		next();
	}
}

/*
 * The kernel and programs share the address space. An address belongs to the kernel if it is in the kernel's
 * code.
 */
static void low_kernel_is_recognized_by_its_file(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 3; n++) {
		spin(n, 0, true, LINKED + 0x110);
		call_kernel();
		expect_kernel("at main+0x1");
		next();
		spin(n, 0, true, OUTSIDE);
		call_kernel();
		expect_user();
		next();
		spin(n, 0, true, PROGRAM); /* an address in the kernel's data, where no code can run */
		call_kernel();
		expect_neither();
		next();
	}
}

/* If no CPU has been in user mode, code outside of the kernel may be firmware or a module. */
static void code_outside_kernel_without_programs_is_unknown(void **state)
{
	(void)state;
	spin(0, 0, true, OUTSIDE);
	expect_neither();
}

static void low_kernel_without_file_is_unknown(void **state)
{
	(void)state;
	spin(0, 0, false, PROGRAM);
	call_kernel();
	expect_neither();
	next();
	spin(0, 0, false, LINKED + 0x110);
	expect_kernel("spins in the kernel");
}

static void privilege_level_decides(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		spin(n, 0, true, PROGRAM);
		stand(PROGRAM, machines[n].user);
		expect_user();
		next();
		/* registers show user mode, so a program runs at an address that the kernel also uses */
		spin(n, 0, true, LINKED + 0x110);
		stand(LINKED + 0x114, machines[n].user);
		expect_user();
		next();
		/* registers show kernel mode, so the code at this low address is firmware */
		spin(n, machines[n].moved, true, PROGRAM);
		stand(PROGRAM, machines[n].kernel);
		expect_kernel("at 0x400000");
		next();
	}
}

/* If the registers belong to a handler that interrupted the loop, they show nothing about the loop. */
static void registers_of_other_place_do_not_decide(void **state)
{
	(void)state;
	spin(0, machines[0].moved, true, PROGRAM);
	stand(machines[0].moved + LINKED + 0x110, "cs=8");
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	why_says("at main+0x10");
}

static void mode_overrides_address(void **state)
{
	(void)state;
	spin(0, 0, true, PROGRAM);
	script_cpu(0)->mode = KTRX_MODE_USER;
	expect_user();
	next();
	/* the recorded mode is user mode, but the address is in the kernel */
	spin(0, 0, true, LINKED + 0x110);
	script_cpu(0)->mode = KTRX_MODE_USER;
	expect_neither();
	next();
	spin(0, 0, true, OUTSIDE); /* a program has called code of a kernel module */
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->user_exits = script_cpu(0)->user_enters = 1;
	expect_neither();
}

/*
 * The kernel moved after ktrace_root was initialized, so the root contains the old address. Only a hook's
 * caller shows the new addresses.
 */
static void callers_of_hooks_show_upper_half(void **state)
{
	(void)state;
	spin(0, 0, true, LINKED + 0x110);
	script_cpu(0)->interrupts_pc = machines[0].moved + LINKED + 0x108;
	call_kernel();
	expect_neither();
}

static void frames_of_program_have_no_names(void **state)
{
	char stack[100];

	(void)state;
	spin(0, machines[0].moved, true, machines[0].moved + LINKED + 0x110);
	call_kernel();
	stand(machines[0].moved + LINKED + 0x110, "cs=8");
	snprintf(stack, sizeof(stack), "stack 0 %" PRIx64 " %" PRIx64 "\n",
		 machines[0].moved + LINKED + 0x140, LINKED + 0x120);
	strcat(registers, stack);
	why_says("called from main+0x40");
	why_says("called from 0x100120");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, why_setup, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(program_at_link_address_of_moved_kernel_is_user),
		TEST(low_kernel_is_recognized_by_its_file),
		TEST(code_outside_kernel_without_programs_is_unknown),
		TEST(low_kernel_without_file_is_unknown),
		TEST(privilege_level_decides),
		TEST(registers_of_other_place_do_not_decide),
		TEST(mode_overrides_address),
		TEST(callers_of_hooks_show_upper_half),
		TEST(frames_of_program_have_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
