/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Registers of CoreSight components that the backend touches, and their bits: Arm IHI 0064 (ETMv4), DDI 0461 (TMC),
 * DDI 0480 (funnel, replicator). Offsets are those of the component's 4 KiB.
 */
#ifndef KTRACE_HWT_CORESIGHT_REGISTERS_H
#define KTRACE_HWT_CORESIGHT_REGISTERS_H

/* ---- All components ---------------------------------------------------------------------------- */

#define KTRACE_CORESIGHT_LAR	 0xfb0u
#define KTRACE_CORESIGHT_LSR	 0xfb4u
#define KTRACE_CORESIGHT_DEVID	 0xfc8u
#define KTRACE_CORESIGHT_LAR_KEY 0xc5acce55u
#define KTRACE_LSR_IMPLEMENTED	 1u
#define KTRACE_LSR_LOCKED	 2u

/* ---- Trace unit -------------------------------------------------------------------------------- */

#define KTRACE_TRCPRGCTLR    0x004u
#define KTRACE_TRCSTATR	     0x00cu
#define KTRACE_TRCCONFIGR    0x010u
#define KTRACE_TRCEVENTCTL0R 0x020u
#define KTRACE_TRCEVENTCTL1R 0x024u
#define KTRACE_TRCSTALLCTLR  0x02cu
#define KTRACE_TRCTSCTLR     0x030u
#define KTRACE_TRCSYNCPR     0x034u
#define KTRACE_TRCCCCTLR     0x038u
#define KTRACE_TRCTRACEIDR   0x040u
#define KTRACE_TRCVICTLR     0x080u
#define KTRACE_TRCVIIECTLR   0x084u
#define KTRACE_TRCVISSCTLR   0x088u
#define KTRACE_TRCIDR8	     0x180u /* to TRCIDR13 */
#define KTRACE_TRCIDR0	     0x1e0u /* to TRCIDR7 */
#define KTRACE_TRCOSLAR	     0x300u
#define KTRACE_TRCOSLSR	     0x304u
#define KTRACE_TRCPDCR	     0x310u
#define KTRACE_TRCACVR(n) \
	(0x400u + 8 * (n)) /* 64 bits: two registers, the lower half first; so are the next */
#define KTRACE_TRCACATR(n)   (0x480u + 8 * (n))
#define KTRACE_TRCCIDCVR(n)  (0x600u + 8 * (n))
#define KTRACE_TRCVMIDCVR(n) (0x640u + 8 * (n))
#define KTRACE_TRCCIDCCTLR0  0x680u
#define KTRACE_TRCVMIDCCTLR0 0x688u

#define KTRACE_PRGCTLR_EN      1u
#define KTRACE_STATR_IDLE      1u
#define KTRACE_STATR_PMSTABLE  2u
#define KTRACE_OSLSR_OSLK      2u
#define KTRACE_PDCR_PU	       8u
#define KTRACE_CONFIGR_RES1    1u
#define KTRACE_CONFIGR_CCI     (1u << 4)
#define KTRACE_CONFIGR_CID     (1u << 6)
#define KTRACE_CONFIGR_VMID    (1u << 7)
#define KTRACE_CONFIGR_TS      (1u << 11)
#define KTRACE_CONFIGR_RS      (1u << 12)
#define KTRACE_CONFIGR_VMIDOPT (1u << 15)
#define KTRACE_VICTLR_ALWAYS   1u /* the event is resource 1, which is true */
#define KTRACE_VICTLR_SSSTATUS (1u << 9)
#define KTRACE_VICTLR_LEVEL    16 /* exclusion bits: secure EL0 to 3, then non-secure */
#define KTRACE_ACATR_CONTEXT   (1u << 2)
#define KTRACE_ACATR_VMID      (2u << 2)
#define KTRACE_ACATR_LEVEL     8

