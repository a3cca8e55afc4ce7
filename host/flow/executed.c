/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Lists the functions that ran. */
#include "flow/views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "flow/flow.h"
#include "ktread/ktread.h"

struct flow_executed {
	struct flow *flow;
	uint8_t *seen; /* indexed by the id of the function */
	uint32_t room;
	/*
	 * The function that ran last, if `has_last` is set. It is still mapped at the same address, because
	 * only steps that execute instructions have followed.
	 */
	int has_last;
	uint32_t last_pid;
	uint64_t last_space;
	struct flow_spot last;
};

static int mark(struct flow_executed *executed, uint32_t id)
{
	uint8_t *seen = base_grow(executed->seen, &executed->room, (size_t)id + 1, 1);

	if (!seen)
		return KTREAD_E_MEMORY;
	executed->seen = seen;
	executed->seen[id] = 1;
	return 0;
}

static int mark_address(struct flow_executed *executed, const struct hwt_step *step, uint64_t address)
{
	int status;

	if (executed->has_last && executed->last_pid == step->pid && executed->last_space == step->space &&
	    address >= executed->last.begin && address < executed->last.end)
		return 0;
	status = flow_functions_at(executed->flow->functions, step->pid, step->stamp, address,
				   &executed->last);
	executed->has_last = status == 0;
	executed->last_pid = step->pid;
	executed->last_space = step->space;
	return status < 0 ? status : mark(executed, executed->last.function->id);
}

static int mark_step(void *view, const struct hwt_step *step)
{
	struct flow_executed *executed = view;
	uint64_t address = step->address;
	int status;

	if (step->kind != HWT_RUN) {
		executed->has_last = 0;
		return step->kind == HWT_SAMPLE && step->sample->has >> HWT_SAMPLE_PC & 1
			       ? mark_address(executed, step, step->sample->pc)
			       : 0;
	}
	do {
		status = mark_address(executed, step, address);
		address = executed->last.end;
	} while (status == 0 && executed->last.function->name && address <= step->last &&
		 address > step->address);
	return status;
}

const struct flow_view flow_executed = { .step = mark_step };

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *a, const void *b)
{
	const struct flow_function *x = *(const struct flow_function *const *)a;
	const struct flow_function *y = *(const struct flow_function *const *)b;
	int order = compare_texts(x->image, y->image);

	if (order == 0)
		order = compare_texts(x->name, y->name);
	return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

static void write_function(struct base_output *out, const struct flow_function *function, int json)
{
	char image[FLOW_NAME_ROOM], name[FLOW_NAME_ROOM];

	flow_put_name(image, function->image, "-");
	flow_put_function(name, function);
	if (!json) {
		base_output_format(out, "%s %s\n", image, name);
		return;
	}
	base_json_begin(out, NULL, '{');
	base_json_put_text(out, "function", name);
	if (function->image)
		base_json_put_text(out, "image", image);
	if (function->name)
		base_json_put_format(out, "offset", "\"0x%" PRIx64 "\"", function->offset);
	base_output_text(out, "}\n");
}

int flow_executed_write(struct flow_executed *executed, struct base_output *out, int json)
{
	const struct flow_functions *functions = executed->flow->functions;
	const struct flow_function **list =
		calloc((size_t)executed->room + 1, sizeof(struct flow_function *));
	uint32_t count = 0;

	if (!list)
		return KTREAD_E_MEMORY;
	for (uint32_t id = 0; id < executed->room; id++)
		if (executed->seen[id])
			list[count++] = flow_functions_get(functions, id);
	qsort(list, count, sizeof(struct flow_function *), by_name);
	for (uint32_t n = 0; n < count && !out->error; n++)
		write_function(out, list[n], json);
	free(list);
	return 0;
}

int flow_executed_new(struct flow_executed **executed, struct flow *flow)
{
	*executed = calloc(1, sizeof(**executed));
	if (!*executed)
		return KTREAD_E_MEMORY;
	(*executed)->flow = flow;
	return 0;
}

void flow_executed_free(struct flow_executed *executed)
{
	if (!executed)
		return;
	free(executed->seen);
	free(executed);
}
