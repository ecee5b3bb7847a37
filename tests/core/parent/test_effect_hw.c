/* SPDX-License-Identifier: MIT */
/* Instructions do to registers what they do in this processor. */
#include <sys/ptrace.h>

#include "parent/stepping/effect.h"
#include "permits.h"
#include "testing.h"

#define TRIES 12
#define CODE_BYTES 65536
#define DATA_BYTES 4096

/* Each instruction: how it is to be known (enum knowledge), its length, its bytes and its text. */
extern const uint8_t instructions_begin[], instructions_end[];

enum knowledge {
	ALL_KNOWN = 'K',  /* all registers are afterwards, if all were before */
	SOME_KNOWN = 'S', /* only that what is known is right */
};

/* rbx and rdi point to data, rsi is small; the rest is random. */
__asm__(".pushsection .rodata\n"
	".macro emit knowledge, text:vararg\n"
	".ascii \"\\knowledge\"\n"
	".byte 2f - 1f\n"
	"1: \\text\n"
	"2: .asciz \"\\text\"\n"
	".endm\n"
	"instructions_begin:\n"
	".irp op, add, sub, mov\n"
	"emit K, \\op $5, %rdx\n"
	"emit K, \\op $-5, %rdx\n"
	"emit K, \\op $5, %edx\n"
	"emit K, \\op $-5, %edx\n"
	"emit K, \\op $0x12345678, %r9\n"
	"emit K, \\op $-0x12345678, %r9\n"
	"emit K, \\op $0x12345678, %r9d\n"
	"emit K, \\op $-0x12345678, %r9d\n"
	"emit K, \\op $0x12345678, %rax\n"
	"emit K, \\op $-0x80000000, %rax\n"
	"emit K, \\op $-0x80000000, %eax\n"
	"emit K, \\op $0x40, %rsp\n"
	".endr\n"
	".irp op, add, mov\n"
	"emit K, \\op %rcx, %rax\n"
	"emit K, \\op %ecx, %eax\n"
	"emit K, \\op %r15, %r8\n"
	"emit K, \\op %r15d, %r8d\n"
	"emit K, \\op %rax, %rax\n"
	"emit K, \\op %r15d, %r15d\n"
	"emit K, \\op %rsp, %rbp\n"
	".endr\n"
	/* the other encodings of add and mov: %rcx, %rax; %r9d, %r10d */
	".irp code, 0x03, 0x8b\n"
	"emit K, .byte 0x48, \\code, 0xc1\n"
	"emit K, .byte 0x45, \\code, 0xd1\n"
	".endr\n"
	".irp op, sub, xor\n"
	"emit K, \\op %rax, %rax\n"
	"emit K, \\op %r15d, %r15d\n"
	"emit K, \\op %edi, %edi\n"
	".endr\n"
	".irp op, inc, dec\n"
	"emit K, \\op %rax\n"
	"emit K, \\op %r12d\n"
	"emit K, \\op %rsp\n"
	"emit S, \\op %r12w\n"
	"emit S, \\op %ah\n"
	"emit S, \\op %sil\n"
	"emit K, \\op\\()q (%rbx)\n"
	".endr\n"
	"emit K, movabs $0x123456789abcdef0, %r11\n"
	"emit K, movabs $-2, %rbp\n"
	".irp n, 0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 255\n"
	"emit K, shl $\\n, %rcx\n"
	"emit K, shl $\\n, %r14\n"
	"emit K, shl $\\n, %ecx\n"
	"emit K, shl $\\n, %r14d\n"
	"emit S, shl $\\n, %cx\n"
	"emit S, shl $\\n, %cl\n"
	"emit S, shr $\\n, %rcx\n"
	"emit S, sar $\\n, %ecx\n"
	"emit S, rol $\\n, %rcx\n"
	".endr\n"
	"emit K, shl %r14\n"
	"emit K, shl %r14d\n"
	"emit K, .byte 0x48, 0xc1, 0xf1, 3\n" /* shl by its other number */
	"emit S, shl %cl, %rax\n"
	"emit S, shl %cl, %rcx\n"
	"emit S, shld $3, %rax, %rdx\n"
	"emit K, lea (%rax), %rcx\n"
	"emit K, lea (%rax, %rcx), %rcx\n"
	"emit K, lea (%r13, %r12, 8), %rsp\n"
	"emit K, lea 0x7f(%rbp, %rbp, 2), %rbp\n"
	"emit K, lea -0x12345678(%rsp, %r8, 4), %r9\n"
	"emit K, lea (, %rax, 8), %rdx\n"
	"emit K, lea -8(, %r12, 4), %rdx\n"
	"emit K, lea 0x1234, %rdx\n"
	"emit K, lea -0x1234, %rdx\n"
	"emit K, lea -0x1234, %edx\n"
	"emit K, lea (%rax, %rcx, 2), %ecx\n"
	"emit K, lea -1(%r8), %r8d\n"
	"emit K, lea %fs:16(%r8), %r8\n"
	"emit S, lea (%rax, %rcx, 2), %cx\n"
	"emit S, lea (%eax, %ecx, 2), %rcx\n"
	"emit S, lea -1(%eax), %rcx\n"
	"emit S, lea -1(%eax), %ecx\n"
	"emit S, lea 0x10(%rip), %rcx\n"
	"emit S, lea 0x10(%rip), %ecx\n"
	"emit S, addr32 lea -0x1234, %rdx\n"
	"emit S, addr32 lea 0x1234, %rdx\n"
	"emit K, push %rax\n"
	"emit S, push %rsp\n"
	"emit K, push $5\n"
	"emit K, push $-0x12345678\n"
	"emit K, push (%rbx)\n"
	"emit S, pushw $5\n"
	"emit S, pushw %ax\n"
	"emit S, pushfq\n"
	"emit S, pushfw\n"
	"emit S, pop %rax\n"
	"emit S, pop %r12\n"
	"emit S, pop %rsp\n"
	"emit S, pop (%rbx)\n"
	"emit S, popw %ax\n"
	"emit S, pushw %fs\n"
	"emit K, push %fs\n"
	"emit S, popfq\n"
	"emit S, leave\n"
	"emit S, enter $16, $0\n"
	".irp op, and, or, adc, sbb, xor, cmp, test\n"
	"emit S, \\op $5, %rdx\n"
	"emit S, \\op $-5, %edx\n"
	"emit S, \\op $-5, %dx\n"
	"emit S, \\op $-5, %dl\n"
	"emit S, \\op $5, %ah\n"
	"emit S, \\op %rcx, %rax\n"
	"emit S, \\op %r9d, %r8d\n"
	"emit S, \\op %rdx, (%rbx)\n"
	"emit S, \\op %rdx, %rdx\n"
	".endr\n"
	".irp op, add, sub, mov, xor\n"
	"emit S, \\op %cx, %ax\n"
	"emit S, \\op %cl, %al\n"
	"emit S, \\op %ch, %ah\n"
	"emit S, \\op %ah, %bl\n"
	"emit S, \\op $-1, %r10w\n"
	"emit S, \\op $3, %r11b\n"
	"emit S, \\op %r11b, %r11b\n"
	"emit S, \\op %ax, %ax\n"
	"emit S, \\op (%rbx), %rcx\n"
	"emit S, \\op 8(%rbx), %ecx\n"
	"emit S, \\op (%rbx, %rsi, 8), %rbx\n"
	"emit S, \\op (%rbx), %cx\n"
	"emit K, \\op %rcx, (%rbx)\n"
	"emit K, \\op %ecx, (%rbx)\n"
	"emit K, \\op\\()q $7, (%rbx)\n"
	".endr\n"
	"emit S, sub %rcx, %rax\n"
	"emit S, sub %ecx, %eax\n"
	"emit S, sub %rsp, %rax\n"
	"emit S, neg %rax\n"
	"emit S, not %eax\n"
	"emit S, imul %rcx, %rax\n"
	"emit S, imul $3, %rcx, %rax\n"
	"emit S, imul $3, %ecx, %eax\n"
	"emit S, imul $300, (%rbx), %r8\n"
	"emit S, imul %rcx\n"
	"emit S, imul %cl\n"
	"emit S, mul %rcx\n"
	"emit S, mul %r9d\n"
	"emit S, mul %cl\n"
	"emit S, mul %cx\n"
	"emit S, cmovz %rcx, %rax\n"
	"emit S, cmovnz %ecx, %eax\n"
	"emit S, cmovl (%rbx), %rdx\n"
	"emit S, setz %al\n"
	"emit S, setz %ah\n"
	"emit K, setz (%rbx)\n"
	"emit S, xchg %rcx, %rax\n"
	"emit S, xchg %ecx, %edx\n"
	"emit S, xchg %al, %ah\n"
	"emit S, xchg %rcx, (%rbx)\n"
	"emit S, xadd %rcx, %rax\n"
	"emit S, xadd %rcx, (%rbx)\n"
	"emit S, lock xadd %ecx, (%rbx)\n"
	"emit S, cmpxchg %rcx, %rdx\n"
	"emit S, cmpxchg %rcx, (%rbx)\n"
	"emit S, cmpxchg8b (%rbx)\n"
	"emit S, cmpxchg16b (%rbx)\n"
	"emit K, lock addq $1, (%rbx)\n"
	"emit S, bsf %rcx, %rax\n"
	"emit S, bsr %ecx, %eax\n"
	"emit S, tzcnt %rcx, %rax\n"
	"emit S, popcnt %rcx, %rax\n"
	"emit S, bswap %rax\n"
	"emit S, bt $3, %rax\n"
	"emit S, bts $3, %rax\n"
	"emit S, btc %rcx, %rax\n"
	"emit S, movzbl %cl, %eax\n"
	"emit S, movzbl %ch, %eax\n"
	"emit S, movzwq %cx, %r8\n"
	"emit S, movsbq %cl, %r8\n"
	"emit S, movslq %ecx, %r8\n"
	"emit S, movslq %ecx, %rcx\n"
	"emit S, movzbl (%rbx), %eax\n"
	"emit S, movbe (%rbx), %rax\n"
	"emit S, cbtw\n"
	"emit S, cwtl\n"
	"emit S, cltq\n"
	"emit S, cwtd\n"
	"emit S, cltd\n"
	"emit S, cqto\n"
	"emit S, lahf\n"
	"emit S, sahf\n"
	"emit K, cld\n"
	"emit K, nop\n"
	"emit K, nopl 8(%rax, %rcx, 4)\n"
	"emit K, endbr64\n"
	"emit K, prefetcht0 (%rcx)\n"
	"emit K, pause\n"
	"emit K, mfence\n"
	"emit S, rdtsc\n"
	"emit S, rdtscp\n"
	"emit S, cpuid\n"
	"emit S, xgetbv\n"
	"emit S, mov %ds, %eax\n"
	"emit S, mov %fs, %rcx\n"
	"emit S, mov %fs:0, %rax\n"
	"emit S, movsb\n"
	"emit S, movsq\n"
	"emit S, stosq\n"
	"emit S, lodsb\n"
	"emit S, scasb\n"
	"emit S, scasq\n"
	"emit S, cmpsb\n"
	"emit S, cmpsq\n"
	"emit S, rep movsb\n"
	"emit S, repne scasb\n"
	"emit S, addr32 stosb\n"
	"emit S, xlat\n"
	"emit S, std\n"
	"emit S, movq %xmm0, %rax\n"
	"emit S, movd %xmm0, %eax\n"
	"emit S, movmskpd %xmm0, %eax\n"
	"emit S, pmovmskb %xmm0, %ecx\n"
	"emit S, pextrw $1, %xmm0, %edx\n"
	"emit S, cvttsd2si %xmm0, %rax\n"
	"emit S, cvtsi2sd %rax, %xmm0\n"
	"emit K, movaps %xmm0, %xmm1\n"
	"emit K, movups %xmm0, (%rbx)\n"
	"emit K, addsd (%rbx), %xmm0\n"
	"emit K, stmxcsr (%rbx)\n"
	"emit S, fnstsw %ax\n"
	"emit S, fnstsw (%rbx)\n"
	"emit S, crc32q %rcx, %rax\n"
	"instructions_end:\n"
	".popsection\n");