#define KTRACE_IDR0_CCI		  (1u << 7)
#define KTRACE_IDR0_RETSTACK	  (1u << 9)
#define KTRACE_IDR0_TSSIZE(idr)	  ((idr) >> 24 & 0x1fu)
#define KTRACE_IDR1_MAJOR(idr)	  ((idr) >> 8 & 0xfu)
#define KTRACE_IDR2_IASIZE(idr)	  ((idr)&0x1fu) /* bytes; so are the next */
#define KTRACE_IDR2_CIDSIZE(idr)  ((idr) >> 5 & 0x1fu)
#define KTRACE_IDR2_VMIDSIZE(idr) ((idr) >> 10 & 0x1fu)
#define KTRACE_IDR2_VMIDOPT(idr)  ((idr) >> 29 & 3u)
#define KTRACE_IDR3_CCITMIN(idr)  ((idr)&0xfffu)
#define KTRACE_IDR3_LEVELS(idr)	  ((idr) >> 16 & 0xffu) /* secure EL0 to 3, then non-secure */
#define KTRACE_IDR3_SYNCPR	  (1u << 25)		/* TRCSYNCPR cannot be written */
#define KTRACE_IDR3_STALLCTL	  (1u << 26)
#define KTRACE_IDR4_PAIRS(idr)	  ((idr)&0xfu)
#define KTRACE_IDR4_CIDC(idr)	  ((idr) >> 24 & 0xfu)
#define KTRACE_IDR4_VMIDC(idr)	  ((idr) >> 28 & 0xfu)

#define KTRACE_MAJOR_ETM4 4u
#define KTRACE_MAJOR_ETE  5u

/* ---- Links ------------------------------------------------------------------------------------- */

#define KTRACE_FUNNEL_FUNCTL	    0x000u
#define KTRACE_FUNCTL_HOLD_TIME(n)  ((n) << 8) /* n + 1 transfers of a port, one after another */
#define KTRACE_FUNCTL_HOLD	    0x7u
#define KTRACE_FUNCTL_PORTS(bits)   ((uint32_t)(bits))
#define KTRACE_REPLICATOR_IDFILTER0 0x000u /* of port 0 */
#define KTRACE_REPLICATOR_IDFILTER1 0x004u
#define KTRACE_IDFILTER_OPEN	    0x00u
#define KTRACE_IDFILTER_SHUT	    0xffu /* each bit keeps 16 trace ids away */

/* ---- Trace memory controller ------------------------------------------------------------------- */

#define KTRACE_TMC_RSZ	  0x004u /* 32-bit words */
#define KTRACE_TMC_STS	  0x00cu
#define KTRACE_TMC_RRD	  0x010u
#define KTRACE_TMC_RRP	  0x014u
#define KTRACE_TMC_RWP	  0x018u
#define KTRACE_TMC_TRG	  0x01cu
#define KTRACE_TMC_CTL	  0x020u
#define KTRACE_TMC_MODE	  0x028u
#define KTRACE_TMC_BUFWM  0x034u
#define KTRACE_TMC_RRPHI  0x038u
#define KTRACE_TMC_RWPHI  0x03cu
#define KTRACE_TMC_AXICTL 0x110u
#define KTRACE_TMC_DBALO  0x118u
#define KTRACE_TMC_DBAHI  0x11cu
#define KTRACE_TMC_FFCR	  0x304u

#define KTRACE_STS_FULL		     1u
#define KTRACE_STS_READY	     4u
#define KTRACE_STS_MEMERR	     (1u << 5)
#define KTRACE_CTL_CAPTURE	     1u
#define KTRACE_MODE_CIRCULAR	     0u
#define KTRACE_MODE_FIFO	     2u /* in hardware */
#define KTRACE_AXICTL_NONSECURE	     (1u << 1)
#define KTRACE_AXICTL_CACHED	     (0xfu << 2)
#define KTRACE_AXICTL_SCATTER	     (1u << 7)
#define KTRACE_AXICTL_BURST16	     (0xfu << 8)
#define KTRACE_FFCR_FORMAT	     1u
#define KTRACE_FFCR_TRIGGERS	     2u
#define KTRACE_FFCR_FLUSH	     (1u << 6) /* by hand; reads as 1 until it is done */
#define KTRACE_FFCR_STOP_ON_FLUSH    (1u << 12)
#define KTRACE_RRD_EMPTY	     0xffffffffu
#define KTRACE_TMC_DEVID_TYPE(devid) ((devid) >> 6 & 3u)
#define KTRACE_TMC_TYPE_ETB	     0u
#define KTRACE_TMC_TYPE_ETR	     1u
#define KTRACE_TMC_TYPE_ETF	     2u
#define KTRACE_TMC_DEVID_NOSCAT	     (1u << 24)
#define KTRACE_TMC_ADDRESS_BITS	     40

/* Scatter lists: pages of 32-bit entries, bits 39:12 of an address in 31:4. */
#define KTRACE_SCATTER_ENTRY(address, type) ((uint32_t)((address) >> 12 << 4) | (type))
#define KTRACE_SCATTER_LAST		    1u
#define KTRACE_SCATTER_PAGE		    2u
#define KTRACE_SCATTER_LINK		    3u

#endif
