/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Draws conclusions from samples, and reports them: facts that the samples prove, and facts that they only
 * suggest. Without ktrace, nothing is known about threads, locks and waits. So even if no problem is found,
 * the guest may have one.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "observe/observe.h"
#include "profile/stack.h"

/*
 * minimum CPU time, in seconds, between the samples of a CPU; with less, nothing is concluded about the CPU
 */
#define RAN	   0.9
#define NAME_MOST  80u
#define PLACE_ROOM (NAME_MOST * BASE_ESCAPE_TEXT_GROWTH + 64)
#define CALLERS	   6u

/* What a CPU does, as far as this is known. */
enum doing {
	DOING_DEAD, /* is halted, and no interrupt can wake it */
	DOING_LOOP, /* executes an endless loop of one instruction, with interrupts disabled */
	DOING_SPIN, /* executes the same few instructions in all samples */
	/* like DOING_SPIN, but with interrupts disabled, and with few different states of the registers */
	DOING_SPIN_OFF,
	DOING_IDLE, /* waits for an interrupt */
	DOING_USER,
	DOING_KERNEL, /* was at several places in the kernel, or not always in the kernel */
	DOING_UNKNOWN,
};

static bool is_loop_on_itself(uint16_t machine, const struct observe_cpu *cpu)
{
	static const unsigned char x86[] = { 0xeb, 0xfe }, arm[] = { 0, 0, 0, 0x14 };

	/* On RISC-V the mode is unknown, so it is unknown whether interrupts are enabled. */
	return cpu->has_code && cpu->lowest_pc == cpu->highest_pc &&
	       ((machine == EM_X86_64 && memcmp(cpu->at, x86, sizeof(x86)) == 0) ||
		(machine == EM_AARCH64 && memcmp(cpu->at, arm, sizeof(arm)) == 0));
}

/*
 * Returns whether the CPU was halted in all samples. If the registers do not show this, returns whether the
 * pc was directly after the same instruction in all samples, and this instruction waits for an interrupt.
 */
static bool is_halted(const struct observe *observe, const struct observe_cpu *cpu)
{
	if (cpu->halted != OBSERVE_UNKNOWN)
		return cpu->halted == OBSERVE_ALWAYS;
	return cpu->has_code && cpu->lowest_pc == cpu->highest_pc &&
	       profile_is_waiting(observe->machine, cpu->before);
}

static enum doing doing_of(const struct observe *observe, const struct observe_cpu *cpu)
{
	const bool off = cpu->interrupts == OBSERVE_NEVER;
	const bool near = cpu->highest_pc - cpu->lowest_pc < OBSERVE_NEAR;

	if (is_halted(observe, cpu))
		/*
		 * The wfi of AArch64 and RISC-V ends at an interrupt even if interrupts are disabled; hlt
		 * does not.
		 */
		return observe->machine == EM_X86_64 && off && cpu->samples >= 2 ? DOING_DEAD : DOING_IDLE;
	if (cpu->user == OBSERVE_ALWAYS)
		return DOING_USER;
	if (cpu->samples < OBSERVE_SAMPLES || cpu->ran < RAN)
		return DOING_UNKNOWN;
	if (cpu->user == OBSERVE_SOMETIMES || cpu->halted == OBSERVE_SOMETIMES || !near)
		return DOING_KERNEL;
	if (off && cpu->fast == OBSERVE_NEVER && is_loop_on_itself(observe->machine, cpu))
		return DOING_LOOP;
	/*
	 * a CPU whose registers had many states makes progress; on RISC-V, the few instructions may belong to
	 * a program, and programs run with interrupts enabled
	 */
	return off && cpu->user == OBSERVE_NEVER && cpu->states <= OBSERVE_STATES ? DOING_SPIN_OFF
										  : DOING_SPIN;
}

static const char *say_place(const struct profile_names *names, uint64_t address, bool back,
			     char text[PLACE_ROOM])
{
	const uint32_t name = profile_names_find(names, address - (back ? 1 : 0));
	char safe[NAME_MOST * BASE_ESCAPE_TEXT_GROWTH + 1];
	const char *bytes = profile_names_at(names, name);

	*base_escape_text(safe, bytes, strnlen(bytes, NAME_MOST), sizeof(safe) - 1) = '\0';
	if (name == PROFILE_NO_NAME)
		snprintf(text, PLACE_ROOM, "0x%" PRIx64, address);
	else
		snprintf(text, PLACE_ROOM, "%s+0x%" PRIx64, safe,
			 address - profile_names_address(names, name));
	return text;
}

static const char *interrupts_of(const struct observe_cpu *cpu)
{
	switch (cpu->interrupts) {
	case OBSERVE_NEVER:
		return " with interrupts disabled";
	case OBSERVE_ALWAYS:
		return " with interrupts enabled";
	case OBSERVE_SOMETIMES:
		return " with interrupts sometimes enabled";
	default:
		return "";
	}
}

