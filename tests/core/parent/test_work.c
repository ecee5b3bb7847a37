/* SPDX-License-Identifier: MIT */
/* What an instruction does, told from its bytes and the registers of the thread that executes it. */
#include "parent/stepping/work.h"
#include "parent/symbols/instruction.h"
#include "testing.h"

/* ---- the registers of all cases ---- */

#define RAX UINT64_C(0x10000)
#define RBX UINT64_C(0x20000)
#define RSI UINT64_C(0x50000)
#define RDI UINT64_C(0x60000)
#define RBP UINT64_C(0x70000)
#define RSP UINT64_C(0x80000)
#define R9_LOW UINT64_C(0x90000)
#define R12 UINT64_C(0xa0000)
#define R13 UINT64_C(0xb0000)
#define RIP UINT64_C(0x400000)
#define FS_BASE UINT64_C(0x7f0000000000)
#define GS_BASE UINT64_C(0x7e0000000000)

static const struct user_regs_struct registers = {
	.rax = RAX,
	.rbx = RBX,
	.rcx = 3,
	.rdx = 0x40000,
	.rsi = RSI,
	.rdi = RDI,
	.rbp = RBP,
	.rsp = RSP,
	.r8 = 8,
	.r9 = UINT64_C(0xffffffff00000000) | R9_LOW,
	.r10 = -UINT64_C(16),
	.r12 = R12,
	.r13 = R13,
	.rip = RIP,
	.fs_base = FS_BASE,
	.gs_base = GS_BASE,
};

static const uint64_t masks[VECTOR_NR_MASKS] = {
	UINT64_MAX, 0x0f, UINT64_C(0xa5a5a5a5a5a5a5a5), 0, UINT64_MAX, 0xfffe, 1, 0xff00,
};

static void
put_32(struct vector_registers *vectors, int number, int lane, uint32_t value)
{
	memcpy(vectors->vectors[number] + lane * 4, &value, sizeof(value));
}

static void
put_64(struct vector_registers *vectors, int number, int lane, uint64_t value)
{
	memcpy(vectors->vectors[number] + lane * 8, &value, sizeof(value));
}

/* 1, 20: 32-bit indices; 2: 64-bit indices; 3, 6: signs of 32 bits; 4: of 64; 5: of 8. */
static void
fill_vectors(struct vector_registers *vectors)
{
	memset(vectors, 0, sizeof(*vectors));
	memcpy(vectors->masks, masks, sizeof(masks));
	vectors->enabled = vectors->in_use = 7;
	for (int i = 0; i < 16; i++) {
		put_32(vectors, 1, i, (uint32_t)(i == 3 ? -1 : 100 * i));
		put_32(vectors, 20, i, (uint32_t)(8 * i));
		put_32(vectors, 3, i, i % 2 == 0 ? 0x80000000 : 0x7fffffff);
		put_32(vectors, 6, i, i == 3 ? 0xffffffff : 0);
	}
	for (int i = 0; i < 8; i++) {
		put_64(vectors, 2, i, (uint64_t)(i == 1 ? -2 : 1000 * i));
		put_64(vectors, 4, i, i == 0 || i == 3 ? UINT64_C(1) << 63 : UINT64_MAX >> 1);
	}
	for (int i = 0; i < 16; i++)
		vectors->vectors[5][i] = i < 4 || i == 8 || i == 9 ? 0x80 : 0x7f;
}

static int nr_reads;

static const struct vector_registers *
read_vectors(void *context)
{
	static struct vector_registers vectors;
	bool *can_read = context;

	nr_reads++;
	fill_vectors(&vectors);
	return *can_read ? &vectors : NULL;
}

/* Zeros: nothing is held there. */
static bool
read_nothing(void *context, uint64_t address, void *bytes, size_t nr_bytes)
{
	(void)context, (void)address;
	memset(bytes, 0, nr_bytes);
	return true;
}

/* ---- cases ---- */

#define MAX_ACCESSES 32
#define LOAD(address, bytes)                                                                                           \
	{                                                                                                              \
		address, bytes, false, false, WORK_NO_FLUSH                                                            \
	}
#define STORE(address, bytes)                                                                                          \
	{                                                                                                              \
		address, bytes, true, false, WORK_NO_FLUSH                                                             \
	}
#define STREAM(address, bytes)                                                                                         \
	{                                                                                                              \
		address, bytes, true, true, WORK_NO_FLUSH                                                              \
	}

#define FLUSH(address, how)                                                                                            \
	{                                                                                                              \
		address, 1, false, false, how                                                                          \
	}

