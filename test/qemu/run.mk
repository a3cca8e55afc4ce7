# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# `ktrace run` and `ktrace extract`, end to end.
SCRIPT_TESTS += test/qemu/check.sh test/qemu/doctor.sh test/qemu/why.sh test/qemu/show_follow.sh test/qemu/control.sh test/qemu/extract_peer.sh test/qemu/panic_policy.sh
SCRIPT_TESTS += $(addprefix test/qemu/run_,outcomes.sh expect.sh commands.sh status.sh kill.sh transports.sh extract.sh bad_input.sh)
CHECK_NEEDS += build/bin/ktrace $(patsubst %,build/demo/%/kernel.elf,x86_64 aarch64 riscv64)
