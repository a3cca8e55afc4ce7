# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The decoder of SPE as a fuzz target: replayed by `make check`; `make fuzz-spe` fuzzes until it is stopped.
SPE_FUZZ_SRCS := test/fuzz/spe_fuzz.c $(wildcard host/hwt/spe*.c)

build/test/asan/spe_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(SPE_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^

build/test/fuzz/spe: $(SPE_FUZZ_SRCS) $(wildcard host/hwt/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)

.PHONY: fuzz-spe
fuzz-spe: build/test/fuzz/spe
	@mkdir -p build/test/fuzz/spe-corpus
	build/test/fuzz/spe -rss_limit_mb=512 -timeout=10 -max_len=8192 build/test/fuzz/spe-corpus test/golden/spe

CHECK_NEEDS += build/test/asan/spe_replay
SCRIPT_TESTS += test/fuzz/spe_replay.sh
