/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Registers of CoreSight components that the backend touches, and their bits: Arm IHI 0064 (ETMv4), DDI 0461 (TMC),
 * DDI 0480 (funnel, replicator). Offsets are those of the component's 4 KiB.
 */
#ifndef KTRACE_HWT_CORESIGHT_REGISTERS_H
#define KTRACE_HWT_CORESIGHT_REGISTERS_H

/* ---- All components ---------------------------------------------------------------------------- */

#define CORESIGHT_LAR	  0xfb0u
#define CORESIGHT_LSR	  0xfb4u
#define CORESIGHT_DEVID	  0xfc8u
#define CORESIGHT_LAR_KEY 0xc5acce55u
#define LSR_IMPLEMENTED	  1u
#define LSR_LOCKED	  2u

/* ---- Trace unit -------------------------------------------------------------------------------- */

#define TRCPRGCTLR    0x004u
#define TRCSTATR      0x00cu
#define TRCCONFIGR    0x010u
#define TRCEVENTCTL0R 0x020u
#define TRCEVENTCTL1R 0x024u
#define TRCSTALLCTLR  0x02cu
#define TRCTSCTLR     0x030u
#define TRCSYNCPR     0x034u
#define TRCCCCTLR     0x038u
#define TRCTRACEIDR   0x040u
#define TRCVICTLR     0x080u
#define TRCVIIECTLR   0x084u
#define TRCVISSCTLR   0x088u
#define TRCIDR8	      0x180u /* to TRCIDR13 */
#define TRCIDR0	      0x1e0u /* to TRCIDR7 */
#define TRCOSLAR      0x300u
#define TRCOSLSR      0x304u
#define TRCPDCR	      0x310u
#define TRCACVR(n)    (0x400u + 8 * (n)) /* 64 bits: two registers, the lower half first; so are the next */
#define TRCACATR(n)   (0x480u + 8 * (n))
#define TRCCIDCVR(n)  (0x600u + 8 * (n))
#define TRCVMIDCVR(n) (0x640u + 8 * (n))
#define TRCCIDCCTLR0  0x680u
#define TRCVMIDCCTLR0 0x688u

#define PRGCTLR_EN	1u
#define STATR_IDLE	1u
#define STATR_PMSTABLE	2u
#define OSLSR_OSLK	2u
#define PDCR_PU		8u
#define CONFIGR_RES1	1u
#define CONFIGR_CCI	(1u << 4)
#define CONFIGR_CID	(1u << 6)
#define CONFIGR_VMID	(1u << 7)
#define CONFIGR_TS	(1u << 11)
#define CONFIGR_RS	(1u << 12)
#define CONFIGR_VMIDOPT (1u << 15)
#define VICTLR_ALWAYS	1u /* the event is resource 1, which is true */
#define VICTLR_SSSTATUS (1u << 9)
#define VICTLR_LEVEL	16 /* exclusion bits: secure EL0 to 3, then non-secure */
#define ACATR_CONTEXT	(1u << 2)
#define ACATR_VMID	(2u << 2)
#define ACATR_LEVEL	8

#define IDR0_CCI	   (1u << 7)
#define IDR0_RETSTACK	   (1u << 9)
#define IDR0_TSSIZE(idr)   ((idr) >> 24 & 0x1fu)
#define IDR1_MAJOR(idr)	   ((idr) >> 8 & 0xfu)
#define IDR2_IASIZE(idr)   ((idr)&0x1fu) /* bytes; so are the next */
#define IDR2_CIDSIZE(idr)  ((idr) >> 5 & 0x1fu)
#define IDR2_VMIDSIZE(idr) ((idr) >> 10 & 0x1fu)
#define IDR2_VMIDOPT(idr)  ((idr) >> 29 & 3u)
#define IDR3_CCITMIN(idr)  ((idr)&0xfffu)
#define IDR3_LEVELS(idr)   ((idr) >> 16 & 0xffu) /* secure EL0 to 3, then non-secure */
#define IDR3_SYNCPR	   (1u << 25)		 /* TRCSYNCPR cannot be written */
#define IDR3_STALLCTL	   (1u << 26)
#define IDR4_PAIRS(idr)	   ((idr)&0xfu)
#define IDR4_CIDC(idr)	   ((idr) >> 24 & 0xfu)
#define IDR4_VMIDC(idr)	   ((idr) >> 28 & 0xfu)

#define MAJOR_ETM4 4u
#define MAJOR_ETE  5u

/* ---- Links ------------------------------------------------------------------------------------- */

#define FUNNEL_FUNCTL	     0x000u
#define FUNCTL_HOLD_TIME(n)  ((n) << 8) /* n + 1 transfers of a port, one after another */
#define FUNCTL_HOLD	     0x7u
#define FUNCTL_PORTS(bits)   ((uint32_t)(bits))
#define REPLICATOR_IDFILTER0 0x000u /* of port 0 */
#define REPLICATOR_IDFILTER1 0x004u
#define IDFILTER_OPEN	     0x00u
#define IDFILTER_SHUT	     0xffu /* each bit keeps 16 trace ids away */

/* ---- Trace memory controller ------------------------------------------------------------------- */

#define TMC_RSZ	   0x004u /* 32-bit words */
#define TMC_STS	   0x00cu
#define TMC_RRD	   0x010u
#define TMC_RRP	   0x014u
#define TMC_RWP	   0x018u
#define TMC_TRG	   0x01cu
#define TMC_CTL	   0x020u
#define TMC_MODE   0x028u
#define TMC_BUFWM  0x034u
#define TMC_RRPHI  0x038u
#define TMC_RWPHI  0x03cu
#define TMC_AXICTL 0x110u
#define TMC_DBALO  0x118u
#define TMC_DBAHI  0x11cu
#define TMC_FFCR   0x304u

#define STS_FULL	      1u
#define STS_READY	      4u
#define STS_MEMERR	      (1u << 5)
#define CTL_CAPTURE	      1u
#define MODE_CIRCULAR	      0u
#define MODE_FIFO	      2u /* in hardware */
#define AXICTL_NONSECURE      (1u << 1)
#define AXICTL_CACHED	      (0xfu << 2)
#define AXICTL_SCATTER	      (1u << 7)
#define AXICTL_BURST16	      (0xfu << 8)
#define FFCR_FORMAT	      1u
#define FFCR_TRIGGERS	      2u
#define FFCR_FLUSH	      (1u << 6) /* by hand; reads as 1 until it is done */
#define FFCR_STOP_ON_FLUSH    (1u << 12)
#define RRD_EMPTY	      0xffffffffu
#define TMC_DEVID_TYPE(devid) ((devid) >> 6 & 3u)
#define TMC_TYPE_ETB	      0u
#define TMC_TYPE_ETR	      1u
#define TMC_TYPE_ETF	      2u
#define TMC_DEVID_NOSCAT      (1u << 24)
#define TMC_ADDRESS_BITS      40

/* Scatter lists: pages of 32-bit entries, bits 39:12 of an address in 31:4. */
#define SCATTER_ENTRY(address, type) ((uint32_t)((address) >> 12 << 4) | (type))
#define SCATTER_LAST		     1u
#define SCATTER_PAGE		     2u
#define SCATTER_LINK		     3u

#endif
