/* SPDX-License-Identifier: MIT */
/* Branches, calls, returns and flags in every form that machine code has. */
#include "hard_cases.h"

/* One function of machine code for each, in a place of its own. */
#define ASM(name, body)                                                                                                \
	uint64_t name(uint64_t, uint64_t, uint64_t);                                                                   \
	__asm__(".text\n.p2align 4\n.type " #name ", @function\n" #name ":\n" body "\n.size " #name ", . - " #name "\n")

/* ---- calls and returns ---- */

ASM(call_data, "call 1f\n .ascii \"\\xff\\xffjunk\\x06\"\n ret\n"
	       "1: pop %rcx\n movzbl 6(%rcx), %eax\n lea 7(%rcx), %rcx\n push %rcx\n ret\n");

static void
call_followed_by_data(void)
{
	for (int i = 0; i < 100; i++)
		CHECK_SAME(call_data(0, 0, 0), 6);
}

ASM(call_pop, "call 1f\n 1: pop %rax\n lea 1b(%rip), %rcx\n sub %rcx, %rax\n ret\n");
ASM(call_peek, "call 2f\n 1: lea 1b(%rip), %rcx\n sub %rcx, %rax\n ret\n 2: mov (%rsp), %rax\n ret\n");

static void
own_return_address(void)
{
	for (int i = 0; i < 100; i++) {
		CHECK_SAME(call_pop(0, 0, 0), 0);
		CHECK_SAME(call_peek(0, 0, 0), 0);
	}
}

/* The callee returns to the second, third ... place behind the call, by changing the address on the stack. */
ASM(return_elsewhere, "call 9f\n 1: mov $1, %eax\n ret\n 2: mov $2, %eax\n ret\n 3: mov $3, %eax\n ret\n"
		      "9: cmp $1, %rdi\n je 8f\n cmp $2, %rdi\n je 7f\n lea 3b(%rip), %rcx\n mov %rcx, (%rsp)\n ret\n"
		      "7: addq $2b - 1b, (%rsp)\n 8: ret\n");

static void
return_to_changed(void)
{
	for (uint64_t i = 0; i < 300; i++)
		CHECK_SAME(return_elsewhere(i % 3 + 1, 0, 0), i % 3 + 1);
}

ASM(pop_arguments,
    "mov %rsp, %r8\n push %rdi\n push %rsi\n push %rdx\n call 1f\n sub %rsp, %r8\n lea (%rax,%r8), %rax\n ret\n"
    "1: mov 8(%rsp), %rax\n add 16(%rsp), %rax\n add 24(%rsp), %rax\n ret $24\n");

static void
return_and_pop(void)
{
	for (uint64_t i = 0; i < 100; i++)
		CHECK_SAME(pop_arguments(i, 2 * i, 7), 3 * i + 7);
}

ASM(push_return, "lea 1f(%rip), %rax\n add %rdi, %rax\n push %rax\n ret\n"
		 "1: mov $0, %al\n jmp 2f\n mov $1, %al\n jmp 2f\n mov $2, %al\n jmp 2f\n mov $3, %al\n 2: movzbl %al, "
		 "%eax\n ret\n");

static void
return_as_jump(void)
{
	for (uint64_t i = 0; i < 400; i++)
		CHECK_SAME(push_return(i % 4 * 4, 0, 0), i % 4);
}

/* The stack pointer walks along a table of addresses: a program made of returns. */
ASM(run_chain, "mov %rsp, %r8\n xor %eax, %eax\n mov %rdi, %rsp\n ret\n");
ASM(chain_add, "pop %rcx\n add %rcx, %rax\n ret\n");
ASM(chain_double, "add %rax, %rax\n ret\n");
ASM(chain_end, "mov %r8, %rsp\n ret\n");

static void
chain_of_returns(void)
{
	uint64_t chain[] = {(uint64_t)chain_add,
			    5,
			    (uint64_t)chain_double,
			    (uint64_t)chain_add,
			    3,
			    (uint64_t)chain_double,
			    (uint64_t)chain_double,
			    (uint64_t)chain_end};

	/* A signal would destroy what it walks over. */
	for (int i = 0; i < 100; i++)
		CHECK_SAME(run_chain((uint64_t)chain, 0, 0), ((5 * 2) + 3) * 4);
}

ASM(even, "test %rdi, %rdi\n jnz 1f\n mov $1, %eax\n ret\n 1: dec %rdi\n jmp odd\n");
ASM(odd, "test %rdi, %rdi\n jnz 1f\n xor %eax, %eax\n ret\n 1: dec %rdi\n jmp even\n");

static void
tail_calls(void)
{
	CHECK_SAME(even(1000000, 0, 0), 1);
	CHECK_SAME(even(1000001, 0, 0), 0);
}

static uint64_t __attribute__((noinline)) descend(uint64_t depth)
{
	volatile uint64_t own = depth;

	return depth == 0 ? 0 : descend(depth - 1) + (own == depth);
}

static void
deep_recursion(void)
{
	for (int i = 0; i < 10; i++)
		CHECK_SAME(descend(50000), 50000);
}

/* Stack pointers of any value: rsp is a register like others as long as no signal comes. */
ASM(free_stack_pointer, "mov %rsp, %r8\n mov %rdi, %rsp\n lea 2f(%rip), %rdx\n xor %eax, %eax\n"
			"1: add $3, %rsp\n inc %eax\n jmp *%rdx\n 2: cmp %esi, %eax\n jb 1b\n"
			"mov $39, %eax\n syscall\n mov %rsp, %rax\n mov %r8, %rsp\n ret\n");

static void
stack_pointer_as_register(void)
{
	static const uint64_t values[] = {0, 1, 8, 0x7fffffff0000, (uint64_t)-65536};

	for (int i = 0; i < NR_ELEMENTS(values); i++)
		CHECK_SAME(free_stack_pointer(values[i], 1000, 0), values[i] + 3000);
}

/* Memory below the stack pointer belongs to a program that takes no signals; an edge of memory may lie there. */
ASM(on_stack, "mov %rsp, %r8\n mov %rdi, %rsp\n call 1f\n mov %r8, %rsp\n ret\n"
	      "1: lea 2f(%rip), %rcx\n jmp *%rcx\n 2: mov $100, %ecx\n 3: loop 3b\n jrcxz 4f\n ud2\n"
	      "4: mov $7, %eax\n cmp $7, %eax\n je 5f\n ud2\n 5: ret\n");

static void
edge_of_stack(void)
{
	unsigned char *stack = pages_new(3, PROT_NONE);

	CHECK(mprotect(stack + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
	for (int i = 0; i < 100; i++)
		CHECK_SAME(on_stack((uint64_t)(stack + PAGE + 8), 0, 0), 7);
	munmap(stack, 3 * PAGE);
}

static void
odd_stack(void)
{
	unsigned char *stack = pages_new(1, PROT_READ | PROT_WRITE);

	for (int i = 16; i < 64; i++)
		CHECK_SAME(on_stack((uint64_t)(stack + PAGE / 2 + i), 0, 0), 7);
	munmap(stack, PAGE);
}

/* rdi: how far below the stack pointer words are put, looked at again behind branches of each kind. */
ASM(below_stack, "neg %rdi\n add %rsp, %rdi\n mov $0x1234567, %rax\n mov %rdi, %r8\n"
		 "1: mov %rax, (%r8)\n inc %rax\n add $8, %r8\n cmp %rsp, %r8\n jb 1b\n"
		 "lea 2f(%rip), %rdx\n jmp *%rdx\n 2: mov $3, %ecx\n 3: loop 3b\n jrcxz 4f\n ud2\n"
		 "4: cmp $1, %rdi\n ja 5f\n ud2\n 5: stc\n jc 6f\n ud2\n"
		 "6: mov $0x1234567, %rax\n mov %rdi, %r8\n"
		 "7: cmp %rax, (%r8)\n jne 8f\n inc %rax\n add $8, %r8\n cmp %rsp, %r8\n jb 7b\n xor %eax, %eax\n ret\n"
		 "8: mov %r8, %rax\n ret\n");

static void
red_zone(void)
{
	for (int i = 0; i < 100; i++)
		CHECK_SAME(below_stack(128, 0, 0), 0);
}

static void
below_red_zone(void)
{
	for (int i = 0; i < 100; i++)
		CHECK_SAME(below_stack(8192, 0, 0), 0);
}

/* ---- operands of indirect branches ---- */

static __thread uint64_t (*thread_function)(uint64_t, uint64_t, uint64_t)
	__attribute__((used, tls_model("initial-exec")));
extern uint64_t (*const function_table[4])(uint64_t, uint64_t, uint64_t);
ASM(answer_10, "mov $10, %eax\n ret\n");
ASM(answer_11, "mov $11, %eax\n ret\n");
ASM(answer_12, "mov $12, %eax\n ret\n");
ASM(answer_13, "mov $13, %eax\n ret\n");
uint64_t (*const function_table[4])(uint64_t, uint64_t, uint64_t) = {answer_10, answer_11, answer_12, answer_13};

#define THROUGH(reg)                                                                                                   \
	"push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n push %r15\n mov %rdi, %" reg "\n call *%" reg     \
	"\n pop "                                                                                                      \
	"%r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n"
ASM(call_rax, THROUGH("rax"));
ASM(call_rcx, THROUGH("rcx"));
ASM(call_rdx, THROUGH("rdx"));
ASM(call_rbx, THROUGH("rbx"));
ASM(call_rbp, THROUGH("rbp"));
ASM(call_rsi, THROUGH("rsi"));
ASM(call_rdi, THROUGH("rdi"));
ASM(call_r8, THROUGH("r8"));
ASM(call_r9, THROUGH("r9"));
ASM(call_r10, THROUGH("r10"));
ASM(call_r11, THROUGH("r11"));
ASM(call_r12, THROUGH("r12"));
ASM(call_r13, THROUGH("r13"));
ASM(call_r14, THROUGH("r14"));
ASM(call_r15, THROUGH("r15"));
ASM(call_memory_rsp, "sub $24, %rsp\n mov %rdi, 8(%rsp)\n call *8(%rsp)\n add $24, %rsp\n ret\n");
ASM(call_top, "push %rdi\n call *(%rsp)\n pop %rcx\n ret\n");
ASM(call_below, "mov %rdi, -8(%rsp)\n call *-8(%rsp)\n ret\n");
ASM(call_indexed,
    "lea -24(%rsp), %rcx\n mov $2, %edx\n mov %rdi, (%rcx,%rdx,8)\n sub $24, %rsp\n call *(%rcx,%rdx,8)\n add $24, "
    "%rsp\n ret\n");
ASM(call_static, "mov %rdi, called_pointer(%rip)\n call *called_pointer(%rip)\n ret\n"
		 ".local called_pointer\n .comm called_pointer, 8, 8\n");
ASM(call_thread, "mov thread_function@gottpoff(%rip), %rax\n mov %rdi, %fs:(%rax)\n call *%fs:(%rax)\n ret\n");
ASM(jump_register, "mov %rdi, %rdx\n jmp *%rdx\n");
ASM(jump_rcx, "mov %rdi, %rcx\n jmp *%rcx\n");
ASM(jump_memory, "mov %rdi, -16(%rsp)\n jmp *-16(%rsp)\n");
ASM(jump_static, "mov %rdi, jumped_pointer(%rip)\n jmp *jumped_pointer(%rip)\n"
		 ".local jumped_pointer\n .comm jumped_pointer, 8, 8\n");
ASM(jump_notrack, "mov %rdi, %rax\n .byte 0x3e\n jmp *%rax\n");
ASM(call_bounded, "mov %rdi, %rax\n .byte 0xf2\n call *%rax\n .byte 0xf2\n ret\n");
ASM(jump_thread, "mov thread_function@gottpoff(%rip), %rax\n mov %rdi, %fs:(%rax)\n jmp *%fs:(%rax)\n");

static void
indirect_operands(void)
{
	static uint64_t (*const ways[])(uint64_t, uint64_t, uint64_t) = {
		call_rax, call_rcx,    call_rdx,        call_rbx,      call_rbp,     call_rsi,     call_rdi,
		call_r8,  call_r9,     call_r10,        call_r11,      call_r12,     call_r13,     call_r14,
		call_r15, call_top,    call_memory_rsp, call_below,    call_indexed, call_static,  call_thread,
		jump_rcx, jump_memory, jump_static,     jump_register, jump_notrack, call_bounded, jump_thread};

	for (int round = 0; round < 12; round++) {
		for (int i = 0; i < NR_ELEMENTS(ways); i++)
			CHECK_SAME(ways[i]((uint64_t)function_table[(round + i) % 4], 0, 0),
				   (uint64_t)(10 + (round + i) % 4));
	}
}

/* Pushes and pops whose operand is addressed by the stack pointer that they change; the value of each goes into a sum.
 */
ASM(stack_operands,
    "mov %rsp, %r8\n push %rdi\n push (%rsp)\n push 8(%rsp)\n pop %rax\n add (%rsp), %rax\n pop (%rsp)\n add (%rsp), "
    "%rax\n"
    "push $5\n pop -8(%rsp)\n add -8(%rsp), %rax\n push %rsp\n pop %rcx\n sub %rsp, %rcx\n add %rcx, %rax\n"
    "push %rsp\n mov (%rsp), %rcx\n lea -8(%rcx), %rcx\n sub %rsp, %rcx\n add %rcx, %rax\n pop %rsp\n"
    "pushw $3\n add $2, %rsp\n push %r8\n mov %rsp, %rcx\n pop %rsp\n cmp %r8, %rsp\n je 1f\n ud2\n 1: ret\n");
ASM(enter_leave, "enter $32, $0\n mov %rdi, -8(%rbp)\n mov -8(%rbp), %rax\n leave\n enter $16, $2\n leave\n ret\n");
ASM(exchange_stack,
    "mov %rsp, %r8\n lea -64(%rsp), %rax\n xchg %rax, %rsp\n push $9\n cmp %rax, %r8\n pop %rax\n je 1f\n ud2\n"
    "1: mov %r8, %rsp\n ret\n");

static void
stack_as_operand(void)
{
	for (uint64_t i = 0; i < 100; i++) {
		CHECK_SAME(stack_operands(i, 0, 0), 3 * i + 5);
		CHECK_SAME(enter_leave(i, 0, 0), i);
		CHECK_SAME(exchange_stack(0, 0, 0), 9);
	}
}

/* ---- tables ---- */

static uint64_t
interpret(const unsigned char *program)
{
	static const void *const targets[] = {&&end, &&add, &&twice, &&less, &&jump};
	uint64_t value = 1, nr_left = 20000;

#define NEXT goto *targets[*program++]
	NEXT;
add:
	value += 3;
	NEXT;
twice:
	value = value * 2 % 1000003;
	NEXT;
less:
	value ^= 0x55;
	NEXT;
jump:
	if (nr_left-- > 0)
		program -= *program;
	else
		program++;
	NEXT;
end:
	return value;
#undef NEXT
}

static void
computed_goto(void)
{
	static const unsigned char program[] = {1, 2, 3, 2, 1, 4, 6, 3, 0};
	uint64_t value = 1;

	for (int i = 0; i < 20001; i++) {
		value += 3;
		value = value * 2 % 1000003;
		value ^= 0x55;
		value = value * 2 % 1000003;
		value += 3;
	}
	CHECK_SAME(interpret(program), value ^ 0x55);
}

#define CASE(n)                                                                                                        \
	case n:                                                                                                        \
		return x * (n + 1) + n
#define CASES_8(n)                                                                                                     \
	CASE(n);                                                                                                       \
	CASE(n + 1);                                                                                                   \
	CASE(n + 2);                                                                                                   \
	CASE(n + 3);                                                                                                   \
	CASE(n + 4);                                                                                                   \
	CASE(n + 5);                                                                                                   \
	CASE(n + 6);                                                                                                   \
	CASE(n + 7)

static uint64_t __attribute__((noinline)) choose(unsigned int which, uint64_t x)
{
	__asm__ volatile("" : "+r"(x));
	switch (which) {
		CASES_8(0);
		CASES_8(8);
		CASES_8(16);
		CASES_8(24);
		CASES_8(32);
		CASES_8(40);
		CASES_8(48);
		CASES_8(56);
	default:
		return x;
	}
}

static void
jump_table(void)
{
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int which = i * 7919 % 65;

		CHECK_SAME(choose(which, i), which < 64 ? (uint64_t)i * (which + 1) + which : i);
	}
}

/* ---- loops by counter ---- */

ASM(by_rcx, "mov %rdi, %rcx\n xor %eax, %eax\n jrcxz 2f\n 1: inc %eax\n loop 1b\n 2: ret\n");
ASM(by_ecx, "mov %rdi, %rcx\n xor %eax, %eax\n jecxz 1f\n mov $1, %eax\n 1: shl $32, %rcx\n or %rcx, %rax\n ret\n");
ASM(while_equal, "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %eax\n cmp %eax, %esi\n loopne 1b\n ret\n");
ASM(while_same, "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %eax\n cmp %eax, %eax\n loope 1b\n ret\n");
ASM(by_ecx_loop,
    "mov %rdi, %rcx\n xor %eax, %eax\n 1: inc %eax\n addr32 loop 1b\n shl $8, %rax\n or %rcx, %rax\n ret\n");
/* loop and jrcxz leave flags alone. */
ASM(flags_and_loop, "mov %rdi, %rcx\n xor %eax, %eax\n stc\n 1: adc $0, %rax\n stc\n loop 1b\n jrcxz 2f\n ud2\n 2: adc "
		    "$0, %rax\n ret\n");

static void
loops_by_counter(void)
{
	for (uint64_t i = 0; i < 300; i++)
		CHECK_SAME(by_rcx(i, 0, 0), i);
	CHECK_SAME(by_ecx(0x100000000, 0, 0), 0x100000000ULL << 32);
	CHECK_SAME(by_ecx(1, 0, 0), 0x100000001);
	CHECK_SAME(while_equal(100, 30, 0), 30);
	CHECK_SAME(while_equal(20, 30, 0), 20);
	CHECK_SAME(while_same(100, 0, 0), 100);
	CHECK_SAME(by_ecx_loop(0xabc00000005, 0, 0), 5 << 8);
	CHECK_SAME(flags_and_loop(50, 0, 0), 51);
}

/* ---- prefixes and lengths ---- */

ASM(rep_ret, "mov $1, %eax\n call 1f\n call 2f\n call 3f\n ret\n 1: add $2, %eax\n rep ret\n 2: add $4, %eax\n .byte "
	     "0xf2\n ret\n"
	     "3: add $8, %eax\n .byte 0x48\n ret\n");
ASM(hinted, "xor %eax, %eax\n mov %rdi, %rcx\n 1: inc %eax\n .byte 0x2e\n jne 2f\n ud2\n 2: .byte 0x3e\n jne 3f\n ud2\n"
	    "3: dec %rcx\n .byte 0xf2\n jnz 1b\n .byte 0xf2\n jmp 4f\n ud2\n 4: .byte 0xf2\n call 5f\n ret\n 5: ret\n");
/* Bytes that are two programs: a jump into the middle of itself, and into an immediate. */
ASM(overlapping, "xor %eax, %eax\n .byte 0xeb, 0xff, 0xc0\n mov %rdi, %rcx\n"
		 "1: .byte 0xb8\n 2: .byte 0x83, 0xc0, 0x05, 0x90\n dec %rcx\n jns 2b\n ret\n");
ASM(longest, ".byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n mov $1, %eax\n"
	     ".byte 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x2e, 0x48, 0x81, 0xc0, 1, 2, 3, 0\n ret\n");
ASM(narrow_address, "lea 1f(%eip), %rax\n 1: lea 1b(%rip), %ecx\n sub %rcx, %rax\n ret\n");
ASM(hints, "endbr64\n pause\n xor %eax, %eax\n rdsspq %rax\n test %rax, %rax\n jne 1f\n .byte 0x0f, 0x1e, 0xfb\n "
	   "prefetchw (%rsp)\n lfence\n"
	   "mfence\n sfence\n nopw 0x200(%rax,%rax,1)\n 1: ret\n");
ASM(long_block, "xor %eax, %eax\n .rept 30000\n inc %eax\n .endr\n ret\n");
ASM(many_blocks, "xor %eax, %eax\n .rept 30000\n inc %eax\n jmp 1f\n ud2\n 1:\n .endr\n ret\n");

static void
odd_encodings(void)
{
	for (int i = 0; i < 10; i++) {
		CHECK_SAME(rep_ret(0, 0, 0), 15);
		CHECK_SAME(hinted(100, 0, 0), 100);
		CHECK_SAME(overlapping(0, 0, 0) & 0xffffff, 0x05c083);
		CHECK_SAME(overlapping(3, 0, 0) - overlapping(0, 0, 0), 15);
		CHECK_SAME(longest(0, 0, 0), 0x30202);
		CHECK_SAME(narrow_address(0, 0, 0), 0);
		hints(0, 0, 0);
	}
}

static void
big_blocks(void)
{
	CHECK_SAME(long_block(0, 0, 0), 30000);
	CHECK_SAME(many_blocks(0, 0, 0), 30000);
}

/* ---- rip-relative operands of all kinds; each leaves its trace in the sum ---- */

ASM(relative,
    "mov value(%rip), %rax\n"
    "movq $41, value(%rip)\n addq $1, value(%rip)\n addq $100000, value(%rip)\n add value(%rip), %rax\n"
    "push value(%rip)\n pop value(%rip)\n incl value(%rip)\n lock incq value(%rip)\n add value(%rip), %rax\n"
    "movzbl value(%rip), %ecx\n add %rcx, %rax\n imul $3, value(%rip), %rcx\n add %rcx, %rax\n"
    "cmpb $0x2b, value(%rip)\n setg value(%rip)\n btsq $3, value(%rip)\n add value(%rip), %rax\n"
    "shlq $2, value(%rip)\n add value(%rip), %rax\n movq value(%rip), %xmm0\n paddq pair(%rip), %xmm0\n movq %xmm0, "
    "%rcx\n"
    "add %rcx, %rax\n pshufd $1, pair(%rip), %xmm1\n movd %xmm1, %ecx\n add %rcx, %rax\n stmxcsr value(%rip)\n"
    "ldmxcsr value(%rip)\n fildl pair(%rip)\n fistpll value(%rip)\n add value(%rip), %rax\n"
    "push %rbx\n push %rax\n xor %edx, %edx\n mov pair(%rip), %rax\n mov pair + 8(%rip), %rdx\n mov %rax, %rbx\n mov "
    "%rdx, %rcx\n"
    "lock cmpxchg16b pair(%rip)\n pop %rax\n pop %rbx\n jne 9f\n testb $1, pair(%rip)\n jz 9f\n"
    "9: ret\n"
    ".pushsection .data\n .p2align 4\n pair: .quad 0x100000007, 3\n value: .quad 7\n .popsection\n");

static void
rip_relative(void)
{
	uint64_t value, first = 0, sum; /* value begins and ends as 7 */

	for (int i = 0; i < 20; i++) {
		sum = relative(0, 0, 0);
		if (i == 0)
			first = sum;
		CHECK_SAME(sum, first);
	}
	value = 100042;
	sum = 7 + value;     /* mov, add */
	value += 2;          /* inc, lock inc */
	sum += value;        /* add */
	sum += value & 0xff; /* movzbl */
	sum += value * 3;    /* imul */
	value = (value & ~0xffULL) | ((int8_t)(value & 0xff) > 0x2b);
	value |= 8;
	sum += value; /* setg, bts */
	value <<= 2;
	sum += value;               /* shl */
	sum += value + 0x100000007; /* paddq */
	sum += 1;                   /* pshufd */
	sum += 7;                   /* fild */
	CHECK_SAME(first, sum);
}

/* ---- flags ---- */

/* These flags travel through branches of all kinds; what comes out. */
ASM(carry_flags, "push %rdi\n popf\n jmp 1f\n ud2\n 1: call 8f\n lea 2f(%rip), %rax\n jmp *%rax\n ud2\n 2: lea "
		 "8f(%rip), %rax\n call *%rax\n"
		 "mov $5, %ecx\n 3: loop 3b\n jrcxz 4f\n ud2\n 4: jc 5f\n 5: jz 6f\n 6: js 7f\n 7: jo 1f\n 1: jp 2f\n "
		 "2: jbe 3f\n 3: jle 4f\n"
		 "4: pushf\n pop %rax\n push $2\n popf\n ret\n 8: ret\n");

#define FLAGS 0x8d5 /* CF PF AF ZF SF OF */

static void
flags_through_branches(void)
{
	for (uint64_t some = 0; some < 64; some++) {
		uint64_t flags = 0x202 | (some & 1) | (some >> 1 & 1) << 2 | (some >> 2 & 1) << 4 |
				 (some >> 3 & 1) << 6 | (some >> 4 & 1) << 7 | (some >> 5 & 1) << 11;

		CHECK_SAME(carry_flags(flags, 0, 0), flags);
		CHECK_SAME(carry_flags(flags | 0x400, 0, 0), flags | 0x400); /* direction */
	}
}

ASM(add_wide, "xor %eax, %eax\n mov %rdx, %rcx\n clc\n 1: mov (%rsi,%rax,8), %r8\n adc %r8, (%rdi,%rax,8)\n inc %rax\n "
	      "dec %rcx\n jnz 1b\n"
	      "setc %al\n movzbl %al, %eax\n ret\n");
ASM(subtract_wide, "xor %eax, %eax\n mov %rdx, %rcx\n clc\n 1: mov (%rsi,%rax,8), %r8\n sbb %r8, (%rdi,%rax,8)\n lea "
		   "1(%rax), %rax\n loop 1b\n"
		   "setc %al\n movzbl %al, %eax\n ret\n");
/* cmp here, jcc behind a call that leaves flags alone; lahf, sahf; adox and adcx at the same time are tested by random
 * blocks. */
ASM(compare_then_call,
    "xor %eax, %eax\n cmp %rsi, %rdi\n call 9f\n jb 1f\n or $1, %eax\n 1: cmp %rsi, %rdi\n call 9f\n jl 2f\n or $2, "
    "%eax\n"
    "2: mov %eax, %r8d\n cmp %rsi, %rdi\n lahf\n mov %eax, %ecx\n add $1, %ecx\n mov %ecx, %eax\n sub $1, %eax\n sahf\n"
    "jne 3f\n or $4, %r8d\n 3: mov %r8d, %eax\n ret\n 9: lea 1(%rcx), %rcx\n ret\n");
ASM(flags_over_syscall,
    "push $0x2\n popf\n stc\n mov $39, %eax\n syscall\n setc %al\n cmp $5, %dil\n mov $39, %eax\n syscall\n sete %cl\n"
    "movzbl %cl, %eax\n ret\n");

static void
flags_that_live(void)
{
	uint64_t a[64], b[64], c[64];

	for (int i = 0; i < 64; i++) {
		a[i] = c[i] = i % 3 ? ~0ULL : (uint64_t)i * 0x9e3779b97f4a7c15;
		b[i] = i % 5 ? 0 : ~0ULL;
	}
	b[0] = 1;
	a[0] = c[0] = ~0ULL;
	CHECK_SAME(subtract_wide((uint64_t)a, (uint64_t)b, 64) ^ add_wide((uint64_t)a, (uint64_t)b, 64), 0);
	CHECK(memcmp(a, c, sizeof(a)) == 0);
	CHECK_SAME(compare_then_call(1, 2, 0), 0);
	CHECK_SAME(compare_then_call(2, 2, 0), 7);
	CHECK_SAME(compare_then_call(3, 2, 0), 3);
	CHECK_SAME(compare_then_call((uint64_t)-1, 2, 0), 1);
	CHECK_SAME(compare_then_call(1, (uint64_t)-2, 0), 2);
	CHECK_SAME(flags_over_syscall(5, 0, 0), 1);
	CHECK_SAME(flags_over_syscall(4, 0, 0), 0);
}

/* rep with the direction flag set, across a call; from the end of what is copied. */
ASM(copy_backwards, "mov %rdx, %rcx\n lea -1(%rdi,%rdx), %rdi\n lea -1(%rsi,%rdx), %rsi\n std\n call 1f\n cld\n ret\n"
		    "1: lea 2f(%rip), %rax\n jmp *%rax\n 2: rep movsb\n ret\n");

static void
direction_flag(void)
{
	char text[64] = "direction flag and so on";

	copy_backwards((uint64_t)(text + 4), (uint64_t)text, 20);
	CHECK(memcmp(text, "diredirection flag and s", 24) == 0);
}

/* ---- system calls seen by registers ---- */

ASM(syscall_registers,
    "push %rbx\n mov %rdi, %rax\n mov $0x1111, %edx\n mov $0x8888, %r8d\n mov $0x9999, %r9d\n mov $0xaaaa, %r10d\n"
    "mov $0xbbbb, %ebx\n movq %rdx, %xmm15\n stc\n syscall\n 1: lea 1b(%rip), %rax\n pushf\n pop %rdi\n sub %rcx, "
    "%rax\n"
    "cmp %rdi, %r11\n je 2f\n mov $1, %eax\n 2: xor $0x1111, %edx\n or %rdx, %rax\n xor $0x8888, %r8d\n or %r8, %rax\n"
    "xor $0x9999, %r9d\n or %r9, %rax\n xor $0xaaaa, %r10d\n or %r10, %rax\n xor $0xbbbb, %ebx\n or %rbx, %rax\n"
    "movq %xmm15, %rcx\n xor $0x1111, %ecx\n or %rcx, %rax\n pop %rbx\n ret\n");

static void
registers_after_syscall(void)
{
	for (int i = 0; i < 20; i++) {
		CHECK_SAME(syscall_registers(39, 0, 0), 0);   /* getpid */
		CHECK_SAME(syscall_registers(24, 0, 0), 0);   /* sched_yield */
		CHECK_SAME(syscall_registers(9999, 0, 0), 0); /* none */
	}
}

const struct hard_case control_cases[] = {
	{"call-followed-by-data", call_followed_by_data},
	{"own-return-address", own_return_address},
	{"return-to-changed", return_to_changed},
	{"return-and-pop", return_and_pop},
	{"return-as-jump", return_as_jump},
	{"chain-of-returns", chain_of_returns},
	{"tail-calls", tail_calls},
	{"deep-recursion", deep_recursion},
	{"stack-pointer-as-register", stack_pointer_as_register},
	{"edge-of-stack", edge_of_stack},
	{"odd-stack", odd_stack},
	{"red-zone", red_zone},
	{"below-red-zone", below_red_zone},
	{"indirect-operands", indirect_operands},
	{"stack-as-operand", stack_as_operand},
	{"computed-goto", computed_goto},
	{"jump-table", jump_table},
	{"loops-by-counter", loops_by_counter},
	{"odd-encodings", odd_encodings},
	{"big-blocks", big_blocks},
	{"rip-relative", rip_relative},
	{"flags-through-branches", flags_through_branches},
	{"flags-that-live", flags_that_live},
	{"direction-flag", direction_flag},
	{"registers-after-syscall", registers_after_syscall},
	{NULL, NULL},
};
