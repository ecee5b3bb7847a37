/* SPDX-License-Identifier: MIT */
/*
 * without_syscall NR ERRNO PROGRAM [ARGUMENT]...: runs a program, and all that it starts, on a system where one system
 * call is refused. So tests can show what happens there on any machine.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int
refuse(unsigned number, unsigned reason)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (reason & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	/* An unprivileged process may only filter when it can gain no privileges. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char **argv)
{
	if (argc < 4) {
		fputs("usage: without_syscall NR ERRNO PROGRAM [ARGUMENT]...\n", stderr);
		return 2;
	}
	if (refuse((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2])) < 0)
		fprintf(stderr, "without_syscall: cannot filter system calls: %s\n", strerror(errno));
	else {
		/* The search for leaks in sanitized programs depends on ptrace. */
		setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
		execvp(argv[3], argv + 3);
		fprintf(stderr, "without_syscall: cannot run '%s': %s\n", argv[3], strerror(errno));
	}
	return 126;
}