/* is_new: not all versions of Zydis know it. */
static const struct work_case {
	const char *name;
	uint8_t nr_bytes;
	uint8_t bytes[15];
	enum step_count operation;
	uint64_t nr_operations;
	struct work_access accesses[MAX_ACCESSES]; /* up to the first one of no bytes */
	bool reads_vectors, is_repeated, is_unknown, is_new;
} cases[] = {
	/* addresses */
	{"mov rax, [rbx]", 3, {0x48, 0x8b, 0x03}, .accesses = {LOAD(RBX, 8)}},
	{"mov [rbx+8], eax", 3, {0x89, 0x43, 0x08}, .accesses = {STORE(RBX + 8, 4)}},
	{"mov al, [rbx+r8*4-1]", 5, {0x42, 0x8a, 0x44, 0x83, 0xff}, .accesses = {LOAD(RBX + 8 * 4 - 1, 1)}},
	{"mov rax, [rbx+r10*8]", 4, {0x4a, 0x8b, 0x04, 0xd3}, .accesses = {LOAD(RBX - 16 * 8, 8)}},
	{"mov rax, [r8*8+0x1000]",
	 8,
	 {0x4a, 0x8b, 0x04, 0xc5, 0x00, 0x10, 0x00, 0x00},
	 .accesses = {LOAD(0x1000 + 8 * 8, 8)}},
	{"mov rax, [rip+0x100]", 7, {0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00}, .accesses = {LOAD(RIP + 7 + 0x100, 8)}},
	{"mov dword ptr [rip+0x100], 7",
	 10,
	 {0xc7, 0x05, 0x00, 0x01, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00},
	 .accesses = {STORE(RIP + 10 + 0x100, 4)}},
	{"mov rax, [r12]", 4, {0x49, 0x8b, 0x04, 0x24}, .accesses = {LOAD(R12, 8)}},
	{"mov rax, [r13]", 4, {0x49, 0x8b, 0x45, 0x00}, .accesses = {LOAD(R13, 8)}},
	{"mov rax, fs:[0x28]",
	 9,
	 {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00},
	 .accesses = {LOAD(FS_BASE + 0x28, 8)}},
	{"mov gs:[rbx], ax", 4, {0x65, 0x66, 0x89, 0x03}, .accesses = {STORE(GS_BASE + RBX, 2)}},
	{"mov rax, [r9d+r8d*2]", 5, {0x67, 0x4b, 0x8b, 0x04, 0x41}, .accesses = {LOAD(R9_LOW + 8 * 2, 8)}},
	{"mov rax, [r9d+r10d]", 5, {0x67, 0x4b, 0x8b, 0x04, 0x11}, .accesses = {LOAD(R9_LOW - 16, 8)}},
	{"mov eax, fs:[r9d]", 5, {0x64, 0x67, 0x41, 0x8b, 0x01}, .accesses = {LOAD(FS_BASE + R9_LOW, 4)}},
	{"mov rax, [eip+0x100]",
	 8,
	 {0x67, 0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00},
	 .accesses = {LOAD(RIP + 8 + 0x100, 8)}},
	{"mov ds:[rbx], eax", 2, {0x89, 0x03}, .accesses = {STORE(RBX, 4)}},
	{"movabs rax, [0x1122334455667788]",
	 10,
	 {0x48, 0xa1, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11},
	 .accesses = {LOAD(0x1122334455667788, 8)}},
	{"mov eax, ds:0xffffffff80000000",
	 7,
	 {0x8b, 0x04, 0x25, 0x00, 0x00, 0x00, 0x80},
	 .accesses = {LOAD(UINT64_C(0xffffffff80000000), 4)}},
	{"addr32 mov eax, ds:[0x80000000]",
	 8,
	 {0x67, 0x8b, 0x04, 0x25, 0x00, 0x00, 0x00, 0x80},
	 .accesses = {LOAD(UINT64_C(0x80000000), 4)}},
	{"mov rax, rbx", 3, {0x48, 0x89, 0xd8}, .nr_operations = 0},
	{"lea rax, [rbx+rcx*8]", 4, {0x48, 0x8d, 0x04, 0xcb}, .nr_operations = 0},
	{"lea eax, [rip+0x100]", 6, {0x8d, 0x05, 0x00, 0x01, 0x00, 0x00}, .nr_operations = 0},
	{"nop dword ptr [rax+rax*1]", 4, {0x0f, 0x1f, 0x04, 0x00}, .nr_operations = 0},
	{"prefetcht0 [rbx]", 3, {0x0f, 0x18, 0x0b}, .nr_operations = 0},
	{"prefetchw [rbx]", 3, {0x0f, 0x0d, 0x0b}, .nr_operations = 0},
	{"prefetchnta [rbx+64]", 4, {0x0f, 0x18, 0x43, 0x40}, .nr_operations = 0},
	/* loads and stores */
	{"add [rbx], rax", 3, {0x48, 0x01, 0x03}, .accesses = {LOAD(RBX, 8), STORE(RBX, 8)}},
	{"add rax, [rbx]", 3, {0x48, 0x03, 0x03}, .accesses = {LOAD(RBX, 8)}},
	{"cmp byte ptr [rbx], 1", 3, {0x80, 0x3b, 0x01}, .accesses = {LOAD(RBX, 1)}},
	{"lock inc dword ptr [rbx]", 3, {0xf0, 0xff, 0x03}, .accesses = {LOAD(RBX, 4), STORE(RBX, 4)}},
	{"xchg [rbx], rax", 3, {0x48, 0x87, 0x03}, .accesses = {LOAD(RBX, 8), STORE(RBX, 8)}},
	{"lock xadd [rbx], eax", 4, {0xf0, 0x0f, 0xc1, 0x03}, .accesses = {LOAD(RBX, 4), STORE(RBX, 4)}},
	{"lock cmpxchg [rbx], rdx", 5, {0xf0, 0x48, 0x0f, 0xb1, 0x13}, .accesses = {LOAD(RBX, 8), STORE(RBX, 8)}},
	{"lock cmpxchg16b [rbx]", 5, {0xf0, 0x48, 0x0f, 0xc7, 0x0b}, .accesses = {LOAD(RBX, 16), STORE(RBX, 16)}},
	{"cmovz rax, [rbx]", 4, {0x48, 0x0f, 0x44, 0x03}, .accesses = {LOAD(RBX, 8)}},
	{"setc [rbx]", 3, {0x0f, 0x92, 0x03}, .accesses = {STORE(RBX, 1)}},
	{"bts dword ptr [rbx], 3", 4, {0x0f, 0xba, 0x2b, 0x03}, .accesses = {LOAD(RBX, 4), STORE(RBX, 4)}},
	{"bt rax, rdx", 4, {0x48, 0x0f, 0xa3, 0xd0}, .nr_operations = 0},
	{"bt [rbx], rdx", 4, {0x48, 0x0f, 0xa3, 0x13}, .accesses = {LOAD(RBX + 0x8000, 8)}},
	{"bts [rbx], r10d", 4, {0x44, 0x0f, 0xab, 0x13}, .accesses = {LOAD(RBX - 4, 4), STORE(RBX - 4, 4)}},
	{"btr [rbx], r10w", 5, {0x66, 0x44, 0x0f, 0xb3, 0x13}, .accesses = {LOAD(RBX - 2, 2), STORE(RBX - 2, 2)}},
	{"movzx eax, word ptr [rbx]", 3, {0x0f, 0xb7, 0x03}, .accesses = {LOAD(RBX, 2)}},
	{"movbe eax, [rbx]", 4, {0x0f, 0x38, 0xf0, 0x03}, .accesses = {LOAD(RBX, 4)}},
	{"imul rax, [rbx], 5", 4, {0x48, 0x6b, 0x03, 0x05}, .accesses = {LOAD(RBX, 8)}},
	{"div qword ptr [rbx]", 3, {0x48, 0xf7, 0x33}, .accesses = {LOAD(RBX, 8)}},
	/* stack */
	{"push rax", 1, {0x50}, .accesses = {STORE(RSP - 8, 8)}},
	{"push 5", 2, {0x6a, 0x05}, .accesses = {STORE(RSP - 8, 8)}},
	{"push ax", 2, {0x66, 0x50}, .accesses = {STORE(RSP - 2, 2)}},
	{"pushfq", 1, {0x9c}, .accesses = {STORE(RSP - 8, 8)}},
	{"popfq", 1, {0x9d}, .accesses = {LOAD(RSP, 8)}},
	{"push [rbx]", 2, {0xff, 0x33}, .accesses = {LOAD(RBX, 8), STORE(RSP - 8, 8)}},
	{"push [rsp+16]", 4, {0xff, 0x74, 0x24, 0x10}, .accesses = {LOAD(RSP + 16, 8), STORE(RSP - 8, 8)}},
	{"push qword ptr [r9d]", 4, {0x67, 0x41, 0xff, 0x31}, .accesses = {LOAD(R9_LOW, 8), STORE(RSP - 8, 8)}},
	{"pop rax", 1, {0x58}, .accesses = {LOAD(RSP, 8)}},
	{"pop qword ptr [rbx]", 2, {0x8f, 0x03}, .accesses = {LOAD(RSP, 8), STORE(RBX, 8)}},
	{"pop qword ptr [rsp+16]", 4, {0x8f, 0x44, 0x24, 0x10}, .accesses = {LOAD(RSP, 8), STORE(RSP + 8 + 16, 8)}},
	{"call .+0x100", 5, {0xe8, 0xfb, 0x00, 0x00, 0x00}, .accesses = {STORE(RSP - 8, 8)}},
	{"call rax", 2, {0xff, 0xd0}, .accesses = {STORE(RSP - 8, 8)}},
	{"call [rbx]", 2, {0xff, 0x13}, .accesses = {LOAD(RBX, 8), STORE(RSP - 8, 8)}},
	{"jmp [rbx+r8*8]", 4, {0x42, 0xff, 0x24, 0xc3}, .accesses = {LOAD(RBX + 64, 8)}},
	{"jmp .+0x100", 5, {0xe9, 0xfb, 0x00, 0x00, 0x00}, .nr_operations = 0},
	{"jz .+0x10", 2, {0x74, 0x0e}, .nr_operations = 0},
	{"ret", 1, {0xc3}, .accesses = {LOAD(RSP, 8)}},
	{"ret 16", 3, {0xc2, 0x10, 0x00}, .accesses = {LOAD(RSP, 8)}},
	{"rep ret", 2, {0xf3, 0xc3}, .accesses = {LOAD(RSP, 8)}},
	{"enter 32, 0", 4, {0xc8, 0x20, 0x00, 0x00}, .accesses = {STORE(RSP - 8, 8)}},
	{"enter 32, 1", 4, {0xc8, 0x20, 0x00, 0x01}, .accesses = {STORE(RSP - 16, 16)}},
	{"enter 32, 3", 4, {0xc8, 0x20, 0x00, 0x03}, .accesses = {LOAD(RBP - 16, 16), STORE(RSP - 32, 32)}},
	{"enterw 32, 1", 5, {0x66, 0xc8, 0x20, 0x00, 0x01}, .is_unknown = true},
	{"leave", 1, {0xc9}, .accesses = {LOAD(RBP, 8)}},
	/* strings */
	{"movsb", 1, {0xa4}, .accesses = {LOAD(RSI, 1), STORE(RDI, 1)}},
	{"movsq", 2, {0x48, 0xa5}, .accesses = {LOAD(RSI, 8), STORE(RDI, 8)}},
	{"movs dword ptr es:[rdi], dword ptr fs:[rsi]",
	 2,
	 {0x64, 0xa5},
	 .accesses = {LOAD(FS_BASE + RSI, 4), STORE(RDI, 4)}},
	{"rep movsb", 2, {0xf3, 0xa4}, .accesses = {LOAD(RSI, 1), STORE(RDI, 1)}, .is_repeated = true},
	{"repne movsb", 2, {0xf2, 0xa4}, .accesses = {LOAD(RSI, 1), STORE(RDI, 1)}, .is_repeated = true},
	{"rep stosq", 3, {0xf3, 0x48, 0xab}, .accesses = {STORE(RDI, 8)}, .is_repeated = true},
	{"stosd", 1, {0xab}, .accesses = {STORE(RDI, 4)}},
	{"lodsw", 2, {0x66, 0xad}, .accesses = {LOAD(RSI, 2)}},
	{"rep lodsb", 2, {0xf3, 0xac}, .accesses = {LOAD(RSI, 1)}, .is_repeated = true},
	{"repe cmpsb", 2, {0xf3, 0xa6}, .accesses = {LOAD(RSI, 1), LOAD(RDI, 1)}, .is_repeated = true},
	{"repne scasb", 2, {0xf2, 0xae}, .accesses = {LOAD(RDI, 1)}, .is_repeated = true},
	{"scasq", 2, {0x48, 0xaf}, .accesses = {LOAD(RDI, 8)}},
	{"addr32 rep stosd", 3, {0x67, 0xf3, 0xab}, .accesses = {STORE(RDI, 4)}, .is_repeated = true},
	/* SSE */
	{"addss xmm1, xmm2", 4, {0xf3, 0x0f, 0x58, 0xca}, .operation = STEP_SCALAR_SINGLE, .nr_operations = 1},
	{"addsd xmm1, [rbx]",
	 4,
	 {0xf2, 0x0f, 0x58, 0x0b},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 8)}},
	{"subps xmm1, [rbx]",
	 3,
	 {0x0f, 0x5c, 0x0b},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 4,
	 .accesses = {LOAD(RBX, 16)}},
	{"mulpd xmm1, xmm2", 4, {0x66, 0x0f, 0x59, 0xca}, .operation = STEP_PACKED_DOUBLE, .nr_operations = 2},
	{"divss xmm1, [rbx]",
	 4,
	 {0xf3, 0x0f, 0x5e, 0x0b},
	 .operation = STEP_SCALAR_SINGLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 4)}},
	{"sqrtpd xmm1, xmm2", 4, {0x66, 0x0f, 0x51, 0xca}, .operation = STEP_PACKED_DOUBLE, .nr_operations = 2},
	{"sqrtsd xmm1, xmm2", 4, {0xf2, 0x0f, 0x51, 0xca}, .operation = STEP_SCALAR_DOUBLE, .nr_operations = 1},
	{"addsubps xmm1, xmm2", 4, {0xf2, 0x0f, 0xd0, 0xca}, .operation = STEP_PACKED_SINGLE, .nr_operations = 4},
	{"haddpd xmm1, xmm2", 4, {0x66, 0x0f, 0x7c, 0xca}, .operation = STEP_PACKED_DOUBLE, .nr_operations = 2},
	{"hsubps xmm1, xmm2", 4, {0xf2, 0x0f, 0x7d, 0xca}, .operation = STEP_PACKED_SINGLE, .nr_operations = 4},
	{"dpps xmm1, xmm2, 0xf1",
	 6,
	 {0x66, 0x0f, 0x3a, 0x40, 0xca, 0xf1},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 7},
	{"dpps xmm1, xmm2, 0x71",
	 6,
	 {0x66, 0x0f, 0x3a, 0x40, 0xca, 0x71},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 5},
	{"dpps xmm1, xmm2, 0x01", 6, {0x66, 0x0f, 0x3a, 0x40, 0xca, 0x01}, .nr_operations = 0},
	{"dppd xmm1, xmm2, 0x31",
	 6,
	 {0x66, 0x0f, 0x3a, 0x41, 0xca, 0x31},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 3},
	{"movaps xmm1, [rbx]", 3, {0x0f, 0x28, 0x0b}, .accesses = {LOAD(RBX, 16)}},
	{"movss [rbx], xmm1", 4, {0xf3, 0x0f, 0x11, 0x0b}, .accesses = {STORE(RBX, 4)}},
	{"movsd xmm1, [rbx]", 4, {0xf2, 0x0f, 0x10, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"movhps xmm1, [rbx]", 3, {0x0f, 0x16, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"movntps [rbx], xmm1", 3, {0x0f, 0x2b, 0x0b}, .accesses = {STREAM(RBX, 16)}},
	{"movnti [rbx], rax", 4, {0x48, 0x0f, 0xc3, 0x03}, .accesses = {STREAM(RBX, 8)}},
	{"movntdqa xmm1, [rbx]", 5, {0x66, 0x0f, 0x38, 0x2a, 0x0b}, .accesses = {LOAD(RBX, 16)}},
	{"maskmovdqu xmm1, xmm5",
	 4,
	 {0x66, 0x0f, 0xf7, 0xcd},
	 .accesses = {STREAM(RDI, 4), STREAM(RDI + 8, 2)},
	 .reads_vectors = true},
	{"maskmovq mm1, mm2", 3, {0x0f, 0xf7, 0xca}, .is_unknown = true},
	{"minsd xmm1, xmm2", 4, {0xf2, 0x0f, 0x5d, 0xca}, .nr_operations = 0},
	{"cmpltps xmm1, [rbx]", 4, {0x0f, 0xc2, 0x0b, 0x01}, .accesses = {LOAD(RBX, 16)}},
	{"ucomisd xmm1, [rbx]", 4, {0x66, 0x0f, 0x2e, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"cvtsi2sd xmm1, qword ptr [rbx]", 5, {0xf2, 0x48, 0x0f, 0x2a, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"cvtps2pd xmm1, [rbx]", 3, {0x0f, 0x5a, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"rcpps xmm1, xmm2", 3, {0x0f, 0x53, 0xca}, .nr_operations = 0},
	{"rsqrtss xmm1, xmm2", 4, {0xf3, 0x0f, 0x52, 0xca}, .nr_operations = 0},
	{"andpd xmm1, xmm2", 4, {0x66, 0x0f, 0x54, 0xca}, .nr_operations = 0},
	{"shufps xmm1, [rbx], 1", 4, {0x0f, 0xc6, 0x0b, 0x01}, .accesses = {LOAD(RBX, 16)}},
	{"paddd xmm1, [rbx]", 4, {0x66, 0x0f, 0xfe, 0x0b}, .accesses = {LOAD(RBX, 16)}},
	{"roundsd xmm1, xmm2, 1", 6, {0x66, 0x0f, 0x3a, 0x0b, 0xca, 0x01}, .nr_operations = 0},
	{"pinsrb xmm1, [rbx], 1", 6, {0x66, 0x0f, 0x3a, 0x20, 0x0b, 0x01}, .accesses = {LOAD(RBX, 1)}},
	/* AVX, FMA */
	{"vaddss xmm1, xmm2, xmm3", 4, {0xc5, 0xea, 0x58, 0xcb}, .operation = STEP_SCALAR_SINGLE, .nr_operations = 1},
	{"vaddsd xmm1, xmm2, [rbx]",
	 4,
	 {0xc5, 0xeb, 0x58, 0x0b},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 8)}},
	{"vaddps ymm1, ymm2, [rbx]",
	 4,
	 {0xc5, 0xec, 0x58, 0x0b},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 32)}},
	{"vsubpd ymm1, ymm2, ymm3", 4, {0xc5, 0xed, 0x5c, 0xcb}, .operation = STEP_PACKED_DOUBLE, .nr_operations = 4},
	{"vmulps xmm1, xmm2, xmm3", 4, {0xc5, 0xe8, 0x59, 0xcb}, .operation = STEP_PACKED_SINGLE, .nr_operations = 4},
	{"vdivpd ymm1, ymm2, [rbx]",
	 4,
	 {0xc5, 0xed, 0x5e, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 4,
	 .accesses = {LOAD(RBX, 32)}},
	{"vsqrtps ymm1, [rbx]",
	 4,
	 {0xc5, 0xfc, 0x51, 0x0b},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 32)}},
	{"vsqrtsd xmm1, xmm2, xmm3", 4, {0xc5, 0xeb, 0x51, 0xcb}, .operation = STEP_SCALAR_DOUBLE, .nr_operations = 1},
	{"vaddsubpd ymm1, ymm2, ymm3",
	 4,
	 {0xc5, 0xed, 0xd0, 0xcb},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 4},
	{"vhaddps ymm1, ymm2, ymm3", 4, {0xc5, 0xef, 0x7c, 0xcb}, .operation = STEP_PACKED_SINGLE, .nr_operations = 8},
	{"vdpps ymm1, ymm2, ymm3, 0xff",
	 6,
	 {0xc4, 0xe3, 0x6d, 0x40, 0xcb, 0xff},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 14},
	{"vfmadd231pd ymm1, ymm2, [rbx]",
	 5,
	 {0xc4, 0xe2, 0xed, 0xb8, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 32)}},
	{"vfmadd132ss xmm1, xmm2, [rbx]",
	 5,
	 {0xc4, 0xe2, 0x69, 0x99, 0x0b},
	 .operation = STEP_SCALAR_SINGLE,
	 .nr_operations = 2,
	 .accesses = {LOAD(RBX, 4)}},
	{"vfnmadd213sd xmm1, xmm2, xmm3",
	 5,
	 {0xc4, 0xe2, 0xe9, 0xad, 0xcb},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 2},
	{"vfmsub231ps xmm1, xmm2, xmm3",
	 5,
	 {0xc4, 0xe2, 0x69, 0xba, 0xcb},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 8},
	{"vfnmsub132pd xmm1, xmm2, xmm3",
	 5,
	 {0xc4, 0xe2, 0xe9, 0x9e, 0xcb},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 4},
	{"vfmaddsub213ps ymm1, ymm2, ymm3",
	 5,
	 {0xc4, 0xe2, 0x6d, 0xa6, 0xcb},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 16},
	{"vfmsubadd231pd ymm1, ymm2, ymm3",
	 5,
	 {0xc4, 0xe2, 0xed, 0xb7, 0xcb},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8},
	{"vfmaddps ymm1, ymm2, [rbx], ymm3",
	 6,
	 {0xc4, 0xe3, 0x6d, 0x68, 0x0b, 0x30},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 16,
	 .accesses = {LOAD(RBX, 32)}},
	{"vfnmsubsd xmm1, xmm2, xmm3, xmm4",
	 6,
	 {0xc4, 0xe3, 0xe9, 0x7f, 0xcc, 0x30},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 2},
	{"vmovntdq [rbx], ymm1", 4, {0xc5, 0xfd, 0xe7, 0x0b}, .accesses = {STREAM(RBX, 32)}},
	{"vmovntdqa ymm1, [rbx]", 5, {0xc4, 0xe2, 0x7d, 0x2a, 0x0b}, .accesses = {LOAD(RBX, 32)}},
	{"vbroadcastsd ymm1, [rbx]", 5, {0xc4, 0xe2, 0x7d, 0x19, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"vinsertf128 ymm1, ymm2, [rbx], 1", 6, {0xc4, 0xe3, 0x6d, 0x18, 0x0b, 0x01}, .accesses = {LOAD(RBX, 16)}},
	{"vextractf128 [rbx], ymm1, 1", 6, {0xc4, 0xe3, 0x7d, 0x19, 0x0b, 0x01}, .accesses = {STORE(RBX, 16)}},
	{"vmaskmovps ymm1, ymm3, [rbx]",
	 5,
	 {0xc4, 0xe2, 0x65, 0x2c, 0x0b},
	 .accesses = {LOAD(RBX + 0, 4), LOAD(RBX + 8, 4), LOAD(RBX + 16, 4), LOAD(RBX + 24, 4)},
	 .reads_vectors = true},
	{"vmaskmovpd [rbx], ymm4, ymm1",
	 5,
	 {0xc4, 0xe2, 0x5d, 0x2f, 0x0b},
	 .accesses = {STORE(RBX, 8), STORE(RBX + 24, 8)},
	 .reads_vectors = true},
	{"vpmaskmovd [rbx], xmm3, xmm1",
	 5,
	 {0xc4, 0xe2, 0x61, 0x8e, 0x0b},
	 .accesses = {STORE(RBX, 4), STORE(RBX + 8, 4)},
	 .reads_vectors = true},
	{"vmaskmovdqu xmm1, xmm5",
	 4,
	 {0xc5, 0xf9, 0xf7, 0xcd},
	 .accesses = {STREAM(RDI, 4), STREAM(RDI + 8, 2)},
	 .reads_vectors = true},
	{"vmaxpd ymm1, ymm2, [rbx]", 4, {0xc5, 0xed, 0x5f, 0x0b}, .accesses = {LOAD(RBX, 32)}},
	{"vpermps ymm1, ymm2, [rbx]", 5, {0xc4, 0xe2, 0x6d, 0x16, 0x0b}, .accesses = {LOAD(RBX, 32)}},
	{"vcvtph2ps ymm1, [rbx]", 5, {0xc4, 0xe2, 0x7d, 0x13, 0x0b}, .accesses = {LOAD(RBX, 16)}},
	{"vzeroupper", 3, {0xc5, 0xf8, 0x77}, .nr_operations = 0},
	{"vgatherdps ymm0, [rbx+ymm1*4], ymm3",
	 6,
	 {0xc4, 0xe2, 0x65, 0x92, 0x04, 0x8b},
	 .accesses = {LOAD(RBX, 4), LOAD(RBX + 800, 4), LOAD(RBX + 1600, 4), LOAD(RBX + 2400, 4)},
	 .reads_vectors = true},
	{"vgatherdpd ymm0, [rbx+xmm1*8], ymm4",
	 6,
	 {0xc4, 0xe2, 0xdd, 0x92, 0x04, 0xcb},
	 .accesses = {LOAD(RBX, 8), LOAD(RBX - 8, 8)},
	 .reads_vectors = true},
	{"vgatherqps xmm0, [rbx+ymm2*4+4], xmm3",
	 7,
	 {0xc4, 0xe2, 0x65, 0x93, 0x44, 0x93, 0x04},
	 .accesses = {LOAD(RBX + 4, 4), LOAD(RBX + 4 + 8000, 4)},
	 .reads_vectors = true},
	{"vgatherqps xmm0, [rbx+xmm2*4], xmm3",
	 6,
	 {0xc4, 0xe2, 0x61, 0x93, 0x04, 0x93},
	 .accesses = {LOAD(RBX, 4)},
	 .reads_vectors = true},
	{"vpgatherqq ymm0, [rax+ymm2], ymm4",
	 6,
	 {0xc4, 0xe2, 0xdd, 0x91, 0x04, 0x10},
	 .accesses = {LOAD(RAX, 8), LOAD(RAX + 3000, 8)},
	 .reads_vectors = true},
	{"vpgatherdd xmm0, [r9d+xmm1*1], xmm6",
	 7,
	 {0x67, 0xc4, 0xc2, 0x49, 0x90, 0x04, 0x09},
	 .accesses = {LOAD(R9_LOW - 1, 4)},
	 .reads_vectors = true},
	/* AVX-512 */
	{"vaddpd zmm1, zmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0xed, 0x48, 0x58, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 64)}},
	{"vaddps zmm1, zmm2, zmm3, {rd-sae}",
	 6,
	 {0x62, 0xf1, 0x6c, 0x38, 0x58, 0xcb},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 16},
	{"vaddps zmm31, zmm30, zmm29",
	 6,
	 {0x62, 0x01, 0x0c, 0x40, 0x58, 0xfd},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 16},
	{"vaddpd zmm1, zmm2, [rbx]{1to8}",
	 6,
	 {0x62, 0xf1, 0xed, 0x58, 0x58, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 8)}},
	{"vaddpd zmm1, zmm2, [rbx+0x40]",
	 7,
	 {0x62, 0xf1, 0xed, 0x48, 0x58, 0x4b, 0x01},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX + 0x40, 64)}},
	{"vaddpd zmm1, zmm2, [rbx+0x40]{1to8}",
	 7,
	 {0x62, 0xf1, 0xed, 0x58, 0x58, 0x4b, 0x08},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX + 0x40, 8)}},
	{"vaddsd xmm1, xmm2, [rbx+0x40]",
	 5,
	 {0xc5, 0xeb, 0x58, 0x4b, 0x40},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX + 0x40, 8)}},
	{"vaddsd xmm17, xmm2, [rbx+0x40]",
	 7,
	 {0x62, 0xe1, 0xef, 0x08, 0x58, 0x4b, 0x08},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX + 0x40, 8)}},
	{"vaddpd zmm1{k1}, zmm2, zmm3",
	 6,
	 {0x62, 0xf1, 0xed, 0x49, 0x58, 0xcb},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 4,
	 .reads_vectors = true},
	{"vaddpd zmm1{k3}, zmm2, zmm3", 6, {0x62, 0xf1, 0xed, 0x4b, 0x58, 0xcb}, .reads_vectors = true},
	{"vaddps zmm1{k2}, zmm2, zmm3",
	 6,
	 {0x62, 0xf1, 0x6c, 0x4a, 0x58, 0xcb},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 8,
	 .reads_vectors = true},
	{"vsubps ymm1{k2}{z}, ymm2, ymm3",
	 6,
	 {0x62, 0xf1, 0x6c, 0xaa, 0x5c, 0xcb},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 4,
	 .reads_vectors = true},
	{"vmulpd xmm1{k5}, xmm2, xmm3",
	 6,
	 {0x62, 0xf1, 0xed, 0x0d, 0x59, 0xcb},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 1,
	 .reads_vectors = true},
	{"vmulss xmm1{k5}, xmm2, xmm3", 6, {0x62, 0xf1, 0x6e, 0x0d, 0x59, 0xcb}, .reads_vectors = true},
	{"vmulss xmm1{k6}, xmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0x6e, 0x0e, 0x59, 0x0b},
	 .operation = STEP_SCALAR_SINGLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 4)},
	 .reads_vectors = true},
	{"vmulss xmm1{k5}, xmm2, [rbx]", 6, {0x62, 0xf1, 0x6e, 0x0d, 0x59, 0x0b}, .reads_vectors = true},
	{"vsqrtsd xmm1{k1}{z}, xmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0xef, 0x89, 0x51, 0x0b},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 8)},
	 .reads_vectors = true},
	{"vaddpd zmm1{k1}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0xed, 0x49, 0x58, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 4,
	 .accesses = {LOAD(RBX, 32)},
	 .reads_vectors = true},
	{"vaddpd zmm1{k1}{z}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0xed, 0xc9, 0x58, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 4,
	 .accesses = {LOAD(RBX, 32)},
	 .reads_vectors = true},
	{"vdivps zmm1{k7}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0x6c, 0x4f, 0x5e, 0x0b},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX + 32, 32)},
	 .reads_vectors = true},
	{"vfmadd231pd zmm1{k2}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf2, 0xed, 0x4a, 0xb8, 0x0b},
	 .operation = STEP_PACKED_DOUBLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 8), LOAD(RBX + 16, 8), LOAD(RBX + 40, 8), LOAD(RBX + 56, 8)},
	 .reads_vectors = true},
	{"vfmadd231ps zmm1{k1}, zmm2, [rbx]{1to16}",
	 6,
	 {0x62, 0xf2, 0x6d, 0x59, 0xb8, 0x0b},
	 .operation = STEP_PACKED_SINGLE,
	 .nr_operations = 8,
	 .accesses = {LOAD(RBX, 4)},
	 .reads_vectors = true},
	{"vfmadd213sd xmm1{k6}, xmm2, xmm3",
	 6,
	 {0x62, 0xf2, 0xed, 0x0e, 0xa9, 0xcb},
	 .operation = STEP_SCALAR_DOUBLE,
	 .nr_operations = 2,
	 .reads_vectors = true},
	{"vaddps zmm1{k3}, zmm2, [rbx]{1to16}", 6, {0x62, 0xf1, 0x6c, 0x5b, 0x58, 0x0b}, .reads_vectors = true},
	{"vmovapd zmm1{k1}, [rbx]",
	 6,
	 {0x62, 0xf1, 0xfd, 0x49, 0x28, 0x0b},
	 .accesses = {LOAD(RBX, 32)},
	 .reads_vectors = true},
	{"vmovupd [rbx]{k1}, zmm1",
	 6,
	 {0x62, 0xf1, 0xfd, 0x49, 0x11, 0x0b},
	 .accesses = {STORE(RBX, 32)},
	 .reads_vectors = true},
	{"vmovupd [rbx]{k3}, zmm1", 6, {0x62, 0xf1, 0xfd, 0x4b, 0x11, 0x0b}, .reads_vectors = true},
	{"vmovdqu8 [rbx]{k4}, zmm1",
	 6,
	 {0x62, 0xf1, 0x7f, 0x4c, 0x7f, 0x0b},
	 .accesses = {STORE(RBX, 64)},
	 .reads_vectors = true},
	{"vmovdqu8 zmm1{k2}{z}, [rbx]",
	 6,
	 {0x62, 0xf1, 0x7f, 0xca, 0x6f, 0x0b},
	 .accesses = {LOAD(RBX, 1),      LOAD(RBX + 2, 1),  LOAD(RBX + 5, 1),  LOAD(RBX + 7, 2),  LOAD(RBX + 10, 1),
		      LOAD(RBX + 13, 1), LOAD(RBX + 15, 2), LOAD(RBX + 18, 1), LOAD(RBX + 21, 1), LOAD(RBX + 23, 2),
		      LOAD(RBX + 26, 1), LOAD(RBX + 29, 1), LOAD(RBX + 31, 2), LOAD(RBX + 34, 1), LOAD(RBX + 37, 1),
		      LOAD(RBX + 39, 2), LOAD(RBX + 42, 1), LOAD(RBX + 45, 1), LOAD(RBX + 47, 2), LOAD(RBX + 50, 1),
		      LOAD(RBX + 53, 1), LOAD(RBX + 55, 2), LOAD(RBX + 58, 1), LOAD(RBX + 61, 1), LOAD(RBX + 63, 1)},
	 .reads_vectors = true},
	{"vmovdqu16 [rbx+0x40]{k7}, ymm1",
	 7,
	 {0x62, 0xf1, 0xff, 0x2f, 0x7f, 0x4b, 0x02},
	 .accesses = {STORE(RBX + 0x40 + 16, 16)},
	 .reads_vectors = true},
	{"vmovdqa32 zmm1, [rbx]", 6, {0x62, 0xf1, 0x7d, 0x48, 0x6f, 0x0b}, .accesses = {LOAD(RBX, 64)}},
	{"vmovss [rbx]{k5}, xmm1", 6, {0x62, 0xf1, 0x7e, 0x0d, 0x11, 0x0b}, .reads_vectors = true},
	{"vmovss [rbx]{k6}, xmm1",
	 6,
	 {0x62, 0xf1, 0x7e, 0x0e, 0x11, 0x0b},
	 .accesses = {STORE(RBX, 4)},
	 .reads_vectors = true},
	{"vmovsd xmm1{k6}, [rbx]",
	 6,
	 {0x62, 0xf1, 0xff, 0x0e, 0x10, 0x0b},
	 .accesses = {LOAD(RBX, 8)},
	 .reads_vectors = true},
	{"vbroadcastss zmm1{k7}, [rbx]",
	 6,
	 {0x62, 0xf2, 0x7d, 0x4f, 0x18, 0x0b},
	 .accesses = {LOAD(RBX, 4)},
	 .reads_vectors = true},
	{"vbroadcastss zmm1{k3}, [rbx]", 6, {0x62, 0xf2, 0x7d, 0x4b, 0x18, 0x0b}, .reads_vectors = true},
	{"vbroadcastss xmm1{k7}, [rbx]", 6, {0x62, 0xf2, 0x7d, 0x0f, 0x18, 0x0b}, .reads_vectors = true},
	{"vbroadcastf32x4 zmm1{k7}, [rbx]",
	 6,
	 {0x62, 0xf2, 0x7d, 0x4f, 0x1a, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vbroadcasti64x2 zmm1{k5}, [rbx]",
	 6,
	 {0x62, 0xf2, 0xfd, 0x4d, 0x5a, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vbroadcastf64x4 zmm1{k6}, [rbx]",
	 6,
	 {0x62, 0xf2, 0xfd, 0x4e, 0x1b, 0x0b},
	 .accesses = {LOAD(RBX, 8)},
	 .reads_vectors = true},
	{"vpbroadcastb zmm1{k1}, [rbx]",
	 6,
	 {0x62, 0xf2, 0x7d, 0x49, 0x78, 0x0b},
	 .accesses = {LOAD(RBX, 1)},
	 .reads_vectors = true},
	{"vcvtps2pd zmm1{k1}, [rbx]",
	 6,
	 {0x62, 0xf1, 0x7c, 0x49, 0x5a, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vcvtpd2ps xmm1{k7}, [rbx]{1to2}", 6, {0x62, 0xf1, 0xfd, 0x1f, 0x5a, 0x0b}, .reads_vectors = true},
	{"vpmovzxbd zmm1{k7}, [rbx]",
	 6,
	 {0x62, 0xf2, 0x7d, 0x4f, 0x31, 0x0b},
	 .accesses = {LOAD(RBX + 8, 8)},
	 .reads_vectors = true},
	{"vpmovqb [rbx]{k1}, zmm1",
	 6,
	 {0x62, 0xf2, 0x7e, 0x49, 0x32, 0x0b},
	 .accesses = {STORE(RBX, 4)},
	 .reads_vectors = true},
	{"vpmovdw [rbx], zmm1", 6, {0x62, 0xf2, 0x7e, 0x48, 0x33, 0x0b}, .accesses = {STORE(RBX, 32)}},
	{"vcvtps2ph [rbx]{k7}, zmm1, 0",
	 7,
	 {0x62, 0xf3, 0x7d, 0x4f, 0x1d, 0x0b, 0x00},
	 .accesses = {STORE(RBX + 16, 16)},
	 .reads_vectors = true},
	{"vextractf32x4 [rbx]{k1}, zmm1, 1",
	 7,
	 {0x62, 0xf3, 0x7d, 0x49, 0x19, 0x0b, 0x01},
	 .accesses = {STORE(RBX, 16)},
	 .reads_vectors = true},
	{"vinsertf32x4 zmm1{k3}, zmm2, [rbx], 1",
	 7,
	 {0x62, 0xf3, 0x6d, 0x4b, 0x18, 0x0b, 0x01},
	 .accesses = {LOAD(RBX, 16)}},
	{"vpermps zmm1{k3}, zmm2, [rbx]", 6, {0x62, 0xf2, 0x6d, 0x4b, 0x16, 0x0b}, .accesses = {LOAD(RBX, 64)}},
	{"vshufps zmm1{k1}, zmm2, [rbx], 1",
	 7,
	 {0x62, 0xf1, 0x6c, 0x49, 0xc6, 0x0b, 0x01},
	 .accesses = {LOAD(RBX, 64)}},
	{"vpermq zmm1, zmm2, [rbx]{1to8}", 6, {0x62, 0xf2, 0xed, 0x58, 0x36, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"vpslld zmm1{k3}, zmm2, [rbx]", 6, {0x62, 0xf1, 0x6d, 0x4b, 0xf2, 0x0b}, .accesses = {LOAD(RBX, 16)}},
	{"vdbpsadbw zmm1{k1}, zmm2, [rbx], 1",
	 7,
	 {0x62, 0xf3, 0x6d, 0x49, 0x42, 0x0b, 0x01},
	 .accesses = {LOAD(RBX, 64)}},
	{"vgf2p8affineqb zmm1{k3}, zmm2, [rbx]{1to8}, 1",
	 7,
	 {0x62, 0xf3, 0xed, 0x5b, 0xce, 0x0b, 0x01},
	 .accesses = {LOAD(RBX, 8)}},
	{"vblendmps zmm1{k1}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf2, 0x6d, 0x49, 0x65, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vcmpps k1{k7}, zmm2, [rbx], 1",
	 7,
	 {0x62, 0xf1, 0x6c, 0x4f, 0xc2, 0x0b, 0x01},
	 .accesses = {LOAD(RBX + 32, 32)},
	 .reads_vectors = true},
	{"vcmpsd k1{k5}, xmm2, [rbx], 1", 7, {0x62, 0xf1, 0xef, 0x0d, 0xc2, 0x0b, 0x01}, .reads_vectors = true},
	{"vptestmd k1{k1}, zmm2, [rbx]{1to16}",
	 6,
	 {0x62, 0xf2, 0x6d, 0x59, 0x27, 0x0b},
	 .accesses = {LOAD(RBX, 4)},
	 .reads_vectors = true},
	{"vpdpbusd zmm1{k1}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf2, 0x6d, 0x49, 0x50, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vpaddd zmm1{k1}, zmm2, [rbx]",
	 6,
	 {0x62, 0xf1, 0x6d, 0x49, 0xfe, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vpternlogd zmm1{k1}, zmm2, [rbx], 5",
	 7,
	 {0x62, 0xf3, 0x6d, 0x49, 0x25, 0x0b, 0x05},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vcompresspd [rbx]{k2}, zmm1",
	 6,
	 {0x62, 0xf2, 0xfd, 0x4a, 0x8a, 0x0b},
	 .accesses = {STORE(RBX, 32)},
	 .reads_vectors = true},
	{"vcompresspd [rbx], zmm1", 6, {0x62, 0xf2, 0xfd, 0x48, 0x8a, 0x0b}, .accesses = {STORE(RBX, 64)}},
	{"vpcompressb [rbx]{k1}, zmm1",
	 6,
	 {0x62, 0xf2, 0x7d, 0x49, 0x63, 0x0b},
	 .accesses = {STORE(RBX, 4)},
	 .reads_vectors = true},
	{"vpcompressd [rbx]{k3}, zmm1", 6, {0x62, 0xf2, 0x7d, 0x4b, 0x8b, 0x0b}, .reads_vectors = true},
	{"vexpandps zmm1{k2}{z}, [rbx]",
	 6,
	 {0x62, 0xf2, 0x7d, 0xca, 0x88, 0x0b},
	 .accesses = {LOAD(RBX, 32)},
	 .reads_vectors = true},
	{"vpexpandw ymm1{k7}, [rbx]",
	 6,
	 {0x62, 0xf2, 0xfd, 0x2f, 0x62, 0x0b},
	 .accesses = {LOAD(RBX, 16)},
	 .reads_vectors = true},
	{"vgatherdps zmm0{k1}, [rbx+zmm1*4]",
	 7,
	 {0x62, 0xf2, 0x7d, 0x49, 0x92, 0x04, 0x8b},
	 .accesses = {LOAD(RBX, 4), LOAD(RBX + 400, 4), LOAD(RBX + 800, 4), LOAD(RBX - 4, 4)},
	 .reads_vectors = true},
	{"vgatherqpd zmm0{k6}, [rbx+zmm2*8+0x40]",
	 8,
	 {0x62, 0xf2, 0xfd, 0x4e, 0x93, 0x44, 0xd3, 0x08},
	 .accesses = {LOAD(RBX + 0x40, 8)},
	 .reads_vectors = true},
	{"vpgatherdq zmm0{k2}, [rbx+ymm20]",
	 7,
	 {0x62, 0xf2, 0xfd, 0x42, 0x90, 0x04, 0x23},
	 .accesses = {LOAD(RBX, 8), LOAD(RBX + 16, 8), LOAD(RBX + 40, 8), LOAD(RBX + 56, 8)},
	 .reads_vectors = true},
	{"vscatterdpd [rbx+ymm20*8]{k1}, zmm1",
	 7,
	 {0x62, 0xf2, 0xfd, 0x41, 0xa2, 0x0c, 0xe3},
	 .accesses = {STORE(RBX + 0, 8), STORE(RBX + 64, 8), STORE(RBX + 128, 8), STORE(RBX + 192, 8)},
	 .reads_vectors = true},
	{"vpscatterqd [rbx+zmm2]{k1}, ymm1",
	 7,
	 {0x62, 0xf2, 0x7d, 0x49, 0xa1, 0x0c, 0x13},
	 .accesses = {STORE(RBX, 4), STORE(RBX - 2, 4), STORE(RBX + 2000, 4), STORE(RBX + 3000, 4)},
	 .reads_vectors = true},
	{"vscatterdps [rbx+zmm1*4]{k3}, zmm0", 7, {0x62, 0xf2, 0x7d, 0x4b, 0xa2, 0x04, 0x8b}, .reads_vectors = true},
	{"vgatherpf0dps [rbx+zmm1*4]{k1}", 7, {0x62, 0xf2, 0x7d, 0x49, 0xc6, 0x0c, 0x8b}, .nr_operations = 0},
	{"vmovntpd [rbx], zmm1", 6, {0x62, 0xf1, 0xfd, 0x48, 0x2b, 0x0b}, .accesses = {STREAM(RBX, 64)}},
	{"kmovq k1, [rbx]", 5, {0xc4, 0xe1, 0xf8, 0x90, 0x0b}, .accesses = {LOAD(RBX, 8)}},
	{"kmovw [rbx], k1", 4, {0xc5, 0xf8, 0x91, 0x0b}, .accesses = {STORE(RBX, 2)}},
	{"vrcp14pd zmm1, [rbx]", 6, {0x62, 0xf2, 0xfd, 0x48, 0x4c, 0x0b}, .accesses = {LOAD(RBX, 64)}},
	{"vrsqrt14ss xmm1, xmm2, xmm3", 6, {0x62, 0xf2, 0x6d, 0x08, 0x4f, 0xcb}, .nr_operations = 0},
	{"vscalefpd zmm1, zmm2, zmm3", 6, {0x62, 0xf2, 0xed, 0x48, 0x2c, 0xcb}, .nr_operations = 0},
	{"vrndscaleps zmm1, zmm2, 1", 7, {0x62, 0xf3, 0x7d, 0x48, 0x08, 0xca, 0x01}, .nr_operations = 0},
	{"vaddph zmm1, zmm2, zmm3", 6, {0x62, 0xf5, 0x6c, 0x48, 0x58, 0xcb}, .is_new = true},
	{"vfmadd231ph zmm1, zmm2, [rbx]",
	 6,
	 {0x62, 0xf6, 0x6d, 0x48, 0xb8, 0x0b},
	 .accesses = {LOAD(RBX, 64)},
	 .is_new = true},
	{"vdpbf16ps zmm1, zmm2, [rbx]", 6, {0x62, 0xf2, 0x6e, 0x48, 0x52, 0x0b}, .accesses = {LOAD(RBX, 64)}},
	{"v4fmaddps zmm0, zmm4, [rbx]", 6, {0x62, 0xf2, 0x5f, 0x48, 0x9a, 0x03}, .is_unknown = true},
	/* x87 */
	{"fadd st, st(2)", 2, {0xd8, 0xc2}, .operation = STEP_X87, .nr_operations = 1},
	{"fadd qword ptr [rbx]",
	 2,
	 {0xdc, 0x03},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 8)}},
	{"faddp", 2, {0xde, 0xc1}, .operation = STEP_X87, .nr_operations = 1},
	{"fiadd word ptr [rbx]",
	 2,
	 {0xde, 0x03},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 2)}},
	{"fsub dword ptr [rbx]",
	 2,
	 {0xd8, 0x23},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 4)}},
	{"fsubp", 2, {0xde, 0xe9}, .operation = STEP_X87, .nr_operations = 1},
	{"fsubr st, st(1)", 2, {0xd8, 0xe9}, .operation = STEP_X87, .nr_operations = 1},
	{"fsubrp", 2, {0xde, 0xe1}, .operation = STEP_X87, .nr_operations = 1},
	{"fisubr dword ptr [rbx]",
	 2,
	 {0xda, 0x2b},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 4)}},
	{"fmul st(1), st", 2, {0xdc, 0xc9}, .operation = STEP_X87, .nr_operations = 1},
	{"fmulp", 2, {0xde, 0xc9}, .operation = STEP_X87, .nr_operations = 1},
	{"fimul dword ptr [rbx]",
	 2,
	 {0xda, 0x0b},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 4)}},
	{"fdiv qword ptr [rbx]",
	 2,
	 {0xdc, 0x33},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 8)}},
	{"fdivrp", 2, {0xde, 0xf1}, .operation = STEP_X87, .nr_operations = 1},
	{"fidivr word ptr [rbx]",
	 2,
	 {0xde, 0x3b},
	 .operation = STEP_X87,
	 .nr_operations = 1,
	 .accesses = {LOAD(RBX, 2)}},
	{"fsqrt", 2, {0xd9, 0xfa}, .operation = STEP_X87, .nr_operations = 1},
	{"fld tbyte ptr [rbx]", 2, {0xdb, 0x2b}, .accesses = {LOAD(RBX, 10)}},
	{"fstp qword ptr [rbx]", 2, {0xdd, 0x1b}, .accesses = {STORE(RBX, 8)}},
	{"fild qword ptr [rbx]", 2, {0xdf, 0x2b}, .accesses = {LOAD(RBX, 8)}},
	{"fcomi st, st(1)", 2, {0xdb, 0xf1}, .nr_operations = 0},
	{"fsin", 2, {0xd9, 0xfe}, .nr_operations = 0},
	{"fprem", 2, {0xd9, 0xf8}, .nr_operations = 0},
	{"fchs", 2, {0xd9, 0xe0}, .nr_operations = 0},
	{"fnstcw [rbx]", 2, {0xd9, 0x3b}, .accesses = {STORE(RBX, 2)}},
	{"fnstenv [rbx]", 2, {0xd9, 0x33}, .accesses = {STORE(RBX, 28)}},
	/* others */
	{"syscall", 2, {0x0f, 0x05}, .nr_operations = 0},
	{"cpuid", 2, {0x0f, 0xa2}, .nr_operations = 0},
	{"rdtsc", 2, {0x0f, 0x31}, .nr_operations = 0},
	{"mfence", 3, {0x0f, 0xae, 0xf0}, .nr_operations = 0},
	{"bndmov bnd0, [rbx]", 4, {0x66, 0x0f, 0x1a, 0x03}, .nr_operations = 0},
	{"endbr64", 4, {0xf3, 0x0f, 0x1e, 0xfa}, .nr_operations = 0},
	{"ldmxcsr [rbx]", 3, {0x0f, 0xae, 0x13}, .accesses = {LOAD(RBX, 4)}},
	{"stmxcsr [rbx]", 3, {0x0f, 0xae, 0x1b}, .accesses = {STORE(RBX, 4)}},
	{"movdir64b rax, [rbx]", 5, {0x66, 0x0f, 0x38, 0xf8, 0x03}, .accesses = {LOAD(RBX, 64), STREAM(RAX, 64)}},
	{"movdiri [rbx], eax", 4, {0x0f, 0x38, 0xf9, 0x03}, .accesses = {STREAM(RBX, 4)}},
	/* edx and eax ask for no component that is enabled */
	{"xsave [rbx]",
	 3,
	 {0x0f, 0xae, 0x23},
	 .accesses = {LOAD(RBX + 512, 8), STORE(RBX + 512, 8)},
	 .reads_vectors = true},
	{"xsavec64 [rbx]", 4, {0x48, 0x0f, 0xc7, 0x23}, .accesses = {STORE(RBX + 512, 16)}, .reads_vectors = true},
	{"xrstor [rbx]", 3, {0x0f, 0xae, 0x2b}, .accesses = {LOAD(RBX + 512, 64)}, .reads_vectors = true},
	{"xsaveopt [rbx]", 3, {0x0f, 0xae, 0x33}, .is_unknown = true},
	{"xsaves [rbx]", 3, {0x0f, 0xc7, 0x2b}, .is_unknown = true},
	{"fxsave [rbx]", 3, {0x0f, 0xae, 0x03}, .accesses = {STORE(RBX, 512)}},
	{"fxrstor64 [rbx]", 4, {0x48, 0x0f, 0xae, 0x0b}, .accesses = {LOAD(RBX, 512)}},
	{"clflush [rbx]", 3, {0x0f, 0xae, 0x3b}, .accesses = {FLUSH(RBX, WORK_EVICT)}},
	{"clflushopt [rbx]", 4, {0x66, 0x0f, 0xae, 0x3b}, .accesses = {FLUSH(RBX, WORK_EVICT)}},
	{"clwb [rbx]", 4, {0x66, 0x0f, 0xae, 0x33}, .accesses = {FLUSH(RBX, WORK_CLEAN)}},
	{"clzero", 3, {0x0f, 0x01, 0xfc}, .accesses = {STREAM(RAX, 64)}},
	{"xlatb", 1, {0xd7}, .accesses = {LOAD(RBX, 1)}},
	{"fs xlatb", 2, {0x64, 0xd7}, .accesses = {LOAD(FS_BASE + RBX, 1)}},
	{"int3", 1, {0xcc}, .nr_operations = 0},
	{"int 0x80", 2, {0xcd, 0x80}, .nr_operations = 0},
	{"iretq", 2, {0x48, 0xcf}, .is_unknown = true},
	{"retf", 1, {0xcb}, .is_unknown = true},
	{"call fword ptr [rbx]", 2, {0xff, 0x1b}, .is_unknown = true},
	{"in al, dx", 1, {0xec}, .is_unknown = true},
	{"hlt", 1, {0xf4}, .is_unknown = true},
	{"ud2", 2, {0x0f, 0x0b}, .is_unknown = true},
	{"tileloadd tmm0, [rbx+rax]", 6, {0xc4, 0xe2, 0x7b, 0x4b, 0x04, 0x03}, .is_unknown = true},
	{"pfadd mm0, mm1", 4, {0x0f, 0x0f, 0xc1, 0x9e}, .is_unknown = true},
	{"insb", 1, {0x6c}, .is_unknown = true},
};

