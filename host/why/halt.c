/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The code of CPUs that seem to idle. The mode of a CPU stays idle while it handles an interrupt that came
 * while it idled. If the kernel does not report the start of the handler, only the CPU's code shows that it
 * no longer waits. On x86 under QEMU, the registers may show it, too: a CPU that has not halted and has
 * interrupts disabled does not wait for one.
 */
#include <elf.h>
#include <string.h>

#include "why/pulse.h"

#define BACK  1024u /* maximum number of bytes of a function, before the CPU's instruction, that are read */
#define AHEAD 64u   /* number of bytes after the start of the CPU's instruction that are read */

static bool is_at(const unsigned char *code, size_t size, const char *bytes, size_t length)
{
	return size >= length && memcmp(code, bytes, length) == 0;
}

/*
 * Returns whether code contains an instruction that waits, as code of an idle loop does: halt, pause, a call
 * of a hypervisor or of firmware. In code of x86, other bytes may look like one.
 */
static bool waits(uint16_t machine, const unsigned char *code, size_t size)
{
	const size_t step = machine == EM_AARCH64 ? 4 : machine == EM_RISCV ? 2 : 1;
	uint32_t word;

	for (size_t n = 0; n < size; n += step) {
		const unsigned char *at = code + n;
		const size_t left = size - n;

		if (machine == EM_X86_64 &&
		    (is_at(at, left, "\xfb\xf4", 2) || is_at(at, left, "\xf3\x90", 2) ||
		     is_at(at, left, "\x0f\x01", 2)))
			return true;
		if (machine == EM_X86_64 || left < 4)
			continue;
		word = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
		if (machine == EM_AARCH64
			    ? word == 0xd503203f || word == 0xd503205f || word == 0xd503207f ||
				      (word & 0xffffffc0) == 0xd5031000 ||
				      (word & 0xffe0001f) == 0xd4000002 || (word & 0xffe0001f) == 0xd4000003
			    : word == 0x10500073 || word == 0x0100000f || word == 0x00000073 ||
				      (word & 0xfeffffff) == 0x00d00073)
			return true;
	}
	return false;
}

/*
 * Returns whether the byte f4 before `address` may be the last byte of a longer instruction of x86, and so is
 * not known to be hlt. Examples: mov -0xc(%rbp), %eax (8b 45 f4), mov -0xc(%rax,%rbx), %eax (8b 44 18 f4),
 * je (74 f4).
 */
static bool may_be_operand(const unsigned char before[2])
{
	const unsigned char modrm = before[0] & 0xc7;

	return (before[1] & 0xc0) == 0x40 || before[1] == 0xeb || modrm == 0x44;
}

enum halt { HALT_NO, HALT_MAYBE, HALT_YES };

/* Returns whether the instruction before `address`, or the instruction at `address`, is hlt or wfi. */
static enum halt halt_at(const struct why_evidence *evidence, uint64_t address)
{
	const uint16_t machine = evidence->info->machine;
	const size_t length = machine == EM_X86_64 ? 1 : 4;
	const char *halt = machine == EM_X86_64	   ? "\xf4"
			   : machine == EM_AARCH64 ? "\x7f\x20\x03\xd5"
						   : "\x73\x00\x50\x10";
	unsigned char code[8], before[2];

	if (symbols_code(evidence->symbols, address - length, code, 2 * length) != 0)
		return HALT_NO;
	if (is_at(code + length, length, halt, length))
		return HALT_YES;
	if (!is_at(code, length, halt, length))
		return HALT_NO;
	return machine == EM_X86_64 && symbols_code(evidence->symbols, address - 3, before, 2) == 0 &&
			       may_be_operand(before)
		       ? HALT_MAYBE
		       : HALT_YES;
}

static bool is_halt(const struct why_evidence *evidence, uint64_t address)
{
	return halt_at(evidence, address) == HALT_YES;
}

/*
 * Returns whether the CPU waits in firmware, as far as the kernel's file shows: on RISC-V its code is outside
 * the kernel, on AArch64 it has just called firmware (hvc, smc). Firmware that keeps a CPU although an
 * interrupt is pending does not wait.
 */
