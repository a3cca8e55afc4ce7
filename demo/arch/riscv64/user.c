/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Access to a user program's registers. A system call is ecall with the number in a7 and arguments in a0 to
 * a5. The result is in a0.
 */
#include "user.h"

#include "arch_user.h"

enum { REGISTER_RETURN = 1, REGISTER_SP = 2, REGISTER_TLS = 4, REGISTER_ARGUMENTS = 10, REGISTER_CALL = 17 };

/* Value of sstatus in user mode: interrupts on, 64-bit registers, no floating point. */
#define SSTATUS_USER (UINT64_C(1) << 5 | UINT64_C(2) << 32)

#define STACK_ALIGNMENT 16
#define EM_RISCV	243

const uint16_t user_elf_machine = EM_RISCV;

uintptr_t user_frame_ip(const struct user_frame *frame)
{
	return frame->registers.sepc;
}

uintptr_t user_frame_sp(const struct user_frame *frame)
{
	return frame->registers.x[REGISTER_SP];
}

unsigned user_frame_call(const struct user_frame *frame)
{
	return (unsigned)frame->registers.x[REGISTER_CALL];
}

uint64_t user_frame_argument(const struct user_frame *frame, unsigned n)
{
	return frame->registers.x[REGISTER_ARGUMENTS + n];
}

void user_frame_set_result(struct user_frame *frame, int64_t result)
{
	frame->registers.x[REGISTER_ARGUMENTS] = (uint64_t)result;
}

void user_frame_set_argument(struct user_frame *frame, uint64_t value)
{
	frame->registers.x[REGISTER_ARGUMENTS] = value;
}

void user_frame_set_tls(struct user_frame *frame, uintptr_t address)
{
	frame->registers.x[REGISTER_TLS] = address;
}

void user_frame_start(struct user_frame *frame, uintptr_t ip, uintptr_t sp)
{
	*frame = (struct user_frame){ .registers = { .sepc = ip, .sstatus = SSTATUS_USER } };
	frame->registers.x[REGISTER_SP] = sp;
}

void user_frame_call_handler(struct user_frame *frame, uintptr_t handler, uintptr_t restorer, uintptr_t sp,
			     int signal)
{
	frame->registers.x[REGISTER_ARGUMENTS] = (uint64_t)signal;
	frame->registers.x[REGISTER_RETURN] = restorer;
	frame->registers.x[REGISTER_SP] = sp & -(uintptr_t)STACK_ALIGNMENT;
	frame->registers.sepc = handler;
}

void user_frame_sanitize(struct user_frame *frame)
{
	frame->registers.sstatus = SSTATUS_USER;
}