static void
check_accesses(const struct work_case *tested, const struct work_done *done)
{
	uint64_t loaded = 0, stored = 0;
	size_t nr = 0;

	for (; nr < MAX_ACCESSES && tested->accesses[nr].bytes; nr++) {
		const struct work_access *wanted = &tested->accesses[nr], *got = &done->accesses[nr];

		ck_assert_msg(nr < done->nr_accesses, "%s: %zu accesses", tested->name, done->nr_accesses);
		ck_assert_msg(got->address == wanted->address && got->bytes == wanted->bytes &&
				      got->is_store == wanted->is_store && got->is_streaming == wanted->is_streaming &&
				      got->flush == wanted->flush,
			      "%s: access %zu %s %u bytes at %#llx, not %u at %#llx", tested->name, nr,
			      got->is_store ? "stores" : "loads", got->bytes, (unsigned long long)got->address,
			      wanted->bytes, (unsigned long long)wanted->address);
		if (!wanted->flush)
			*(wanted->is_store ? &stored : &loaded) += wanted->bytes;
	}
	ck_assert_msg(done->nr_accesses == nr, "%s: %zu accesses", tested->name, done->nr_accesses);
	ck_assert_uint_eq(done->counts[STEP_LOADED_BYTES], loaded);
	ck_assert_uint_eq(done->counts[STEP_STORED_BYTES], stored);
}