static bool is_in_firmware(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	unsigned char code[4];
	uint32_t word;

	if (cpu->irq_pending)
		return false;
	if (evidence->info->machine == EM_RISCV)
		return !symbols_has_code(evidence->symbols, cpu->pc);
	if (evidence->info->machine != EM_AARCH64 ||
	    symbols_code(evidence->symbols, cpu->pc - 4, code, sizeof(code)) != 0)
		return false;
	word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
	return (word & 0xffe0001f) == 0xd4000002 || (word & 0xffe0001f) == 0xd4000003;
}

/* Returns whether the kernel's file shows that the CPU's function contains no instruction that waits. */
static bool is_in_other_code(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	unsigned char code[BACK + AHEAD];
	const enum halt halt = halt_at(evidence, cpu->pc);
	struct symbol symbol;
	uint64_t back;

	if (symbols_find(evidence->symbols, cpu->pc, &symbol) != 0 || halt == HALT_YES ||
	    (halt == HALT_MAYBE && !cpu->awake))
		return false;
	back = symbol.offset < BACK ? symbol.offset : BACK;
	return symbols_code(evidence->symbols, cpu->pc - back, code, back + AHEAD) == 0 &&
	       !waits(evidence->info->machine, code, back + AHEAD);
}

bool why_may_run_masked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	if (!cpu->has_registers)
		return cpu->row.interrupts == KTRX_INTERRUPTS_UNKNOWN;
	return cpu->mask == INTERRUPTS_MASKED && !cpu->halted &&
	       (symbols_doubtful(evidence->symbols) ||
		(!is_halt(evidence, cpu->pc) && !is_in_firmware(evidence, cpu)));
}

/* Returns whether a lock, a thread or a violated rule shows that code of the kernel has used the CPU. */
static bool is_in_use(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	for (uint32_t n = 0; cpu->has_holder && n < KTRX_HELD; n++)
		if (cpu->holder.held[n].object)
			return true;
	for (uint32_t n = 0; n < evidence->threads; n++) {
		const struct why_thread *thread = &evidence->thread[n];

		if (thread->has_holder && thread->holder.state == KTRX_THREAD_RUNNING &&
		    thread->holder.cpu == cpu->number)
			return true;
	}
	return cpu->row.broken_stamp != 0;
}

bool why_is_unused(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	const struct ktrx_cpu *row = &cpu->row;

	return row->heartbeats == 0 && row->switches == 0 && cpu->last_stamp == 0 && row->irqs == 0 &&
	       row->irq_stamp == 0 && row->eois == 0 && row->nesting == 0 && row->ipi_answered == 0 &&
	       row->user_enters == 0 && row->user_exits == 0 && !is_in_use(evidence, cpu);
}

bool why_leaves_pending(const struct why_cpu *cpu)
{
	return cpu->irq_pending && cpu->mask == INTERRUPTS_MASKED && cpu->side != PRIVILEGE_USER;
}

bool why_has_halted(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->halted || (cpu->has_registers && cpu->side != PRIVILEGE_USER &&
			       !symbols_doubtful(evidence->symbols) && is_halt(evidence, cpu->pc));
}

bool why_has_halted_masked(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->mask == INTERRUPTS_MASKED && cpu->side != PRIVILEGE_USER && why_has_halted(evidence, cpu);
}

const struct why_cpu *why_parked(const struct why_evidence *evidence)
{
	for (uint32_t n = 0; n < evidence->cpus; n++) {
		const struct why_cpu *cpu = &evidence->cpu[n];

		if (why_is_there(cpu) && why_is_unused(evidence, cpu) && why_has_halted_masked(evidence, cpu))
			return cpu;
	}
	return NULL;
}

bool why_is_awake(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->awake && cpu->mask == INTERRUPTS_MASKED && cpu->side != PRIVILEGE_USER &&
	       is_in_other_code(evidence, cpu);
}

bool why_left_halt(const struct why_evidence *evidence, const struct why_cpu *cpu)
{
	return cpu->row.mode == KTRX_MODE_IDLE && cpu->has_registers && cpu->side != PRIVILEGE_USER &&
	       !symbols_doubtful(evidence->symbols) &&
	       (is_halt(evidence, cpu->row.pc) || cpu->interrupts.entered > cpu->interrupts.working) &&
	       is_in_other_code(evidence, cpu);
}
