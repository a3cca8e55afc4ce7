/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads two facts from the firmware's tables: the list of CPUs, and how to switch off the power. */
#include "arch.h"
#include "cpu.h"
#include "string.h"
#include "x86.h"

#define MADT_LOCAL_APIC	   0
#define LOCAL_APIC_ENABLED 1u

/* Values that switch the power off: sleep type S5, as in QEMU's machines, and the enable bit. */
#define SLEEP_S5	 (0u << 10 | 1u << 13)
#define REDUCED_SLEEP_S5 (5u << 2 | 1u << 5)

struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length; /* valid only if the revision is at least 2 */
	uint64_t xsdt;
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
	/* I/O port that switches the power off; 0 if the machine is "hardware-reduced". */
	uint32_t pm1a_control;
	uint8_t unused2[180];
	/*
	 * Address of the byte register that switches the power off if the machine is "hardware-reduced",
	 * otherwise 0.
	 */
	uint64_t sleep_control;
} __attribute__((packed));

_Static_assert(sizeof(struct table_header) == 36, "ACPI");
_Static_assert(offsetof(struct fadt, pm1a_control) == 64, "ACPI");
_Static_assert(offsetof(struct fadt, sleep_control) == 248, "ACPI");

static uint32_t apic_ids[CPU_MAX];
static unsigned apic_id_count;
static uint16_t power_port;
static volatile uint8_t *power_register;

/*
 * Reads the APIC ids of the CPUs. The boot CPU's id becomes the first one. Stores at most CPU_MAX ids, but
 * counts all CPUs.
 */
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

static void fadt_read(const struct fadt *fadt)
{
	power_port = (uint16_t)fadt->pm1a_control;
	if (fadt->header.length >= sizeof(*fadt))
		power_register = (volatile uint8_t *)fadt->sleep_control;
}

static void table_read(uint64_t address)
{
	const struct table_header *table = (const void *)address;

	if (memcmp(table->signature, "APIC", 4) == 0)
		madt_read((const void *)table);
	if (memcmp(table->signature, "FACP", 4) == 0)
		fadt_read((const void *)table);
}

/*
 * Reads the list of tables: from revision 2 on, the list with 64-bit addresses if there is one; otherwise the
 * list with 32-bit addresses.
 */
void acpi_init(uintptr_t address)
{
	const struct rsdp *rsdp = (const void *)address;

	apic_id_count = 1;
	if (!address || memcmp(rsdp->signature, "RSD PTR ", 8) != 0)
		return;

	bool wide = rsdp->revision >= 2 && rsdp->xsdt;
	const struct table_header *list = (const void *)(wide ? rsdp->xsdt : (uintptr_t)rsdp->rsdt);
	size_t entry_size = wide ? sizeof(uint64_t) : sizeof(uint32_t);
	const char *end = (const char *)list + list->length;

	for (const char *at = (const char *)(list + 1); at + entry_size <= end; at += entry_size) {
		uint64_t table = 0;

		memcpy(&table, at, entry_size);
		table_read(table);
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
		outw(power_port, SLEEP_S5);
	if (power_register)
		*power_register = REDUCED_SLEEP_S5;
}
