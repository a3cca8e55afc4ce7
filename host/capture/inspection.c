/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/open.h"
#include "frequency.h"
#include "run_state.h"
#include "workplace.h"
#include "registers.h"

#define PATIENCE 2.0 /* s, for all answers */

static int page_path(const struct capture_inspection *inspection, char path[PATH_MAX])
{
	return capture_path_join(path, inspection->directory, "page");
}

static void finish(struct capture_inspection *inspection)
{
	char path[PATH_MAX], *text = inspection->stacks ? capture_stacks_text(inspection->stacks) : NULL;

	if (text) {
		free(inspection->text);
		inspection->text = text;
	}
	capture_stacks_close(inspection->stacks);
	inspection->stacks = NULL;
	inspection->done = true;
	if (page_path(inspection, path) == 0)
		unlink(path);
}

/* Has QEMU save the next page of a stack, or is done. */
static void ask_for_page(struct capture_inspection *inspection, struct capture_machine *machine)
{
	char path[PATH_MAX], arguments[CAPTURE_QMP_MOST + 1];
	struct capture_stack_page *page = &inspection->page;

	if (page_path(inspection, path) != 0 || !capture_stacks_wanted(inspection->stacks, page, 1)) {
		finish(inspection);
		return;
	}
	capture_qmp_put_save(arguments, page->address, CAPTURE_STACK_PAGE, path, page->cpu);
	capture_machine_ask(machine, "memsave", arguments);
}

static void take_page(struct capture_inspection *inspection, bool refused)
{
	struct capture_stack_page *page = &inspection->page;
	char path[PATH_MAX];
	ssize_t got = -1;
	int fd = !refused && page_path(inspection, path) == 0 ? base_open_regular(path, O_RDONLY | O_NOFOLLOW)
							      : -1;

	if (fd >= 0) {
		got = read(fd, page->bytes, sizeof(page->bytes));
		close(fd);
	}
	page->readable = got == (ssize_t)sizeof(page->bytes);
	capture_stacks_put(inspection->stacks, page);
}

/* Takes the answer to the last question and asks the next. */
static void go_on(struct capture_inspection *inspection, struct capture_machine *machine)
{
	if (inspection->stacks) {
		take_page(inspection, machine->refused);
	} else {
		inspection->text = machine->answer ? capture_registers_of_qemu(machine->answer) : NULL;
		if (!inspection->text || capture_stacks_open(&inspection->stacks, inspection->text) != 0) {
			finish(inspection);
			return;
		}
	}
	ask_for_page(inspection, machine);
}

bool capture_inspection_step(struct capture_inspection *inspection, struct capture_machine *machine)
{
	if (inspection->done)
		return true;
	if (inspection->begun == 0) {
		inspection->begun = capture_now();
		capture_machine_pause(machine);
		capture_machine_ask(machine, "human-monitor-command",
				    "{\"command-line\":\"" CAPTURE_QMP_REGISTERS "\"}");
	} else if (machine->answered) {
		go_on(inspection, machine);
	} else if (machine->ended || capture_now() - inspection->begun >= PATIENCE) {
		finish(inspection);
	}
	return inspection->done;
}

void capture_inspection_reset(struct capture_inspection *inspection)
{
	capture_stacks_close(inspection->stacks);
	free(inspection->text);
	*inspection = (struct capture_inspection){ .directory = inspection->directory };
}
