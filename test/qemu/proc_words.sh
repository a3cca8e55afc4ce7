# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The demo kernel's records of processes, as kdump prints them, match what the processes did: every type of
# record, on each architecture. They also match what the rings recorded of the same processes.
# PROC_ARCHES: architectures to test (default: all three).
. test/tap.sh
. test/qemu/proc_support.sh

cat >"$tmp/motd" <<'END'
ktrace   SET   parent PID "ktrace"
ktrace   RET   ktrace 0
ktrace   CALL  execve(ADDRESS,ADDRESS,ADDRESS)
ktrace   NAMI  "/bin/cat"
cat      EXEC  parent PID "cat"
cat      RET   execve 0
cat      CALL  open(ADDRESS,0<O_RDONLY>)
cat      NAMI  "/etc/motd"
cat      RET   open 3
cat      CALL  read(0x3,ADDRESS,0x1000)
cat      GIO   fd 3 read 101 bytes
       "A small Unix, every part of which is traced. /bin has its progra"
cat      RET   read 101/0x65
cat      CALL  write(0x1,ADDRESS,0x65)
cat      GIO   fd 1 wrote 101 bytes
       "A small Unix, every part of which is traced. /bin has its progra"
cat      RET   write 101/0x65
cat      CALL  read(0x3,ADDRESS,0x1000)
cat      RET   read 0
cat      CALL  close(0x3)
cat      RET   close 0
cat      CALL  exit(0)
cat      EXIT  status 0
         END   closed: 25 records, SOME bytes, 0 lost
END
cat >"$tmp/setting" <<'END'
ktrace   SET   parent PID "ktrace"
sysctl   EXEC  parent PID "sysctl"
sysctl   SCTL  "debug.b32_0"
sysctl   SCTL  "debug.b32_0"
sysctl   SCTL  "debug.b32_0"
sysctl   EXIT  status 0
         END   closed: 10 records, SOME bytes, 0 lost
END

# calls_in_rings: prints the pid and the number of calls of each process, from the kernel's rings.
# calls_in_trace: prints the same from the process trace.
calls_in_rings() {
	"$ktrace" show --json --event syscall.enter "$tmp/rings" | sed -n 's/.*"thread":\([0-9]*\).*/\1/p' | sort | uniq -c |
		awk '{ print $2, $1 }'
}
calls_in_trace() {
	"$kdump" -f "$tmp/given/calls" -t c | awk '$3 == "CALL" { n[$1]++ } END { for (p in n) print p, n[p] }'
}

# guest_kdump_matches FILE…: checks that kdump in the guest and kdump on the host print the same text for
# these files. The guest has traced and printed the files in this order.
guest_kdump_matches() {
	shown=0
	for file; do
		shown=$((shown + 1))
		awk -v n=$shown '/^init: kdump: status/ { shows = 0; next } shows { print } /^init: ktrace: status/ { shows = ++runs == n }' \
			"$tmp/console" >"$tmp/there"
		cat "$tmp/there" >>"$tmp/guest-$arch"
		"$kdump" -f "$tmp/given/$file" >"$tmp/here"
		check "$arch: $file has records" test -s "$tmp/here"
		same "$arch: kdump in the guest prints the same of $file as on the host" "$tmp/here" "$tmp/there"
	done
}