static void add_callers(struct finding *finding, const struct observe_cpu *cpu,
			const struct profile_names *names)
{
	char place[PLACE_ROOM];

	for (uint32_t n = 0; n < cpu->places && n < CALLERS; n++)
		if (!names || profile_names_find(names, cpu->place[n] - 1) != PROFILE_NO_NAME)
			finding_evidence(finding, "  called from %s",
					 say_place(names, cpu->place[n], true, place));
}

/* Adds a line that states what the CPU does, and lines about the callers. */
static void describe(struct finding *finding, const struct observe *observe, uint32_t n, enum doing doing,
		     const struct profile_names *names)
{
	const struct observe_cpu *cpu = &observe->cpu[n];
	char low[PLACE_ROOM], high[PLACE_ROOM], ran[48] = "";

	say_place(names, cpu->lowest_pc, false, low);
	say_place(names, cpu->highest_pc, false, high);
	if (cpu->ran >= 0)
		snprintf(ran, sizeof(ran), ", for %.1f s of CPU time", cpu->ran);
	switch (doing) {
	case DOING_DEAD:
		finding_evidence(finding,
				 "CPU %" PRIu32 ": halted with interrupts disabled, at %s, in all %" PRIu32
				 " samples: no interrupt can wake it",
				 n, low, cpu->samples);
		break;
	case DOING_LOOP:
		finding_evidence(finding,
				 "CPU %" PRIu32
				 ": jumps to itself with interrupts disabled, at %s, in all %" PRIu32
				 " samples%s",
				 n, low, cpu->samples, ran);
		break;
	case DOING_SPIN_OFF:
	case DOING_SPIN:
		finding_evidence(finding,
				 "CPU %" PRIu32 ": spins in %" PRIu64
				 " bytes from %s to %s%s, in all %" PRIu32 " samples%s%s",
				 n, cpu->highest_pc - cpu->lowest_pc, low, high, interrupts_of(cpu),
				 cpu->samples, ran,
				 cpu->states == 1		? "; no register changes"
				 : cpu->states > OBSERVE_STATES ? "; its registers change"
								: "; its registers have few states");
		break;
	case DOING_IDLE:
		finding_evidence(finding,
				 "CPU %" PRIu32 ": waits for an interrupt%s, at %s, in all %" PRIu32
				 " samples",
				 n, interrupts_of(cpu), low, cpu->samples);
		break;
	case DOING_USER:
		finding_evidence(finding, "CPU %" PRIu32 ": runs a program, in all %" PRIu32 " samples", n,
				 cpu->samples);
		return;
	case DOING_KERNEL:
		finding_evidence(finding, "CPU %" PRIu32 ": runs, last at %s%s", n,
				 say_place(names, cpu->last_pc, false, high), ran);
		break;
	case DOING_UNKNOWN:
		finding_evidence(finding, "CPU %" PRIu32 ": at %s%s", n,
				 say_place(names, cpu->last_pc, false, high), ran);
		break;
	}
	add_callers(finding, cpu, names);
}

/* Judges QEMU's run state: the guest may be paused, or may have reported a panic. */
static void judge_state(struct findings *findings, const struct observe *observe)
{
	const char *state = observe->state;

	if (strcmp(state, "guest-panicked") == 0) {
		findings_add(findings, FINDING_WRONG, "panic", "the guest has reported a panic to QEMU");
		findings_set_certain(findings, FINDING_CERTAIN);
	} else if (strcmp(state, "internal-error") == 0 || strcmp(state, "io-error") == 0 ||
		   strcmp(state, "watchdog") == 0) {
		findings_add(findings, FINDING_WRONG, "stopped", "QEMU has stopped the guest: %s", state);
		findings_set_certain(findings, FINDING_CERTAIN);
	} else if (strcmp(state, "running") != 0) {
		findings_add(
			findings, FINDING_NOTE, "unknown",
			strcmp(state, "shutdown") == 0
				? "the guest has shut down, or had a triple fault: QEMU does not report which"
				: "the guest does not run: QEMU's state is %s",
			state);
	}
}

/*
 * Adds a finding about CPUs that spin. A kernel or boot loader may let all CPUs except the first CPU spin
 * until it starts them. So if the first CPU does not spin, the spinning CPUs may be normal.
 */
static void add_spin(struct findings *findings, bool first_spins, const char *what)
{
	findings_add(findings, first_spins ? FINDING_WRONG : FINDING_NOTE, "kernel-spin", "%s", what);
	if (!first_spins)
		findings_advise(findings, "", "check whether the kernel has started this CPU");
}