/* ---- a thread to execute them in ---- */

static uint8_t *code, *data;
static pid_t victim;

static void
start_victim(void)
{
	int status;

	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(code != MAP_FAILED && data != MAP_FAILED);
	victim = fork();
	ck_assert_int_ge(victim, 0);
	if (victim == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(1);
	}
	ck_assert_int_eq(waitpid(victim, &status, 0), victim);
	ck_assert(WIFSTOPPED(status));
}

static void
end_victim(void)
{
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	munmap(code, CODE_BYTES);
	munmap(data, DATA_BYTES);
}

static uint64_t
random_word(void)
{
	uint64_t word = 0;

	for (int i = 0; i < 4; i++)
		word = word << 16 | ((unsigned)rand() & 0xffff);
	return word >> (rand() % 4 * 16);
}

static void
make_random(struct user_regs_struct *registers)
{
	unsigned long long *words[] = {&registers->rax, &registers->rcx, &registers->rdx, &registers->r8,
				       &registers->r9,  &registers->r10, &registers->r11, &registers->r12,
				       &registers->r13, &registers->r14, &registers->r15};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = random_word();
	for (size_t i = 0; i < DATA_BYTES / 8; i++)
		((uint64_t *)data)[i] = random_word();
	registers->rsi = (uint64_t)(uintptr_t)data + 1024;
	registers->rdi = (uint64_t)(uintptr_t)data + 512;
	registers->rbx = (uint64_t)(uintptr_t)data + 256;
	registers->rsp = (uint64_t)(uintptr_t)data + 2048 + (uint64_t)(rand() % 8 * 8);
	registers->rbp = (uint64_t)(uintptr_t)data + 3072;
	registers->eflags = (registers->eflags & ~UINT64_C(0xc5)) | ((unsigned)rand() & 0xc5);
	registers->orig_rax = UINT64_MAX;
}

