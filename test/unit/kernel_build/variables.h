/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A port whose hooks are macros. They use variables of the kernel with names that ktrace uses for its own
 * variables.
 */
struct kernels {
	unsigned number;
};
extern struct kernels *context, *cpu, *pending, *event, *hook, *index, *lap, *made, *now, *ring, *row,
	*thread, *waker, *word;
#define ktrace_arch_cpu()	(cpu->number + ring->number + index->number + hook->number)
#define ktrace_arch_early_cpu() (cpu->number + event->number + made->number + pending->number)
#define ktrace_arch_thread()                                                                          \
	(thread->number + context->number + row->number + waker->number + now->number + lap->number + \
	 word->number)
