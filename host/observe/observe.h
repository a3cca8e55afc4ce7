/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Examines a guest from outside, even if its kernel does not use ktrace. Takes several samples of the
 * registers of each CPU, over a second or more of its CPU time, and draws conclusions from them. A conclusion
 * is called certain only if the registers and the code prove it.
 */
#ifndef OBSERVE_OBSERVE_H
#define OBSERVE_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "findings/finding.h"
#include "profile/stack.h"

#define OBSERVE_CPUS	64u
#define OBSERVE_SAMPLES 20u /* minimum number of samples that are needed */
#define OBSERVE_PLACES	16u
#define OBSERVE_CODE	8u
#define OBSERVE_STATES	8u
/*
 * If the pc of a CPU stays within this number of bytes, the CPU counts as executing the same few
 * instructions.
 */
#define OBSERVE_NEAR 64u

/* A fact about a CPU, according to the samples. */
enum observe_fact {
	OBSERVE_UNKNOWN, /* some samples do not show whether the fact is true */
	OBSERVE_NEVER,	 /* the fact is true in no sample */
	OBSERVE_SOMETIMES,
	OBSERVE_ALWAYS, /* the fact is true in all samples */
};

struct observe_cpu {
	uint32_t samples;
	enum observe_fact halted;     /* fact: the CPU waits for an interrupt */
	enum observe_fact interrupts; /* fact: interrupts are enabled */
	/* fact: fast interrupts (FIQ of AArch64) are enabled; on other machines equal to `interrupts` */
	enum observe_fact fast;
	enum observe_fact user; /* fact: the CPU runs code of a program, in user mode */
	uint64_t first_pc, last_pc, lowest_pc, highest_pc;
	/*
	 * Hashes of the different states of the registers, at most OBSERVE_STATES. If there are more states,
	 * `states` is OBSERVE_STATES + 1. A CPU that waits in a loop for memory to change has few states.
	 */
	uint64_t state[OBSERVE_STATES];
	uint32_t states;
	double ran; /* CPU time in seconds between the first and the last sample; negative: unknown */
	/* code directly before the last pc, and code at the last pc; valid if has_code is set */
	unsigned char before[OBSERVE_CODE], at[OBSERVE_CODE];
	bool has_code;
	uint64_t place[OBSERVE_PLACES]; /* return addresses on the stack, the innermost first */
	uint32_t places;
};

struct observe {
	uint16_t machine;
	char state[32];	   /* QEMU's run state, such as "running" */
	char kernel[4096]; /* path of the kernel's file; "": unknown */
	double seconds;	   /* seconds from the first sample to the last */
	struct observe_cpu cpu[OBSERVE_CPUS];
	uint32_t cpus;
};

/*
 * Adds a sample: the output of QEMU's "info registers -a". Malformed text adds no facts. Returns false if the
 * text contains no CPU, or if memory runs out.
 */
bool observe_add(struct observe *observe, const char *printed);
/*
 * Samples the guest of the QEMU that listens on a QMP socket. Takes at least OBSERVE_SAMPLES samples, and
 * continues until each CPU that is not idle has run for a second. `elf` is the path of the kernel's file;
 * NULL means the file that QEMU's -kernel names, if QEMU has this option. Sets *names to the functions of
 * this file; the caller closes them. If there is no usable file, *names is NULL, and *reason is a message or
 * NULL. Returns 0 or an error (capture/error.h).
 */
int observe_take(struct observe *observe, const char *qmp, int timeout_ms, const char *elf,
		 struct profile_names **names, const char **reason);

/* Determines what is wrong with the guest. The first finding is the verdict. `names` may be NULL. */
void observe_judge(struct findings *findings, const struct observe *observe,
		   const struct profile_names *names);
void observe_report(struct base_output *out, const struct findings *findings);
void observe_report_json(struct base_output *out, const struct findings *findings,
			 const struct observe *observe, const struct profile_names *names);

#endif