/* False: this processor does not have it, or memory is not there. */
static bool
execute(struct user_regs_struct *registers)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SETREGS, victim, NULL, registers), 0);
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, victim, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(victim, &status, 0), victim);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, victim, NULL, registers), 0);
	return WSTOPSIG(status) == SIGTRAP;
}

/* ---- the comparison ---- */

struct known_instruction {
	enum knowledge knowledge;
	uint8_t length;
	const uint8_t *bytes;
	const char *text;
};

static const uint8_t *
next_instruction(const uint8_t *at, struct known_instruction *instruction)
{
	*instruction = (struct known_instruction){
		.knowledge = at[0], .length = at[1], .bytes = at + 2, .text = (const char *)at + 2 + at[1]};
	return at + 2 + at[1] + strlen(instruction->text) + 1;
}

static const struct {
	const char *name;
	size_t word;
} general[] = {
#define GENERAL(name)                                                                                                  \
	{                                                                                                              \
#name, offsetof(struct user_regs_struct, name) / sizeof(unsigned long long)                            \
	}
	GENERAL(rax), GENERAL(rcx), GENERAL(rdx), GENERAL(rbx), GENERAL(rsp), GENERAL(rbp), GENERAL(rsi), GENERAL(rdi),
	GENERAL(r8),  GENERAL(r9),  GENERAL(r10), GENERAL(r11), GENERAL(r12), GENERAL(r13), GENERAL(r14), GENERAL(r15),
};

