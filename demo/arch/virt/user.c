/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Access to the saved registers (user frame) of a thread, as far as it is the same on all machines of this
 * directory.
 */
#include "arch_user.h"

#include "thread.h"
#include "user.h"

const size_t user_frame_size = sizeof(struct user_frame);

struct user_frame *user_frame_of(struct thread *thread)
{
	return (struct user_frame *)(thread->stack + THREAD_STACK_SIZE) - 1;
}

_Noreturn void user_frame_enter(void)
{
	user_frame_resume(user_frame_of(thread_self()));
}
