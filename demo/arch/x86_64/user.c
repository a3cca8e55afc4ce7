/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Entering user mode, and access to the registers of programs. */
#include "user.h"

#include "arch.h"
#include "arch_user.h"
#include "cpu.h"
#include "paging.h"
#include "process.h"
#include "thread.h"
#include "x86.h"

#define EFER_SYSCALL 0x1u

#define RFLAGS_FIXED 0x2ull
/* RFLAGS bits that belong to a program: carry, parity, adjust, zero, sign, direction, overflow. */
#define RFLAGS_USERS 0xcd5ull
#define RFLAGS_TRAP  0x100ull

/*
 * RFLAGS bits that SYSCALL clears, because they must not affect the kernel: trap, interrupts, direction, I/O
 * level, nested task, alignment check.
 */
#define SYSCALL_CLEARS 0x47700ull

#define EM_X86_64 62

#define LOWER_HALF_END	(1ull << 47)
#define STACK_ALIGNMENT 16

_Static_assert(offsetof(struct cpu, entry[0]) == CPU_KERNEL_STACK, "as in trap.S");
_Static_assert(offsetof(struct cpu, entry[1]) == CPU_USER_STACK, "as in trap.S");
_Static_assert(sizeof(struct user_frame) % STACK_ALIGNMENT == 0, "keeps the stack aligned");

const size_t user_frame_size = sizeof(struct user_frame);
const uint16_t user_elf_machine = EM_X86_64;

void user_mode_init(void)
{
	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SYSCALL);
	wrmsr(MSR_STAR, (uint64_t)SELECTOR_CODE << 32); /* SYSRET is not used, so its selectors are 0 */
	wrmsr(MSR_LSTAR, (uintptr_t)system_call_entry);
	wrmsr(MSR_SYSCALL_MASK, SYSCALL_CLEARS);
}

void arch_user_switch(struct thread *next, struct arch_space *space)
{
	struct cpu *cpu = arch_this_cpu();
	uintptr_t root = space ? space->root : (uintptr_t)page_root;
	const struct user_frame *frame = user_frame_of(next);
	uintptr_t stack = (uintptr_t)(&frame->trap + 1);
	uintptr_t current;

	cpu->entry[0] = stack;
	descriptors_set_stack(cpu, stack);
	if (space)
		wrmsr(MSR_FS_BASE, frame->tls);

	/* Loading CR3 flushes the TLB, so CR3 is loaded only if the tables change. */
	__asm__ volatile("mov %%cr3, %0" : "=r"(current));
	if (root != current)
		__asm__ volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

struct user_frame *user_frame_of(struct thread *thread)
{
	return (struct user_frame *)(thread->stack + THREAD_STACK_SIZE) - 1;
}

void user_frame_enter(void)
{
	trap_leave(&user_frame_of(thread_self())->trap);
}

uintptr_t user_frame_ip(const struct user_frame *frame)
{
	return frame->trap.rip;
}

uintptr_t user_frame_sp(const struct user_frame *frame)
{
	return frame->trap.rsp;
}

unsigned user_frame_call(const struct user_frame *frame)
{
	return (unsigned)frame->trap.rax;
}

uint64_t user_frame_argument(const struct user_frame *frame, unsigned n)
{
	const struct trap_frame *trap = &frame->trap;
	const uint64_t arguments[] = { trap->rdi, trap->rsi, trap->rdx, trap->r10, trap->r8, trap->r9 };

	return arguments[n];
}

void user_frame_set_result(struct user_frame *frame, int64_t result)
{
	frame->trap.rax = (uint64_t)result;
}

/*
 * Sets the address at which the program continues. IRETQ to a non-canonical address would fault in kernel
 * mode, so USER_END replaces such an address: nothing is mapped there, and the program faults.
 */
static void set_ip(struct trap_frame *trap, uintptr_t ip)
{
	trap->rip = ip < LOWER_HALF_END ? ip : USER_END;
}

void user_frame_set_argument(struct user_frame *frame, uint64_t value)
{
	frame->trap.rdi = value;
}

/* Sets the base of FS. A non-canonical address cannot be the base; it is replaced by 0. */
void user_frame_set_tls(struct user_frame *frame, uintptr_t address)
{
	frame->tls = address < LOWER_HALF_END ? address : 0;
	if (frame == user_frame_of(thread_self()))
		wrmsr(MSR_FS_BASE, frame->tls);
}

void user_frame_sanitize(struct user_frame *frame)
{
	struct trap_frame *trap = &frame->trap;

	user_frame_set_tls(frame, frame->tls);

	set_ip(trap, trap->rip);
	trap->cs = SELECTOR_USER_CODE;
	trap->ss = SELECTOR_USER_DATA;
	trap->rflags = (trap->rflags & (RFLAGS_USERS | RFLAGS_TRAP)) | RFLAGS_FIXED | RFLAGS_IF;
}

void user_frame_start(struct user_frame *frame, uintptr_t ip, uintptr_t sp)
{
	*frame = (struct user_frame){ .trap = { .rip = ip, .rsp = sp } };
	user_frame_sanitize(frame);
}

/*
 * Writes the handler's return address (`restorer`) to the top of its stack. If the write fails, the handler
 * faults when it uses the stack, and the fault becomes a signal.
 */
void user_frame_call_handler(struct user_frame *frame, uintptr_t handler, uintptr_t restorer, uintptr_t sp,
			     int signal)
{
	struct trap_frame *trap = &frame->trap;

	trap->rsp = (sp & -(uintptr_t)STACK_ALIGNMENT) - sizeof(restorer);
	vm_copy_out(&process_self()->vm, trap->rsp, &restorer, sizeof(restorer));
	trap->rdi = (uint64_t)signal;
	trap->rflags = 0;
	trap->rip = handler;
	user_frame_sanitize(frame);
}
