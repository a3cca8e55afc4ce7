/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* OpenCSD, loaded when it is first needed. */
#ifndef HWT_ETM4_LIBRARY_H
#define HWT_ETM4_LIBRARY_H

#include <opencsd/c_api/opencsd_c_api.h>

#include "hwt/library.h"

#define ETM4_FUNCTIONS(USE)                 \
	USE(ocsd_create_dcd_tree)           \
	USE(ocsd_destroy_dcd_tree)          \
	USE(ocsd_dt_process_data)           \
	USE(ocsd_dt_set_gen_elem_outfn)     \
	USE(ocsd_dt_create_decoder)         \
	USE(ocsd_dt_attach_packet_callback) \
	USE(ocsd_dt_add_callback_mem_acc)   \
	USE(ocsd_dt_remove_mem_acc)         \
	USE(ocsd_def_errlog_init)           \
	USE(ocsd_get_last_err)              \
	USE(ocsd_err_str)                   \
	USE(ocsd_pkt_str)

struct etm4_library {
	HWT_LIBRARY_MEMBERS(ETM4_FUNCTIONS)
	void *handle;
};

/* 0; or -1: *message says why it cannot be loaded. */
int etm4_library_open(struct etm4_library *library, const char **message);
void etm4_library_close(struct etm4_library *library);

#endif
