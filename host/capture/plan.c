/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "memory.h"
#include "output.h"
#include "qemu_line.h"

/* path relative to the directory of this program, both when installed and in the build directory */
#define PLUGIN "/../lib/ktrace-pt.so"

/*
 * Copies a path into a value of a property list, in which each comma is doubled. Returns 0, or
 * CAPTURE_E_USAGE if there is no room.
 */
static int double_commas(const char *path, char *quoted, size_t size)
{
	size_t used = 0;

	for (; *path; path++) {
		if (used + 3 > size)
			return capture_fail(CAPTURE_E_USAGE, "path too long");
		if (*path == ',')
			quoted[used++] = ',';
		quoted[used++] = *path;
	}
	quoted[used] = '\0';
	return 0;
}

int capture_plan_add_plugin(struct capture_words *words, const char *plugin, const char *name,
			    const char *path)
{
	char quoted[2][PATH_MAX * 2];

	if (double_commas(plugin, quoted[0], sizeof(quoted[0])) != 0 ||
	    double_commas(path, quoted[1], sizeof(quoted[1])) != 0)
		return CAPTURE_E_USAGE;
	capture_words_format(words, "%s,%s=%s", quoted[0], name, quoted[1]);
	return 0;
}

int capture_trace_unit_find(struct capture_trace_unit *unit, const char *self, const char *out)
{
	const char *slash = strrchr(self, '/');
	int length = slash ? (int)(slash - self) : 0;

	*unit = (struct capture_trace_unit){ 0 };
	if (snprintf(unit->plugin, sizeof(unit->plugin), "%.*s" PLUGIN, length, self) >=
	    (int)sizeof(unit->plugin))
		return capture_fail(CAPTURE_E_USAGE, "%.200s…: name too long", self);
	if (access(unit->plugin, R_OK) != 0)
		return capture_fail(CAPTURE_E_USAGE, "%s: the trace unit is missing: %s", unit->plugin,
				    strerror(errno));
	if (!out)
		return 0;
	if (capture_path_absolute(unit->out, out) != 0 || capture_output_may_replace(out) != 0)
		return CAPTURE_E_SYSTEM;
	if (unlink(unit->out) != 0 && errno != ENOENT)
		return capture_fail_errno("%s", unit->out);
	return 0;
}

int capture_trace_unit_add(const struct capture_trace_unit *unit, struct capture_words *words,
			   const char *architecture, const char *ram)
{
	char plugin[PATH_MAX * 2], argument[2][PATH_MAX * 2], size[32] = "", range[64] = "";

	if (strcmp(architecture, "x86_64") != 0 && strcmp(architecture, "aarch64") != 0)
		return capture_fail(CAPTURE_E_USAGE,
				    "%s: no trace unit for this architecture; x86_64 and aarch64 have one",
				    architecture);
	if (double_commas(unit->plugin, plugin, sizeof(plugin)) != 0 ||
	    double_commas(ram, argument[0], sizeof(argument[0])) != 0 ||
	    double_commas(unit->out, argument[1], sizeof(argument[1])) != 0)
		return CAPTURE_E_USAGE;
	if (unit->ring_bytes)
		snprintf(size, sizeof(size), ",size=%" PRIu64, unit->ring_bytes);
	if (unit->end)
		snprintf(range, sizeof(range), ",range=%#" PRIx64 "-%#" PRIx64, unit->begin, unit->end);
	capture_words_add(words, "-plugin");
	capture_words_format(words, "%s%s%s%s%s%s%s%s%s", plugin, ram[0] ? ",ram=" : "", argument[0],
			     unit->out[0] ? ",out=" : "", argument[1], size, range,
			     unit->hidden ? ",hidden=on" : "", unit->is_virtual ? ",virtual=4" : "");
	return 0;
}

int capture_trace_unit_check(const char *accelerator)
{
	if (!accelerator[0] || strcmp(accelerator, "tcg") == 0)
		return 0;
	return capture_fail(CAPTURE_E_USAGE,
			    "the trace unit needs code that QEMU itself runs, and with %s it runs none: "
			    "leave the accelerator out, or use tcg",
			    accelerator);
}

#define IVSHMEM_SIZE "64M"

static const char *const names[] = {
	[CAPTURE_RAM] = "ram",	       [CAPTURE_DEBUGCON] = "debugcon", [CAPTURE_SEMIHOSTING] = "semihosting",
	[CAPTURE_IVSHMEM] = "ivshmem", [CAPTURE_VIRTIO] = "virtio",
};

int capture_transport_named(enum capture_transport *transport, const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0) {
			*transport = (enum capture_transport)i;
			return 0;
		}
	}
	return capture_fail(CAPTURE_E_USAGE,
			    "unknown transport '%s': use ram, debugcon, semihosting, ivshmem or virtio",
			    name);
}

const char *capture_transport_name(enum capture_transport transport)
{
	return names[transport];
}

