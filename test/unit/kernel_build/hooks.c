/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A function that calls every hook, and the same function without hooks. */
#include <ktrace/ktrace.h>

void hooks(const void *object, const char *name, uint32_t number);
void nothing(const void *object, const char *name, uint32_t number);

void hooks(const void *object, const char *name, uint32_t number)
{
	ktrace_lock_wait(object, name, KTRACE_BY_CPU, KTRACE_NOBODY);
	ktrace_lock_wait_at(object, name, KTRACE_BY_CPU, number, KTRACE_RETURN_ADDRESS);
	ktrace_lock_give_up(KTRACE_BY_CPU);
	ktrace_lock_acquire(object, KTRACE_BY_THREAD);
	ktrace_lock_acquire_at(object, KTRACE_BY_THREAD, KTRACE_RETURN_ADDRESS);
	ktrace_lock_release(object, KTRACE_BY_THREAD);
	ktrace_lock_release_at(object, KTRACE_BY_THREAD, KTRACE_RETURN_ADDRESS);
	ktrace_thread_block(object, name, KTRX_WAIT_EVENT, 0);
	ktrace_thread_block_at(object, name, KTRX_WAIT_EVENT, 0, KTRACE_RETURN_ADDRESS);
	ktrace_thread_wake(number);
	ktrace_thread_switch(number, number + 1);
	ktrace_thread_exit(number);
	ktrace_thread_stack(number, object, name);
	ktrace_thread_priority(number, 3);
	ktrace_irq_enter(number);
	ktrace_irq_exit(number);
	ktrace_irq_eoi(number);
	ktrace_ipi_wait(number, 1);
	ktrace_ipi_wait_at(KTRX_ALL_CPUS, 1, KTRACE_RETURN_ADDRESS);
	ktrace_ipi_wait_end();
	ktrace_ipi_answer();
	ktrace_interrupts(0);
	ktrace_interrupts_at(0, KTRACE_RETURN_ADDRESS);
	ktrace_preempt(number);
	ktrace_space(number);
}

void nothing(const void *object, const char *name, uint32_t number)
{
	(void)object;
	(void)name;
	(void)number;
}
