/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the kernel tells: a thread is switched, its process becomes another program, maps and unmaps. */
#include "hwt.h"

/* ---- The switch -------------------------------------------------------------------------------- */

void ktrace_hwt_do_switch_in(struct ktrace_hwt_thread *thread)
{
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_unit *unit = thread->unit;
	int claimed = unit && ktrace_hwt_unit_claim(unit, cpu);

	ktrace_hwt_unlock(saved);
	if (claimed)
		ktrace_hwt_unit_begin(unit, cpu);
}

void ktrace_hwt_do_switch_out(struct ktrace_hwt_thread *thread)
{
	uint32_t cpu = ktrace_hwt_kernel()->cpu();
	unsigned long saved = ktrace_hwt_lock();
	struct ktrace_hwt_unit *unit = thread->unit;
	int here = unit && unit->enabled == cpu + 1;

	ktrace_hwt_unlock(saved);
	if (here)
		ktrace_hwt_unit_end(unit, cpu);
}

/* ---- Programs and what they map ---------------------------------------------------------------- */

/* Whoever traces it without rights of his own must not see by that what the program may see. */
static int is_out_of_reach(const struct ktrace_hwt_context *context, int gains)
{
	return gains && !context->superuser;
}

void ktrace_hwt_do_exec(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread, uint64_t base,
			const char *path, int gains)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_draft draft;
	struct ktrx_hwt_image image;
	uint64_t fixed[4];

	if (!context)
		return;
	if (ktrace_hwt_control_lock(context) == KTRACE_OK) {
		if (is_out_of_reach(context, gains))
			ktrace_hwt_detach(context);
		else
			ktrace_hwt_follow_space(context);
		ktrace_hwt_control_unlock(context);
	}
	image.address = base;
	image.size = 0;
	image.offset = 0;
	image.access = 4;
	if (!is_out_of_reach(context, gains)) {
		ktrace_hwt_draft_image(&draft, KTRX_HWT_EXECUTABLE, fixed, context, &image, path);
		draft.thread = thread->tid;
		ktrace_hwt_record(context, &draft, KTRACE_HWT_PAUSE_EXEC);
		ktrace_hwt_unit_resume(thread);
	}
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_mmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			const struct ktrx_hwt_image *image, const char *path)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_draft draft;
	uint64_t fixed[4];

	if (!context)
		return;
	ktrace_hwt_draft_image(&draft, KTRX_HWT_MMAP, fixed, context, image, path);
	draft.thread = thread->tid;
	ktrace_hwt_record(context, &draft, KTRACE_HWT_PAUSE_MMAP);
	ktrace_hwt_unit_resume(thread);
	ktrace_hwt_put(context);
}

void ktrace_hwt_do_munmap(struct ktrace_hwt_process *process, struct ktrace_hwt_thread *thread,
			  uint64_t address, uint64_t size)
{
	struct ktrace_hwt_context *context = ktrace_hwt_hold_process(process);
	struct ktrace_proc_draft draft;
	uint64_t fixed[3];

	if (!context)
		return;
	fixed[0] = address;
	fixed[1] = size;
	fixed[2] = (uint64_t)context->ident << 32;
	ktrace_proc_draft(&draft, KTRX_HWT_MUNMAP, 0, fixed, sizeof(fixed));
	draft.thread = thread->tid;
	ktrace_hwt_record(context, &draft, 0);
	ktrace_hwt_put(context);
}
