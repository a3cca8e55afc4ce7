/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Access to registers of trace units: memory-mapped registers and system registers. */
#include "ktrace/hwt_coresight.h"
#include "ktrace/hwt_spe.h"

/* ---- CoreSight -------------------------------------------------------------------------------- */

/* Registers of CoreSight components, at the addresses where the kernel has mapped them as device memory. */

static uint32_t mmio_read(uintptr_t base, uint32_t offset)
{
	uint32_t value;

	/*
	 * Loads with one plain instruction, because compilers may choose a form of load that a hypervisor
	 * cannot emulate.
	 */
	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"(base + offset) : "memory");
	return value;
}

static void mmio_write(uintptr_t base, uint32_t offset, uint32_t value)
{
	__asm__ volatile("str %w0, [%1]" : : "r"(value), "r"(base + offset) : "memory");
}

/*
 * The context synchronisation (ISB) makes earlier register writes visible to the trace unit; the architecture
 * of the unit requires it.
 */
static void mmio_barrier(void)
{
	__asm__ volatile("dsb sy\n"
			 "	isb"
			 :
			 :
			 : "memory");
}

const struct ktrace_hwt_access_mmio ktrace_hwt_mmio = {
	.read = mmio_read,
	.write = mmio_write,
	.barrier = mmio_barrier,
};

/* ---- System registers ------------------------------------------------------------------------- */

/*
 * System registers of the running CPU. An instruction contains the register's encoding, so each register
 * needs its own instruction. Assemblers need not know the register names of the extension.
 */

#define KTRACE_READ(op0, op1, crn, crm, op2)                                            \
	case KTRACE_HWT_SYSREG(op0, op1, crn, crm, op2):                                \
		__asm__ volatile("mrs %0, s" #op0 "_" #op1 "_c" #crn "_c" #crm "_" #op2 \
				 : "=r"(value)                                          \
				 :                                                      \
				 : "memory");                                           \
		break

#define KTRACE_WRITE(op0, op1, crn, crm, op2)                                              \
	case KTRACE_HWT_SYSREG(op0, op1, crn, crm, op2):                                   \
		__asm__ volatile("msr s" #op0 "_" #op1 "_c" #crn "_c" #crm "_" #op2 ", %0" \
				 :                                                         \
				 : "r"(value)                                              \
				 : "memory");                                              \
		break

/* System registers that are both read and written. All other system registers are only read. */
#define KTRACE_PROFILING(OPERATION)                \
	OPERATION(3, 0, 9, 9, 0);  /* PMSCR */     \
	OPERATION(3, 0, 9, 9, 2);  /* PMSICR */    \
	OPERATION(3, 0, 9, 9, 3);  /* PMSIRR */    \
	OPERATION(3, 0, 9, 9, 4);  /* PMSFCR */    \
	OPERATION(3, 0, 9, 9, 5);  /* PMSEVFR */   \
	OPERATION(3, 0, 9, 9, 6);  /* PMSLATFR */  \
	OPERATION(3, 0, 9, 10, 0); /* PMBLIMITR */ \
	OPERATION(3, 0, 9, 10, 1); /* PMBPTR */    \
	OPERATION(3, 0, 9, 10, 3)  /* PMBSR */

/* Reads a system register. Returns 0 for an unknown register. */
static uint64_t sysreg_read(uint32_t encoding)
{
	uint64_t value = 0;

	switch (encoding) {
		KTRACE_PROFILING(KTRACE_READ);
		KTRACE_READ(3, 0, 9, 9, 7);  /* PMSIDR */
		KTRACE_READ(3, 0, 9, 10, 7); /* PMBIDR */
		KTRACE_READ(3, 0, 0, 5, 0);  /* ID_AA64DFR0 */
		KTRACE_READ(3, 3, 14, 0, 0); /* CNTFRQ */
		KTRACE_READ(3, 3, 14, 0, 2); /* CNTVCT */
	default:
		break;
	}
	return value;
}

static void sysreg_write(uint32_t encoding, uint64_t value)
{
	switch (encoding) {
		KTRACE_PROFILING(KTRACE_WRITE);
	default:
		break;
	}
}

static void sysreg_isb(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/* PSB CSYNC is HINT #17, a no-op on CPUs without SPE. */
static void sysreg_psb_csync(void)
{
	__asm__ volatile("hint #17\n\tdsb nsh" : : : "memory");
}

const struct ktrace_hwt_access_sysreg ktrace_hwt_sysreg = {
	.read = sysreg_read,
	.write = sysreg_write,
	.isb = sysreg_isb,
	.psb_csync = sysreg_psb_csync,
};
