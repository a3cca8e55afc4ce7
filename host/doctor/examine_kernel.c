/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/error.h"
#include "doctor/examine.h"
#include "base/escape.h"

#define HEX_TEXT (2 * CAPTURE_BUILD_ID_MAX + 1)

static const char *hex(const unsigned char *bytes, uint32_t size, char text[HEX_TEXT])
{
	size = size < CAPTURE_BUILD_ID_MAX ? size : CAPTURE_BUILD_ID_MAX;
	text[0] = '\0';
	for (uint32_t n = 0; n < size; n++)
		snprintf(text + 2 * n, 3, "%02x", bytes[n]);
	return text;
}

static void examine_linked(struct findings *report, const struct capture_kernel *kernel)
{
	if (kernel->root_address) {
		findings_add(report, FINDING_OK, "linked in", "ktrace_root is at 0x%" PRIx64,
			     kernel->root_address);
	} else if (kernel->has_symbols) {
		findings_add(report, FINDING_WRONG, "linked in",
			     "the file has no ktrace_root: kernel/ktrace.mk lists what to compile and link");
		findings_set_certain(report, FINDING_CERTAIN);
	} else {
		findings_add(report, FINDING_NOTE, "linked in",
			     "the file has no symbols, so it does not show whether ktrace is in it");
	}
}

static void examine_build_id(struct findings *report, const struct patient *patient)
{
	const struct ktread_info *info = patient->facts ? patient->facts->info : NULL;
	const struct capture_kernel *kernel = &patient->kernel;
	char file[HEX_TEXT], trace[HEX_TEXT];

	if (!kernel->build_id_size)
		findings_add(report, FINDING_DARK, "build id",
			     "the file has none, so that builds cannot be distinguished: ld --build-id");
	else if (!info || !info->build_id_size)
		return; /* told with the views */
	else if (info->build_id_size == kernel->build_id_size &&
		 memcmp(info->build_id, kernel->build_id, kernel->build_id_size) == 0)
		findings_add(report, FINDING_OK, "build id", "%s, the file's and the trace's",
			     hex(kernel->build_id, kernel->build_id_size, file));
	else {
		findings_add(report, FINDING_WRONG, "build id",
			     "the trace is of another build: %s in the file, %s in the trace",
			     hex(kernel->build_id, kernel->build_id_size, file),
			     hex(info->build_id, info->build_id_size, trace));
		findings_set_certain(report, FINDING_CERTAIN);
	}
}

void examine_kernel(struct findings *report, struct patient *patient)
{
	char text[FINDING_LINE / 2] = "";

	if (!patient->elf) {
		findings_add(report, FINDING_NOTE, "kernel file",
			     "unknown: no -kernel is to be seen on the command line; --elf names it");
		return;
	}
	if (capture_kernel_read(&patient->kernel, patient->elf) != 0) {
		*base_escape_text(text, capture_message(), strlen(capture_message()), sizeof(text) - 1) =
			'\0';
		findings_add(report, patient->elf_given ? FINDING_WRONG : FINDING_NOTE, "kernel file",
			     "%s; --elf names the kernel's ELF file", text);
		return;
	}
	patient->has_kernel = true;
	examine_linked(report, &patient->kernel);
	if (!patient->kernel.root_address)
		return;
	examine_sections(report, patient);
	examine_build_id(report, patient);
}

void examine_symbols(struct findings *report, const struct patient *patient)
{
	const struct facts *facts = patient->facts;
	struct symbols *symbols;
	struct symbol symbol;
	uint64_t address = patient->kernel.init_address;
	bool lines = false, names = false;
	int status;

	if (!patient->has_kernel)
		return;
	status = symbols_open(&symbols, patient->elf, facts->info);
	if (status < 0) {
		findings_add(report, status == SYMBOLS_E_MACHINE ? FINDING_WRONG : FINDING_DARK, "symbols",
			     "%s", symbols_message());
		return;
	}
	for (uint32_t n = 0; n <= facts->cpus; n++) {
		if (address && symbols_find(symbols, address, &symbol) == 0) {
			names = true;
			lines |= symbol.file != NULL;
		}
		address = n < facts->cpus ? facts->cpu[n].row.pc : 0;
	}
	if (lines)
		findings_add(report, FINDING_OK, "symbols", "functions, files and lines");
	else if (names)
		findings_add(report, FINDING_DARK, "symbols",
			     "functions without files and lines: compile with -g");
	else
		findings_add(report, FINDING_DARK, "symbols", "no function is found at any place known");
	symbols_close(symbols);
}
