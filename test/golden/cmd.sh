# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Output of the commands for known traces, compared word for word.
. test/tap.sh
. test/golden/golden.sh

golden=test/golden/cmd
build/test/cmd-traces "$tmp" || exit 1

golden v1-timeline ktrace-decode v1.bin
golden v1-timeline-pid ktrace-decode v1.bin --timeline --pid 2003
golden v1-timeline-cpu ktrace-decode v1.bin --cpu 0
golden v1-summary ktrace-decode v1.bin --summary
golden v1-calls ktrace-decode --calls linux v1.bin
golden v1-calls-machine ktrace show --calls linux --machine riscv64 --limit 2 v1.bin
printf '59 mine int, path, fd\nerror 14 EFAULT\n' >"$tmp/own.table"
golden v1-calls-own ktrace show --json --calls own.table --limit 4 v1.bin
golden v1-calls-json ktrace export --calls own.table --event syscall --format json v1.bin -o -
golden bad-calls-output ktrace export --calls own.table --format json v1.bin -o own.table
golden v1-calls-stats ktrace stats --calls linux v1.bin
golden v2-calls ktrace show --calls linux --event syscall --limit 3 v2.ktrx
golden v2-calls-own ktrace show --calls own.table --event syscall --limit 3 v2.ktrx
golden calls-absent ktrace show --calls absent.table v1.bin
printf 'a log of a console\nerror 14 EFAULT\n' >"$tmp/nameless.table"
golden calls-nameless ktrace show --calls nameless.table v1.bin
golden calls-useless ktrace summary --calls linux v1.bin
golden calls-stream ktrace export --calls linux --format stream v1.bin -o out
golden v1-spec ktrace show --v1-layout spec --cpu 1 v1.bin
golden v1-events ktrace show --event 'net,page_*,999' v1.bin
golden v1-window ktrace show --since 0.00008 --until 100us v1.bin
golden v1-lines ktrace show --json --cpu 1 v1.bin
golden v1-json ktrace export --format json v1.bin -o -
golden v1-counts ktrace summary v1.bin
golden v1-aarch64 ktrace show --machine arm64 --limit 2 v1.bin
golden lowclock-classic ktrace-decode lowclock.bin
golden lowclock-ticks ktrace show lowclock.bin
golden lowclock-given ktrace show --frequency 1000000 lowclock.bin

