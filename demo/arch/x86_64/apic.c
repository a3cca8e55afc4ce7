/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The local APIC, memory-mapped: timer, IPIs, NMIs, and starting other CPUs. */
#include "arch.h"
#include "cpu.h"
#include "x86.h"

#define APIC_BASE 0xfee00000ul

enum apic_register {
	APIC_ID = 0x020,
	APIC_TASK_PRIORITY = 0x080,
	APIC_EOI = 0x0b0,
	APIC_SPURIOUS = 0x0f0,
	APIC_COMMAND = 0x300,
	APIC_COMMAND_HIGH = 0x310,
	APIC_LVT_TIMER = 0x320,
	APIC_LVT_PERFORMANCE = 0x340,
	APIC_LVT_LINT0 = 0x350,
	APIC_LVT_LINT1 = 0x360,
	APIC_TIMER_INITIAL = 0x380,
	APIC_TIMER_CURRENT = 0x390,
	APIC_TIMER_DIVIDE = 0x3e0,
};

#define SPURIOUS_ENABLE 0x100u
#define DELIVER_NMI	0x400u
#define DELIVER_INIT	0x500u
#define DELIVER_STARTUP 0x600u
#define COMMAND_PENDING 0x1000u
#define COMMAND_ASSERT	0x4000u
#define LVT_MASKED	0x10000u
#define LVT_PERIODIC	0x20000u
#define DIVIDE_BY_16	0x3u

#define PIC1_DATA 0x21
#define PIC2_DATA 0xa1

static uint32_t apic_read(enum apic_register reg)
{
	return *(volatile uint32_t *)(APIC_BASE + reg);
}

static void apic_write(enum apic_register reg, uint32_t value)
{
	*(volatile uint32_t *)(APIC_BASE + reg) = value;
}

void apic_init(void)
{
	outb(PIC1_DATA, 0xff);
	outb(PIC2_DATA, 0xff);
	/*
	 * First enables the APIC: while it is disabled, all local interrupts are masked and cannot be
	 * unmasked.
	 */
	apic_write(APIC_SPURIOUS, SPURIOUS_ENABLE | VECTOR_SPURIOUS);
	apic_write(APIC_TASK_PRIORITY, 0);
	apic_write(APIC_LVT_TIMER, LVT_MASKED);
	apic_write(APIC_LVT_LINT0, LVT_MASKED);
	apic_write(APIC_LVT_LINT1, DELIVER_NMI); /* QEMU's command inject-nmi uses this interrupt input */
	apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_16);
	apic_trace_unit_unmask();
}

void apic_trace_unit_unmask(void)
{
	apic_write(APIC_LVT_PERFORMANCE, VECTOR_TRACE_UNIT);
}

void apic_acknowledge(void)
{
	apic_write(APIC_EOI, 0);
}

uint32_t apic_id(void)
{
	return apic_read(APIC_ID) >> 24;
}

uint32_t apic_timer_count(void)
{
	return apic_read(APIC_TIMER_CURRENT);
}

void apic_timer_run(uint32_t initial, bool periodic)
{
	apic_write(APIC_LVT_TIMER, periodic ? LVT_PERIODIC | VECTOR_TIMER : LVT_MASKED);
	apic_write(APIC_TIMER_INITIAL, initial);
}

/*
 * Writes a command, which consists of two registers. Interrupts are off between the two writes, because
 * interrupt handlers send commands. NMI handlers send none.
 */
static void apic_command(uint32_t id, uint32_t command)
{
	bool irq_on = arch_irq_save();

	while (apic_read(APIC_COMMAND) & COMMAND_PENDING)
		arch_relax();
	apic_write(APIC_COMMAND_HIGH, id << 24);
	apic_write(APIC_COMMAND, command | COMMAND_ASSERT);
	arch_irq_restore(irq_on);
}

void arch_ipi_send(const struct cpu *cpu)
{
	apic_command((uint32_t)cpu->hardware_id, VECTOR_IPI);
}

void arch_doorbell_ring(const struct cpu *cpu)
{
	apic_command((uint32_t)cpu->hardware_id, VECTOR_DOORBELL);
}

void arch_doorbell_end(void)
{
	apic_acknowledge();
}

bool arch_nmi_send(const struct cpu *cpu)
{
	apic_command((uint32_t)cpu->hardware_id, DELIVER_NMI);
	return true;
}

void apic_start_cpu(uint32_t id, uint32_t page)
{
	apic_command(id, DELIVER_INIT);
	clock_delay_us(10000);
	apic_command(id, DELIVER_STARTUP | page);
	clock_delay_us(200);
	apic_command(id, DELIVER_STARTUP | page);
}