# The program badness uses all memory, so the machine is small. badness also writes long blocks of zeroes;
# the setting proc.data leaves most of these zeroes out of the trace.
boot_options='-m 28M'
for arch in $arches; do
	boot "$arch" 2 ktrace:-f:/tmp/motd:cat:/etc/motd ktrace:-f:/tmp/la:ls:-la:/etc \
		ktrace:-f:/tmp/setting:-t:y:sysctl:debug.b32_0=1 ktrace:-i:-f:/tmp/signals:-t:s:signals \
		ktrace:-i:-f:/tmp/waits:-t:w:pipeline ktrace:-i:-f:/tmp/structs:-t:t:sockets ktrace:-f:/tmp/faults:-t:f:faultwalk ktrace:-f:/tmp/fresh:-t:f:identity \
		ktrace:-i:-f:/tmp/denied:-t:p:files ktrace:-i:-f:/tmp/denied2:-t:p:identity \
		sysctl:proc.data=64 ktrace:-i:-f:/tmp/bad:badness sysctl:proc.data=0 \
		give:/tmp/motd:/tmp/la:/tmp/setting:/tmp/signals:/tmp/waits:/tmp/structs \
		sysctl:proc.limit=12000 ktrace:-f:/tmp/limit:ls:/bin sysctl:proc.limit=0:proc.data=16 ktrace:-f:/tmp/cut:cat:/etc/motd \
		sysctl:proc.data=0:proc.format=1 ktrace:-i:-f:/tmp/dragonfly:-t:+w:cat:/etc/motd \
		give:/tmp/faults:/tmp/denied:/tmp/denied2:/tmp/bad:/tmp/limit:/tmp/cut:/tmp/dragonfly give:/tmp/fresh
	equal "$arch: all files arrive at the host" 14 "$(ls "$tmp/given" | wc -l)"
	words motd >"$tmp/text"
	same "$arch: cat has the expected records" "$tmp/motd" "$tmp/text"
	words setting >"$tmp/text"
	same "$arch: sysctl has records with the name of the setting" "$tmp/setting" "$tmp/text"
	shows "$arch: ls -la: the call that reads the directory is recorded" la 'CALL  getdents\(0x3,'
	shows "$arch: ls -la: the results of stat are recorded" la 'STRU  struct stat \{.*mode=0100644, nlink=1, uid=0, gid=0 \}'
	shows "$arch: ls -la: the output is recorded" la '"-rw-r--r-- '
	equal "$arch: every signal is recorded with its handler" 400 "$(count signals 'PSIG  SIGUSR1 caught handler=0x.* mask=0x0 code=SI_USER')"
	shows "$arch: a context switch is recorded with the name of what the thread waits for" waits 'CSW   stop voluntary "pipe"'
	equal "$arch: between two records of a thread's stop there is one of its resumption" 0 \
		"$("$kdump" -f "$tmp/given/waits" | awk '$3 == "CSW" { if ($4 == "stop" && out[$1]) bad++; out[$1] = $4 == "stop" }
			END { print bad + 0 }')"
	shows "$arch: addresses of sockets are recorded" structs 'STRU  struct sockaddr \{ AF_INET, 127\.0\.0\.1:'
	shows "$arch: the descriptors of poll are recorded" structs 'STRU  struct pollfd\[\] = \{ \{ ?fd='
	shows "$arch: the timeout of poll is recorded" structs 'STRU  struct timespec \{'
	shows "$arch: page faults of the kernel for the process are recorded" fresh 'PFLT  0x.* write by kernel'
	shows "$arch: page faults of the process are recorded" faults 'PFLT  0x.* write by user'
	shows "$arch: the durations of page faults are recorded" faults 'PRET  resolved in [0-9.]+ s'
	shows "$arch: a denial by permissions is recorded" denied 'CAP   permission denied in open: needs MAY_READ, has 0 "secret"'
	shows "$arch: a denial by ownership is recorded" denied 'CAP   not the owner in chmod'
	shows "$arch: a denial by the mode of a descriptor is recorded" denied 'CAP   descriptor opened for something else in read'
	shows "$arch: a denial for lack of privilege is recorded" denied2 'CAP   not privileged in setuid'
	shows "$arch: a call with a bad address is recorded with its error" bad 'RET   write -1 errno 14 Bad address'
	shows "$arch: a call with a path at a bad address is recorded" bad 'CALL  open\((0x8|0xffffffffffffffff),0<O_RDONLY>\)'
	shows "$arch: proc.limit ends the trace" limit 'END   limit reached: [0-9]+ records, 1[0-9]{4} bytes, 0 lost'
	check "$arch: proc.limit bounds the size of the file" test "$(stat -c %s "$tmp/given/limit")" -le 12096
	shows "$arch: proc.data bounds the recorded data" cut 'GIO   fd 3 read 101 bytes \(16 recorded\)'
	check "$arch: DragonFly's layout has no magic" sh -c "! head -c 4 '$tmp/given/dragonfly' | grep -q KTRP"
	words dragonfly >"$tmp/text" # calls have DragonFly's numbers there
	check "$arch: DragonFly's layout has the same records" sh -c "grep -q 'NAMI  \"/etc/motd\"$' '$tmp/text' &&
		grep -q 'GIO   fd 3 read 101 bytes$' '$tmp/text' && grep -q 'RET .* 101/0x65$' '$tmp/text'"
	equal "$arch: kdump reads every file without an error" 0 "$(for file in "$tmp"/given/*; do "$kdump" -f "$file" >/dev/null 2>&1 || echo "$file"; done | wc -l)"

	boot_events=debug=syscall,process
	boot "$arch" 2 ktrace:-i:-f:/tmp/calls:-t:cinsuwy:make kdump:-f:/tmp/calls give:/tmp/calls
	boot_events=debug=process
	guest_kdump_matches calls
	# The first process ran the program ktrace before it was traced, so the rings have more of its calls.
	# All other processes are in the trace and in the rings from their first call on.
	first=$("$kdump" -f "$tmp/given/calls" | awk 'NR == 1 { print $1 }')
	calls_in_trace | grep -v "^$first " | sort >"$tmp/traced"
	calls_in_rings | awk 'NR == FNR { traced[$1]; next } $1 in traced' "$tmp/traced" - | sort >"$tmp/recorded"
	check "$arch: $(wc -l <"$tmp/traced") processes were traced" test "$(wc -l <"$tmp/traced")" -gt 5
	same "$arch: trace and rings have the same number of calls of each process" "$tmp/traced" "$tmp/recorded"

	# With -t +f, ktrace records page faults, and kdump prints a line for each of them.
	boot "$arch" 2 ktrace:-i:-f:/tmp/structs:-t:t:sockets kdump:-f:/tmp/structs ktrace:-f:/tmp/stats:-t:t:ls:-la:/etc kdump:-f:/tmp/stats \
		ktrace:-f:/tmp/faults:-t:fs:identity kdump:-f:/tmp/faults ktrace:-i:-f:/tmp/denied:-t:p:files kdump:-f:/tmp/denied \
		ktrace:-i:-f:/tmp/denied2:-t:p:identity kdump:-f:/tmp/denied2 sysctl:proc.data=64 ktrace:-i:-f:/tmp/bad:-t:+f:badness kdump:-f:/tmp/bad sysctl:proc.data=0 \
		ktrace:-i:-f:/tmp/user:-t:u:tracing kdump:-f:/tmp/user ktrace:-f:/tmp/set:-t:y:settings kdump:-f:/tmp/set \
		give:/tmp/structs:/tmp/stats:/tmp/faults:/tmp/denied:/tmp/denied2:/tmp/bad:/tmp/user:/tmp/set
	guest_kdump_matches structs stats faults denied denied2 bad user set
	for word in CALL RET NAMI GIO PSIG CSW USER STRU SCTL FORK EXEC SET EXIT CAP PFLT PRET END; do
		check "$arch: kdump in the guest prints records of type $word" grep -qE "^ *[0-9]+ [^ ]* +$word  " "$tmp/guest-$arch"
	done
done
done_testing
