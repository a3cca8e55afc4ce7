/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What records say, 64 bits at a time, as ktrx/hwt.h has it. */
#include "hwt.h"

static uint32_t text_of(struct ktrace_proc_draft *draft, const char *text)
{
	uint32_t length = ktrace_length(text, KTRACE_HWT_PATH_MAX + 1);

	if (length > KTRACE_HWT_PATH_MAX) {
		draft->flags |= KTRX_PROC_CUT;
		length = KTRACE_HWT_PATH_MAX;
	}
	draft->text = text;
	return length;
}

void ktrace_hwt_draft_image(struct ktrace_proc_draft *draft, uint16_t type, uint64_t fixed[4],
			    const struct ktrace_hwt_context *context, const struct ktrx_hwt_image *image,
			    const char *path)
{
	fixed[0] = image->address;
	fixed[1] = image->size;
	fixed[2] = image->offset;
	fixed[3] = image->access | (uint64_t)context->ident << 32;
	ktrace_proc_draft(draft, type, 0, fixed, sizeof(struct ktrx_hwt_image));
	draft->text_size = text_of(draft, path);
}

void ktrace_hwt_draft_thread(struct ktrace_proc_draft *draft, uint16_t type, uint64_t *fixed,
			     const struct ktrace_hwt_context *context, const struct ktrace_hwt_thread *thread,
			     const char *name)
{
	fixed[0] = (thread->unit ? thread->unit->index : KTRX_HWT_NO_UNIT) | (uint64_t)context->ident << 32;
	ktrace_proc_draft(draft, type, 0, fixed, sizeof(struct ktrx_hwt_thread));
	draft->thread = thread->tid;
	draft->text_size = text_of(draft, name);
}

void ktrace_hwt_draft_fill(struct ktrace_proc_draft *draft, uint64_t fixed[3], struct ktrace_hwt_unit *unit)
{
	fixed[0] = unit->position;
	fixed[1] = unit->wraps;
	fixed[2] = unit->index | (uint64_t)unit->context->ident << 32;
	ktrace_proc_draft(draft, KTRX_HWT_BUFFER, 0, fixed, sizeof(struct ktrx_hwt_fill));
	draft->thread = unit->tid;
	unit->said = unit->position;
}

void ktrace_hwt_say_fill(struct ktrace_hwt_unit *unit)
{
	struct ktrace_proc_draft draft;
	uint64_t fixed[3];

	ktrace_hwt_draft_fill(&draft, fixed, unit);
	ktrace_hwt_append_or_lose(unit->context, &draft);
}

void ktrace_hwt_say_clock(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_backend *backend = context->backend;
	struct ktrace_proc_draft draft;
	uint64_t fixed[4];

	if (!backend->operations->clock || backend->operations->clock(backend, &fixed[0], &fixed[2]))
		return;
	fixed[1] = ktrace_arch_clock();
	fixed[3] = context->ident | UINT64_C(0xffffffff) << 32;
	ktrace_proc_draft(&draft, KTRX_HWT_CLOCK, 0, fixed, sizeof(fixed));
	draft.thread = 0;
	ktrace_hwt_append_or_lose(context, &draft);
}

void ktrace_hwt_say_context(struct ktrace_hwt_context *context)
{
	struct ktrace_hwt_backend *backend = context->backend;
	const struct ktrace_hwt_config *config = &context->config;
	uint64_t fixed[sizeof(struct ktrx_hwt_context) / 8], extra[sizeof(struct ktrx_hwt_etm4) / 8];
	struct ktrace_proc_draft draft;

	fixed[0] = context->ident | (uint64_t)context->mode << 32 | (uint64_t)backend->encoding << 40 |
		   (uint64_t)backend->kind << 48 | (uint64_t)config->level << 56;
	fixed[1] = context->target | (uint64_t)config->ranges << 32;
	for (uint32_t i = 0; i < KTRACE_HWT_RANGES_MAX; i++) {
		int given = i < config->ranges;

		fixed[2 + 2 * i] = given ? config->range[i].start : 0;
		fixed[3 + 2 * i] = given ? config->range[i].end : 0;
	}
	ktrace_proc_draft(&draft, KTRX_HWT_CONTEXT, 0, fixed, sizeof(fixed));
	draft.thread = 0;
	draft.text = (const char *)extra;
	if (backend->operations->describe)
		draft.text_size =
			(uint32_t)backend->operations->describe(backend, config, extra, sizeof(extra));
	ktrace_hwt_append_or_lose(context, &draft);
}
