/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "path.h"
#include "ram.h"
#include "shim.h"
#include "workplace.h"

/* A socket's path is short, and a comma would end it in QEMU's property list. */
static int make_directory(struct capture_workplace *place)
{
	const char *base = getenv("TMPDIR");

	if (!base || base[0] != '/' || strpbrk(base, ",'\n") ||
	    snprintf(place->directory, sizeof(place->directory), "%s/ktrace-XXXXXX", base) >=
		    (int)sizeof(place->directory))
		snprintf(place->directory, sizeof(place->directory), "/tmp/ktrace-XXXXXX");
	if (mkdtemp(place->directory))
		return 0;
	capture_fail_errno("%s", place->directory);
	place->directory[0] = '\0';
	return CAPTURE_E_SYSTEM;
}

static int name_file(struct capture_workplace *place, const struct capture_plan *plan, const char *out,
		     const char *folder)
{
	const char *slash = strrchr(out, '/');
	char name[PATH_MAX], beside[PATH_MAX], relative[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s.%ld.%s", slash ? slash + 1 : out, (long)getpid(),
		     plan->transport == CAPTURE_RAM ? "ram" : "part") >= (int)sizeof(name))
		return capture_fail(CAPTURE_E_USAGE, "%.200s…: name too long", out);
	if (!folder) {
		if (capture_path_folder(beside, out) != 0)
			return CAPTURE_E_SYSTEM;
		folder = beside;
	}
	if (capture_path_join(relative, folder, name) != 0)
		return CAPTURE_E_SYSTEM;
	return capture_path_absolute(place->file, relative);
}

int capture_workplace_open(struct capture_workplace *place, struct capture_plan *plan, const char *out,
			   const char *folder, const char *self, char **command)
{
	char file[PATH_MAX];
	int error;

	*place = (struct capture_workplace){ 0 };
	if (name_file(place, plan, out, folder) != 0)
		return CAPTURE_E_SYSTEM;
	error = capture_ram_create(place->file);
	if (error) {
		place->file[0] = '\0';
		return error;
	}
	error = make_directory(place);
	if (!error)
		error = capture_path_join(place->qmp, place->directory, "qmp");
	if (!error)
		error = capture_path_join(file, place->directory, "plan");
	if (!error) {
		snprintf(plan->path, sizeof(plan->path), "%s", place->file);
		snprintf(plan->qmp, sizeof(plan->qmp), "%s", place->qmp);
		error = capture_plan_save(plan, file);
	}
	if (!error)
		error = capture_shim_plant(place->directory, self, command);
	if (error)
		capture_workplace_close(place);
	return error;
}

void capture_workplace_close(struct capture_workplace *place)
{
	if (place->file[0] && !place->keep)
		unlink(place->file);
	if (place->directory[0])
		capture_shim_remove(place->directory);
	place->file[0] = place->directory[0] = '\0';
}
