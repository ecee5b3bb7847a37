/* SPDX-License-Identifier: MIT */
/*
 * Cases that are hard for a translator of machine code, by the ideas of the test suites of DynamoRIO, Valgrind, rr and
 * Frida. Each case checks itself: it must do the same translated as natively.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* run returns where all is as it must be; else it ends the process through CHECK or skip. */
struct hard_case {
	const char *name;
	void (*run)(void);
};

/* Each ends with a row without a name. */
extern const struct hard_case control_cases[], state_cases[], code_cases[], fault_cases[], signal_cases[],
	syscall_cases[], thread_cases[], process_cases[], unwind_cases[];

#define NR_ELEMENTS(array) ((int)(sizeof(array) / sizeof(*(array))))

/* Ends the process with status 1 and the place, from any thread and any signal handler. */
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail(__FILE__, __LINE__, #condition);                                                          \
	} while (0)
#define CHECK_SAME(a, b) check_same(__FILE__, __LINE__, #a " = " #b, (uint64_t)(a), (uint64_t)(b))

_Noreturn void fail(const char *file, int line, const char *condition);
void check_same(const char *file, int line, const char *what, uint64_t a, uint64_t b);

/* Ends the process with status 77. */
_Noreturn void skip(const char *reason);

/* The path of this program, and whether an address is in code of a file that it has loaded, or in the vdso. */
extern const char *own_path;
bool is_known_code(uint64_t address);

/* The status, as of waitpid, of a child process that does this and ends with 0. */
int status_of(void (*does)(void));

/* Handlers with SA_SIGINFO and these flags besides. */
typedef void signal_handler(int number, siginfo_t *info, void *context);
void handle(int number, signal_handler *handler, int flags);

/* A signal every so many microseconds, to the process; 0: no more. */
void tick(int microseconds);

/* One SIGALRM after so many microseconds. Where signals come faster than a tracer passes them on, a program gets
 * nowhere. */
void tick_once(int microseconds);

/* The general registers of a context, in the order of the machine (rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ...). */
greg_t *register_of(void *context, int number);
#define RIP(context) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP])
#define REGISTER(context, name) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_##name])

/* Pages of memory with these rights of PROT_. */
#define PAGE 4096
unsigned char *pages_new(int nr, int rights);

/* Writes machine code that returns that number: 6 bytes. */
typedef int number_function(void);
unsigned char *put_number(unsigned char *at, int number);
