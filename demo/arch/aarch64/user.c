/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Access to a user program's registers. A system call is svc #0 with the number in x8 and arguments in x0 to
 * x5. The result is in x0.
 */
#include "user.h"

#include "arch_user.h"

enum { REGISTER_CALL = 8, REGISTER_RETURN = 30 };

/* Values of SPSR_EL1 in user mode: all bits are 0, except the flags, which belong to the program. */
#define SPSR_USER  UINT64_C(0)
#define SPSR_FLAGS UINT64_C(0xf0000000)

#define STACK_ALIGNMENT 16
#define EM_AARCH64	183

const uint16_t user_elf_machine = EM_AARCH64;

uintptr_t user_frame_ip(const struct user_frame *frame)
{
	return frame->registers.elr;
}

uintptr_t user_frame_sp(const struct user_frame *frame)
{
	return frame->registers.sp;
}

unsigned user_frame_call(const struct user_frame *frame)
{
	return (unsigned)frame->registers.x[REGISTER_CALL];
}

uint64_t user_frame_argument(const struct user_frame *frame, unsigned n)
{
	return frame->registers.x[n];
}

void user_frame_set_result(struct user_frame *frame, int64_t result)
{
	frame->registers.x[0] = (uint64_t)result;
}

void user_frame_set_argument(struct user_frame *frame, uint64_t value)
{
	frame->registers.x[0] = value;
}

void user_frame_set_tls(struct user_frame *frame, uintptr_t address)
{
	frame->thread_pointer = address;
}

void user_frame_start(struct user_frame *frame, uintptr_t ip, uintptr_t sp)
{
	*frame = (struct user_frame){ .registers = { .elr = ip, .sp = sp, .spsr = SPSR_USER } };
}

void user_frame_call_handler(struct user_frame *frame, uintptr_t handler, uintptr_t restorer, uintptr_t sp,
			     int signal)
{
	frame->registers.x[0] = (uint64_t)signal;
	frame->registers.x[REGISTER_RETURN] = restorer;
	frame->registers.sp = sp & -(uintptr_t)STACK_ALIGNMENT;
	frame->registers.elr = handler;
}

void user_frame_sanitize(struct user_frame *frame)
{
	frame->registers.spsr = SPSR_USER | (frame->registers.spsr & SPSR_FLAGS);
}
