/* SPDX-License-Identifier: MIT */
/* Code that changes: generated, patched, freed, mapped anew, and loaded from libraries. */
#include <dlfcn.h>
#include <elf.h>
#include <libgen.h>
#include <link.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "hard_cases.h"

#define RW (PROT_READ | PROT_WRITE)
#define RX (PROT_READ | PROT_EXEC)
#define RWX (PROT_READ | PROT_WRITE | PROT_EXEC)

static int
call(const void *code)
{
	return ((number_function *)(uintptr_t)code)();
}

/* A page that is writable and executable, rewritten in place. */
static void
rewritten_in_place(void)
{
	unsigned char *code = pages_new(1, RWX);

	for (int i = 0; i < 1000; i++) {
		put_number(code, i);
		CHECK_SAME(call(code), i);
		CHECK_SAME(call(code), i);
	}
	munmap(code, PAGE);
}

/* The instruction that changes another one stands just before it, in the same block. */
static void
changes_what_follows(void)
{
	static const unsigned char bytes[] = {
		0x89, 0x3d, 0x01, 0, 0, 0, /* mov %edi, 1(%rip) */
		0xb8, 0,    0,    0, 0,    /* mov $0, %eax */
		0xc3,                      /* ret */
	};
	unsigned char *code = pages_new(1, RWX);

	memcpy(code, bytes, sizeof(bytes));
	for (int i = 0; i < 300; i++)
		CHECK_SAME(((int (*)(int))(uintptr_t)code)(i * 3), i * 3);
	munmap(code, PAGE);
}

/* A loop whose own bound is an immediate that the loop changes. */
static void
changes_itself_in_a_loop(void)
{
	static const unsigned char bytes[] = {
		0x31, 0xc0,                         /* xor %eax, %eax */
		0x05, 1,    0,    0,    0,          /* 1: add $1, %eax */
		0xff, 0x05, 0xf6, 0xff, 0xff, 0xff, /* incl -10(%rip): that $1 */
		0xff, 0xcf,                         /* dec %edi */
		0x75, 0xf1,                         /* jnz 1b */
		0xc3,
	};
	unsigned char *code = pages_new(1, RWX);

	for (int i = 0; i < 20; i++) {
		memcpy(code, bytes, sizeof(bytes));
		CHECK_SAME(((int (*)(int))(uintptr_t)code)(100), 5050);
	}
	munmap(code, PAGE);
}

static void
written_then_executable(void)
{
	unsigned char *code = pages_new(2, RW);

	for (int i = 0; i < 500; i++) {
		put_number(code, i);
		put_number(code + PAGE - 3, -i); /* on both pages */
		CHECK(mprotect(code, 2 * PAGE, RX) == 0);
		CHECK_SAME(call(code), i);
		CHECK_SAME((unsigned int)call(code + PAGE - 3), (unsigned int)-i);
		CHECK(mprotect(code, 2 * PAGE, RW) == 0);
	}
	munmap(code, 2 * PAGE);
}

/* Written at one address, executed at another: no change of rights tells of it. */
static void
mapped_twice(void)
{
	int file = memfd_create("code", MFD_CLOEXEC);
	unsigned char *data, *code;

	CHECK(file >= 0 && ftruncate(file, PAGE) == 0);
	data = mmap(NULL, PAGE, RW, MAP_SHARED, file, 0);
	code = mmap(NULL, PAGE, RX, MAP_SHARED, file, 0);
	CHECK(data != MAP_FAILED && code != MAP_FAILED);
	for (int i = 0; i < 300; i++) {
		put_number(data, i);
		CHECK_SAME(call(code), i);
	}
	for (int i = 0; i < 300; i++) { /* once more by the file itself */
		unsigned char bytes[16];

		put_number(bytes, i * 5);
		CHECK(pwrite(file, bytes, 6, 0) == 6);
		CHECK_SAME(call(code), i * 5);
	}
	munmap(data, PAGE);
	munmap(code, PAGE);
	close(file);
}

