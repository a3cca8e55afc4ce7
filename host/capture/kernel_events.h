/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The events that a kernel's file declares, before the kernel runs. */
#ifndef CAPTURE_KERNEL_EVENTS_H
#define CAPTURE_KERNEL_EVENTS_H

/*
 * Checks a list for the boot argument debug= against the events in a kernel's file.
 * list: words separated by commas, as ktrace_boot_argument() takes them: ktrace, ktrace-GROUP, a group, or a pattern with a dot.
 * Returns 0 if each word means something, or if the file does not tell: not an ELF file, or without the section ktrace_events.
 * Returns CAPTURE_E_USAGE for a word that means nothing; the message has the nearest names, or all groups.
 */
int capture_kernel_events_check(const char *path, const char *list);

#endif