static void judge_cpus(struct findings *findings, const struct observe *observe, const enum doing *doing,
		       const struct profile_names *names)
{
	uint32_t count[DOING_UNKNOWN + 1] = { 0 };
	char what[80];
	bool dead;

	for (uint32_t n = 0; n < observe->cpus; n++)
		count[doing[n]]++;
	dead = observe->cpus && count[DOING_DEAD] + count[DOING_LOOP] == observe->cpus;
	if (dead) {
		findings_add(findings, FINDING_WRONG, "halted",
			     "no CPU can continue: all are halted or loop with interrupts disabled");
		findings_set_certain(findings, FINDING_CERTAIN);
	} else if (count[DOING_LOOP]) {
		snprintf(what, sizeof(what), "%" PRIu32 " CPU%s cannot leave a loop of one instruction",
			 count[DOING_LOOP], finding_plural(count[DOING_LOOP]));
		add_spin(findings, doing[0] == DOING_LOOP, what);
	} else if (count[DOING_SPIN_OFF]) {
		snprintf(what, sizeof(what), "%" PRIu32 " CPU%s spin%s with interrupts disabled",
			 count[DOING_SPIN_OFF], finding_plural(count[DOING_SPIN_OFF]),
			 count[DOING_SPIN_OFF] == 1 ? "s" : "");
		add_spin(findings, doing[0] == DOING_SPIN_OFF, what);
	} else {
		findings_add(findings, FINDING_NOTE, "unknown",
			     "the kernel has no ktrace: only the registers of its CPUs were examined");
	}
	for (uint32_t n = 0; n < observe->cpus && findings->count; n++)
		describe(&findings->finding[findings->count - 1], observe, n, doing[n], names);
}

void observe_judge(struct findings *findings, const struct observe *observe,
		   const struct profile_names *names)
{
	enum doing doing[OBSERVE_CPUS];
	const bool running = strcmp(observe->state, "running") == 0;

	judge_state(findings, observe);
	for (uint32_t n = 0; n < observe->cpus; n++)
		doing[n] = running ? doing_of(observe, &observe->cpu[n]) : DOING_UNKNOWN;
	if (running)
		judge_cpus(findings, observe, doing, names);
	else
		for (uint32_t n = 0; n < observe->cpus && findings->count; n++)
			describe(&findings->finding[0], observe, n, DOING_UNKNOWN, names);
}

/* ---- Reports ---- */

void observe_report(struct base_output *out, const struct findings *findings)
{
	const struct finding_style style = { .certain = true };

	for (uint32_t n = 0; n < findings->count; n++)
		finding_put_text(out, &findings->finding[n], &style);
}

static const char *word_of(enum observe_fact fact)
{
	return fact == OBSERVE_NEVER	   ? "never"
	       : fact == OBSERVE_SOMETIMES ? "sometimes"
	       : fact == OBSERVE_ALWAYS	   ? "always"
					   : "";
}

static void put_address(struct base_output *out, const char *key, uint64_t address)
{
	base_json_put_format(out, key, "\"0x%llx\"", (unsigned long long)address);
}

static void put_cpu(struct base_output *out, uint32_t n, const struct observe_cpu *cpu,
		    const struct profile_names *names)
{
	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "cpu", n);
	base_json_put_number(out, "samples", cpu->samples);
	base_json_put(out, "halted", word_of(cpu->halted));
	base_json_put(out, "interrupts", word_of(cpu->interrupts));
	base_json_put(out, "user", word_of(cpu->user));
	put_address(out, "lowest", cpu->lowest_pc);
	put_address(out, "highest", cpu->highest_pc);
	base_json_put(out, "function", profile_names_at(names, profile_names_find(names, cpu->last_pc)));
	if (cpu->ran >= 0)
		base_json_put_format(out, "ran", "%.3f", cpu->ran);
	else
		base_json_put_format(out, "ran", "null");
	base_json_begin(out, "stack", '[');
	for (uint32_t place = 0; place < cpu->places; place++)
		put_address(out, NULL, cpu->place[place]);
	base_output_text(out, "]}");
}

void observe_report_json(struct base_output *out, const struct findings *findings,
			 const struct observe *observe, const struct profile_names *names)
{
	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "version", 1);
	base_json_put(out, "verdict", findings->count ? findings->finding[0].kind : "unknown");
	base_json_put(out, "kernel", "");
	base_json_put(out, "ended", "");
	base_json_put(out, "state", observe->state);
	base_json_begin(out, "findings", '[');
	for (uint32_t n = 0; n < findings->count; n++) {
		base_json_begin(out, NULL, '{');
		finding_put_json(out, &findings->finding[n], NULL);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
	base_json_begin(out, "cpus", '[');
	for (uint32_t n = 0; n < observe->cpus; n++)
		put_cpu(out, n, &observe->cpu[n], names);
	base_output_text(out, "]");
	base_json_begin(out, "threads", '[');
	base_output_text(out, "]}\n");
}
