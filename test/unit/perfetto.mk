# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Perfetto output and the models behind it, fed with scripted events. Of the reader only the decoding of fields is
# linked.
SCRIPT_SRCS := test/unit/script.c host/ktread/value.c host/ktread/message.c

UNIT_TESTS += perfetto_export
UNIT_SRCS_perfetto_export := test/unit/perfetto_export.c test/perfetto/text.c $(SCRIPT_SRCS) $(ANALYZE_SOURCES) \
	$(PERFETTO_SOURCES) host/export/escape.c host/export/functions.c host/export/output.c host/export/escape.c
UNIT_CFLAGS_perfetto_export := -Ihost
UNIT_LDLIBS_perfetto_export := $(KTRACE_LDLIBS)

UNIT_TESTS += analyze_threads
UNIT_SRCS_analyze_threads := test/unit/analyze_threads.c $(SCRIPT_SRCS) $(ANALYZE_SOURCES)
UNIT_CFLAGS_analyze_threads := -Ihost

UNIT_TESTS += analyze_spans
UNIT_SRCS_analyze_spans := test/unit/analyze_spans.c $(SCRIPT_SRCS) $(ANALYZE_SOURCES)
UNIT_CFLAGS_analyze_spans := -Ihost

UNIT_TESTS += analyze_files
UNIT_SRCS_analyze_files := test/unit/analyze_files.c $(SCRIPT_SRCS) host/analyze/files.c host/analyze/wellknown.c
UNIT_CFLAGS_analyze_files := -Ihost

UNIT_TESTS += analyze_requests
UNIT_SRCS_analyze_requests := test/unit/analyze_requests.c host/analyze/requests.c host/analyze/masks.c host/analyze/near.c
UNIT_CFLAGS_analyze_requests := -Ihost

UNIT_TESTS += perfetto_protobuf
UNIT_SRCS_perfetto_protobuf := test/unit/perfetto_protobuf.c host/export/protobuf.c host/export/escape.c
UNIT_CFLAGS_perfetto_protobuf := -Ihost
