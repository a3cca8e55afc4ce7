/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Leaks that are OpenCSD's own (1.3.3), and that nothing outside of it could free: LeakSanitizer is told to pass over memory
 * that these functions of the library allocate, and over no other.
 *
 *	ocsd_dt_set_gen_elem_outfn, ocsd_dt_attach_packet_callback: an object around each callback that is given to its C
 *	interface, which has no call to take one back, and which ocsd_destroy_dcd_tree() does not free: two small ones a tree
 *	EtmV4P0Stack::createAddrElem: an address that a mispredicted branch takes back; such come from units that speculate, and
 *	from streams that are none
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:ocsd_dt_set_gen_elem_outfn\nleak:ocsd_dt_attach_packet_callback\n"
	       "leak:EtmV4P0Stack::createAddrElem\n";
}
