# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The user programs on every number of CPUs of every architecture.
UNIX_CPUS='1 2 4' exec sh test/qemu/unix_programs.sh
