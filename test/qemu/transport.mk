# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += $(addprefix test/qemu/transport_,x86_64.sh aarch64.sh riscv64.sh kvm.sh)
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode $(patsubst %,build/demo/%/kernel.elf,x86_64 aarch64 riscv64)