static void
check_counts(const struct work_case *tested, const struct work_done *done)
{
	ck_assert_uint_eq(done->counts[STEP_INSTRUCTIONS], 1);
	for (int i = STEP_SCALAR_DOUBLE; i <= STEP_X87; i++) {
		uint64_t wanted = i == (int)tested->operation ? tested->nr_operations : 0;

		ck_assert_msg(done->counts[i] == wanted, "%s: %llu of count %d, not %llu", tested->name,
			      (unsigned long long)done->counts[i], i, (unsigned long long)wanted);
	}
	for (int i = STEP_STORED_BYTES + 1; i < STEP_NR_COUNTS; i++)
		ck_assert_uint_eq(done->counts[i], 0);
}

/* It counts as an instruction and as nothing else. */
static void
check_unknown(const char *name, const struct work_done *done)
{
	const struct work_case nothing = {.name = name};

	ck_assert_msg(done->is_unknown, "%s is known", name);
	check_counts(&nothing, done);
	check_accesses(&nothing, done);
}

/* False: this version of Zydis does not know it. */
static bool
decode(const struct work_case *tested, struct work *work)
{
	if (work_decode(tested->bytes, tested->nr_bytes, work)) {
		ck_assert_msg(work->length == tested->nr_bytes, "%s: %d bytes", tested->name, work->length);
		return true;
	}
	ck_assert_msg(tested->is_new, "%s: no instruction", tested->name);
	return false;
}

