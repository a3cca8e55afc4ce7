# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs the sanitized command line over damaged traces. Each command ends in time, with an exit status that the
# manual states and without a finding of a sanitizer. Its output is whole lines of text, or JSON, without
# control characters. There are COUNT damaged copies of a trace; each copy is passed to one command; the
# commands take turns.
. test/tap.sh
. test/fuzz/commands.sh

count=${COUNT:-50}
build/test/cmd-traces "$tmp" && cp share/default.rules "$tmp" || exit 1
ktrace=$PWD/build/bin/ktrace
cd "$tmp" || exit 1
"$ktrace" export --format stream v1.bin -o v1.kts 2>/dev/null || exit 1
"$ktrace" export --format stream v2.ktrx -o v2.kts 2>/dev/null || exit 1
damage "$count" *.bin *.ktrx *.kts

# Each line of the input has the allowed exit statuses, the name of the rule for the output, and the command
# (see commands.c).
"$commands" "$count" damaged-* <<'LINES'
0,1 text ktrace show %
0,1 json ktrace show --json %
0,1 text ktrace summary %
0,1 json ktrace summary --json %
0,1 json ktrace export --format json % -o -
0,1 text ktrace-decode %
0,1 text ktrace-decode --summary %
0,1,2 text ktrace show --event *s* --cpu 0-3 --limit 20 %
0,1 text ktrace show --form bare --frequency 1000 %
0,1 text ktrace export --format fxt % -o made.fxt
0,1 utf8 ktrace export --format folded % -o -
0,1 json ktrace export --format speedscope % -o -
0,1 text ktrace export --format ctf % -o %.ctf
0,1 text ktrace export --format parquet % -o %.tables
0,1 text ktrace export --format sqlite % -o made.db
0,1 text ktrace export --format stream % -o made.stream && ktrace show made.stream
0,1 text ktrace stats %
0,1 json ktrace stats --json %
0,1,2 text ktrace stats --begin *s* --end *s* %
0,1 text ktrace stats --worst 3 %
0,1 json ktrace stats --worst 3 --of lock-wait --json %
0,1,2 text ktrace show --where (cpu==1)or(nr>=59) %
0,1,2 text ktrace life thread 12 %
0,1,2 text ktrace stats --rate --interval 100us %
0,1 text ktrace show --svg - %
0,1 text ktrace ktrdump -a -M %
0,1 text ktrace ktrdump -f -n -r -M %
0,1 text ktrace show --align --subtract-cost %
0,1 text ktrace control %
0,1 json ktrace show --settings --json %
0,1,10 utf8 ktrace doctor %
0,1,10 json ktrace doctor --json %
0,1,3 utf8 ktrace sql --timeout 20 % SELECT/**/*/**/FROM/**/events;SELECT/**/*/**/FROM/**/slices
0,1,3 json ktrace sql --json --timeout 20 % SELECT/**/*/**/FROM/**/thread_states/**/a,losses/**/b/**/LIMIT/**/999
0,1,3 json ktrace sql --json --timeout 20 % SELECT/**/*/**/FROM/**/processes;SELECT/**/*/**/FROM/**/counts,threads/**/LIMIT/**/999
0,1,2,3 text ktrace check --all --rules default.rules %
0,1,3,4 text ktrace diff v2.ktrx %
0,1,3,4 json ktrace diff --json % v2.ktrx
LINES
