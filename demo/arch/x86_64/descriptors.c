/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Segments, task state and the interrupt table. NMI and double fault have stacks of their own, so that they
 * work even if the interrupted stack is unusable.
 */
#include "arch.h"
#include "cpu.h"
#include "x86.h"

#define IST_STACK_SIZE	 8192
#define IST_NMI		 1
#define IST_DOUBLE_FAULT 2
/* interrupt gate: present, turns interrupts off; INT may use it only in ring 0 */
#define GATE_INTERRUPT 0x8e00
#define GATE_FOR_USER  0x6000 /* bits to add so that INT may use the gate in user mode */
#define TSS_AVAILABLE  0x89ull
#define STUB_SIZE      16

struct tss {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3, io_map;
} __attribute__((packed));

struct gate {
	uint16_t offset_low, selector, flags, offset_middle;
	uint32_t offset_high, reserved;
};

struct table_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

struct descriptors {
	/* Entries: null, code, data, user data, user code, and the TSS, which takes two entries. */
	uint64_t gdt[7];
	struct tss tss;
	char nmi_stack[IST_STACK_SIZE] __attribute__((aligned(16)));
	char double_fault_stack[IST_STACK_SIZE] __attribute__((aligned(16)));
};

_Static_assert(sizeof(struct tss) == 104, "laid down by the CPU");
_Static_assert(sizeof(struct gate) == 16, "laid down by the CPU");

extern char trap_stubs[];

static struct descriptors descriptors[CPU_MAX];
static struct gate gates[256];

static void gates_fill(void)
{
	for (unsigned vector = 0; vector < 256; vector++) {
		uintptr_t stub = (uintptr_t)trap_stubs + vector * STUB_SIZE;

		gates[vector] = (struct gate){
			.offset_low = (uint16_t)stub,
			.selector = SELECTOR_CODE,
			.flags = GATE_INTERRUPT,
			.offset_middle = (uint16_t)(stub >> 16),
			.offset_high = (uint32_t)(stub >> 32),
		};
	}
	gates[VECTOR_BREAKPOINT].flags |= GATE_FOR_USER;
	gates[VECTOR_NMI].flags |= IST_NMI;
	gates[VECTOR_DOUBLE_FAULT].flags |= IST_DOUBLE_FAULT;
}

static void gdt_fill(struct descriptors *d)
{
	uint64_t base = (uintptr_t)&d->tss;

	d->gdt[SELECTOR_CODE / 8] = GDT_CODE;
	d->gdt[SELECTOR_DATA / 8] = GDT_DATA;
	d->gdt[SELECTOR_USER_DATA / 8] = GDT_USER_DATA;
	d->gdt[SELECTOR_USER_CODE / 8] = GDT_USER_CODE;
	d->gdt[SELECTOR_TSS / 8] = (sizeof(struct tss) - 1) | (base & 0xffffff) << 16 | TSS_AVAILABLE << 40 |
				   (base >> 24 & 0xff) << 56;
	d->gdt[SELECTOR_TSS / 8 + 1] = base >> 32;
}

void descriptors_load(struct cpu *cpu)
{
	struct descriptors *d = &descriptors[cpu->id];
	struct table_pointer gdt = { sizeof(d->gdt) - 1, (uintptr_t)d->gdt };
	struct table_pointer idt = { sizeof(gates) - 1, (uintptr_t)gates };

	if (cpu->id == 0)
		gates_fill();
	gdt_fill(d);
	d->tss.ist[IST_NMI - 1] = (uintptr_t)d->nmi_stack + IST_STACK_SIZE;
	d->tss.ist[IST_DOUBLE_FAULT - 1] = (uintptr_t)d->double_fault_stack + IST_STACK_SIZE;
	d->tss.io_map = sizeof(struct tss);

	/*
	 * The code and data selectors are the same as in the boot GDT, so they need not be reloaded. FS and
	 * GS are set to null here. Otherwise the return to user mode would set them to null, and the CPU
	 * might then clear their base addresses.
	 */
	__asm__ volatile("lgdt %0" : : "m"(gdt));
	__asm__ volatile("ltr %w0" : : "r"(SELECTOR_TSS));
	__asm__ volatile("mov %w0, %%fs; mov %w0, %%gs" : : "r"(0));
	wrmsr(MSR_GS_BASE, (uintptr_t)cpu);
	wrmsr(MSR_KERNEL_GS_BASE, 0); /* GS base of user mode, always 0: see own_stack_entry in trap.S */
	__asm__ volatile("lidt %0" : : "m"(idt));
}

void descriptors_set_stack(const struct cpu *cpu, uintptr_t top)
{
	descriptors[cpu->id].tss.rsp[0] = top;
}