static void
freed_and_mapped_anew(void)
{
	unsigned char *at = pages_new(4, PROT_NONE);

	for (int i = 0; i < 300; i++) {
		unsigned char *code;

		munmap(at, 4 * PAGE);
		code = mmap(at, 4 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		CHECK(code == at);
		put_number(code + i % 4 * PAGE, i);
		CHECK(mprotect(code, 4 * PAGE, RX) == 0);
		CHECK_SAME(call(code + i % 4 * PAGE), i);
	}
	for (int i = 0; i < 300; i++) { /* over the old one, without a munmap */
		CHECK(mmap(at, 4 * PAGE, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
		put_number(at, -i);
		CHECK_SAME((unsigned int)call(at), (unsigned int)-i);
	}
	munmap(at, 4 * PAGE);
}

/* The same place holds now one file's code, now another's. */
static void
files_in_turns(void)
{
	int files[2];
	unsigned char *at = pages_new(1, PROT_NONE), bytes[16];

	for (int f = 0; f < 2; f++) {
		files[f] = memfd_create("code", MFD_CLOEXEC);
		put_number(bytes, 100 + f);
		CHECK(files[f] >= 0 && write(files[f], bytes, 6) == 6);
	}
	for (int i = 0; i < 200; i++) {
		CHECK(mmap(at, PAGE, RX, MAP_PRIVATE | MAP_FIXED, files[i % 2], 0) == at);
		CHECK_SAME(call(at), 100 + i % 2);
	}
	close(files[0]);
	close(files[1]);
	munmap(at, PAGE);
}

static void
moved_by_mremap(void)
{
	unsigned char *code = pages_new(1, RWX), *other = pages_new(1, PROT_NONE);

	put_number(code, 1);
	for (int i = 0; i < 200; i++) {
		unsigned char *old = code;

		CHECK_SAME(call(code), i + 1);
		code = mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
		CHECK(code == other);
		other = old;
		CHECK_SAME(call(code), i + 1);
		put_number(code, i + 2);
		CHECK(mmap(old, PAGE, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == old);
		put_number(old, -1);
		CHECK_SAME((unsigned int)call(old), (unsigned int)-1);
	}
	munmap(code, PAGE);
	munmap(other, PAGE);
}

/* The kernel writes code, too: a page that the program may write must never refuse it. */
static void
read_from_a_pipe(void)
{
	unsigned char *code = pages_new(1, RWX), bytes[16];
	int ends[2];

	CHECK(pipe(ends) == 0);
	for (int i = 0; i < 300; i++) {
		put_number(bytes, i);
		CHECK(write(ends[1], bytes, 6) == 6);
		CHECK(read(ends[0], code, 6) == 6);
		CHECK_SAME(call(code), i);
	}
	close(ends[0]);
	close(ends[1]);
	munmap(code, PAGE);
}

/* Data beside code: writes to the same page must neither be lost nor take for ever. */
static void
data_beside_code(void)
{
	unsigned char *code = pages_new(1, RWX);
	uint64_t *data = (uint64_t *)(void *)(code + PAGE / 2), sum = 0;

	put_number(code, 77);
	for (int i = 0; i < 20000; i++) {
		data[i % 64] += (uint64_t)i;
		CHECK_SAME(call(code), 77);
	}
	for (int i = 0; i < 64; i++)
		sum += data[i];
	CHECK_SAME(sum, 20000 * 19999 / 2);
	munmap(code, PAGE);
}

static void
code_at_any_address(void)
{
	static void *const addresses[] = {(void *)0x20000, (void *)0x7ffff000, (void *)0x123456789000,
					  (void *)0x7e0000000000};

	for (int i = 0; i < NR_ELEMENTS(addresses); i++) {
		unsigned char *code =
			mmap(addresses[i], PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (code == MAP_FAILED)
			continue;
		put_number(code + PAGE - 6, i); /* up to the last byte of memory */
		CHECK(mprotect(code, PAGE, RX) == 0);
		CHECK_SAME(call(code + PAGE - 6), i);
		CHECK(munmap(code, PAGE) == 0);
	}
}

/* ---- much code ---- */

/* Functions that are used once or twice each, as long as memory lasts. */
static void
code_churn(void)
{
	enum { NR = 600, STRIDE = 16 };
	unsigned char *code = pages_new(NR * STRIDE / PAGE + 1, RW);

	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < NR; i++)
			put_number(code + i * STRIDE, round * NR + i);
		CHECK(mprotect(code, NR * STRIDE, RX) == 0);
		for (int i = 0; i < NR; i++)
			CHECK_SAME(call(code + i * STRIDE), round * NR + i);
		CHECK(mprotect(code, NR * STRIDE, RW) == 0);
	}
	munmap(code, (NR * STRIDE / PAGE + 1) * PAGE);
}

/* 200,000 functions that call one another in a row. */
static void
long_chain(void)
{
	enum { NR = 200000, STRIDE = 16, PAGES = NR * STRIDE / PAGE + 1 };
	unsigned char *code = pages_new(PAGES, RW), *at = code;

	for (int i = 0; i < NR; i++, at += STRIDE) {
		static const unsigned char piece[STRIDE] = {0xff, 0xc0, 0xe9,
							    STRIDE - 7}; /* inc %eax, jmp to the next */

		memcpy(at, piece, STRIDE);
	}
	*at++ = 0xc3;
	CHECK(mprotect(code, PAGES * PAGE, RX) == 0);
	for (int round = 0; round < 3; round++) {
		int sum = 0;
		const unsigned char *start = code;

		__asm__ volatile("sub $128, %%rsp\n call *%1\n add $128, %%rsp\n"
				 : "+a"(sum)
				 : "r"(start)
				 : "cc", "memory");
		CHECK_SAME(sum, NR);
	}
	munmap(code, PAGES * PAGE);
}

/* ---- threads that generate code ---- */

static unsigned char *shared_code;

/* Each has places of its own, all on the same page. */
static void *
rewrite_own_place(void *number)
{
	unsigned char *own = shared_code + (uintptr_t)number * 64;

	for (int i = 0; i < 2000; i++) {
		put_number(own, i + (int)(uintptr_t)number);
		if (call(own) != i + (int)(uintptr_t)number)
			fail(__FILE__, __LINE__, "code of the own place");
	}
	return NULL;
}

static void
threads_on_one_page(void)
{
	pthread_t threads[8];

	shared_code = pages_new(1, RWX);
	for (uintptr_t i = 0; i < 8; i++)
		CHECK(pthread_create(&threads[i], NULL, rewrite_own_place, (void *)i) == 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	munmap(shared_code, PAGE);
}

static atomic_int seen;

/* Calls the same code over and over until it was told to end by that code. */
static void *
call_until_negative(void *unused)
{
	int last = 0, now;

	while ((now = call(shared_code)) >= 0) {
		CHECK(now >= last);
		last = now;
		seen = now;
	}
	return unused;
}

/* One thread patches an aligned immediate that others are executing, as call sites of Java are. */
static void
patched_by_another_thread(void)
{
	pthread_t threads[3];
	_Atomic int *number;

	shared_code = pages_new(1, RWX);
	put_number(shared_code + 3, 0);
	memset(shared_code, 0x90, 3);
	number = (_Atomic int *)(void *)(shared_code + 4);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, call_until_negative, NULL) == 0);
	for (int i = 1; i <= 100; i++) {
		*number = i;
		while (seen < i)
			sched_yield();
	}
	*number = -1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	seen = 0;
	munmap(shared_code, PAGE);
}

/* The target of a direct jump in a loop that other threads never leave by themselves: only its patch ends it. */
static void *
execute_loop(void *unused)
{
	((void (*)(void))(uintptr_t)shared_code)();
	return unused;
}

static void
patched_loop(void)
{
	for (int round = 0; round < 10; round++) {
		pthread_t threads[2];

		shared_code = pages_new(1, RWX);
		shared_code[0] = 0x90;
		shared_code[1] = 0xeb; /* jmp back */
		shared_code[2] = 0xfd;
		for (int i = 0; i < 2; i++)
			CHECK(pthread_create(&threads[i], NULL, execute_loop, NULL) == 0);
		usleep(2000);
		*(volatile unsigned char *)&shared_code[0] = 0xc3;
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		munmap(shared_code, PAGE);
	}
}

/* ---- rights ---- */

static sigjmp_buf refused;
static volatile uint64_t refused_rip, refused_address;

static void
on_refusal(int number, siginfo_t *info, void *context)
{
	(void)number;
	refused_rip = (uint64_t)RIP(context);
	refused_address = (uint64_t)info->si_addr;
	siglongjmp(refused, 1);
}

/* Code that was executed and translated may not be executed any more when its rights go. */
static void
rights_taken_away(void)
{
	unsigned char *code = pages_new(1, RW);

	handle(SIGSEGV, on_refusal, 0);
	put_number(code, 5);
	for (int i = 0; i < 50; i++) {
		CHECK(mprotect(code, PAGE, RX) == 0);
		CHECK_SAME(call(code), 5);
		CHECK(mprotect(code, PAGE, i % 2 ? PROT_READ : PROT_NONE) == 0);
		refused_rip = 0;
		if (sigsetjmp(refused, 1) == 0) {
			call(code);
			CHECK(!"reached");
		}
		CHECK_SAME(refused_rip, code);
		CHECK_SAME(refused_address, code);
	}
	munmap(code, PAGE);
	if (sigsetjmp(refused, 1) == 0) {
		call(code);
		CHECK(!"reached");
	}
	CHECK_SAME(refused_rip, code);
	signal(SIGSEGV, SIG_DFL);
}

/* An instruction whose second half is missing. */
static void
cut_instruction(void)
{
	unsigned char *code = pages_new(2, RW);

	handle(SIGSEGV, on_refusal, 0);
	put_number(code + PAGE - 3, 9);
	CHECK(mprotect(code, PAGE, RX) == 0 && mprotect(code + PAGE, PAGE, PROT_NONE) == 0);
	for (int i = 0; i < 20; i++) {
		if (sigsetjmp(refused, 1) == 0) {
			call(code + PAGE - 3);
			CHECK(!"reached");
		}
		CHECK_SAME(refused_rip, code + PAGE - 3);
		CHECK_SAME(refused_address, code + PAGE);
	}
	CHECK(mprotect(code + PAGE, PAGE, RX) == 0);
	CHECK_SAME(call(code + PAGE - 3), 9);
	munmap(code, 2 * PAGE);
	signal(SIGSEGV, SIG_DFL);
}

/* Code that is never executed may be anything: bytes that are no instruction behind branches that are always taken. */
static void
nonsense_not_executed(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 100; i++)
		__asm__ volatile("test %0, %0\n jns 1f\n .byte 0x06, 0x0f, 0x04, 0xff, 0xff, 0xc5\n 1: add $2, %0\n "
				 "sub $128, %%rsp\n call 2f\n"
				 "3: add $128, %%rsp\n jmp 4f\n 2: ret\n .byte 0x62, 0x62\n 4:\n"
				 : "+r"(sum)
				 :
				 : "cc", "memory");
	CHECK_SAME(sum, 200);
}

/* ---- what the program sees of its own code ---- */

static int
compare_object(struct dl_phdr_info *object, size_t size, void *nr_compared)
{
	FILE *file;
	const char *path = *object->dlpi_name ? object->dlpi_name : own_path;

	(void)size;
	if (strstr(path, "vdso") || !(file = fopen(path, "re")))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		unsigned char buffer[PAGE];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		CHECK(fseek(file, (long)header->p_offset, SEEK_SET) == 0);
		for (size_t at = 0; at < header->p_filesz;) {
			size_t length =
				fread(buffer, 1, header->p_filesz - at < PAGE ? header->p_filesz - at : PAGE, file);

			CHECK(length > 0);
			CHECK(memcmp(buffer, (const char *)object->dlpi_addr + header->p_vaddr + at, length) == 0);
			at += length;
		}
		++*(int *)nr_compared;
	}
	fclose(file);
	return 0;
}

