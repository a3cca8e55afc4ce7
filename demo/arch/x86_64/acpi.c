/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The two things that only the firmware's tables tell: which CPUs there are, and how to switch the power off. */
#include "arch.h"
#include "cpu.h"
#include "string.h"
#include "x86.h"

#define MADT_LOCAL_APIC 0
#define LOCAL_APIC_ENABLED 1u
#define SLEEP_ENABLE 0x2000 /* and sleep type 0, which is S5 on QEMU's machines */

struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem[6];
	uint8_t revision;
	uint32_t rsdt;
} __attribute__((packed));

struct table_header {
	char signature[4];
	uint32_t length;
	uint8_t unused[28];
} __attribute__((packed));

struct madt {
	struct table_header header;
	uint32_t local_apic, flags;
	uint8_t entries[];
} __attribute__((packed));

struct madt_local_apic {
	uint8_t type, length, processor, apic_id;
	uint32_t flags;
} __attribute__((packed));

struct fadt {
	struct table_header header;
	uint8_t unused[28];
	uint32_t pm1a_control;
} __attribute__((packed));

_Static_assert(sizeof(struct table_header) == 36, "ACPI");
_Static_assert(offsetof(struct fadt, pm1a_control) == 64, "ACPI");

static uint32_t apic_ids[CPU_MAX];
static unsigned apic_id_count;
static uint16_t power_port;

/* The boot CPU goes first whatever place the table gives it; CPUs beyond CPU_MAX are counted only. */
static void madt_read(const struct madt *madt)
{
	const uint8_t *at = madt->entries;
	const uint8_t *end = (const uint8_t *)madt + madt->header.length;

	apic_ids[0] = apic_id();
	apic_id_count = 1;
	while (at + 2 <= end && at[1] >= 2) {
		const struct madt_local_apic *entry = (const void *)at;

		at += entry->length;
		if (entry->type != MADT_LOCAL_APIC || !(entry->flags & LOCAL_APIC_ENABLED) ||
		    entry->apic_id == apic_ids[0])
			continue;
		if (apic_id_count < CPU_MAX)
			apic_ids[apic_id_count] = entry->apic_id;
		apic_id_count++;
	}
}

void acpi_init(uintptr_t address)
{
	const struct rsdp *rsdp = (const void *)address;

	apic_id_count = 1;
	if (!address || memcmp(rsdp->signature, "RSD PTR ", 8) != 0)
		return;

	const struct table_header *rsdt = (const void *)(uintptr_t)rsdp->rsdt;
	const uint32_t *tables = (const void *)(rsdt + 1);
	size_t count = (rsdt->length - sizeof(*rsdt)) / sizeof(*tables);

	for (size_t i = 0; i < count; i++) {
		const struct table_header *table = (const void *)(uintptr_t)tables[i];

		if (memcmp(table->signature, "APIC", 4) == 0)
			madt_read((const void *)table);
		if (memcmp(table->signature, "FACP", 4) == 0)
			power_port = (uint16_t)((const struct fadt *)table)->pm1a_control;
	}
}

unsigned acpi_cpu_count(void)
{
	return apic_id_count;
}

uint32_t acpi_cpu_apic_id(unsigned n)
{
	return apic_ids[n];
}

void acpi_power_off(void)
{
	if (power_port)
		outw(power_port, SLEEP_ENABLE);
}
