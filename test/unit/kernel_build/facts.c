/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A function that contains every call of ktrace/facts.h, and the same function without these calls. */
#include <ktrace/ktrace.h>

void facts(const void *object, const char *name, uint32_t number);
void nothing(const void *object, const char *name, uint32_t number);

void facts(const void *object, const char *name, uint32_t number)
{
	ktrace_switch(number, number + 1, 0);
	ktrace_wake(number);
	ktrace_block(object, name, KTRX_WAIT_EVENT, 0);
	ktrace_block_at(object, name, KTRX_WAIT_EVENT, 0, KTRACE_RETURN_ADDRESS);
	ktrace_thread_end(number);
	ktrace_contend(object, name, KTRACE_BY_CPU, KTRACE_NOBODY);
	ktrace_contend_at(object, name, KTRACE_BY_CPU, number, KTRACE_RETURN_ADDRESS);
	ktrace_acquire(object, KTRACE_BY_CPU);
	ktrace_acquire_at(object, KTRACE_BY_CPU, KTRACE_RETURN_ADDRESS);
	ktrace_try_acquire(object, KTRACE_BY_CPU);
	ktrace_try_acquire_at(object, KTRACE_BY_CPU, KTRACE_RETURN_ADDRESS);
	ktrace_release(object, KTRACE_BY_CPU);
	ktrace_release_at(object, KTRACE_BY_CPU, KTRACE_RETURN_ADDRESS);
	ktrace_interrupt_enter(number);
	ktrace_eoi(number);
	ktrace_interrupt_exit(number);
	ktrace_nmi_enter(number);
	ktrace_nmi_exit(number);
	ktrace_ipi_send(number, 1);
	ktrace_ipi_receive(1);
	ktrace_fault_enter(number, number);
	ktrace_fault_exit(number, name);
}

void nothing(const void *object, const char *name, uint32_t number)
{
	(void)object;
	(void)name;
	(void)number;
}
