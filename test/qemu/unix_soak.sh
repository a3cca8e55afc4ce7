# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs the user programs on 1, 2 and 4 CPUs of every architecture.
UNIX_CPUS='1 2 4' exec sh test/qemu/unix_programs.sh
