# SPDX-License-Identifier: MIT
# To be sourced by the storms: which processes of a storm still run. All carry ROT_STORM=$mark in their environment.

# running: sets pids and names to them, whatever their parent is now
running()
{
	local path pid name state
	pids=() names=()
	for path in $(grep -l -z -x -F "ROT_STORM=$mark" /proc/[0-9]*/environ 2>/dev/null); do
		pid=${path#/proc/}
		pid=${pid%/environ}
		# "PID (NAME) STATE ..."; a process that ended and was not waited for runs no more.
		{ read -r _ name state _ <"/proc/$pid/stat"; } 2>/dev/null || continue
		case $state in Z | X) continue ;; esac
		pids+=("$pid") names+=("${name:1:-1}")
	done
}

# end_all: kills them, and removes the folder $work
end_all()
{
	running
	[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2>/dev/null
	cd / && rm -rf "$work"
}

# await_none: whether none runs; death of a parent reaches its children within moments
await_none()
{
	local i
	for ((i = 0; i < 100; i++)); do
		running
		[ ${#pids[@]} -gt 0 ] || return 0
		sleep 0.05
	done
	return 1
}