static void add_memory(struct capture_words *words, const char *id, const char *path, const char *size)
{
	capture_words_add(words, "-object");
	capture_words_format(words, "memory-backend-file,id=%s,size=%s,mem-path=%s,share=on", id, size, path);
}

static void add_file(struct capture_words *words, const char *path)
{
	capture_words_add(words, "-chardev");
	capture_words_format(words, "file,id=ktrace-out,path=%s", path);
}

static void add_virtio(struct capture_words *words, const char *architecture, const char *machine)
{
	bool pci = capture_qemu_is_x86(architecture) && strcmp(machine, "microvm") != 0;

	capture_words_add(words, "-device");
	capture_words_format(words, "virtio-serial-%s,id=ktrace-serial,max_ports=1", pci ? "pci" : "device");
	capture_words_add(words, "-device");
	capture_words_add(words, "virtconsole,chardev=ktrace-out,bus=ktrace-serial.0");
}

int capture_transport_add(enum capture_transport transport, struct capture_words *words,
			  const char *architecture, const char *machine, const char *path, uint64_t ram_bytes)
{
	char quoted[PATH_MAX * 2];
	char size[32];

	if (double_commas(path, quoted, sizeof(quoted)) != 0)
		return CAPTURE_E_USAGE;
	if ((transport == CAPTURE_DEBUGCON && !capture_qemu_is_x86(architecture)) ||
	    (transport == CAPTURE_SEMIHOSTING && capture_qemu_is_x86(architecture)))
		return capture_fail(CAPTURE_E_USAGE,
				    "%s has no %s; use --transport %s, virtio, ivshmem or ram", architecture,
				    names[transport],
				    capture_qemu_is_x86(architecture) ? "debugcon" : "semihosting");
	switch (transport) {
	case CAPTURE_RAM:
		snprintf(size, sizeof(size), "%" PRIu64, ram_bytes);
		add_memory(words, CAPTURE_RAM_ID, quoted, size);
		capture_words_add(words, "-machine");
		capture_words_add(words, "memory-backend=" CAPTURE_RAM_ID);
		break;
	case CAPTURE_DEBUGCON:
		add_file(words, quoted);
		capture_words_add(words, "-device");
		capture_words_add(words, "isa-debugcon,chardev=ktrace-out,iobase=0xe9");
		break;
	case CAPTURE_SEMIHOSTING:
		add_file(words, quoted);
		capture_words_add(words, "-semihosting-config");
		/*
		 * The kernel reads this argument by a semihosting call and opens the file that it names.
		 * Without this argument, the kernel writes to the console.
		 */
		capture_words_format(words, "enable=on,target=native,chardev=ktrace-out,arg=ktrace-file=%s",
				     quoted);
		break;
	case CAPTURE_IVSHMEM:
		add_memory(words, "ktrace-shared", quoted, IVSHMEM_SIZE);
		capture_words_add(words, "-device");
		capture_words_add(words, "ivshmem-plain,memdev=ktrace-shared");
		break;
	case CAPTURE_VIRTIO:
		add_file(words, quoted);
		add_virtio(words, architecture, machine);
		break;
	}
	return 0;
}

static int plan_save(const struct capture_plan *plan, const char *file)
{
	struct capture_record record = { 0 };
	int error;

	capture_record_set(&record, "transport", "%s", capture_transport_name(plan->transport));
	capture_record_set(&record, "allow-reboot", "%s", plan->allow_reboot ? "yes" : "no");
	capture_record_set(&record, "force", "%s", plan->force ? "yes" : "no");
	capture_record_set(&record, "path", "%s", plan->path);
	capture_record_set(&record, "config", "%s", plan->config);
	capture_record_set(&record, "events", "%s", plan->events);
	capture_record_set(&record, "plugin", "%s", plan->unit.plugin);
	capture_record_set(&record, "branches", "%s", plan->unit.out);
	capture_record_set(&record, "branches-hidden", "%s", plan->unit.hidden ? "yes" : "no");
	capture_record_set(&record, "branches-virtual", "%s", plan->unit.is_virtual ? "yes" : "no");
	capture_record_set(&record, "schedule-plugin", "%s", plan->schedule.plugin);
	capture_record_set(&record, "schedule-control", "%s", plan->schedule.control);
	error = capture_record_save(&record, file);
	capture_record_free(&record);
	return error;
}

