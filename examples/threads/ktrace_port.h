/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The port of this kernel to ktrace. There is one CPU, whose number is 0, so only the thread is needed. */
unsigned ktrace_my_thread(void);
#define ktrace_arch_thread() ktrace_my_thread()