/* What was there before is of no influence. */
static void
do_work(const struct work *work, const struct user_regs_struct *with, bool can_read, struct work_done *done)
{
	struct work_thread thread = {with, read_vectors, &can_read, read_nothing};

	memset(done, 0xee, sizeof(*done));
	nr_reads = 0;
	work_do(work, &thread, done);
}

TEST_OF(work_is_told, NR_ELEMENTS(cases))
{
	const struct work_case *tested = &cases[_i];
	struct work_done done;
	struct work work;

	if (!decode(tested, &work))
		return;
	ck_assert_msg(work.is_repeated == tested->is_repeated, "%s", tested->name);
	do_work(&work, &registers, true, &done);
	if (tested->is_unknown) {
		check_unknown(tested->name, &done);
		return;
	}
	ck_assert_msg(!done.is_unknown, "%s is unknown", tested->name);
	check_counts(tested, &done);
	check_accesses(tested, &done);
	ck_assert_msg(nr_reads == (tested->reads_vectors ? 1 : 0), "%s: vectors are read %d times", tested->name,
		      nr_reads);
}

/* clang-format off */
static const struct other_case {
	const char *name;
	uint8_t nr_bytes, bytes[15];
	uint64_t nr_scalar, nr_packed, nr_masked; /* integers, and floating-point operations that are masked */
} others[] = {
	{"add rax, rbx", 3, {0x48, 0x01, 0xd8}, 1, 0, 0},
	{"lock xadd [rbx], rax", 5, {0xf0, 0x48, 0x0f, 0xc1, 0x03}, 1, 0, 0},
	{"dec cl", 2, {0xfe, 0xc9}, 1, 0, 0},
	{"neg rax", 3, {0x48, 0xf7, 0xd8}, 1, 0, 0},
	{"imul rax, rbx", 4, {0x48, 0x0f, 0xaf, 0xc3}, 1, 0, 0},
	{"div rbx", 3, {0x48, 0xf7, 0xf3}, 1, 0, 0},
	{"lea rax, [rbx+rcx*8]", 4, {0x48, 0x8d, 0x04, 0xcb}, 0, 0, 0},
	{"cmp rax, rbx", 3, {0x48, 0x39, 0xd8}, 0, 0, 0},
	{"and rax, rbx", 3, {0x48, 0x21, 0xd8}, 0, 0, 0},
	{"shl rax, 1", 3, {0x48, 0xd1, 0xe0}, 0, 0, 0},
	{"paddw mm1, mm2", 3, {0x0f, 0xfd, 0xca}, 0, 4, 0},
	{"paddd xmm1, xmm2", 4, {0x66, 0x0f, 0xfe, 0xca}, 0, 4, 0},
	{"psadbw xmm1, xmm2", 4, {0x66, 0x0f, 0xf6, 0xca}, 0, 0, 0},
	{"pmuludq xmm1, xmm2", 4, {0x66, 0x0f, 0xf4, 0xca}, 0, 2, 0},
	{"pmaddwd xmm1, xmm2", 4, {0x66, 0x0f, 0xf5, 0xca}, 0, 12, 0},
	{"vpsubusb ymm1, ymm2, ymm3", 4, {0xc5, 0xed, 0xd8, 0xcb}, 0, 32, 0},
	{"vpaddb zmm1, zmm2, zmm3", 6, {0x62, 0xf1, 0x6d, 0x48, 0xfc, 0xcb}, 0, 64, 0},
	{"vpdpbusd zmm1, zmm2, zmm3", 6, {0x62, 0xf2, 0x6d, 0x48, 0x50, 0xcb}, 0, 128, 0},
	{"vpaddd zmm1{k2}, zmm2, zmm3", 6, {0x62, 0xf1, 0x6d, 0x4a, 0xfe, 0xcb}, 0, 8, 0},
	{"vaddpd zmm1{k1}, zmm2, zmm3", 6, {0x62, 0xf1, 0xed, 0x49, 0x58, 0xcb}, 0, 0, 4},
	{"vaddpd zmm1{k3}, zmm2, zmm3", 6, {0x62, 0xf1, 0xed, 0x4b, 0x58, 0xcb}, 0, 0, 8},
	{"vfmadd231pd zmm1{k1}, zmm2, zmm3", 6, {0x62, 0xf2, 0xed, 0x49, 0xb8, 0xcb}, 0, 0, 8},
	{"vmulss xmm1{k5}, xmm2, xmm3", 6, {0x62, 0xf1, 0x6e, 0x0d, 0x59, 0xcb}, 0, 0, 1},
	{"vmaxpd zmm1{k1}, zmm2, zmm3", 6, {0x62, 0xf1, 0xed, 0x49, 0x5f, 0xcb}, 0, 0, 0},
};
/* clang-format on */

