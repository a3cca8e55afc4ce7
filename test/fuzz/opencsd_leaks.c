/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * OpenCSD 1.3.3 leaks memory that its caller cannot free. This file makes LeakSanitizer ignore memory that
 * the following functions of the library allocate, and no other memory:
 *
 *	ocsd_dt_set_gen_elem_outfn, ocsd_dt_attach_packet_callback: a small object for each callback. The C
 *	interface has no call that removes a callback, and ocsd_destroy_dcd_tree() does not free the object.
 *	EtmV4P0Stack::createAddrElem: an address that is canceled by a mispredicted branch. Units that speculate
 *	send such addresses, and invalid streams contain them.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:ocsd_dt_set_gen_elem_outfn\nleak:ocsd_dt_attach_packet_callback\n"
	       "leak:EtmV4P0Stack::createAddrElem\n";
}