static void
expect_registers(const struct known_instruction *this, uint32_t known, const struct user_regs_struct *predicted,
		 const struct user_regs_struct *got)
{
	for (int i = 0; i < NR_ELEMENTS(general); i++) {
		const size_t word = general[i].word;
		const uint64_t wanted = ((const unsigned long long *)predicted)[word],
			       is = ((const unsigned long long *)got)[word];

		if (!(known & EFFECT_BIT(word))) {
			ck_assert_msg(this->knowledge != ALL_KNOWN, "%s: %s is not known", this->text, general[i].name);
			continue;
		}
		ck_assert_msg(wanted == is, "%s: %s is %llx, not %llx", this->text, general[i].name,
			      (unsigned long long)is, (unsigned long long)wanted);
	}
}

static uint64_t
term(const struct user_regs_struct *registers, uint8_t word)
{
	return word == EFFECT_NO_REGISTER ? 0 : ((const unsigned long long *)registers)[word];
}

/* Registers that are clobbered stay as they are. */
static void
apply(const struct effect *effect, struct user_regs_struct *registers)
{
	const uint64_t sum =
		term(registers, effect->base) + (term(registers, effect->index) << effect->scale) + effect->constant;

	if (effect->target != EFFECT_NO_REGISTER)
		((unsigned long long *)registers)[effect->target] = effect->is_narrow ? (uint32_t)sum : sum;
}

static void
try_one(const struct known_instruction *this, const struct effect *effect)
{
	struct user_regs_struct before, predicted, after;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, victim, NULL, &before), 0);
	make_random(&before);
	before.rip = (uint64_t)(uintptr_t)code + 256;
	predicted = after = before;
	apply(effect, &predicted);
	if (execute(&after))
		expect_registers(this, ~effect->clobbered, &predicted, &after);
}

TEST(effects_are_those_of_the_processor)
{
	int nr = 0;

	start_victim();
	for (const uint8_t *at = instructions_begin; at < instructions_end; nr++) {
		ZydisDecodedInstruction decoded;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct known_instruction this;
		struct effect effect;

		at = next_instruction(at, &this);
		memset(code, 0xcc, 512);
		memcpy(code + 256, this.bytes, this.length);
		ck_assert_msg(zydis_decode(this.bytes, this.length, &decoded, operands), "%s", this.text);
		effect_of(&decoded, operands, &effect);
		for (int i = 0; i < TRIES; i++)
			try_one(&this, &effect);
	}
	ck_assert_int_gt(nr, 250);
	end_victim();
}

UNIT_TESTS(.needs = {permits_tracing});