/* clang-format off */
static const struct also_case {
	const char *name;
	uint8_t nr_bytes, bytes[15];
	uint64_t nr_256, nr_512, nr_divisions;
} also[] = {
	{"addsd xmm1, xmm2", 4, {0xf2, 0x0f, 0x58, 0xca}, 0, 0, 0},
	{"vaddpd xmm1, xmm2, xmm3", 4, {0xc5, 0xe9, 0x58, 0xcb}, 0, 0, 0},
	{"vaddps ymm1, ymm2, ymm3", 4, {0xc5, 0xec, 0x58, 0xcb}, 8, 0, 0},
	{"vfmadd231pd zmm1, zmm2, zmm3", 6, {0x62, 0xf2, 0xed, 0x48, 0xb8, 0xcb}, 0, 16, 0},
	{"vaddpd zmm1{k1}, zmm2, zmm3", 6, {0x62, 0xf1, 0xed, 0x49, 0x58, 0xcb}, 0, 4, 0},
	{"divsd xmm1, xmm2", 4, {0xf2, 0x0f, 0x5e, 0xca}, 0, 0, 1},
	{"vsqrtss xmm1, xmm2, xmm3", 4, {0xc5, 0xea, 0x51, 0xcb}, 0, 0, 1},
	{"vdivpd ymm1, ymm2, ymm3", 4, {0xc5, 0xed, 0x5e, 0xcb}, 4, 0, 4},
	{"vsqrtpd zmm1{k1}, zmm2", 6, {0x62, 0xf1, 0xfd, 0x49, 0x51, 0xca}, 0, 4, 4},
	{"vpaddd ymm1, ymm2, ymm3", 4, {0xc5, 0xed, 0xfe, 0xcb}, 0, 0, 0},
	{"div rbx", 3, {0x48, 0xf7, 0xf3}, 0, 0, 0},
};
/* clang-format on */