golden v2-timeline ktrace show v2.ktrx
golden v2-decode ktrace-decode --summary v2.ktrx
golden v2-events ktrace show --event syscall,SCHED.switch v2.ktrx
golden v2-where ktrace show --where 'event ~ "sched.*" and cpu == 1 or nr == 600' v2.ktrx
golden v2-where-time ktrace show --where 'time >= 0.000104 and time <= 114us' v2.ktrx
golden v2-where-field ktrace summary --where 'syscall.exit.result < 0 and not thread == 0' v2.ktrx
golden v2-where-both ktrace show --json --cpu 0 --event syscall --where 'thread == "shell" or time < 100us' v2.ktrx
golden v2-where-nothing ktrace show --where 'nr == 12345 and cpu == 1' v2.ktrx
golden v2-where-unknown ktrace stats --where 'cpu == 1 and rsult < 0' v2.ktrx
golden v2-where-syntax ktrace export --format json --where 'cpu == 1 && nr == 600' v2.ktrx -o -
golden v2-where-long ktrace show --where 'cpu == 0 or cpu == 1 or cpu == 2 or cpu == 3 or cpu == 4 or cpu == 5 or cpu == x or cpu == 7' v2.ktrx
golden v1-where ktrace show --where 'nr == 59 and cpu == 1' v1.bin
golden lowclock-where ktrace show --where 'time < 5' lowclock.bin
golden typed-where ktrace show --where 'has(path) or result == -2' typed.ktrx
golden life-file ktrace life file 0xffff0300 typed.ktrx
golden life-file-json ktrace life --json file 0xffff0300 typed.ktrx
golden diff-result ktrace diff result-5.ktrx result-6.ktrx
golden diff-result-json ktrace diff --json result-5.ktrx result-6.ktrx
golden life-thread ktrace life thread 12 v2.ktrx
golden life-field ktrace life nr=600 v2.ktrx
golden life-text ktrace life path=/lost typed.ktrx
golden life-absent ktrace life page 3 v2.ktrx
golden life-unknown ktrace life frob=3 v2.ktrx
golden life-hostile ktrace life thread 13 hostile.ktrx
golden v2-id ktrace show --id 1.105,2.103 --around 2 v2.ktrx
golden v2-id-lines ktrace show --id 1.105 --around 1 --json v2.ktrx
golden v2-id-absent ktrace show --id 1.105,1.99,1.2,9.1,1.99999,1.136 v2.ktrx
golden v2-id-overlap ktrace show --id 1.103,1.105,1.103 --around 1 v2.ktrx
golden v1-id ktrace show --id 0.1 --around 1 v1.bin
golden v2-lines ktrace show --json v2.ktrx
golden v2-slots ktrace show --hex --event syscall,sched.switch --limit 4 v2.ktrx
golden v1-slots ktrace show --hex --limit 2 v1.bin
golden v2-json ktrace export --format json v2.ktrx -o -
golden v2-ctf sh -c 'ktrace export --format ctf v2.ktrx -o v2.ctf; cat v2.ctf/metadata; od -An -v -tx1 v2.ctf/ring_2'
golden v2-parquet sh -c 'ktrace export --format parquet v2.ktrx -o v2.tables; od -A n -c -v v2.tables/run=*/kind=sched/part-0.parquet'
golden v2-folded ktrace export --format folded v2.ktrx -o -
golden hostile-folded ktrace export --format folded hostile.ktrx -o -
golden v2-speedscope ktrace export --format speedscope v2.ktrx -o -
golden v2-fxt sh -c 'ktrace export --format fxt v2.ktrx -o - | od -An -v -tx8 -w8'
golden v2-summary ktrace summary v2.ktrx
golden v2-summary-coarse ktrace summary --frequency 100 --since 0 --until 0 v2.ktrx
golden two-files-summary ktrace summary two-files.ktrx
golden v2-summary-json ktrace summary --json v2.ktrx
golden v2-window ktrace show --svg - --from 0.00008 --to 250us v2.ktrx
golden pairs-window-cpu ktrace show --svg - --cpu 0 --from 3540us --to 3980us pairs.ktrx
golden v1-window-svg ktrace show --svg - --from 100us v1.bin
golden lowclock-window ktrace show --svg - lowclock.bin
golden apart-window timeout $kill_limit ktrace show --svg - apart.bin
golden v2-stats ktrace stats v2.ktrx
golden v2-worst ktrace stats --worst 3 v2.ktrx
golden v2-worst-json ktrace stats --worst 1 --json v2.ktrx
golden v2-worst-where ktrace stats --worst 3 --where 'thread == "shell"' v2.ktrx
golden lowclock-worst ktrace stats --worst 3 lowclock.bin
golden hostile-worst ktrace stats --worst 3 hostile.ktrx
golden v2-stats-json ktrace stats --json v2.ktrx
golden stateless-stats ktrace stats stateless.ktrx
golden stateless-stats-json ktrace stats --json stateless.ktrx
golden stateless-export ktrace export --format json -o - stateless.ktrx
golden v2-stats-pairs ktrace stats --begin syscall.enter --end syscall.exit --by nr,thread v2.ktrx
golden v2-stats-pairs-json ktrace stats --begin sched.wake --end sched.switch --by thread=next --json v2.ktrx
golden v2-stats-svg ktrace stats --begin syscall --end syscall --svg - v2.ktrx
golden v2-stats-value ktrace stats --value syscall.exit.result v2.ktrx
golden v2-stats-rate ktrace stats --rate --interval 50us v2.ktrx
golden v2-stats-rate-json ktrace stats --rate --interval 100us --event sched --json v2.ktrx
golden v1-stats ktrace stats v1.bin
golden lowclock-stats ktrace stats --rate --interval 50 lowclock.bin
golden typed-timeline ktrace show typed.ktrx
golden typed-cpu ktrace show --cpu 1 typed.ktrx
golden typed-since ktrace show --since 0.000100 typed.ktrx
golden typed-lines ktrace show --json --since 0.000095 typed.ktrx
golden typed-json ktrace export --format json typed.ktrx -o -
golden hostile-timeline ktrace show hostile.ktrx
golden hostile-lines ktrace show --json --cpu 1 hostile.ktrx
golden hostile-json ktrace export --format json hostile.ktrx -o -
golden hostile-slots ktrace show --hex --event 7 hostile.ktrx
golden hostile-no-field ktrace stats --value 7.nr hostile.ktrx
golden hostile-window ktrace show --svg - hostile.ktrx
golden hostile-stats ktrace stats hostile.ktrx
golden hostile-summary ktrace summary hostile.ktrx

done_testing
