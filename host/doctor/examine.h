/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the doctor looks at, one part of an integration after the other. Each says what it found. */
#ifndef DOCTOR_EXAMINE_H
#define DOCTOR_EXAMINE_H

#include "analyze/check.h"
#include "analyze/symbols.h"
#include "capture/kernel_elf.h"
#include "doctor/facts.h"
#include "doctor/report.h"

struct patient {
	const char *elf; /* the kernel's file, NULL: unknown */
	bool elf_given;	 /* by the user */
	struct capture_kernel kernel;
	bool has_kernel;	   /* the file could be read */
	const struct facts *facts; /* of its trace, NULL: there is none */
	struct rules *rules;	   /* that every kernel keeps; NULL: they could not be read */
	bool mistaken; /* hooks are in the wrong place, so that what they say is no ground to judge clocks */
	uint32_t cpus; /* that QEMU has, 0: unknown */
};

/* The kernel's file: is ktrace in it, and where? */
void examine_kernel(struct doctor_report *report, struct patient *patient);
/* What the linker's sections became in the guest's memory. */
void examine_sections(struct doctor_report *report, const struct patient *patient);
/* CPUs, threads, clocks, heartbeats, loss. */
void examine_trace(struct doctor_report *report, const struct patient *patient);
/* Hooks in the wrong place. Reads the trace. 0 or an error. */
int examine_mistakes(struct doctor_report *report, struct patient *patient, struct ktread *trace);
/* The rules that every kernel keeps. Reads the trace. 0 or an error. */
int examine_rules(struct doctor_report *report, const struct patient *patient, struct ktread *trace);
/* Whether clocks are in step: reads the trace several times and may correct it. 0 or an error. */
int examine_order(struct doctor_report *report, const struct patient *patient, struct ktread *trace);
/* Functions and lines of the kernel. */
void examine_symbols(struct doctor_report *report, const struct patient *patient);
/* What the kernel does not light yet. */
void examine_views(struct doctor_report *report, const struct patient *patient);

#endif
