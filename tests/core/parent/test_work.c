/* SPDX-License-Identifier: MIT */
/* The work of an instruction, told from its bytes and the registers of the thread that executes it. */
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
/* clang-format off */
#define LOAD(address, bytes) {address, bytes, false, false, WORK_NO_FLUSH}
#define STORE(address, bytes) {address, bytes, true, false, WORK_NO_FLUSH}
#define STREAM(address, bytes) {address, bytes, true, true, WORK_NO_FLUSH}
#define FLUSH(address, how) {address, 1, false, false, how}

#define BYTES(text) sizeof(text) - 1, text
#define MEMORY(...) .accesses = {__VA_ARGS__}
#define SS(nr) .operation = STEP_SCALAR_SINGLE, .nr_operations = nr
#define SD(nr) .operation = STEP_SCALAR_DOUBLE, .nr_operations = nr
#define PS(nr) .operation = STEP_PACKED_SINGLE, .nr_operations = nr
#define PD(nr) .operation = STEP_PACKED_DOUBLE, .nr_operations = nr
#define X87(nr) .operation = STEP_X87, .nr_operations = nr
#define NOTHING .nr_operations = 0
#define VECTORS .reads_vectors = true
#define REPEATED .is_repeated = true
#define UNKNOWN .is_unknown = true
#define NEW .is_new = true

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
	{"mov rax, [rbx]", BYTES("\x48\x8b\x03"), MEMORY(LOAD(RBX, 8))},
	{"mov [rbx+8], eax", BYTES("\x89\x43\x08"), MEMORY(STORE(RBX + 8, 4))},
	{"mov al, [rbx+r8*4-1]", BYTES("\x42\x8a\x44\x83\xff"), MEMORY(LOAD(RBX + 8 * 4 - 1, 1))},
	{"mov rax, [rbx+r10*8]", BYTES("\x4a\x8b\x04\xd3"), MEMORY(LOAD(RBX - 16 * 8, 8))},
	{"mov rax, [r8*8+0x1000]", BYTES("\x4a\x8b\x04\xc5\x00\x10\x00\x00"), MEMORY(LOAD(0x1000 + 8 * 8, 8))},
	{"mov rax, [rip+0x100]", BYTES("\x48\x8b\x05\x00\x01\x00\x00"), MEMORY(LOAD(RIP + 7 + 0x100, 8))},
	{"mov dword ptr [rip+0x100], 7", BYTES("\xc7\x05\x00\x01\x00\x00\x07\x00\x00\x00"),
	 MEMORY(STORE(RIP + 10 + 0x100, 4))},
	{"mov rax, [r12]", BYTES("\x49\x8b\x04\x24"), MEMORY(LOAD(R12, 8))},
	{"mov rax, [r13]", BYTES("\x49\x8b\x45\x00"), MEMORY(LOAD(R13, 8))},
	{"mov rax, fs:[0x28]", BYTES("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"), MEMORY(LOAD(FS_BASE + 0x28, 8))},
	{"mov gs:[rbx], ax", BYTES("\x65\x66\x89\x03"), MEMORY(STORE(GS_BASE + RBX, 2))},
	{"mov rax, [r9d+r8d*2]", BYTES("\x67\x4b\x8b\x04\x41"), MEMORY(LOAD(R9_LOW + 8 * 2, 8))},
	{"mov rax, [r9d+r10d]", BYTES("\x67\x4b\x8b\x04\x11"), MEMORY(LOAD(R9_LOW - 16, 8))},
	{"mov eax, fs:[r9d]", BYTES("\x64\x67\x41\x8b\x01"), MEMORY(LOAD(FS_BASE + R9_LOW, 4))},
	{"mov rax, [eip+0x100]", BYTES("\x67\x48\x8b\x05\x00\x01\x00\x00"), MEMORY(LOAD(RIP + 8 + 0x100, 8))},
	{"mov ds:[rbx], eax", BYTES("\x89\x03"), MEMORY(STORE(RBX, 4))},
	{"movabs rax, [0x1122334455667788]", BYTES("\x48\xa1\x88\x77\x66\x55\x44\x33\x22\x11"),
	 MEMORY(LOAD(0x1122334455667788, 8))},
	{"mov eax, ds:0xffffffff80000000", BYTES("\x8b\x04\x25\x00\x00\x00\x80"),
	 MEMORY(LOAD(UINT64_C(0xffffffff80000000), 4))},
	{"addr32 mov eax, ds:[0x80000000]", BYTES("\x67\x8b\x04\x25\x00\x00\x00\x80"),
	 MEMORY(LOAD(UINT64_C(0x80000000), 4))},
	{"mov rax, rbx", BYTES("\x48\x89\xd8"), NOTHING},
	{"lea rax, [rbx+rcx*8]", BYTES("\x48\x8d\x04\xcb"), NOTHING},
	{"lea eax, [rip+0x100]", BYTES("\x8d\x05\x00\x01\x00\x00"), NOTHING},
	{"nop dword ptr [rax+rax*1]", BYTES("\x0f\x1f\x04\x00"), NOTHING},
	{"prefetcht0 [rbx]", BYTES("\x0f\x18\x0b"), NOTHING},
	{"prefetchw [rbx]", BYTES("\x0f\x0d\x0b"), NOTHING},
	{"prefetchnta [rbx+64]", BYTES("\x0f\x18\x43\x40"), NOTHING},
	/* loads and stores */
	{"add [rbx], rax", BYTES("\x48\x01\x03"), MEMORY(LOAD(RBX, 8), STORE(RBX, 8))},
	{"add rax, [rbx]", BYTES("\x48\x03\x03"), MEMORY(LOAD(RBX, 8))},
	{"cmp byte ptr [rbx], 1", BYTES("\x80\x3b\x01"), MEMORY(LOAD(RBX, 1))},
	{"lock inc dword ptr [rbx]", BYTES("\xf0\xff\x03"), MEMORY(LOAD(RBX, 4), STORE(RBX, 4))},
	{"xchg [rbx], rax", BYTES("\x48\x87\x03"), MEMORY(LOAD(RBX, 8), STORE(RBX, 8))},
	{"lock xadd [rbx], eax", BYTES("\xf0\x0f\xc1\x03"), MEMORY(LOAD(RBX, 4), STORE(RBX, 4))},
	{"lock cmpxchg [rbx], rdx", BYTES("\xf0\x48\x0f\xb1\x13"), MEMORY(LOAD(RBX, 8), STORE(RBX, 8))},
	{"lock cmpxchg16b [rbx]", BYTES("\xf0\x48\x0f\xc7\x0b"), MEMORY(LOAD(RBX, 16), STORE(RBX, 16))},
	{"cmovz rax, [rbx]", BYTES("\x48\x0f\x44\x03"), MEMORY(LOAD(RBX, 8))},
	{"setc [rbx]", BYTES("\x0f\x92\x03"), MEMORY(STORE(RBX, 1))},
	{"bts dword ptr [rbx], 3", BYTES("\x0f\xba\x2b\x03"), MEMORY(LOAD(RBX, 4), STORE(RBX, 4))},
	{"bt rax, rdx", BYTES("\x48\x0f\xa3\xd0"), NOTHING},
	{"bt [rbx], rdx", BYTES("\x48\x0f\xa3\x13"), MEMORY(LOAD(RBX + 0x8000, 8))},
	{"bts [rbx], r10d", BYTES("\x44\x0f\xab\x13"), MEMORY(LOAD(RBX - 4, 4), STORE(RBX - 4, 4))},
	{"btr [rbx], r10w", BYTES("\x66\x44\x0f\xb3\x13"), MEMORY(LOAD(RBX - 2, 2), STORE(RBX - 2, 2))},
	{"movzx eax, word ptr [rbx]", BYTES("\x0f\xb7\x03"), MEMORY(LOAD(RBX, 2))},
	{"movbe eax, [rbx]", BYTES("\x0f\x38\xf0\x03"), MEMORY(LOAD(RBX, 4))},
	{"imul rax, [rbx], 5", BYTES("\x48\x6b\x03\x05"), MEMORY(LOAD(RBX, 8))},
	{"div qword ptr [rbx]", BYTES("\x48\xf7\x33"), MEMORY(LOAD(RBX, 8))},
	/* stack */
	{"push rax", BYTES("\x50"), MEMORY(STORE(RSP - 8, 8))},
	{"push 5", BYTES("\x6a\x05"), MEMORY(STORE(RSP - 8, 8))},
	{"push ax", BYTES("\x66\x50"), MEMORY(STORE(RSP - 2, 2))},
	{"pushfq", BYTES("\x9c"), MEMORY(STORE(RSP - 8, 8))},
	{"popfq", BYTES("\x9d"), MEMORY(LOAD(RSP, 8))},
	{"push [rbx]", BYTES("\xff\x33"), MEMORY(LOAD(RBX, 8), STORE(RSP - 8, 8))},
	{"push [rsp+16]", BYTES("\xff\x74\x24\x10"), MEMORY(LOAD(RSP + 16, 8), STORE(RSP - 8, 8))},
	{"push qword ptr [r9d]", BYTES("\x67\x41\xff\x31"), MEMORY(LOAD(R9_LOW, 8), STORE(RSP - 8, 8))},
	{"pop rax", BYTES("\x58"), MEMORY(LOAD(RSP, 8))},
	{"pop qword ptr [rbx]", BYTES("\x8f\x03"), MEMORY(LOAD(RSP, 8), STORE(RBX, 8))},
	{"pop qword ptr [rsp+16]", BYTES("\x8f\x44\x24\x10"), MEMORY(LOAD(RSP, 8), STORE(RSP + 8 + 16, 8))},
	{"call .+0x100", BYTES("\xe8\xfb\x00\x00\x00"), MEMORY(STORE(RSP - 8, 8))},
	{"call rax", BYTES("\xff\xd0"), MEMORY(STORE(RSP - 8, 8))},
	{"call [rbx]", BYTES("\xff\x13"), MEMORY(LOAD(RBX, 8), STORE(RSP - 8, 8))},
	{"jmp [rbx+r8*8]", BYTES("\x42\xff\x24\xc3"), MEMORY(LOAD(RBX + 64, 8))},
	{"jmp .+0x100", BYTES("\xe9\xfb\x00\x00\x00"), NOTHING},
	{"jz .+0x10", BYTES("\x74\x0e"), NOTHING},
	{"ret", BYTES("\xc3"), MEMORY(LOAD(RSP, 8))},
	{"ret 16", BYTES("\xc2\x10\x00"), MEMORY(LOAD(RSP, 8))},
	{"rep ret", BYTES("\xf3\xc3"), MEMORY(LOAD(RSP, 8))},
	{"enter 32, 0", BYTES("\xc8\x20\x00\x00"), MEMORY(STORE(RSP - 8, 8))},
	{"enter 32, 1", BYTES("\xc8\x20\x00\x01"), MEMORY(STORE(RSP - 16, 16))},
	{"enter 32, 3", BYTES("\xc8\x20\x00\x03"), MEMORY(LOAD(RBP - 16, 16), STORE(RSP - 32, 32))},
	{"enterw 32, 1", BYTES("\x66\xc8\x20\x00\x01"), UNKNOWN},
	{"leave", BYTES("\xc9"), MEMORY(LOAD(RBP, 8))},
	/* strings */
	{"movsb", BYTES("\xa4"), MEMORY(LOAD(RSI, 1), STORE(RDI, 1))},
	{"movsq", BYTES("\x48\xa5"), MEMORY(LOAD(RSI, 8), STORE(RDI, 8))},
	{"movs dword ptr es:[rdi], dword ptr fs:[rsi]", BYTES("\x64\xa5"), MEMORY(LOAD(FS_BASE + RSI, 4),
	 STORE(RDI, 4))},
	{"rep movsb", BYTES("\xf3\xa4"), MEMORY(LOAD(RSI, 1), STORE(RDI, 1)), REPEATED},
	{"repne movsb", BYTES("\xf2\xa4"), MEMORY(LOAD(RSI, 1), STORE(RDI, 1)), REPEATED},
	{"rep stosq", BYTES("\xf3\x48\xab"), MEMORY(STORE(RDI, 8)), REPEATED},
	{"stosd", BYTES("\xab"), MEMORY(STORE(RDI, 4))},
	{"lodsw", BYTES("\x66\xad"), MEMORY(LOAD(RSI, 2))},
	{"rep lodsb", BYTES("\xf3\xac"), MEMORY(LOAD(RSI, 1)), REPEATED},
	{"repe cmpsb", BYTES("\xf3\xa6"), MEMORY(LOAD(RSI, 1), LOAD(RDI, 1)), REPEATED},
	{"repne scasb", BYTES("\xf2\xae"), MEMORY(LOAD(RDI, 1)), REPEATED},
	{"scasq", BYTES("\x48\xaf"), MEMORY(LOAD(RDI, 8))},
	{"addr32 rep stosd", BYTES("\x67\xf3\xab"), MEMORY(STORE(RDI, 4)), REPEATED},
	/* SSE */
	{"addss xmm1, xmm2", BYTES("\xf3\x0f\x58\xca"), SS(1)},
	{"addsd xmm1, [rbx]", BYTES("\xf2\x0f\x58\x0b"), SD(1), MEMORY(LOAD(RBX, 8))},
	{"subps xmm1, [rbx]", BYTES("\x0f\x5c\x0b"), PS(4), MEMORY(LOAD(RBX, 16))},
	{"mulpd xmm1, xmm2", BYTES("\x66\x0f\x59\xca"), PD(2)},
	{"divss xmm1, [rbx]", BYTES("\xf3\x0f\x5e\x0b"), SS(1), MEMORY(LOAD(RBX, 4))},
	{"sqrtpd xmm1, xmm2", BYTES("\x66\x0f\x51\xca"), PD(2)},
	{"sqrtsd xmm1, xmm2", BYTES("\xf2\x0f\x51\xca"), SD(1)},
	{"addsubps xmm1, xmm2", BYTES("\xf2\x0f\xd0\xca"), PS(4)},
	{"haddpd xmm1, xmm2", BYTES("\x66\x0f\x7c\xca"), PD(2)},
	{"hsubps xmm1, xmm2", BYTES("\xf2\x0f\x7d\xca"), PS(4)},
	{"dpps xmm1, xmm2, 0xf1", BYTES("\x66\x0f\x3a\x40\xca\xf1"), PS(7)},
	{"dpps xmm1, xmm2, 0x71", BYTES("\x66\x0f\x3a\x40\xca\x71"), PS(5)},
	{"dpps xmm1, xmm2, 0x01", BYTES("\x66\x0f\x3a\x40\xca\x01"), NOTHING},
	{"dppd xmm1, xmm2, 0x31", BYTES("\x66\x0f\x3a\x41\xca\x31"), PD(3)},
	{"movaps xmm1, [rbx]", BYTES("\x0f\x28\x0b"), MEMORY(LOAD(RBX, 16))},
	{"movss [rbx], xmm1", BYTES("\xf3\x0f\x11\x0b"), MEMORY(STORE(RBX, 4))},
	{"movsd xmm1, [rbx]", BYTES("\xf2\x0f\x10\x0b"), MEMORY(LOAD(RBX, 8))},
	{"movhps xmm1, [rbx]", BYTES("\x0f\x16\x0b"), MEMORY(LOAD(RBX, 8))},
	{"movntps [rbx], xmm1", BYTES("\x0f\x2b\x0b"), MEMORY(STREAM(RBX, 16))},
	{"movnti [rbx], rax", BYTES("\x48\x0f\xc3\x03"), MEMORY(STREAM(RBX, 8))},
	{"movntdqa xmm1, [rbx]", BYTES("\x66\x0f\x38\x2a\x0b"), MEMORY(LOAD(RBX, 16))},
	{"maskmovdqu xmm1, xmm5", BYTES("\x66\x0f\xf7\xcd"), MEMORY(STREAM(RDI, 4), STREAM(RDI + 8, 2)), VECTORS},
	{"maskmovq mm1, mm2", BYTES("\x0f\xf7\xca"), UNKNOWN},
	{"minsd xmm1, xmm2", BYTES("\xf2\x0f\x5d\xca"), NOTHING},
	{"cmpltps xmm1, [rbx]", BYTES("\x0f\xc2\x0b\x01"), MEMORY(LOAD(RBX, 16))},
	{"ucomisd xmm1, [rbx]", BYTES("\x66\x0f\x2e\x0b"), MEMORY(LOAD(RBX, 8))},
	{"cvtsi2sd xmm1, qword ptr [rbx]", BYTES("\xf2\x48\x0f\x2a\x0b"), MEMORY(LOAD(RBX, 8))},
	{"cvtps2pd xmm1, [rbx]", BYTES("\x0f\x5a\x0b"), MEMORY(LOAD(RBX, 8))},
	{"rcpps xmm1, xmm2", BYTES("\x0f\x53\xca"), NOTHING},
	{"rsqrtss xmm1, xmm2", BYTES("\xf3\x0f\x52\xca"), NOTHING},
	{"andpd xmm1, xmm2", BYTES("\x66\x0f\x54\xca"), NOTHING},
	{"shufps xmm1, [rbx], 1", BYTES("\x0f\xc6\x0b\x01"), MEMORY(LOAD(RBX, 16))},
	{"paddd xmm1, [rbx]", BYTES("\x66\x0f\xfe\x0b"), MEMORY(LOAD(RBX, 16))},
	{"roundsd xmm1, xmm2, 1", BYTES("\x66\x0f\x3a\x0b\xca\x01"), NOTHING},
	{"pinsrb xmm1, [rbx], 1", BYTES("\x66\x0f\x3a\x20\x0b\x01"), MEMORY(LOAD(RBX, 1))},
	/* AVX, FMA */
	{"vaddss xmm1, xmm2, xmm3", BYTES("\xc5\xea\x58\xcb"), SS(1)},
	{"vaddsd xmm1, xmm2, [rbx]", BYTES("\xc5\xeb\x58\x0b"), SD(1), MEMORY(LOAD(RBX, 8))},
	{"vaddps ymm1, ymm2, [rbx]", BYTES("\xc5\xec\x58\x0b"), PS(8), MEMORY(LOAD(RBX, 32))},
	{"vsubpd ymm1, ymm2, ymm3", BYTES("\xc5\xed\x5c\xcb"), PD(4)},
	{"vmulps xmm1, xmm2, xmm3", BYTES("\xc5\xe8\x59\xcb"), PS(4)},
	{"vdivpd ymm1, ymm2, [rbx]", BYTES("\xc5\xed\x5e\x0b"), PD(4), MEMORY(LOAD(RBX, 32))},
	{"vsqrtps ymm1, [rbx]", BYTES("\xc5\xfc\x51\x0b"), PS(8), MEMORY(LOAD(RBX, 32))},
	{"vsqrtsd xmm1, xmm2, xmm3", BYTES("\xc5\xeb\x51\xcb"), SD(1)},
	{"vaddsubpd ymm1, ymm2, ymm3", BYTES("\xc5\xed\xd0\xcb"), PD(4)},
	{"vhaddps ymm1, ymm2, ymm3", BYTES("\xc5\xef\x7c\xcb"), PS(8)},
	{"vdpps ymm1, ymm2, ymm3, 0xff", BYTES("\xc4\xe3\x6d\x40\xcb\xff"), PS(14)},
	{"vfmadd231pd ymm1, ymm2, [rbx]", BYTES("\xc4\xe2\xed\xb8\x0b"), PD(8), MEMORY(LOAD(RBX, 32))},
	{"vfmadd132ss xmm1, xmm2, [rbx]", BYTES("\xc4\xe2\x69\x99\x0b"), SS(2), MEMORY(LOAD(RBX, 4))},
	{"vfnmadd213sd xmm1, xmm2, xmm3", BYTES("\xc4\xe2\xe9\xad\xcb"), SD(2)},
	{"vfmsub231ps xmm1, xmm2, xmm3", BYTES("\xc4\xe2\x69\xba\xcb"), PS(8)},
	{"vfnmsub132pd xmm1, xmm2, xmm3", BYTES("\xc4\xe2\xe9\x9e\xcb"), PD(4)},
	{"vfmaddsub213ps ymm1, ymm2, ymm3", BYTES("\xc4\xe2\x6d\xa6\xcb"), PS(16)},
	{"vfmsubadd231pd ymm1, ymm2, ymm3", BYTES("\xc4\xe2\xed\xb7\xcb"), PD(8)},
	{"vfmaddps ymm1, ymm2, [rbx], ymm3", BYTES("\xc4\xe3\x6d\x68\x0b\x30"), PS(16), MEMORY(LOAD(RBX, 32))},
	{"vfnmsubsd xmm1, xmm2, xmm3, xmm4", BYTES("\xc4\xe3\xe9\x7f\xcc\x30"), SD(2)},
	{"vmovntdq [rbx], ymm1", BYTES("\xc5\xfd\xe7\x0b"), MEMORY(STREAM(RBX, 32))},
	{"vmovntdqa ymm1, [rbx]", BYTES("\xc4\xe2\x7d\x2a\x0b"), MEMORY(LOAD(RBX, 32))},
	{"vbroadcastsd ymm1, [rbx]", BYTES("\xc4\xe2\x7d\x19\x0b"), MEMORY(LOAD(RBX, 8))},
	{"vinsertf128 ymm1, ymm2, [rbx], 1", BYTES("\xc4\xe3\x6d\x18\x0b\x01"), MEMORY(LOAD(RBX, 16))},
	{"vextractf128 [rbx], ymm1, 1", BYTES("\xc4\xe3\x7d\x19\x0b\x01"), MEMORY(STORE(RBX, 16))},
	{"vmaskmovps ymm1, ymm3, [rbx]", BYTES("\xc4\xe2\x65\x2c\x0b"), MEMORY(LOAD(RBX + 0, 4), LOAD(RBX + 8, 4),
	 LOAD(RBX + 16, 4), LOAD(RBX + 24, 4)), VECTORS},
	{"vmaskmovpd [rbx], ymm4, ymm1", BYTES("\xc4\xe2\x5d\x2f\x0b"), MEMORY(STORE(RBX, 8), STORE(RBX + 24, 8)),
	 VECTORS},
	{"vpmaskmovd [rbx], xmm3, xmm1", BYTES("\xc4\xe2\x61\x8e\x0b"), MEMORY(STORE(RBX, 4), STORE(RBX + 8, 4)),
	 VECTORS},
	{"vmaskmovdqu xmm1, xmm5", BYTES("\xc5\xf9\xf7\xcd"), MEMORY(STREAM(RDI, 4), STREAM(RDI + 8, 2)), VECTORS},
	{"vmaxpd ymm1, ymm2, [rbx]", BYTES("\xc5\xed\x5f\x0b"), MEMORY(LOAD(RBX, 32))},
	{"vpermps ymm1, ymm2, [rbx]", BYTES("\xc4\xe2\x6d\x16\x0b"), MEMORY(LOAD(RBX, 32))},
	{"vcvtph2ps ymm1, [rbx]", BYTES("\xc4\xe2\x7d\x13\x0b"), MEMORY(LOAD(RBX, 16))},
	{"vzeroupper", BYTES("\xc5\xf8\x77"), NOTHING},
	{"vgatherdps ymm0, [rbx+ymm1*4], ymm3", BYTES("\xc4\xe2\x65\x92\x04\x8b"), MEMORY(LOAD(RBX, 4),
	 LOAD(RBX + 800, 4), LOAD(RBX + 1600, 4), LOAD(RBX + 2400, 4)), VECTORS},
	{"vgatherdpd ymm0, [rbx+xmm1*8], ymm4", BYTES("\xc4\xe2\xdd\x92\x04\xcb"), MEMORY(LOAD(RBX, 8),
	 LOAD(RBX - 8, 8)), VECTORS},
	{"vgatherqps xmm0, [rbx+ymm2*4+4], xmm3", BYTES("\xc4\xe2\x65\x93\x44\x93\x04"), MEMORY(LOAD(RBX + 4, 4),
	 LOAD(RBX + 4 + 8000, 4)), VECTORS},
	{"vgatherqps xmm0, [rbx+xmm2*4], xmm3", BYTES("\xc4\xe2\x61\x93\x04\x93"), MEMORY(LOAD(RBX, 4)), VECTORS},
	{"vpgatherqq ymm0, [rax+ymm2], ymm4", BYTES("\xc4\xe2\xdd\x91\x04\x10"), MEMORY(LOAD(RAX, 8),
	 LOAD(RAX + 3000, 8)), VECTORS},
	{"vpgatherdd xmm0, [r9d+xmm1*1], xmm6", BYTES("\x67\xc4\xc2\x49\x90\x04\x09"), MEMORY(LOAD(R9_LOW - 1, 4)),
	 VECTORS},
	/* AVX-512 */
	{"vaddpd zmm1, zmm2, [rbx]", BYTES("\x62\xf1\xed\x48\x58\x0b"), PD(8), MEMORY(LOAD(RBX, 64))},
	{"vaddps zmm1, zmm2, zmm3, {rd-sae}", BYTES("\x62\xf1\x6c\x38\x58\xcb"), PS(16)},
	{"vaddps zmm31, zmm30, zmm29", BYTES("\x62\x01\x0c\x40\x58\xfd"), PS(16)},
	{"vaddpd zmm1, zmm2, [rbx]{1to8}", BYTES("\x62\xf1\xed\x58\x58\x0b"), PD(8), MEMORY(LOAD(RBX, 8))},
	{"vaddpd zmm1, zmm2, [rbx+0x40]", BYTES("\x62\xf1\xed\x48\x58\x4b\x01"), PD(8), MEMORY(LOAD(RBX + 0x40, 64))},
	{"vaddpd zmm1, zmm2, [rbx+0x40]{1to8}", BYTES("\x62\xf1\xed\x58\x58\x4b\x08"), PD(8),
	 MEMORY(LOAD(RBX + 0x40, 8))},
	{"vaddsd xmm1, xmm2, [rbx+0x40]", BYTES("\xc5\xeb\x58\x4b\x40"), SD(1), MEMORY(LOAD(RBX + 0x40, 8))},
	{"vaddsd xmm17, xmm2, [rbx+0x40]", BYTES("\x62\xe1\xef\x08\x58\x4b\x08"), SD(1), MEMORY(LOAD(RBX + 0x40, 8))},
	{"vaddpd zmm1{k1}, zmm2, zmm3", BYTES("\x62\xf1\xed\x49\x58\xcb"), PD(4), VECTORS},
	{"vaddpd zmm1{k3}, zmm2, zmm3", BYTES("\x62\xf1\xed\x4b\x58\xcb"), VECTORS},
	{"vaddps zmm1{k2}, zmm2, zmm3", BYTES("\x62\xf1\x6c\x4a\x58\xcb"), PS(8), VECTORS},
	{"vsubps ymm1{k2}{z}, ymm2, ymm3", BYTES("\x62\xf1\x6c\xaa\x5c\xcb"), PS(4), VECTORS},
	{"vmulpd xmm1{k5}, xmm2, xmm3", BYTES("\x62\xf1\xed\x0d\x59\xcb"), PD(1), VECTORS},
	{"vmulss xmm1{k5}, xmm2, xmm3", BYTES("\x62\xf1\x6e\x0d\x59\xcb"), VECTORS},
	{"vmulss xmm1{k6}, xmm2, [rbx]", BYTES("\x62\xf1\x6e\x0e\x59\x0b"), SS(1), MEMORY(LOAD(RBX, 4)), VECTORS},
	{"vmulss xmm1{k5}, xmm2, [rbx]", BYTES("\x62\xf1\x6e\x0d\x59\x0b"), VECTORS},
	{"vsqrtsd xmm1{k1}{z}, xmm2, [rbx]", BYTES("\x62\xf1\xef\x89\x51\x0b"), SD(1), MEMORY(LOAD(RBX, 8)), VECTORS},
	{"vaddpd zmm1{k1}, zmm2, [rbx]", BYTES("\x62\xf1\xed\x49\x58\x0b"), PD(4), MEMORY(LOAD(RBX, 32)), VECTORS},
	{"vaddpd zmm1{k1}{z}, zmm2, [rbx]", BYTES("\x62\xf1\xed\xc9\x58\x0b"), PD(4), MEMORY(LOAD(RBX, 32)), VECTORS},
	{"vdivps zmm1{k7}, zmm2, [rbx]", BYTES("\x62\xf1\x6c\x4f\x5e\x0b"), PS(8), MEMORY(LOAD(RBX + 32, 32)), VECTORS},
	{"vfmadd231pd zmm1{k2}, zmm2, [rbx]", BYTES("\x62\xf2\xed\x4a\xb8\x0b"), PD(8), MEMORY(LOAD(RBX, 8),
	 LOAD(RBX + 16, 8), LOAD(RBX + 40, 8), LOAD(RBX + 56, 8)), VECTORS},
	{"vfmadd231ps zmm1{k1}, zmm2, [rbx]{1to16}", BYTES("\x62\xf2\x6d\x59\xb8\x0b"), PS(8), MEMORY(LOAD(RBX, 4)),
	 VECTORS},
	{"vfmadd213sd xmm1{k6}, xmm2, xmm3", BYTES("\x62\xf2\xed\x0e\xa9\xcb"), SD(2), VECTORS},
	{"vaddps zmm1{k3}, zmm2, [rbx]{1to16}", BYTES("\x62\xf1\x6c\x5b\x58\x0b"), VECTORS},
	{"vmovapd zmm1{k1}, [rbx]", BYTES("\x62\xf1\xfd\x49\x28\x0b"), MEMORY(LOAD(RBX, 32)), VECTORS},
	{"vmovupd [rbx]{k1}, zmm1", BYTES("\x62\xf1\xfd\x49\x11\x0b"), MEMORY(STORE(RBX, 32)), VECTORS},
	{"vmovupd [rbx]{k3}, zmm1", BYTES("\x62\xf1\xfd\x4b\x11\x0b"), VECTORS},
	{"vmovdqu8 [rbx]{k4}, zmm1", BYTES("\x62\xf1\x7f\x4c\x7f\x0b"), MEMORY(STORE(RBX, 64)), VECTORS},
	{"vmovdqu8 zmm1{k2}{z}, [rbx]", BYTES("\x62\xf1\x7f\xca\x6f\x0b"), MEMORY(LOAD(RBX, 1), LOAD(RBX + 2, 1),
	 LOAD(RBX + 5, 1), LOAD(RBX + 7, 2), LOAD(RBX + 10, 1), LOAD(RBX + 13, 1), LOAD(RBX + 15, 2), LOAD(RBX + 18, 1),
	 LOAD(RBX + 21, 1), LOAD(RBX + 23, 2), LOAD(RBX + 26, 1), LOAD(RBX + 29, 1), LOAD(RBX + 31, 2),
	 LOAD(RBX + 34, 1), LOAD(RBX + 37, 1), LOAD(RBX + 39, 2), LOAD(RBX + 42, 1), LOAD(RBX + 45, 1),
	 LOAD(RBX + 47, 2), LOAD(RBX + 50, 1), LOAD(RBX + 53, 1), LOAD(RBX + 55, 2), LOAD(RBX + 58, 1),
	 LOAD(RBX + 61, 1), LOAD(RBX + 63, 1)), VECTORS},
	{"vmovdqu16 [rbx+0x40]{k7}, ymm1", BYTES("\x62\xf1\xff\x2f\x7f\x4b\x02"), MEMORY(STORE(RBX + 0x40 + 16, 16)),
	 VECTORS},
	{"vmovdqa32 zmm1, [rbx]", BYTES("\x62\xf1\x7d\x48\x6f\x0b"), MEMORY(LOAD(RBX, 64))},
	{"vmovss [rbx]{k5}, xmm1", BYTES("\x62\xf1\x7e\x0d\x11\x0b"), VECTORS},
	{"vmovss [rbx]{k6}, xmm1", BYTES("\x62\xf1\x7e\x0e\x11\x0b"), MEMORY(STORE(RBX, 4)), VECTORS},
	{"vmovsd xmm1{k6}, [rbx]", BYTES("\x62\xf1\xff\x0e\x10\x0b"), MEMORY(LOAD(RBX, 8)), VECTORS},
	{"vbroadcastss zmm1{k7}, [rbx]", BYTES("\x62\xf2\x7d\x4f\x18\x0b"), MEMORY(LOAD(RBX, 4)), VECTORS},
	{"vbroadcastss zmm1{k3}, [rbx]", BYTES("\x62\xf2\x7d\x4b\x18\x0b"), VECTORS},
	{"vbroadcastss xmm1{k7}, [rbx]", BYTES("\x62\xf2\x7d\x0f\x18\x0b"), VECTORS},
	{"vbroadcastf32x4 zmm1{k7}, [rbx]", BYTES("\x62\xf2\x7d\x4f\x1a\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vbroadcasti64x2 zmm1{k5}, [rbx]", BYTES("\x62\xf2\xfd\x4d\x5a\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vbroadcastf64x4 zmm1{k6}, [rbx]", BYTES("\x62\xf2\xfd\x4e\x1b\x0b"), MEMORY(LOAD(RBX, 8)), VECTORS},
	{"vpbroadcastb zmm1{k1}, [rbx]", BYTES("\x62\xf2\x7d\x49\x78\x0b"), MEMORY(LOAD(RBX, 1)), VECTORS},
	{"vcvtps2pd zmm1{k1}, [rbx]", BYTES("\x62\xf1\x7c\x49\x5a\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vcvtpd2ps xmm1{k7}, [rbx]{1to2}", BYTES("\x62\xf1\xfd\x1f\x5a\x0b"), VECTORS},
	{"vpmovzxbd zmm1{k7}, [rbx]", BYTES("\x62\xf2\x7d\x4f\x31\x0b"), MEMORY(LOAD(RBX + 8, 8)), VECTORS},
	{"vpmovqb [rbx]{k1}, zmm1", BYTES("\x62\xf2\x7e\x49\x32\x0b"), MEMORY(STORE(RBX, 4)), VECTORS},
	{"vpmovdw [rbx], zmm1", BYTES("\x62\xf2\x7e\x48\x33\x0b"), MEMORY(STORE(RBX, 32))},
	{"vcvtps2ph [rbx]{k7}, zmm1, 0", BYTES("\x62\xf3\x7d\x4f\x1d\x0b\x00"), MEMORY(STORE(RBX + 16, 16)), VECTORS},
	{"vextractf32x4 [rbx]{k1}, zmm1, 1", BYTES("\x62\xf3\x7d\x49\x19\x0b\x01"), MEMORY(STORE(RBX, 16)), VECTORS},
	{"vinsertf32x4 zmm1{k3}, zmm2, [rbx], 1", BYTES("\x62\xf3\x6d\x4b\x18\x0b\x01"), MEMORY(LOAD(RBX, 16))},
	{"vpermps zmm1{k3}, zmm2, [rbx]", BYTES("\x62\xf2\x6d\x4b\x16\x0b"), MEMORY(LOAD(RBX, 64))},
	{"vshufps zmm1{k1}, zmm2, [rbx], 1", BYTES("\x62\xf1\x6c\x49\xc6\x0b\x01"), MEMORY(LOAD(RBX, 64))},
	{"vpermq zmm1, zmm2, [rbx]{1to8}", BYTES("\x62\xf2\xed\x58\x36\x0b"), MEMORY(LOAD(RBX, 8))},
	{"vpslld zmm1{k3}, zmm2, [rbx]", BYTES("\x62\xf1\x6d\x4b\xf2\x0b"), MEMORY(LOAD(RBX, 16))},
	{"vdbpsadbw zmm1{k1}, zmm2, [rbx], 1", BYTES("\x62\xf3\x6d\x49\x42\x0b\x01"), MEMORY(LOAD(RBX, 64))},
	{"vgf2p8affineqb zmm1{k3}, zmm2, [rbx]{1to8}, 1", BYTES("\x62\xf3\xed\x5b\xce\x0b\x01"), MEMORY(LOAD(RBX, 8))},
	{"vblendmps zmm1{k1}, zmm2, [rbx]", BYTES("\x62\xf2\x6d\x49\x65\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vcmpps k1{k7}, zmm2, [rbx], 1", BYTES("\x62\xf1\x6c\x4f\xc2\x0b\x01"), MEMORY(LOAD(RBX + 32, 32)), VECTORS},
	{"vcmpsd k1{k5}, xmm2, [rbx], 1", BYTES("\x62\xf1\xef\x0d\xc2\x0b\x01"), VECTORS},
	{"vptestmd k1{k1}, zmm2, [rbx]{1to16}", BYTES("\x62\xf2\x6d\x59\x27\x0b"), MEMORY(LOAD(RBX, 4)), VECTORS},
	{"vpdpbusd zmm1{k1}, zmm2, [rbx]", BYTES("\x62\xf2\x6d\x49\x50\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vpaddd zmm1{k1}, zmm2, [rbx]", BYTES("\x62\xf1\x6d\x49\xfe\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vpternlogd zmm1{k1}, zmm2, [rbx], 5", BYTES("\x62\xf3\x6d\x49\x25\x0b\x05"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vcompresspd [rbx]{k2}, zmm1", BYTES("\x62\xf2\xfd\x4a\x8a\x0b"), MEMORY(STORE(RBX, 32)), VECTORS},
	{"vcompresspd [rbx], zmm1", BYTES("\x62\xf2\xfd\x48\x8a\x0b"), MEMORY(STORE(RBX, 64))},
	{"vpcompressb [rbx]{k1}, zmm1", BYTES("\x62\xf2\x7d\x49\x63\x0b"), MEMORY(STORE(RBX, 4)), VECTORS},
	{"vpcompressd [rbx]{k3}, zmm1", BYTES("\x62\xf2\x7d\x4b\x8b\x0b"), VECTORS},
	{"vexpandps zmm1{k2}{z}, [rbx]", BYTES("\x62\xf2\x7d\xca\x88\x0b"), MEMORY(LOAD(RBX, 32)), VECTORS},
	{"vpexpandw ymm1{k7}, [rbx]", BYTES("\x62\xf2\xfd\x2f\x62\x0b"), MEMORY(LOAD(RBX, 16)), VECTORS},
	{"vgatherdps zmm0{k1}, [rbx+zmm1*4]", BYTES("\x62\xf2\x7d\x49\x92\x04\x8b"), MEMORY(LOAD(RBX, 4),
	 LOAD(RBX + 400, 4), LOAD(RBX + 800, 4), LOAD(RBX - 4, 4)), VECTORS},
	{"vgatherqpd zmm0{k6}, [rbx+zmm2*8+0x40]", BYTES("\x62\xf2\xfd\x4e\x93\x44\xd3\x08"),
	 MEMORY(LOAD(RBX + 0x40, 8)), VECTORS},
	{"vpgatherdq zmm0{k2}, [rbx+ymm20]", BYTES("\x62\xf2\xfd\x42\x90\x04\x23"), MEMORY(LOAD(RBX, 8),
	 LOAD(RBX + 16, 8), LOAD(RBX + 40, 8), LOAD(RBX + 56, 8)), VECTORS},
	{"vscatterdpd [rbx+ymm20*8]{k1}, zmm1", BYTES("\x62\xf2\xfd\x41\xa2\x0c\xe3"), MEMORY(STORE(RBX + 0, 8),
	 STORE(RBX + 64, 8), STORE(RBX + 128, 8), STORE(RBX + 192, 8)), VECTORS},
	{"vpscatterqd [rbx+zmm2]{k1}, ymm1", BYTES("\x62\xf2\x7d\x49\xa1\x0c\x13"), MEMORY(STORE(RBX, 4),
	 STORE(RBX - 2, 4), STORE(RBX + 2000, 4), STORE(RBX + 3000, 4)), VECTORS},
	{"vscatterdps [rbx+zmm1*4]{k3}, zmm0", BYTES("\x62\xf2\x7d\x4b\xa2\x04\x8b"), VECTORS},
	{"vgatherpf0dps [rbx+zmm1*4]{k1}", BYTES("\x62\xf2\x7d\x49\xc6\x0c\x8b"), NOTHING},
	{"vmovntpd [rbx], zmm1", BYTES("\x62\xf1\xfd\x48\x2b\x0b"), MEMORY(STREAM(RBX, 64))},
	{"kmovq k1, [rbx]", BYTES("\xc4\xe1\xf8\x90\x0b"), MEMORY(LOAD(RBX, 8))},
	{"kmovw [rbx], k1", BYTES("\xc5\xf8\x91\x0b"), MEMORY(STORE(RBX, 2))},
	{"vrcp14pd zmm1, [rbx]", BYTES("\x62\xf2\xfd\x48\x4c\x0b"), MEMORY(LOAD(RBX, 64))},
	{"vrsqrt14ss xmm1, xmm2, xmm3", BYTES("\x62\xf2\x6d\x08\x4f\xcb"), NOTHING},
	{"vscalefpd zmm1, zmm2, zmm3", BYTES("\x62\xf2\xed\x48\x2c\xcb"), NOTHING},
	{"vrndscaleps zmm1, zmm2, 1", BYTES("\x62\xf3\x7d\x48\x08\xca\x01"), NOTHING},
	{"vaddph zmm1, zmm2, zmm3", BYTES("\x62\xf5\x6c\x48\x58\xcb"), NEW},
	{"vfmadd231ph zmm1, zmm2, [rbx]", BYTES("\x62\xf6\x6d\x48\xb8\x0b"), MEMORY(LOAD(RBX, 64)), NEW},
	{"vdpbf16ps zmm1, zmm2, [rbx]", BYTES("\x62\xf2\x6e\x48\x52\x0b"), MEMORY(LOAD(RBX, 64))},
	{"v4fmaddps zmm0, zmm4, [rbx]", BYTES("\x62\xf2\x5f\x48\x9a\x03"), UNKNOWN},
	/* x87 */
	{"fadd st, st(2)", BYTES("\xd8\xc2"), X87(1)},
	{"fadd qword ptr [rbx]", BYTES("\xdc\x03"), X87(1), MEMORY(LOAD(RBX, 8))},
	{"faddp", BYTES("\xde\xc1"), X87(1)},
	{"fiadd word ptr [rbx]", BYTES("\xde\x03"), X87(1), MEMORY(LOAD(RBX, 2))},
	{"fsub dword ptr [rbx]", BYTES("\xd8\x23"), X87(1), MEMORY(LOAD(RBX, 4))},
	{"fsubp", BYTES("\xde\xe9"), X87(1)},
	{"fsubr st, st(1)", BYTES("\xd8\xe9"), X87(1)},
	{"fsubrp", BYTES("\xde\xe1"), X87(1)},
	{"fisubr dword ptr [rbx]", BYTES("\xda\x2b"), X87(1), MEMORY(LOAD(RBX, 4))},
	{"fmul st(1), st", BYTES("\xdc\xc9"), X87(1)},
	{"fmulp", BYTES("\xde\xc9"), X87(1)},
	{"fimul dword ptr [rbx]", BYTES("\xda\x0b"), X87(1), MEMORY(LOAD(RBX, 4))},
	{"fdiv qword ptr [rbx]", BYTES("\xdc\x33"), X87(1), MEMORY(LOAD(RBX, 8))},
	{"fdivrp", BYTES("\xde\xf1"), X87(1)},
	{"fidivr word ptr [rbx]", BYTES("\xde\x3b"), X87(1), MEMORY(LOAD(RBX, 2))},
	{"fsqrt", BYTES("\xd9\xfa"), X87(1)},
	{"fld tbyte ptr [rbx]", BYTES("\xdb\x2b"), MEMORY(LOAD(RBX, 10))},
	{"fstp qword ptr [rbx]", BYTES("\xdd\x1b"), MEMORY(STORE(RBX, 8))},
	{"fild qword ptr [rbx]", BYTES("\xdf\x2b"), MEMORY(LOAD(RBX, 8))},
	{"fcomi st, st(1)", BYTES("\xdb\xf1"), NOTHING},
	{"fsin", BYTES("\xd9\xfe"), NOTHING},
	{"fprem", BYTES("\xd9\xf8"), NOTHING},
	{"fchs", BYTES("\xd9\xe0"), NOTHING},
	{"fnstcw [rbx]", BYTES("\xd9\x3b"), MEMORY(STORE(RBX, 2))},
	{"fnstenv [rbx]", BYTES("\xd9\x33"), MEMORY(STORE(RBX, 28))},
	/* others */
	{"syscall", BYTES("\x0f\x05"), NOTHING},
	{"cpuid", BYTES("\x0f\xa2"), NOTHING},
	{"rdtsc", BYTES("\x0f\x31"), NOTHING},
	{"mfence", BYTES("\x0f\xae\xf0"), NOTHING},
	{"bndmov bnd0, [rbx]", BYTES("\x66\x0f\x1a\x03"), NOTHING},
	{"endbr64", BYTES("\xf3\x0f\x1e\xfa"), NOTHING},
	{"ldmxcsr [rbx]", BYTES("\x0f\xae\x13"), MEMORY(LOAD(RBX, 4))},
	{"stmxcsr [rbx]", BYTES("\x0f\xae\x1b"), MEMORY(STORE(RBX, 4))},
	{"movdir64b rax, [rbx]", BYTES("\x66\x0f\x38\xf8\x03"), MEMORY(LOAD(RBX, 64), STREAM(RAX, 64))},
	{"movdiri [rbx], eax", BYTES("\x0f\x38\xf9\x03"), MEMORY(STREAM(RBX, 4))},
	/* edx and eax ask for no component that is enabled */
	{"xsave [rbx]", BYTES("\x0f\xae\x23"), MEMORY(LOAD(RBX + 512, 8), STORE(RBX + 512, 8)), VECTORS},
	{"xsavec64 [rbx]", BYTES("\x48\x0f\xc7\x23"), MEMORY(STORE(RBX + 512, 16)), VECTORS},
	{"xrstor [rbx]", BYTES("\x0f\xae\x2b"), MEMORY(LOAD(RBX + 512, 64)), VECTORS},
	{"xsaveopt [rbx]", BYTES("\x0f\xae\x33"), UNKNOWN},
	{"xsaves [rbx]", BYTES("\x0f\xc7\x2b"), UNKNOWN},
	{"fxsave [rbx]", BYTES("\x0f\xae\x03"), MEMORY(STORE(RBX, 512))},
	{"fxrstor64 [rbx]", BYTES("\x48\x0f\xae\x0b"), MEMORY(LOAD(RBX, 512))},
	{"clflush [rbx]", BYTES("\x0f\xae\x3b"), MEMORY(FLUSH(RBX, WORK_EVICT))},
	{"clflushopt [rbx]", BYTES("\x66\x0f\xae\x3b"), MEMORY(FLUSH(RBX, WORK_EVICT))},
	{"clwb [rbx]", BYTES("\x66\x0f\xae\x33"), MEMORY(FLUSH(RBX, WORK_CLEAN))},
	{"clzero", BYTES("\x0f\x01\xfc"), MEMORY(STREAM(RAX, 64))},
	{"xlatb", BYTES("\xd7"), MEMORY(LOAD(RBX, 1))},
	{"fs xlatb", BYTES("\x64\xd7"), MEMORY(LOAD(FS_BASE + RBX, 1))},
	{"int3", BYTES("\xcc"), NOTHING},
	{"int 0x80", BYTES("\xcd\x80"), NOTHING},
	{"iretq", BYTES("\x48\xcf"), UNKNOWN},
	{"retf", BYTES("\xcb"), UNKNOWN},
	{"call fword ptr [rbx]", BYTES("\xff\x1b"), UNKNOWN},
	{"in al, dx", BYTES("\xec"), UNKNOWN},
	{"hlt", BYTES("\xf4"), UNKNOWN},
	{"ud2", BYTES("\x0f\x0b"), UNKNOWN},
	{"tileloadd tmm0, [rbx+rax]", BYTES("\xc4\xe2\x7b\x4b\x04\x03"), UNKNOWN},
	{"pfadd mm0, mm1", BYTES("\x0f\x0f\xc1\x9e"), UNKNOWN},
	{"insb", BYTES("\x6c"), UNKNOWN},
};
/* clang-format on */

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

/* The contents before are of no influence. */
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
	{"add rax, rbx", BYTES("\x48\x01\xd8"), 1, 0, 0},
	{"lock xadd [rbx], rax", BYTES("\xf0\x48\x0f\xc1\x03"), 1, 0, 0},
	{"dec cl", BYTES("\xfe\xc9"), 1, 0, 0},
	{"neg rax", BYTES("\x48\xf7\xd8"), 1, 0, 0},
	{"imul rax, rbx", BYTES("\x48\x0f\xaf\xc3"), 1, 0, 0},
	{"div rbx", BYTES("\x48\xf7\xf3"), 1, 0, 0},
	{"lea rax, [rbx+rcx*8]", BYTES("\x48\x8d\x04\xcb"), 0, 0, 0},
	{"cmp rax, rbx", BYTES("\x48\x39\xd8"), 0, 0, 0},
	{"and rax, rbx", BYTES("\x48\x21\xd8"), 0, 0, 0},
	{"shl rax, 1", BYTES("\x48\xd1\xe0"), 0, 0, 0},
	{"paddw mm1, mm2", BYTES("\x0f\xfd\xca"), 0, 4, 0},
	{"paddd xmm1, xmm2", BYTES("\x66\x0f\xfe\xca"), 0, 4, 0},
	{"psadbw xmm1, xmm2", BYTES("\x66\x0f\xf6\xca"), 0, 0, 0},
	{"pmuludq xmm1, xmm2", BYTES("\x66\x0f\xf4\xca"), 0, 2, 0},
	{"pmaddwd xmm1, xmm2", BYTES("\x66\x0f\xf5\xca"), 0, 12, 0},
	{"vpsubusb ymm1, ymm2, ymm3", BYTES("\xc5\xed\xd8\xcb"), 0, 32, 0},
	{"vpaddb zmm1, zmm2, zmm3", BYTES("\x62\xf1\x6d\x48\xfc\xcb"), 0, 64, 0},
	{"vpdpbusd zmm1, zmm2, zmm3", BYTES("\x62\xf2\x6d\x48\x50\xcb"), 0, 128, 0},
	{"vpaddd zmm1{k2}, zmm2, zmm3", BYTES("\x62\xf1\x6d\x4a\xfe\xcb"), 0, 8, 0},
	{"vaddpd zmm1{k1}, zmm2, zmm3", BYTES("\x62\xf1\xed\x49\x58\xcb"), 0, 0, 4},
	{"vaddpd zmm1{k3}, zmm2, zmm3", BYTES("\x62\xf1\xed\x4b\x58\xcb"), 0, 0, 8},
	{"vfmadd231pd zmm1{k1}, zmm2, zmm3", BYTES("\x62\xf2\xed\x49\xb8\xcb"), 0, 0, 8},
	{"vmulss xmm1{k5}, xmm2, xmm3", BYTES("\x62\xf1\x6e\x0d\x59\xcb"), 0, 0, 1},
	{"vmaxpd zmm1{k1}, zmm2, zmm3", BYTES("\x62\xf1\xed\x49\x5f\xcb"), 0, 0, 0},
};
/* clang-format on */

/* clang-format off */
static const struct also_case {
	const char *name;
	uint8_t nr_bytes, bytes[15];
	uint64_t nr_256, nr_512, nr_divisions, nr_integer_divisions, nr_converted, nr_gathered;
} also[] = {
	{"addsd xmm1, xmm2", 4, {0xf2, 0x0f, 0x58, 0xca}, 0, 0, 0, 0, 0, 0},
	{"vaddpd xmm1, xmm2, xmm3", 4, {0xc5, 0xe9, 0x58, 0xcb}, 0, 0, 0, 0, 0, 0},
	{"vaddps ymm1, ymm2, ymm3", 4, {0xc5, 0xec, 0x58, 0xcb}, 8, 0, 0, 0, 0, 0},
	{"vfmadd231pd zmm1, zmm2, zmm3", 6, {0x62, 0xf2, 0xed, 0x48, 0xb8, 0xcb}, 0, 16, 0, 0, 0, 0},
	{"vaddpd zmm1{k1}, zmm2, zmm3", 6, {0x62, 0xf1, 0xed, 0x49, 0x58, 0xcb}, 0, 4, 0, 0, 0, 0},
	{"divsd xmm1, xmm2", 4, {0xf2, 0x0f, 0x5e, 0xca}, 0, 0, 1, 0, 0, 0},
	{"vsqrtss xmm1, xmm2, xmm3", 4, {0xc5, 0xea, 0x51, 0xcb}, 0, 0, 1, 0, 0, 0},
	{"vdivpd ymm1, ymm2, ymm3", 4, {0xc5, 0xed, 0x5e, 0xcb}, 4, 0, 4, 0, 0, 0},
	{"vsqrtpd zmm1{k1}, zmm2", 6, {0x62, 0xf1, 0xfd, 0x49, 0x51, 0xca}, 0, 4, 4, 0, 0, 0},
	{"vpaddd ymm1, ymm2, ymm3", 4, {0xc5, 0xed, 0xfe, 0xcb}, 0, 0, 0, 0, 0, 0},
	{"div rbx", 3, {0x48, 0xf7, 0xf3}, 0, 0, 0, 1, 0, 0},
	{"idiv ecx", 2, {0xf7, 0xf9}, 0, 0, 0, 1, 0, 0},
	{"imul rax, rcx", 4, {0x48, 0x0f, 0xaf, 0xc1}, 0, 0, 0, 0, 0, 0},
	{"cvtsi2sd xmm1, rax", 5, {0xf2, 0x48, 0x0f, 0x2a, 0xc8}, 0, 0, 0, 0, 1, 0},
	{"cvttsd2si eax, xmm1", 4, {0xf2, 0x0f, 0x2c, 0xc1}, 0, 0, 0, 0, 1, 0},
	{"cvtss2sd xmm1, [rsi]", 4, {0xf3, 0x0f, 0x5a, 0x0e}, 0, 0, 0, 0, 1, 0},
	{"cvtps2pd xmm1, xmm2", 3, {0x0f, 0x5a, 0xca}, 0, 0, 0, 0, 2, 0},
	{"vcvtpd2ps xmm1, ymm2", 4, {0xc5, 0xfd, 0x5a, 0xca}, 0, 0, 0, 0, 4, 0},
	{"vcvtdq2ps ymm1, ymm2", 4, {0xc5, 0xfc, 0x5b, 0xca}, 0, 0, 0, 0, 8, 0},
	{"vcvttpd2dq xmm1, ymm2", 4, {0xc5, 0xfd, 0xe6, 0xca}, 0, 0, 0, 0, 4, 0},
	{"vcvtqq2pd zmm1, zmm2", 6, {0x62, 0xf1, 0xfe, 0x48, 0xe6, 0xca}, 0, 0, 0, 0, 8, 0},
	{"vcvtps2ph xmm1, ymm2, 0", 6, {0xc4, 0xe3, 0x7d, 0x1d, 0xd1, 0x00}, 0, 0, 0, 0, 8, 0},
	{"vgatherqps xmm0, [rbx+xmm2*4], xmm3", 6, {0xc4, 0xe2, 0x61, 0x93, 0x04, 0x93}, 0, 0, 0, 0, 0, 4},
	{"vmovups xmm0, [rbx]", 4, {0xc5, 0xf8, 0x10, 0x03}, 0, 0, 0, 0, 0, 0},
};
/* clang-format on */

TEST_OF(widths_divisions_and_conversions_are_told, NR_ELEMENTS(also))
{
	const struct also_case *tested = &also[_i];
	struct work_done done;
	struct work work;

	ck_assert_msg(work_decode(tested->bytes, tested->nr_bytes, &work), "%s", tested->name);
	do_work(&work, &registers, true, &done);
	ck_assert_msg(done.counts[STEP_FLOP_256] == tested->nr_256, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_FLOP_512] == tested->nr_512, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_DIVISIONS] == tested->nr_divisions, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_INTEGER_DIVISIONS] == tested->nr_integer_divisions, "%s", tested->name);
	ck_assert_msg(done.counts[STEP_CONVERSIONS] == tested->nr_converted, "%s: %d", tested->name,
		      (int)done.counts[STEP_CONVERSIONS]);
	ck_assert_msg(done.counts[STEP_GATHERED_BYTES] == tested->nr_gathered, "%s", tested->name);
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

/* Work that depends on vectors that cannot be read is unknown; nothing else is. */
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
