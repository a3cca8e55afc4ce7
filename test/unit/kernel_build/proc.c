/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel that uses process traces, for build tests: it calls every hook and every function. Compiles as C11
 * and C++17.
 */
#include <ktrace/proc.h>

KTRACE_BEGIN_C

void proc_hooks(struct ktrace_proc *process, struct ktrace_proc_thread *thread, const char *text);
int proc_calls(struct ktrace_proc *process, struct ktrace_proc_thread *thread, struct ktrace_proc_sink *sink,
	       const struct ktrace_proc_sink_config *config);
void untraced(struct ktrace_proc *process, struct ktrace_proc_thread *thread, const uint64_t *args);

void proc_hooks(struct ktrace_proc *process, struct ktrace_proc_thread *thread, const char *text)
{
	static const uint64_t words[6] = { 1, 2, 3, 4, 5, 6 };

	ktrace_proc_syscall(process, thread, 1, 6, words);
	ktrace_proc_namei(process, thread, text, 4);
	ktrace_proc_sysctl(process, thread, text, 4);
	ktrace_proc_genio(process, thread, 1, 0, 0x1000, 4);
	ktrace_proc_psig(process, thread, 9, 0, 0, words);
	ktrace_proc_csw(process, thread, 1, 1, text);
	ktrace_proc_struct(process, thread, text, words, sizeof(words));
	ktrace_proc_struct_array(process, thread, text, words, 8, 6);
	ktrace_proc_denied(process, thread, KTRX_PROC_DENIED_RIGHTS, 6, 4, text);
	ktrace_proc_fault(process, thread, 0x1000, 1, 1);
	ktrace_proc_fault_end(process, thread, 0);
	ktrace_proc_trap_end(process, thread);
	ktrace_proc_renamed(process);
	ktrace_proc_sysret(process, thread, 1, 0, 0);
}

int proc_calls(struct ktrace_proc *process, struct ktrace_proc_thread *thread, struct ktrace_proc_sink *sink,
	       const struct ktrace_proc_sink_config *config)
{
	int error = ktrace_proc_init(KTRACE_NULL);

	error |= ktrace_proc_sink_open(sink, config, thread);
	error |= ktrace_proc_control(process, thread, KTRACE_PROC_SET | KTRACE_PROC_DESCEND,
				     KTRACE_PROC_ALL | KTRACE_PROC_INHERIT, 1, sink);
	error |= ktrace_proc_user(process, thread, 0x1000, 4);
	ktrace_proc_fork(process, process, 2, 2);
	ktrace_proc_exec(process, thread, 1);
	ktrace_proc_exit(process, thread, 0, 0);
	ktrace_proc_flush(thread);
	ktrace_proc_sink_release(ktrace_proc_sink_find(sink), thread);
	return error;
}

/* This function shows the code that a hook executes if the process is not traced. */
void untraced(struct ktrace_proc *process, struct ktrace_proc_thread *thread, const uint64_t *args)
{
	ktrace_proc_syscall(process, thread, 1, 6, args);
}

KTRACE_END_C
