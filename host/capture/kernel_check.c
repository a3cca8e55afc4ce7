/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "kernel_check.h"
#include "kernel_elf.h"

struct build_id {
	unsigned char bytes[CAPTURE_BUILD_ID_MAX];
	uint32_t size; /* 0: unknown */
};

static void of_trace(struct build_id *id, uint16_t *machine, const char *path)
{
	const struct ktread_info *info;
	struct ktread *trace = NULL;

	if (ktread_open(&trace, path, NULL) == 0) {
		info = ktread_info(trace);
		*machine = info->machine;
		if (info->build_id_size && info->build_id_size <= sizeof(id->bytes)) {
			memcpy(id->bytes, info->build_id, info->build_id_size);
			id->size = info->build_id_size;
		}
	}
	ktread_close(trace);
}

/*
 * A kernel that names no build id still has it in memory, as a part of its image: where a loader puts it, unless the kernel was
 * moved. Only bytes that follow the header of such a note are a build id.
 */
static void of_memory(struct build_id *id, struct ktread_memory *memory, const struct capture_kernel *kernel)
{
	struct {
		Elf64_Nhdr note;
		char name[4];
	} header;
	uint64_t at = kernel->build_id_physical;

	if (!memory || at < sizeof(header) ||
	    ktread_memory_read(memory, at - sizeof(header), &header, sizeof(header)) != 0 ||
	    header.note.n_type != NT_GNU_BUILD_ID || header.note.n_namesz != sizeof(header.name) ||
	    memcmp(header.name, "GNU", sizeof(header.name)) != 0 || header.note.n_descsz == 0 ||
	    header.note.n_descsz > sizeof(id->bytes))
		return;
	if (ktread_memory_read(memory, at, id->bytes, header.note.n_descsz) == 0)
		id->size = header.note.n_descsz;
}

static const char *hex(const unsigned char *bytes, uint32_t size, char text[2 * CAPTURE_BUILD_ID_MAX + 1])
{
	text[0] = '\0';
	for (uint32_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

int capture_kernel_check(const char *elf, struct ktread_memory *memory, const char *trace, char *warning,
			 size_t size)
{
	char wanted[2 * CAPTURE_BUILD_ID_MAX + 1], seen[2 * CAPTURE_BUILD_ID_MAX + 1];
	struct capture_kernel kernel;
	struct build_id id = { 0 };
	uint16_t machine = 0;

	if (capture_kernel_read(&kernel, elf) != 0) {
		snprintf(warning, size, "%s", capture_message());
		return CAPTURE_E_FORMAT;
	}
	of_trace(&id, &machine, trace);
	if (machine && machine != kernel.machine) {
		snprintf(warning, size, "WARNING: %s is for another architecture than the guest", elf);
		return CAPTURE_E_FORMAT;
	}
	if (!id.size)
		of_memory(&id, memory, &kernel);
	if (!id.size || !kernel.build_id_size) {
		snprintf(warning, size, "%s: %s has no build id (%s): is it the kernel that was traced?", elf,
			 kernel.build_id_size ? "the trace" : "the file",
			 kernel.build_id_size ? "ktrace_config.build_id" : "ld --build-id");
		return CAPTURE_E_ABSENT;
	}
	if (id.size == kernel.build_id_size && memcmp(id.bytes, kernel.build_id, id.size) == 0)
		return 0;
	snprintf(warning, size, "WARNING: %s is not the kernel that ran: its build id is %s, the guest's %s",
		 elf, hex(kernel.build_id, kernel.build_id_size, wanted), hex(id.bytes, id.size, seen));
	return CAPTURE_E_FORMAT;
}