TEST_OF(widths_and_divisions_are_told, NR_ELEMENTS(also))
{
	const struct also_case *tested = &also[_i];
	struct work_done done;
	struct work work;

	ck_assert_msg(work_decode(tested->bytes, tested->nr_bytes, &work), "%s", tested->name);
	do_work(&work, &registers, true, &done);
	ck_assert_msg(done.counts[STEP_FLOP_256] == tested->nr_256, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_FLOP_512] == tested->nr_512, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_DIVISIONS] == tested->nr_divisions, "%s", tested->name);
}

TEST_OF(integers_and_masked_lanes_are_told, NR_ELEMENTS(others))
{
	const struct other_case *tested = &others[_i];
	struct work_done done;
	struct work work;

	ck_assert_msg(work_decode(tested->bytes, tested->nr_bytes, &work), "%s", tested->name);
	do_work(&work, &registers, true, &done);
	ck_assert_msg(done.counts[STEP_SCALAR_INTEGER] == tested->nr_scalar, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_PACKED_INTEGER] == tested->nr_packed, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_MASKED_FLOP] == tested->nr_masked, "%s", tested->name);
}

/* What depends on vectors that cannot be read is unknown; nothing else is. */
TEST_OF(vectors_may_be_unknown, NR_ELEMENTS(cases))
{
	const struct work_case *tested = &cases[_i];
	struct work_thread thread = {&registers, NULL, NULL, NULL};
	struct work_done done;
	struct work work;

	if (tested->is_unknown || !decode(tested, &work))
		return;
	do_work(&work, &registers, false, &done);
	if (tested->reads_vectors)
		check_unknown(tested->name, &done);
	ck_assert_msg(done.is_unknown == tested->reads_vectors, "%s", tested->name);
	work_do(&work, &thread, &done);
	ck_assert_msg(done.is_unknown == tested->reads_vectors, "%s", tested->name);
}