/* Code in memory is what it is in files. */
static void
text_unchanged(void)
{
	int nr_compared = 0;

	dl_iterate_phdr(compare_object, &nr_compared);
	CHECK(nr_compared > 0);
}

/* ---- libraries that come and go ---- */

/* Built beside this program. */
static void
libraries_come_and_go(void)
{
	static char folder[PAGE];
	char path[PAGE + 64];

	strcpy(folder, own_path);
	dirname(folder);
	for (int i = 0; i < 60; i++) {
		int (*answer)(int);
		int *(*own_variable)(void);
		void *library;

		snprintf(path, sizeof(path), "%s/hard_library_%s.so", folder, i % 2 ? "a" : "b");
		library = dlopen(path, i % 3 ? RTLD_NOW : RTLD_LAZY);
		if (!library)
			fail(__FILE__, __LINE__, dlerror());
		*(void **)&answer = dlsym(library, "answer");
		*(void **)&own_variable = dlsym(library, "own_variable");
		CHECK(answer != NULL && own_variable != NULL);
		CHECK_SAME(answer(i), i * (i % 2 ? 3 : 5));
		CHECK(*own_variable() == 42);
		*own_variable() = 1;
		CHECK(dlclose(library) == 0);
	}
}

const struct hard_case code_cases[] = {
	{"rewritten-in-place", rewritten_in_place},
	{"changes-what-follows", changes_what_follows},
	{"changes-itself-in-a-loop", changes_itself_in_a_loop},
	{"written-then-executable", written_then_executable},
	{"mapped-twice", mapped_twice},
	{"freed-and-mapped-anew", freed_and_mapped_anew},
	{"files-in-turns", files_in_turns},
	{"moved-by-mremap", moved_by_mremap},
	{"read-from-a-pipe", read_from_a_pipe},
	{"data-beside-code", data_beside_code},
	{"code-at-any-address", code_at_any_address},
	{"code-churn", code_churn},
	{"long-chain", long_chain},
	{"threads-on-one-page", threads_on_one_page},
	{"patched-by-another-thread", patched_by_another_thread},
	{"patched-loop", patched_loop},
	{"rights-taken-away", rights_taken_away},
	{"cut-instruction", cut_instruction},
	{"nonsense-not-executed", nonsense_not_executed},
	{"text-unchanged", text_unchanged},
	{"libraries-come-and-go", libraries_come_and_go},
	{NULL, NULL},
};
