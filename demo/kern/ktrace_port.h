/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * This kernel's configuration of ktrace, which ktrace finds on the include path. The two words that ktrace
 * needs for each record are in struct cpu. arch_cpu.h defines KTRACE_PORT_* if the CPU can access these words
 * with single instructions.
 */
#ifndef DEMO_KTRACE_PORT_H
#define DEMO_KTRACE_PORT_H

#include "arch_cpu.h"
#include "cpu.h"

#define KTRACE_MAX_CPUS CPU_MAX

/* Fields that this kernel adds to the events of ktrace/facts.h. */
#define KTRACE_SWITCH_TEXT	" after %llu ns"
#define KTRACE_SWITCH_FIELDS	, (unsigned long long, ran, ns)
#define KTRACE_WAKE_TEXT	" on CPU %u, was waiting for %p"
#define KTRACE_WAKE_FIELDS	, (uint8_t, cpu), (const void *, queue)
#define KTRACE_INTERRUPT_TEXT	" %s at %#llx"
#define KTRACE_INTERRUPT_FIELDS , (const char *, name), (unsigned long long, ip)
#define KTRACE_FAULT_TEXT	", flags %u"
#define KTRACE_FAULT_FIELDS	, (uint8_t, flags)

/* declared here, because this file cannot include arch.h, which includes this file */
uint64_t arch_clock_hz(void);
#define ktrace_arch_frequency arch_clock_hz

#define ktrace_arch_cpu ktrace_arch_cpu
static inline uint32_t ktrace_arch_cpu(void)
{
	return arch_this_cpu()->id;
}

#define ktrace_arch_reserve_word ktrace_arch_reserve_word
static inline uint64_t *ktrace_arch_reserve_word(void)
{
	return &arch_this_cpu()->trace_reserve;
}

uintptr_t trace_stack_end(uintptr_t here); /* this function is defined in backtrace.c */
#define ktrace_arch_stack_end trace_stack_end

#ifndef KTRACE_PORT_THREAD
#define ktrace_arch_thread ktrace_arch_thread
static inline uint32_t ktrace_arch_thread(void)
{
	return arch_this_cpu()->trace_context;
}
#endif

#endif
