/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel that uses hardware trace, for build tests: it calls every hook and every function. Compiles as C11
 * and C++17.
 */
#include <ktrace/hwt.h>
#include <ktrace/hwt_qemu.h>

KTRACE_BEGIN_C

void hwt_hooks(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
	       const struct ktrx_hwt_image *image, const char *text);
int hwt_calls(struct ktrace_hwt_owner *owner, struct ktrace_hwt_process *process,
	      const struct ktrace_hwt_request *request, const struct ktrace_hwt_config *config, void *to);
void hwt_untraced(struct ktrace_hwt_thread *thread);
void nothing(void);

void hwt_hooks(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
	       const struct ktrx_hwt_image *image, const char *text)
{
	(void)process, (void)thread, (void)image, (void)text;
	ktrace_hwt_thread_create(process, thread);
	ktrace_hwt_switch_in(thread);
	ktrace_hwt_thread_name(process, thread, text);
	ktrace_hwt_exec(process, thread, 0x1000, text, 0);
	ktrace_hwt_mmap(process, thread, image, text);
	ktrace_hwt_munmap(process, thread, 0x1000, 0x1000);
	ktrace_hwt_switch_out(thread);
	ktrace_hwt_thread_exit(process, thread);
	ktrace_hwt_exit(process);
}

#if KTRACE_HWT_HOOKS
int hwt_calls(struct ktrace_hwt_owner *owner, struct ktrace_hwt_process *process,
	      const struct ktrace_hwt_request *request, const struct ktrace_hwt_config *config, void *to)
{
	static struct ktrace_hwt_qemu qemu;
	static struct ktrace_hwt_backend backend;
	struct ktrace_hwt_context *context;
	struct ktrace_hwt_place place;
	uint32_t ident, count, left_out;
	int error = ktrace_hwt_init(KTRACE_NULL);

	ktrace_hwt_qemu_make(&backend, &qemu);
	error |= ktrace_hwt_add(&backend);
	error |= ktrace_hwt_dump(ktrace_hwt_next_backend(KTRACE_NULL), 0, KTRACE_NULL, to);
	error |= ktrace_hwt_alloc(owner, process, request, &ident);
	context = ktrace_hwt_get(ident);
	error |= ktrace_hwt_configure(context, config, KTRACE_NULL, &left_out);
	error |= ktrace_hwt_start(context);
	error |= ktrace_hwt_records(context, to, 2048, 1, 0, &count) > 0;
	error |= ktrace_hwt_position(context, 0, &place);
	error |= ktrace_hwt_wakeup(context);
	error |= ktrace_hwt_service(context, 0, place.position);
	error |= ktrace_hwt_unit_buffer(context, 0) == KTRACE_NULL;
	error |= ktrace_hwt_interrupt();
	error |= ktrace_hwt_stop(context);
	ktrace_hwt_release(context);
	ktrace_hwt_put(context);
	ktrace_hwt_owner_exit(owner);
	return error | ktrace_hwt_remove(&backend);
}
#endif

/* This function shows the code that a hook executes if the thread is not traced. */
void hwt_untraced(struct ktrace_hwt_thread *thread)
{
	ktrace_hwt_switch_in(thread);
}

void nothing(void)
{
}

KTRACE_END_C
