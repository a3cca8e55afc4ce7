# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Fuzzers, and their corpora, which are replayed.

SCRIPT_TESTS += test/fuzz/cmd.sh
CHECK_NEEDS += build/asan/bin/ktrace build/asan/bin/ktrace-decode build/test/cmd-traces build/test/cmd-mutate

build/test/cmd-mutate: test/fuzz/cmd_mutate.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) -o $@ $<

# The decoder of ETMv4 as a fuzz target: replayed by `make check`; `make fuzz-etm4` fuzzes until it is stopped.
ETM4_FUZZ_SRCS := test/fuzz/etm4_fuzz.c test/fuzz/opencsd_leaks.c $(wildcard host/hwt/etm4*.c)

build/test/asan/etm4_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(ETM4_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(HOST_LDLIBS)

build/test/fuzz/etm4: $(ETM4_FUZZ_SRCS) $(wildcard host/hwt/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 -D_GNU_SOURCE $(HOST_CPPFLAGS) -I. -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) $(HOST_LDLIBS)

.PHONY: fuzz-etm4
fuzz-etm4: build/test/fuzz/etm4
	@mkdir -p build/test/fuzz/etm4-corpus
	build/test/fuzz/etm4 -detect_leaks=0 -rss_limit_mb=512 -timeout=10 -max_len=4096 build/test/fuzz/etm4-corpus test/golden/etm4

CHECK_NEEDS += build/test/asan/etm4_replay
SCRIPT_TESTS += test/fuzz/etm4_replay.sh

# Hardware trace as a fuzz target: replayed over small inputs, each cut off and changed, by `make check`; `make
# fuzz-hwt` fuzzes until it is stopped.
HWT_FUZZ_SRCS := test/fuzz/hwt_fuzz.c test/fuzz/opencsd_leaks.c $(wildcard host/hwt/*.c) $(wildcard host/ktread/*.c host/base/*.c host/analyze/demangle.c host/analyze/symbols*.c)

build/test/asan/hwt_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(HWT_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(HOST_LDLIBS)

build/test/fuzz/hwt: $(HWT_FUZZ_SRCS) $(wildcard host/*/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -I. -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) $(HOST_LDLIBS)

# Inputs to begin with are made by libipt's encoder.
build/test/hwt-traces: test/fuzz/hwt_traces.c test/unit/hwt_write.c test/unit/hwt_write.h
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(filter %.c,$^) $(HOST_LDLIBS)

.PHONY: fuzz-hwt
fuzz-hwt: build/test/fuzz/hwt build/test/hwt-traces
	@mkdir -p build/test/fuzz/hwt-corpus
	build/test/hwt-traces build/test/fuzz/hwt-corpus
	build/test/fuzz/hwt -detect_leaks=0 -rss_limit_mb=1024 -timeout=10 -max_len=16384 build/test/fuzz/hwt-corpus

CHECK_NEEDS += build/test/asan/hwt_replay build/test/hwt-traces
SCRIPT_TESTS += test/fuzz/hwt_replay.sh

SCRIPT_TESTS += test/fuzz/kdump.sh
CHECK_NEEDS += build/asan/bin/kdump build/test/cmd-mutate build/test/kdump-traces

# The reader as a fuzz target: replayed over golden and bad inputs by `make check`, every bit of them by `make soak`;
# `make fuzz-ktread` fuzzes until it is stopped.
KTREAD_FUZZ_SRCS := test/fuzz/ktread_fuzz.c test/fuzz/ktread_exercise.c $(wildcard host/ktread/*.c host/base/*.c)

build/test/asan/ktread_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(KTREAD_FUZZ_SRCS),)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(HOST_LDLIBS)

build/test/fuzz/ktread: $(KTREAD_FUZZ_SRCS) $(wildcard host/ktread/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) $(HOST_LDLIBS)

.PHONY: fuzz-ktread
fuzz-ktread: build/test/fuzz/ktread
	@mkdir -p build/test/fuzz/corpus
	build/test/fuzz/ktread -rss_limit_mb=512 -timeout=10 -max_len=65536 build/test/fuzz/corpus \
		test/golden/ktread test/golden/bad

CHECK_NEEDS += build/test/asan/ktread_replay
SCRIPT_TESTS += test/fuzz/ktread_replay.sh
SOAK_TESTS += test/fuzz/ktread_mutate.sh

# The reader of process traces as a fuzz target: replayed over golden and bad inputs by `make check`, every bit of them by
# `make soak`; `make fuzz-proc` fuzzes until it is stopped.
PROC_FUZZ_SRCS := test/fuzz/proc_fuzz.c $(wildcard host/ktread/*.c host/base/*.c)

build/test/asan/proc_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(PROC_FUZZ_SRCS),)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(HOST_LDLIBS)

build/test/fuzz/proc: $(PROC_FUZZ_SRCS) $(wildcard host/ktread/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) $(HOST_LDLIBS)

.PHONY: fuzz-proc
fuzz-proc: build/test/fuzz/proc
	@mkdir -p build/test/fuzz/proc-corpus
	build/test/fuzz/proc -rss_limit_mb=512 -timeout=10 -max_len=16384 build/test/fuzz/proc-corpus \
		test/golden/proc test/golden/proc/bad

CHECK_NEEDS += build/test/asan/proc_replay
SCRIPT_TESTS += test/fuzz/proc_replay.sh
SOAK_TESTS += test/fuzz/proc_mutate.sh

# The decoder of SPE as a fuzz target: replayed by `make check`; `make fuzz-spe` fuzzes until it is stopped.
SPE_FUZZ_SRCS := test/fuzz/spe_fuzz.c $(wildcard host/hwt/spe*.c)

build/test/asan/spe_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(SPE_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(HOST_LDLIBS)

build/test/fuzz/spe: $(SPE_FUZZ_SRCS) $(wildcard host/hwt/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 $(HOST_CPPFLAGS) -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) $(HOST_LDLIBS)

.PHONY: fuzz-spe
fuzz-spe: build/test/fuzz/spe
	@mkdir -p build/test/fuzz/spe-corpus
	build/test/fuzz/spe -rss_limit_mb=512 -timeout=10 -max_len=8192 build/test/fuzz/spe-corpus test/golden/spe

CHECK_NEEDS += build/test/asan/spe_replay
SCRIPT_TESTS += test/fuzz/spe_replay.sh

# ktrace why as a fuzz target: replayed over damaged traces by `make check`; `make fuzz-why` fuzzes until it is stopped.
WHY_FUZZ_SRCS := test/fuzz/why_fuzz.c test/unit/why_property.c $(filter-out test/unit/% host/ktread/%,$(WHY_TEST_SRCS)) $(wildcard host/ktread/*.c host/base/*.c)

build/test/asan/why_replay: $$(call unit_objects,asan,test/fuzz/replay.c $(WHY_FUZZ_SRCS),-Ihost)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) -o $@ $^ $(HOST_LDLIBS)

build/test/fuzz/why: $(WHY_FUZZ_SRCS) $(wildcard host/*/*.h include/*/*.h)
	@mkdir -p $(@D)
	clang -g -O1 -D_GNU_SOURCE $(HOST_CPPFLAGS) -Itest -Ihost -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) $(HOST_LDLIBS)

.PHONY: fuzz-why
fuzz-why: build/test/fuzz/why build/test/why-traces
	@mkdir -p build/test/fuzz/why-corpus
	build/test/why-traces build/test/fuzz/why-corpus
	build/test/fuzz/why -rss_limit_mb=512 -timeout=10 -max_len=131072 build/test/fuzz/why-corpus

CHECK_NEEDS += build/test/asan/why_replay build/test/why-traces build/test/cmd-mutate
SCRIPT_TESTS += test/fuzz/why.sh
