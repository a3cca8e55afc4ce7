/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "pt_configure.h"

#include "decoder.h"

#define FILTER 1u /* IA32_RTIT_CTL.ADDRn_CFG: traced is only what lies in the range */

static void set_ranges(struct pt_conf_addr_filter *filter, const struct ktrx_hwt_context *context)
{
	uint64_t *const first[] = { &filter->addr0_a, &filter->addr1_a, &filter->addr2_a, &filter->addr3_a };
	uint64_t *const last[] = { &filter->addr0_b, &filter->addr1_b, &filter->addr2_b, &filter->addr3_b };

	for (uint32_t i = 0; i < context->ranges && i < 4; i++) {
		if (context->range[i].end <= context->range[i].start)
			continue;
		*first[i] = context->range[i].start;
		*last[i] = context->range[i].end - 1;
		filter->config.addr_cfg |= (uint64_t)FILTER << (4 * i);
	}
}

void hwt_pt_configure(struct pt_config *config, const struct hwt_stream *stream,
		      const struct hwt_piece *piece)
{
	pt_config_init(config);
	config->begin = (uint8_t *)(uintptr_t)piece->bytes;
	config->end = config->begin + piece->size;
	if (stream->pt.family && !(stream->pt.flags & KTRX_HWT_PT_SOFTWARE)) {
		config->cpu = (struct pt_cpu){ .vendor = pcv_intel,
					       .family = stream->pt.family,
					       .model = stream->pt.model,
					       .stepping = stream->pt.stepping };
		/* Of a CPU that the library does not know there are no errata. */
		pt_cpu_errata(&config->errata, &config->cpu);
	}
	config->mtc_freq = stream->pt.mtc_frequency;
	config->nom_freq = stream->pt.nominal_frequency;
	config->cpuid_0x15_eax = stream->pt.cpuid_15_eax;
	config->cpuid_0x15_ebx = stream->pt.cpuid_15_ebx;
	set_ranges(&config->addr_filter, &stream->context);
}
