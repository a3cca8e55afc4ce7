/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "workplace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"
#include "shim.h"

/* A socket's path is short, and it has to go through a script and a configuration file. */
static int make_directory(struct capture_workplace *place)
{
	const char *base = getenv("TMPDIR");

	if (!base || base[0] != '/' || strpbrk(base, "\"'\n") ||
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
	if (strcmp(folder, ".") == 0)
		return capture_path_absolute(place->file, name);
	if (capture_path_join(relative, folder, name) != 0)
		return CAPTURE_E_SYSTEM;
	return capture_path_absolute(place->file, relative);
}

/* QEMU dials our socket. */
static int write_config(const struct capture_workplace *place, const char *path)
{
	FILE *config = fopen(path, "we");

	if (!config)
		return capture_fail_errno("%s", path);
	fprintf(config,
		"[chardev \"ktrace-qmp\"]\n  backend = \"socket\"\n  path = \"%s\"\n"
		"[mon \"ktrace-qmp\"]\n  mode = \"control\"\n  chardev = \"ktrace-qmp\"\n",
		place->qmp);
	return fclose(config) == 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_workplace_open(struct capture_workplace *place, struct capture_plan *plan, const char *out,
			   const char *folder, const char *self, char **command)
{
	char file[PATH_MAX];
	int error;

	*place = (struct capture_workplace){ 0 };
	if (name_file(place, plan, out, folder) != 0)
		return CAPTURE_E_SYSTEM;
	/* All of a guest's memory is nobody else's business; a trace is as private as any file. */
	error = capture_ram_create(place->file, plan->transport == CAPTURE_RAM ? 0600 : 0666);
	if (error) {
		place->file[0] = '\0';
		return error;
	}
	error = make_directory(place);
	if (!error)
		error = capture_path_join(place->qmp, place->directory, "qmp");
	if (!error)
		error = capture_path_join(plan->config, place->directory, "qmp.cfg");
	if (!error)
		error = write_config(place, plan->config);
	if (!error)
		error = capture_path_join(file, place->directory, "plan");
	if (!error) {
		snprintf(plan->path, sizeof(plan->path), "%s", place->file);
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

static int too_long(const char *name)
{
	errno = ENAMETOOLONG;
	return capture_fail_errno("%.200s", name);
}

const char *capture_path_temporary(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

int capture_path_join(char path[PATH_MAX], const char *folder, const char *name)
{
	return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ? 0 : too_long(folder);
}

int capture_path_absolute(char path[PATH_MAX], const char *name)
{
	char current[PATH_MAX];

	if (name[0] == '/')
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? 0 : too_long(name);
	if (!getcwd(current, sizeof(current)))
		return capture_fail_errno("current directory");
	return capture_path_join(path, current, name);
}

int capture_path_folder(char path[PATH_MAX], const char *name)
{
	const char *slash = strrchr(name, '/');
	int length = slash ? (int)(slash - name) : 0;

	if (length >= PATH_MAX)
		return too_long(name);
	if (slash)
		snprintf(path, PATH_MAX, "%.*s", length ? length : 1, name);
	else
		snprintf(path, PATH_MAX, ".");
	return 0;
}
