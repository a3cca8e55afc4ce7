/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System registers of the Statistical Profiling Extension, as the Arm Architecture Reference Manual has them. */
#ifndef KTRACE_HWT_SPE_REGISTERS_H
#define KTRACE_HWT_SPE_REGISTERS_H

#include "ktrace/hwt_backend.h"

#define KTRACE_SPE_PMSCR     KTRACE_HWT_SYSREG(3, 0, 9, 9, 0) /* what is sampled; with E2H, at EL2, PMSCR_EL2 */
#define KTRACE_SPE_PMSICR    KTRACE_HWT_SYSREG(3, 0, 9, 9, 2)  /* the interval's counter */
#define KTRACE_SPE_PMSIRR    KTRACE_HWT_SYSREG(3, 0, 9, 9, 3)  /* and what it is loaded with */
#define KTRACE_SPE_PMSFCR    KTRACE_HWT_SYSREG(3, 0, 9, 9, 4)  /* which filters are on */
#define KTRACE_SPE_PMSEVFR   KTRACE_HWT_SYSREG(3, 0, 9, 9, 5)  /* by event */
#define KTRACE_SPE_PMSLATFR  KTRACE_HWT_SYSREG(3, 0, 9, 9, 6)  /* by latency */
#define KTRACE_SPE_PMSIDR    KTRACE_HWT_SYSREG(3, 0, 9, 9, 7)  /* what there is */
#define KTRACE_SPE_PMBLIMITR KTRACE_HWT_SYSREG(3, 0, 9, 10, 0) /* end of the buffer, and whether it is on */
#define KTRACE_SPE_PMBPTR    KTRACE_HWT_SYSREG(3, 0, 9, 10, 1) /* where the next record goes */
#define KTRACE_SPE_PMBSR     KTRACE_HWT_SYSREG(3, 0, 9, 10, 3) /* why it has stopped */
#define KTRACE_SPE_PMBIDR    KTRACE_HWT_SYSREG(3, 0, 9, 10, 7)
#define KTRACE_SPE_DFR0	     KTRACE_HWT_SYSREG(3, 0, 0, 5, 0) /* ID_AA64DFR0_EL1 */
#define KTRACE_SPE_CNTFRQ    KTRACE_HWT_SYSREG(3, 3, 14, 0, 0)
#define KTRACE_SPE_CNTVCT    KTRACE_HWT_SYSREG(3, 3, 14, 0, 2)

#define KTRACE_SPE_DFR0_VERSION(dfr0) ((dfr0) >> 32 & 0xf)

#define KTRACE_SPE_PMSCR_USER	 (UINT64_C(1) << 0)
#define KTRACE_SPE_PMSCR_KERNEL	 (UINT64_C(1) << 1)
#define KTRACE_SPE_PMSCR_CONTEXT (UINT64_C(1) << 3) /* records tell CONTEXTIDR */
#define KTRACE_SPE_PMSCR_TIME	 (UINT64_C(1) << 5) /* 7:6 are 0: the virtual counter */

#define KTRACE_SPE_PMSIRR_RANDOM      (UINT64_C(1) << 0)
#define KTRACE_SPE_PMSIRR_UNIT	      256u
#define KTRACE_SPE_PMSIRR_UNITS_SHIFT 8u
#define KTRACE_SPE_PMSIRR_UNITS_MOST  UINT64_C(0xffffff)

#define KTRACE_SPE_PMSFCR_EVENT	   (UINT64_C(1) << 0)
#define KTRACE_SPE_PMSFCR_TYPE	   (UINT64_C(1) << 1)
#define KTRACE_SPE_PMSFCR_LATENCY  (UINT64_C(1) << 2)
#define KTRACE_SPE_PMSFCR_BRANCHES (UINT64_C(1) << 16)
#define KTRACE_SPE_PMSFCR_LOADS	   (UINT64_C(1) << 17)
#define KTRACE_SPE_PMSFCR_STORES   (UINT64_C(1) << 18)

#define KTRACE_SPE_PMSIDR_EVENT		 (UINT64_C(1) << 0)
#define KTRACE_SPE_PMSIDR_TYPE		 (UINT64_C(1) << 1)
#define KTRACE_SPE_PMSIDR_LATENCY	 (UINT64_C(1) << 2)
#define KTRACE_SPE_PMSIDR_INTERVAL(id)	 ((id) >> 8 & 0xf)
#define KTRACE_SPE_PMSIDR_MAX_SIZE(id)	 (UINT64_C(1) << ((id) >> 12 & 0xf)) /* bytes of the longest record */
#define KTRACE_SPE_PMSIDR_COUNT_SIZE(id) ((id) >> 16 & 0xf)
#define KTRACE_SPE_PMSIDR_COUNT_16	 3u /* 16 bits of latency; 2: 12 */

#define KTRACE_SPE_PMBIDR_ALIGN(id) (UINT64_C(1) << ((id)&0xf))
#define KTRACE_SPE_PMBIDR_TAKEN	    (UINT64_C(1) << 4) /* the buffer is a higher exception level's */

#define KTRACE_SPE_PMBLIMITR_ENABLE (UINT64_C(1) << 0) /* 2:1 are 0: stop when full */

#define KTRACE_SPE_PMBSR_COLLISION  (UINT64_C(1) << 16) /* samples were due while another was taken */
#define KTRACE_SPE_PMBSR_SERVICE    (UINT64_C(1) << 17) /* it has stopped, and interrupts */
#define KTRACE_SPE_PMBSR_LOSS	    (UINT64_C(1) << 19) /* the last record is not whole */
#define KTRACE_SPE_PMBSR_CLASS(bsr) ((bsr) >> 26 & 0x3f)
#define KTRACE_SPE_PMBSR_CODE(bsr)  ((bsr)&0x3f)
#define KTRACE_SPE_PMBSR_CODE_FULL  1u /* of class 0 */

#endif
