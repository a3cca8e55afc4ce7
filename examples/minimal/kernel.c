/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The smallest kernel with ktrace: RISC-V 64, `qemu-system-riscv64 -M virt -bios none -kernel kernel.elf`.
 * Every hart counts to a thousand, and the last one to finish powers off.
 */
#include "ktrace/ktrace.h"

#define HARTS 4

KTRACE_EVENT(example, hello, "from hart %u", (uint32_t, hart));
KTRACE_EVENT(example, count, "%u", (uint32_t, n));
KTRACE_EVENT(example, error, "ktrace error %d", (int, error));

static volatile uint32_t ready;
static uint32_t finished;

/* Records an error of ktrace. The kernel need not panic: recording continues in the static boot ring. */
static void trace_check(int error)
{
	if (error)
		KTRACE(example, error, error);
}

static void power_off(void)
{
	ktrace_exit(0);
	*(volatile uint32_t *)0x100000 = 0x5555; /* QEMU's test device */
}

/* Each hart starts here, with its own stack. */
void kernel_main(uint32_t hart)
{
	KTRACE(example, hello, hart); /* the boot ring works without any initialization */
	if (hart == 0) {
		trace_check(KTRACE_INIT(512 << 10, .cpus = HARTS, .kernel = "minimal"));
		__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		;
	trace_check(ktrace_cpu_online(hart));
	for (uint32_t n = 0; n < 1000; n++)
		KTRACE(example, count, n);
	if (__atomic_add_fetch(&finished, 1, __ATOMIC_ACQ_REL) == HARTS)
		power_off();
	for (;;)
		__asm__ volatile("wfi");
}

__asm__(".pushsection .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	csrr	tp, mhartid\n"
	"	la	sp, stacks\n"
	"	addi	t0, tp, 1\n"
	"	slli	t0, t0, 13\n" /* each stack has 8 KiB */
	"	add	sp, sp, t0\n"
	"	mv	a0, tp\n"
	"	call	kernel_main\n"
	".section .bss\n"
	".balign 16\n"
	"stacks: .space 8192 * 4\n"
	".popsection\n");
