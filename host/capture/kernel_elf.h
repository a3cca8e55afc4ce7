/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A guest kernel's ELF file: functions that read its contents, and that check whether it belongs to a trace
 * or to the guest's memory.
 */
#ifndef CAPTURE_KERNEL_ELF_H
#define CAPTURE_KERNEL_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"

/*
 * Contents of a kernel's ELF file: its build id, ktrace_root, ktrace's sections, and the addresses at which a
 * loader puts them. The file must be 64-bit and little-endian. It is not trusted: malformed contents are an
 * error.
 */

#define CAPTURE_BUILD_ID_MAX 64u

/* A section of the file, or the part of a section between the symbols `__start_NAME` and `__stop_NAME`. */
struct capture_kernel_section {
	uint64_t size;	 /* size in bytes; 0: there is no such section */
	uint64_t offset; /* offset of the section in the file */
	uint64_t address;
	int loaded; /* nonzero if a loader puts the section into memory */
};

/*
 * Bounds of the memory that a kernel's start code sets to zero. They are found by symbols with usual names.
 */
struct capture_kernel_bss {
	/* addresses of the symbols at the two bounds; 0: there is no such symbol */
	uint64_t start, stop;
	/* names of the symbols at the two bounds; NULL: there is no such symbol */
	const char *start_name, *stop_name;
	uint64_t section; /* address of .bss; 0: there is none */
};

/*
 * Objects of the ktrace library that have initial values, so that a loader must load them
 * (kernel/core/attach.c).
 */
#define CAPTURE_KERNEL_OBJECTS 4u
extern const char *const capture_kernel_object_names[CAPTURE_KERNEL_OBJECTS];

#define CAPTURE_KERNEL_SWITCH_POINTS 32u

struct capture_kernel {
	unsigned char build_id[CAPTURE_BUILD_ID_MAX];
	uint32_t build_id_size; /* size in bytes; 0: the file has no build id */
	/* physical address at which a loader puts the build id; 0: it is not loaded */
	uint64_t build_id_physical;
	uint64_t root_address; /* virtual address of ktrace_root; 0 if there is no such symbol */
	/* physical address at which a loader puts ktrace_root; 0: it is not loaded */
	uint64_t root_physical;
	uint64_t init_address; /* virtual address of ktrace_init(); 0 if there is no such symbol */
	/* address of a symbol that usually marks the end of the kernel; 0: there is no such symbol */
	uint64_t image_end;
	struct capture_kernel_section events, settings; /* ktrace_events, ktrace_settings */
	/* objects of the ktrace library; `loaded` is nonzero if the file contains the bytes of the object */
	struct capture_kernel_section object[CAPTURE_KERNEL_OBJECTS];
	struct capture_kernel_bss bss;
	int has_symbols;
	uint32_t hooks; /* bits KTRX_HOOK_* of the hooks whose functions are in the file */
	/* virtual addresses of the hook functions for locks and threads, in the order of the symbols */
	uint64_t switch_point[CAPTURE_KERNEL_SWITCH_POINTS];
	uint32_t switch_points;
	uint16_t machine; /* ELF e_machine */
};

/*
 * Returns the name of the kernel's machine, as in the names of QEMU's programs; NULL if ktrace does not
 * support it.
 */
const char *capture_kernel_machine(const struct capture_kernel *kernel);
/* Reads the file at `path`. Returns 0, CAPTURE_E_SYSTEM or CAPTURE_E_FORMAT; the message names the file. */
int capture_kernel_read(struct capture_kernel *kernel, const char *path);

/* The build id of a kernel that runs or ran. */
struct capture_build_id {
	unsigned char bytes[CAPTURE_BUILD_ID_MAX];
	uint32_t size; /* size in bytes; 0: the build id is unknown */
};

struct ktread_image;

/*
 * Finds the build id of the guest's kernel: in its trace `image`, or else in the guest's `memory`, at the
 * address where `kernel` would have been loaded. Each of the three may be NULL. Opens no file. If the build
 * id is unknown, sets id->size to 0.
 */
void capture_build_id_find(struct capture_build_id *id, const struct ktread_image *image,
			   struct ktread_memory *memory, const struct capture_kernel *kernel);

/*
 * Does the same with the kernel's file `elf` (may be NULL). Opens the file only if the trace has no build id.
 */
void capture_build_id_find_by_file(struct capture_build_id *id, const struct ktread_image *image,
				   struct ktread_memory *memory, const char *elf);

/* Check that a trace and a kernel's ELF file belong together. */

/*
 * Compares the build id of the file `elf` with the build id of the trace. If the trace has none, uses the
 * build id in the guest's `memory` (may be NULL) at the address where the file would have been loaded.
 * Returns 0 if they are equal. Otherwise `warning` explains the difference:
 * CAPTURE_E_ABSENT if the trace or the file has no build id;
 * CAPTURE_E_FORMAT if the file is of another kernel or cannot be read.
 */
int capture_kernel_check(const char *elf, struct ktread_memory *memory, const char *trace, char *warning,
			 size_t size);

/* Events that a kernel's file declares, before the kernel runs. */

/*
 * Checks a list for the boot argument debug= against the events in a kernel's file. `list`: words separated
 * by commas, as ktrace_boot_argument() takes them: ktrace, ktrace-GROUP, the name of a group, or a pattern
 * with a dot. Returns 0 if each word matches an event, or if the events are unknown: the file is not an ELF
 * file or has no section ktrace_events. Returns CAPTURE_E_USAGE if a word matches no event; the message
 * suggests similar names, or lists all groups. Returns CAPTURE_E_SYSTEM if memory runs out.
 */
int capture_kernel_events_check(const char *path, const char *list);

/*
 * Finds the file of the kernel that a running QEMU has booted. The QEMU is identified by the file that holds
 * its guest's RAM.
 */

/*
 * Looks for a process that has the RAM file open, and stores the argument of -kernel on the process's command
 * line, as an absolute path. Returns false if there is no such process that this user may examine, or if the
 * path does not fit.
 */
bool capture_ram_kernel(const char *ram, char *path, size_t size);

#endif
