# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
UNIT_TESTS += doctor_mistakes
UNIT_SRCS_doctor_mistakes := test/unit/doctor_mistakes.c test/unit/script.c host/doctor/mistakes.c host/doctor/mistakes_waits.c \
	host/ktread/value.c host/ktread/message.c $(patsubst %,host/analyze/%.c,keyed scheduling switched threads wellknown)
UNIT_CFLAGS_doctor_mistakes := -Ihost
