/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A guest without ktrace that ends: its start code then halts the CPU. */
void bare_main(void);

void bare_main(void)
{
}
