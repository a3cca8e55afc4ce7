/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A guest kernel's ELF file: what is read from it, and whether the guest's memory agrees. */
#ifndef CAPTURE_KERNEL_ELF_H
#define CAPTURE_KERNEL_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"

/*
 * What a kernel's ELF file says of the kernel: its build id, ktrace_root and ktrace's sections, and where
 * they lie in memory once it is loaded. 64-bit little-endian files; hostile bytes are an error.
 */

#define CAPTURE_BUILD_ID_MAX 64u

/* A section of the file, or what symbols `__start_NAME` and `__stop_NAME` enclose within another one. */
struct capture_kernel_section {
	uint64_t size;	 /* 0: there is none */
	uint64_t offset; /* in the file */
	uint64_t address;
	int loaded; /* it lies in a loaded segment */
};

/* What a kernel's start code clears, as far as names tell. */
struct capture_kernel_bss {
	uint64_t start, stop;		    /* symbols; 0: there is none */
	const char *start_name, *stop_name; /* which of their usual names; NULL: none */
	uint64_t section;		    /* address of .bss; 0: there is none */
};

/* Objects of the library that are complete as linked: kernel/core/attach.c. */
#define CAPTURE_KERNEL_OBJECTS 4u
extern const char *const capture_kernel_object_names[CAPTURE_KERNEL_OBJECTS];

struct capture_kernel {
	unsigned char build_id[CAPTURE_BUILD_ID_MAX];
	uint32_t build_id_size;	    /* 0: the file has none */
	uint64_t build_id_physical; /* where a loader puts it, 0 if it is not loaded */
	uint64_t root_address;	    /* of ktrace_root, virtual; 0 if there is no such symbol */
	uint64_t root_physical;	    /* where a loader puts it, 0 if it is not loaded */
	uint64_t init_address;	    /* of ktrace_init(), 0 if there is no such symbol */
	uint64_t image_end; /* of the symbol by which kernels usually know where they end; 0: there is none */
	struct capture_kernel_section events, settings;		      /* ktrace_events, ktrace_settings */
	struct capture_kernel_section object[CAPTURE_KERNEL_OBJECTS]; /* loaded: with bytes of the file */
	struct capture_kernel_bss bss;
	int has_symbols;
	uint32_t hooks;	  /* KTRX_HOOK_*: functions of these are linked in */
	uint16_t machine; /* ELF e_machine */
};

/* The name of its machine as QEMU's programs have it, NULL if it is none that ktrace knows. */
const char *capture_kernel_machine(const struct capture_kernel *kernel);
/* 0, CAPTURE_E_SYSTEM or CAPTURE_E_FORMAT; the message names the file. */
int capture_kernel_read(struct capture_kernel *kernel, const char *path);

/* Whether a trace and a kernel's ELF file belong together. */

/*
 * Compares build ids: the file's with the trace's, or with the one in the guest's `memory` (may be NULL)
 * where the file would have been loaded. Returns 0 if they agree. Otherwise `warning` says what is wrong:
 * CAPTURE_E_ABSENT if the trace or the file has no build id, CAPTURE_E_FORMAT if the file is of another
 * kernel or cannot be read.
 */
int capture_kernel_check(const char *elf, struct ktread_memory *memory, const char *trace, char *warning,
			 size_t size);

/* The events that a kernel's file declares, before the kernel runs. */

/*
 * Checks a list for the boot argument debug= against the events in a kernel's file. list: words separated by
 * commas, as ktrace_boot_argument() takes them: ktrace, ktrace-GROUP, a group, or a pattern with a dot.
 * Returns 0 if each word means something, or if the file does not tell: not an ELF file, or without the
 * section ktrace_events. Returns CAPTURE_E_USAGE for a word that means nothing; the message has the nearest
 * names, or all groups.
 */
int capture_kernel_events_check(const char *path, const char *list);

#endif
