/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The first program of an x86_64 Linux guest, without a libc. Starts copies of itself, waits until they
 * have ended, and powers the machine off. Each copy is a process with an address space that is randomized
 * anew, and does computations.
 */
#include <linux/reboot.h>
#include <stdint.h>
#include <sys/syscall.h>

#define CHILDREN 50
#define WORK	 100000u

static long call(long number, long first, long second, long third, long fourth)
{
	register long r10 __asm__("r10") = fourth;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

__attribute__((noinline)) static uint32_t work(uint32_t seed)
{
	for (unsigned i = 0; i < WORK; i++)
		seed = seed & 1 ? seed >> 1 ^ 0xedb88320u : seed >> 1;
	return seed;
}

__attribute__((used)) static void run(const long *stack)
{
	const char *words[] = { "/init", "work", 0 };

	/* stack[0] is the number of arguments. Only copies of this program have a second argument. */
	if (stack[0] > 1)
		call(SYS_exit, (long)(work((uint32_t)stack[0]) & 1), 0, 0, 0);
	for (long i = 0; i < CHILDREN; i++)
		if (call(SYS_fork, 0, 0, 0, 0) == 0)
			call(SYS_execve, (long)words[0], (long)words, 0, 0);
	while (call(SYS_wait4, -1, 0, 0, 0) > 0)
		continue;
	call(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_POWER_OFF, 0);
	for (;;)
		continue;
}

/* At entry, the stack pointer is the address of the argument count, and is aligned as a call requires. */
__asm__(".globl _start\n"
	"_start:\n"
	"	movq %rsp, %rdi\n"
	"	call run\n");
