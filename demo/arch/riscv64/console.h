/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_ARCH_CONSOLE_H
#define DEMO_ARCH_CONSOLE_H

void console_init(void);

#endif
