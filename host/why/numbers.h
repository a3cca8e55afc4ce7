/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Traces that prove nothing, because the kernel has overwritten the trace's memory, or because the trace may
 * attribute events and state of a CPU to another CPU: the kernel's port reports a wrong number. Conclusions
 * about CPUs and threads of such a trace prove nothing. The usual cause is a library that was compiled before
 * the kernel had a ktrace_port.h: it treats every CPU as CPU 0.
 */
#ifndef WHY_NUMBERS_H
#define WHY_NUMBERS_H

#include "why/evidence.h"

/*
 * Returns whether the kernel has overwritten the trace's memory, so that nothing in the kernel's tables can
 * be trusted: the descriptions of rings are invalid, or there is no ring although each kernel has a boot
 * ring.
 */
bool why_is_overwritten(const struct why_evidence *evidence);
/*
 * Returns the first CPU that never recorded although it ran. It ran if ktrace_cpu_online() failed for it
 * because the port reported another CPU, or if a lock was waited for that this CPU held. Returns NULL if
 * there is none. CPUs that the kernel has not started, or that have recorded something, do not count.
 */
const struct why_cpu *why_misnumbered(const struct why_evidence *evidence);
/*
 * Formats what shows that this CPU ran, such as "ktrace_cpu_online(1) failed, because …".
 */
const char *why_say_misnumbered(const struct why_cpu *cpu, char *buffer, size_t size);
/*
 * Returns whether a CPU switches threads, but is not online although others are, so that its hooks keep no
 * state; sets *number to this CPU. Threads that run there seem to wait for a CPU, and locks that are released
 * there seem to be held.
 */
bool why_is_stateless(const struct why_evidence *evidence, uint32_t *number);
/* Returns whether the kernel recorded events without a successful call of ktrace_init(). */
bool why_lacks_init(const struct why_evidence *evidence);
/* Returns whether the kernel called ktrace_init() and recorded events, but no CPU came online. */
bool why_lacks_cpus(const struct why_evidence *evidence);

#define WHY_NUMBERS_ADVICE                                                                        \
	"remove all objects and compile again, in case some are older than ktrace_port.h, which " \
	"defines ktrace_arch_cpu(); then run ktrace doctor"

#define WHY_ONLINE_ADVICE                                                                             \
	"call ktrace_cpu_online() on each CPU, and check its result: .cpus of ktrace_init() must be " \
	"the highest number of a CPU, plus 1"

#define WHY_INIT_ADVICE                                                                             \
	"call KTRACE_INIT(1 << 20, .cpus = 4, .threads = 256, .holders = 256); once at boot, then " \
	"ktrace_cpu_online(cpu); on each CPU"

#endif