int capture_plan_load(struct capture_plan *plan, const char *file)
{
	struct capture_record record = { 0 };
	int error = capture_record_load(&record, file);

	if (error)
		return error;
	*plan = (struct capture_plan){ 0 };
	plan->allow_reboot = strcmp(capture_record_get(&record, "allow-reboot"), "yes") == 0;
	plan->force = strcmp(capture_record_get(&record, "force"), "yes") == 0;
	snprintf(plan->path, sizeof(plan->path), "%s", capture_record_get(&record, "path"));
	snprintf(plan->config, sizeof(plan->config), "%s", capture_record_get(&record, "config"));
	snprintf(plan->events, sizeof(plan->events), "%s", capture_record_get(&record, "events"));
	snprintf(plan->unit.plugin, sizeof(plan->unit.plugin), "%s", capture_record_get(&record, "plugin"));
	snprintf(plan->unit.out, sizeof(plan->unit.out), "%s", capture_record_get(&record, "branches"));
	plan->unit.hidden = strcmp(capture_record_get(&record, "branches-hidden"), "yes") == 0;
	plan->unit.is_virtual = strcmp(capture_record_get(&record, "branches-virtual"), "yes") == 0;
	snprintf(plan->schedule.plugin, sizeof(plan->schedule.plugin), "%s",
		 capture_record_get(&record, "schedule-plugin"));
	snprintf(plan->schedule.control, sizeof(plan->schedule.control), "%s",
		 capture_record_get(&record, "schedule-control"));
	error = capture_transport_named(&plan->transport, capture_record_get(&record, "transport"));
	capture_record_free(&record);
	return error;
}

bool capture_plan_starts_guest(const struct capture_qemu_line *line)
{
	return !line->paused && !line->incoming;
}

/* Copies the QEMU command line, and appends --events to the kernel's command line. */
static int copy_line(const struct capture_plan *plan, const struct capture_qemu_line *line,
		     char *const *words, struct capture_words *extended)
{
	if (plan->events[0] && !line->kernel)
		return capture_fail(CAPTURE_E_USAGE, "--events is passed on the kernel command line "
						     "and needs QEMU's -kernel");
	for (size_t i = 0; words[i]; i++) {
		if (plan->events[0] && line->append_at && i == line->append_at)
			capture_words_format(extended, "%s debug=%s", words[i], plan->events);
		else
			capture_words_add(extended, words[i]);
	}
	if (plan->events[0] && !line->append_at) {
		capture_words_add(extended, "-append");
		capture_words_format(extended, "debug=%s", plan->events);
	}
	return 0;
}

/* Adds the trace unit. The guest controls the unit through the guest's RAM, if that RAM is a file. */
static int add_trace_unit(const struct capture_plan *plan, const struct capture_qemu_line *line,
			  struct capture_words *extended)
{
	int error = capture_trace_unit_check(line->accelerator);
	const char *ram = "";

	if (plan->transport == CAPTURE_RAM)
		ram = line->backend[0] ? line->backend_path : plan->path;
	return error ? error : capture_trace_unit_add(&plan->unit, extended, line->architecture, ram);
}

int capture_plan_extend(const struct capture_plan *plan, const struct capture_qemu_line *line,
			char *const *words, struct capture_words *extended)
{
	int error = copy_line(plan, line, words, extended);

	if (!error && !(plan->transport == CAPTURE_RAM && line->backend[0]))
		error = capture_transport_add(plan->transport, extended, line->architecture, line->machine,
					      plan->path, line->ram_bytes);
	if (!error && plan->unit.plugin[0])
		error = add_trace_unit(plan, line, extended);
	if (!error && plan->schedule.plugin[0])
		error = capture_schedule_add(&plan->schedule, line, words, extended);
	if (error)
		return error;
	if (line->stays_on_reset && !plan->allow_reboot)
		capture_words_add(extended, "-no-reboot");
	/*
	 * After the guest has reset or powered off, QEMU must not end before we have read the CPUs'
	 * registers.
	 */
	if (!line->own_shutdown && plan->transport == CAPTURE_RAM)
		capture_words_add(extended, "-no-shutdown");
	/*
	 * With -S, QEMU waits until ktrace starts the guest. Without -S, ktrace could miss a guest that ends
	 * early.
	 */
	if (capture_plan_starts_guest(line))
		capture_words_add(extended, "-S");
	/*
	 * The QMP connection is defined in a configuration file. If an option -mon or -qmp defined it, QEMU
	 * would have no default monitor, and Ctrl-A X would not work.
	 */
	capture_words_add(extended, "-readconfig");
	capture_words_add(extended, plan->config);
	if (extended->failed)
		return capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	return 0;
}

static int make_directory(struct capture_workplace *place)
{
	if (base_private_folder(place->directory) == 0)
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

/* Writes the configuration file that makes QEMU connect to our socket. */
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
	/* a file that contains all memory of a guest is private; a trace gets the usual permissions */
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
	if (!error && plan->wanted)
		error = capture_schedule_open(plan->wanted, self, place->directory, &plan->schedule,
					      &place->control);
	if (!error)
		error = capture_path_join(file, place->directory, "plan");
	if (!error) {
		snprintf(plan->path, sizeof(plan->path), "%s", place->file);
		error = plan_save(plan, file);
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
	capture_schedule_close(place->control);
	place->control = NULL;
	if (place->directory[0])
		capture_shim_remove(place->directory);
	place->file[0] = place->directory[0] = '\0';
}

static int too_long(const char *name)
{
	errno = ENAMETOOLONG;
	return capture_fail_errno("%.200s", name);
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