/* Repeated 0 times; with 32-bit addresses ecx counts. */
TEST_OF(repetition_may_be_over, NR_ELEMENTS(cases))
{
	const struct work_case *tested = &cases[_i];
	struct user_regs_struct with = registers;
	const struct work_case nothing = {.name = tested->name};
	bool is_narrow = tested->bytes[0] == 0x67;
	struct work_done done;
	struct work work;

	if (tested->is_unknown || !decode(tested, &work))
		return;
	with.rcx = 0;
	do_work(&work, &with, true, &done);
	check_accesses(tested->is_repeated ? &nothing : tested, &done);
	check_counts(tested->is_repeated ? &nothing : tested, &done);
	with.rcx = UINT64_C(1) << 32;
	do_work(&work, &with, true, &done);
	check_accesses(tested->is_repeated && is_narrow ? &nothing : tested, &done);
}

TEST_OF(what_is_cut_off_is_none, NR_ELEMENTS(cases))
{
	const struct work_case *tested = &cases[_i];
	struct work work;

	for (size_t nr = 0; nr < tested->nr_bytes; nr++)
		ck_assert_msg(!work_decode(tested->bytes, nr, &work) || work.length <= nr, "%s", tested->name);
}

/* Whatever the bytes are, accesses fit and add up. */
TEST_OF(any_bytes_may_come, 8)
{
	static const uint8_t starts[] = {0, 0x62, 0xc4, 0xc5, 0x8f, 0x0f, 0x66, 0xf3};
	uint8_t bytes[INSTRUCTION_MAX_BYTES];
	int nr_known = 0;

	srand((unsigned)_i);
	for (int round = 0; round < 20000; round++) {
		uint64_t loaded = 0, stored = 0;
		struct work_done done;
		struct work work;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(rand() >> 8);
		if (starts[_i])
			bytes[0] = starts[_i];
		if (!work_decode(bytes, sizeof(bytes), &work))
			continue;
		do_work(&work, &registers, true, &done);
		ck_assert_uint_le(done.nr_accesses, WORK_MAX_ACCESSES);
		for (size_t i = 0; i < done.nr_accesses; i++) {
			ck_assert_uint_gt(done.accesses[i].bytes, 0);
			ck_assert_uint_le(done.accesses[i].bytes, 512);
			if (!done.accesses[i].flush)
				*(done.accesses[i].is_store ? &stored : &loaded) += done.accesses[i].bytes;
		}
		ck_assert_uint_eq(done.counts[STEP_LOADED_BYTES], loaded);
		ck_assert_uint_eq(done.counts[STEP_STORED_BYTES], stored);
		nr_known += !done.is_unknown;
	}
	ck_assert_int_gt(nr_known, 0);
}

UNIT_TESTS(.is_in_one_process = true);
