/* SPDX-License-Identifier: MIT */
/* The kernels' definitions tell their work, and what they refuse, on the fixture's machine. */
#include "engine/kernel_work.h"
#include "fixture.h"
#include "testing.h"

#define KIB 1024.0
#define MIB 1048576.0

/* ---- transferred bytes ---- */

static const struct {
	const char *kernel, *fields, *border;
	double read, written;
} transfers[] = {
	{"Dummy", "", "llcRam", 0, 0},
	/* a cycle of 1024 lines, followed four times; and one that is longer than what is read of it */
	{"Chase", "bufferSize=65536 accesses=4096", "llcRam", 64 * KIB, 0},
	{"Chase", "bufferSize=65536 accesses=4096", "l1l2", 256 * KIB, 0},
	{"Chase", "bufferSize=65536 accesses=4096 warmData=true", "l2l3", 0, 0},
	{"Chase", "bufferSize=67108864 accesses=4096 chains=4 warmData=true", "llcRam", 1 * MIB, 0},
	{"Chase", "bufferSize=524288 accesses=512", "l2l3", 32 * KIB, 0},
	{"Arithmetic", "", "l1l2", 0, 0},
	/* cold: all is read; a third of the cache holds back what is written */
	{"Triad", "bufferSize=10000", "llcRam", 240000, 0},
	{"Triad", "bufferSize=10000", "l2l3", 240000, 0},
	{"Triad", "bufferSize=10000", "l1l2", 240000, 80000 - 32 * KIB / 3},
	{"Triad", "bufferSize=4194304", "llcRam", 96 * MIB, 32 * MIB - 32 * MIB / 3},
	/* warm: what fits is not read */
	{"Triad", "bufferSize=10000 warmData=true", "llcRam", 0, 0},
	{"Triad", "bufferSize=10000 warmData=true", "l2l3", 0, 0},
	{"Triad", "bufferSize=10000 warmData=true", "l1l2", 240000, 80000 - 32 * KIB / 3},
	{"Triad", "bufferSize=4194304 warmData=true", "llcRam", 96 * MIB, 32 * MIB - 32 * MIB / 3},
	{"Memory", "bufferSize=65536 iterations=10", "llcRam", 64 * KIB, 0},
	{"Memory", "bufferSize=65536 iterations=10", "l1l2", 640 * KIB, 0},
	{"Memory", "bufferSize=65536 iterations=10 warmData=true", "l2l3", 0, 0},
	{"Memory", "bufferSize=67108864 iterations=3 warmData=true", "llcRam", 192 * MIB, 0},
	{"Memory", "operation=WRITE bufferSize=65536 iterations=10", "llcRam", 64 * KIB, 0},
	{"Memory", "operation=WRITE bufferSize=65536 iterations=10", "l1l2", 640 * KIB, 608 * KIB},
	{"Memory", "operation=WRITE bufferSize=67108864", "llcRam", 64 * MIB, 32 * MIB},
	{"Memory", "operation=WRITE_NT bufferSize=65536 iterations=10", "llcRam", 0, 640 * KIB},
	{"Memory", "operation=COPY bufferSize=67108864", "llcRam", 64 * MIB, 16 * MIB},
	{"Memory", "operation=COPY bufferSize=65536 iterations=10", "l1l2", 640 * KIB, 304 * KIB},
	{"Memory", "operation=COPY bufferSize=65536 iterations=10 warmData=true", "l2l3", 0, 0},
	{"Memory", "operation=COPY bufferSize=65536 iterations=10", "cpuL1", 320 * KIB, 320 * KIB},
	{"Memory", "operation=COPY_NT bufferSize=67108864 iterations=2 warmData=true", "llcRam", 0, 64 * MIB},
	{"Memory", "operation=COPY_NT bufferSize=134217728 iterations=2", "llcRam", 128 * MIB, 128 * MIB},
	{"Memory", "operation=UPDATE bufferSize=65536 iterations=10", "l1l2", 640 * KIB, 608 * KIB},
	{"Memory", "operation=UPDATE bufferSize=65536 iterations=10", "cpuL1", 640 * KIB, 640 * KIB},
	{"Memory", "operation=TRIAD bufferSize=50331648", "llcRam", 48 * MIB, 16 * MIB - 32 * MIB / 3},
	{"Memory", "operation=TRIAD bufferSize=24576 iterations=10", "cpuL1", 160 * KIB, 80 * KIB},
	{"Memory", "operation=TRIAD_NT bufferSize=201326592", "llcRam", 128 * MIB, 64 * MIB},
	{"Memory", "operation=LOAD2_STORE bufferSize=24576", "cpuL1", 16 * KIB, 8 * KIB},
	{"Memory", "operation=WRITE bufferSize=24576", "cpuL1", 0, 24 * KIB},
	{"Memory", "operation=RANDOM_LOAD bufferSize=65536 iterations=10", "cpuL1", 80 * KIB, 0},
	{"Memory", "bufferSize=67108864", "llcRam", 64 * MIB, 0},
	{"Memory", "operation=WRITE_NT bufferSize=65536 iterations=10", "l2l3", 0, 0},
	{"Memory", "operation=RANDOM_READ bufferSize=67108864 iterations=3", "llcRam", 96 * MIB, 0},
	{"Memory", "operation=RANDOM_READ bufferSize=65536 iterations=40", "l2l3", 64 * KIB, 0},
	{"Memory", "operation=RANDOM_READ bufferSize=65536 iterations=40 warmData=true", "l2l3", 0, 0},
	{"Vector", "operation=AXPY length=1024 iterations=10", "cpuL1", 160 * KIB, 80 * KIB},
	{"Vector", "operation=COPY length=1024 iterations=10 precision=FLOAT", "cpuL1", 40 * KIB, 40 * KIB},
	{"Vector", "operation=AXPY length=1024 iterations=10", "l1l2", 16 * KIB, 0},
	{"Vector", "operation=AXPY length=1024 iterations=10 warmData=true", "l1l2", 0, 0},
	{"Vector", "operation=AXPY length=4096 iterations=10 warmData=true", "l1l2", 640 * KIB, 304 * KIB},
	{"DiskIo", "fileSize=1048576 iterations=3", "disk", 0, 3 * MIB},
	{"DiskIo", "fileSize=1048576 iterations=2 operation=READ", "disk", 2 * MIB, 0},
	/* 10^6 rows of 4: 32 MB fit into 32 MiB, but not into 1 MiB */
	{"IntroductionExample", "variant=0", "llcRam", 32e6, 0},
	{"IntroductionExample", "variant=1", "llcRam", 32e6, 0},
	{"IntroductionExample", "variant=0", "l2l3", 32e6, 32e6 - MIB},
	{"IntroductionExample", "variant=1", "l2l3", 128e6, 128e6 - MIB},
	{"IntroductionExample", "variant=0 warmData=true", "llcRam", 0, 0},
	/* rows longer than a line: a column touches one line a row */
	{"IntroductionExample", "variant=1 m=1000 n=100", "l1l2", 100 * 64000, 100 * 64000 - 32 * KIB},
	{"IntroductionExample", "variant=1 m=1000 n=100", "l2l3", 800000, 0},
	/* daxpy: both vectors in, y out; 1/8 flop a byte while y stays, 1/12 when all of it goes */
	{"Daxpy", "vectorSize=10000", "llcRam", 160000, 0},
	{"Daxpy", "vectorSize=16777216", "llcRam", 256 * MIB, 112 * MIB},
	{"Daxpy", "vectorSize=10000 warmData=true", "llcRam", 0, 0},
	{"Daxpy", "vectorSize=10000 warmData=true", "l1l2", 160000, 80000 - 16 * KIB},
	{"Daxpy", "vectorSize=10000 numThreads=2", "l1l2", 160000, 80000 - 32 * KIB},
	{"Dgemv", "matrixSize=1000", "llcRam", 8016000, 0},
	{"Dgemv", "matrixSize=300 warmData=true", "l2l3", 0, 0},
	{"Dgemv", "matrixSize=5000 warmData=true", "llcRam", 200080000, 0},
	/* dgemm: never less than each matrix once, and 2 n^3 / sqrt(elements) when they do not fit: 2048^2 in 32 MiB */
	{"Dgemm", "matrixSize=1000", "llcRam", 24e6, 0},
	{"Dgemm", "matrixSize=4096", "llcRam", 640 * MIB, 96 * MIB},
	{"Dgemm", "matrixSize=1000 warmData=true", "llcRam", 0, 0},
	/* the triple loop: B fits; B once a row of A; a column of B has more lines than L1 */
	{"Mmm", "matrixSize=1000", "llcRam", 24e6, 0},
	{"Mmm", "matrixSize=2000", "llcRam", 96e6, 32e6 - (32 * MIB - 32e6)},
	{"Mmm", "matrixSize=3000", "llcRam", 16 * 9e6 + 8 * 27e9, 72e6},
	{"Mmm", "matrixSize=400", "l1l2", 16 * 16e4 + 8 * 64e6, 128e4},
	{"Mmm", "matrixSize=1000", "l1l2", 16e6 + 64e9, 8e6},
	{"Mmm", "matrixSize=5000", "l1l2", 16 * 25e6 + 72 * 125e9, 200e6},
	{"Mmm", "matrixSize=1000 warmData=true", "llcRam", 0, 0},
	/* blocked: a row of blocks fits (8 n nb), or not */
	{"Mmm", "algorithm=BLOCKED matrixSize=1000", "llcRam", 24e6, 0},
	{"Mmm", "algorithm=BLOCKED matrixSize=3000", "llcRam", 144e6 + 8 * 27e9 / 50, 72e6},
	{"Mmm", "algorithm=BLOCKED matrixSize=3000", "l2l3", 144e6 + 2 * 8 * 27e9 / 50 - 72e6, 72e6},
	/* the triple loop again, and with few rows, which are padded to lines; blocks: 4 of 16 in L1, 3 of 40, 1 of 56,
	   none of 80 */
	{"Product", "matrixSize=100", "l2l3", 240000, 0},
	{"Product", "matrixSize=400", "l1l2", 16 * 16e4 + 8 * 64e6, 128e4},
	{"Product", "matrixSize=1000", "l1l2", 16e6 + 72e9, 8e6},
	{"Product", "matrixSize=127 rowLength=136 rows=8", "l1l2", 16 * 8 * 128 + 8 * 8 * 127 * 128, 8 * 8 * 127},
	{"Product", "matrixSize=240 algorithm=BLOCKED nb=16", "l1l2", 31 * 460800, 460800},
	{"Product", "matrixSize=240 algorithm=BLOCKED nb=40", "l1l2", 18 * 460800, 6 * 460800},
	{"Product", "matrixSize=240 algorithm=BLOCKED nb=80", "l1l2", 6 * 460800 + 8 * 13824e3, 3 * 460800},
	{"Product", "matrixSize=100 warmData=true", "l2l3", 0, 0},
	/* four rows fit, or not; in blocks they do, with 8 points more a block; planes; six rows, or not */
	{"Stencil", "length=1000 rows=100", "l1l2", 8000 * 198, 8000 * 98 - 16 * KIB},
	{"Stencil", "length=2000 rows=100", "l1l2", 16000 * 4 * 98, 16000 * 98 - 16 * KIB},
	{"Stencil", "length=2002 rows=100 block=500", "l1l2", 8 * 2026 * 198, 8 * 2026 * 98 - 16 * KIB},
	{"Stencil", "dimensions=3 length=20 rows=20 planes=20", "l1l2", 160 * 724, 160 * 324 - 16 * KIB},
	{"Stencil", "dimensions=3 length=100 rows=100 planes=20", "l1l2", 800 * 18 * 394, 800 * 18 * 98 - 16 * KIB},
	{"Stencil", "dimensions=3 length=1000 rows=100 planes=20", "l1l2", 8000 * 18 * 588, 8000 * 18 * 98 - 16 * KIB},
	{"Stencil", "length=1000 rows=100 warmData=true", "llcRam", 0, 0},
	/* all fit; a column of lines fits, or not; that of a block does */
	{"Transpose", "matrixSize=40", "l1l2", 16 * 1600, 0},
	{"Transpose", "matrixSize=440", "l1l2", 16 * 193600, 8 * 193600 - 16 * KIB},
	{"Transpose", "matrixSize=1000", "l1l2", 72e6, 64e6 - 32 * KIB},
	{"Transpose", "matrixSize=1000 algorithm=BLOCKED", "l1l2", 16e6, 8e6 - 16 * KIB},
	{"Transpose", "matrixSize=40 warmData=true", "l2l3", 0, 0},
	/* both arrays fit, but not the source as well; 9 merges of 2, or 3 of 16, above parts that fit with it */
	{"MergeSort", "nrElements=1000", "l1l2", 24000, 0},
	{"MergeSort", "nrElements=2000", "l1l2", 48000 + 48000 - 32 * KIB, 0},
	{"MergeSort", "nrElements=640000", "l1l2", 5120e3 * 21, 5120e3 * 11 - 16 * KIB},
	{"MergeSort", "nrElements=640000 ways=16", "l1l2", 5120e3 * 9, 5120e3 * 5 - 16 * KIB},
	/* once if it fits; each of the stages and the reversal of bits if not; libraries: log n / log C passes */
	{"Fft", "bufferSize=1024", "llcRam", 16384, 0},
	{"Fft", "bufferSize=1024 warmData=true", "llcRam", 0, 0},
	{"Fft", "bufferSize=4096", "l1l2", 65536 * 13, 65536 * 13 - 32 * KIB},
	{"Fft", "implementation=FFTW bufferSize=4194304", "llcRam", 128 * MIB, 96 * MIB},
	{"Fft", "implementation=FFTW bufferSize=4096", "l1l2", 131072, 131072 - 32 * KIB},
	{"Wht", "bufferSizeExp=12", "llcRam", 32768, 0},
	{"Wht", "bufferSizeExp=13 algorithm=ITERATIVE", "l1l2", 13 * 65536, 13 * 65536 - 32 * KIB},
	{"Wht", "bufferSizeExp=13 algorithm=RECURSIVE", "l1l2", 2 * 65536, 2 * 65536 - 32 * KIB},
	{"Wht", "bufferSizeExp=24 algorithm=RECURSIVE", "llcRam", 3 * 128 * MIB, 352 * MIB},
	{"Wht", "bufferSizeExp=12 warmData=true", "l1l2", 0, 0},
};

TEST_OF(bytes_are_expected, NR_ELEMENTS(transfers))
{
	struct kernel_base *kernel = kernel_of(transfers[_i].kernel, transfers[_i].fields);
	double read, written, both;

	ck_assert(kernel_expected_bytes(&kernels_rot, kernel, transfers[_i].border, "read", &read, &why));
	ck_assert(kernel_expected_bytes(&kernels_rot, kernel, transfers[_i].border, "write", &written, &why));
	ck_assert(kernel_expected_bytes(&kernels_rot, kernel, transfers[_i].border, "both", &both, &why));
	ck_assert_double_eq_tol(read, transfers[_i].read, 1e-3);
	ck_assert_double_eq_tol(written, transfers[_i].written, 1e-3);
	ck_assert_double_eq_tol(both, read + written, 1e-3);
}

/* Each datum once, whatever else the caches move. */
static const struct {
	const char *kernel, *fields, *border;
	double read, both;
} compulsory[] = {
	{"Triad", "bufferSize=10000", "llcRam", 160000, 160000},
	{"Triad", "bufferSize=10000 warmData=true", "l2l3", 0, 0},
	{"Triad", "bufferSize=4194304", "llcRam", 64 * MIB, 64 * MIB},
	{"Triad", "bufferSize=8388608", "llcRam", 128 * MIB, 128 * MIB + 64 * MIB - 32 * MIB},
	{"Daxpy", "vectorSize=1000", "llcRam", 16000, 16000},
	{"Daxpy", "vectorSize=8388608", "llcRam", 128 * MIB, 128 * MIB + 64 * MIB - 32 * MIB},
	{"Memory", "bufferSize=65536 operation=READ", "llcRam", 64 * KIB, 64 * KIB},
	{"Memory", "bufferSize=65536 operation=WRITE", "llcRam", 0, 0},
	{"Memory", "bufferSize=65536 operation=COPY", "llcRam", 32 * KIB, 32 * KIB},
	{"Memory", "bufferSize=65536 operation=UPDATE", "llcRam", 64 * KIB, 64 * KIB},
	{"Memory", "bufferSize=65536 operation=READ iterations=10", "l1l2", 640 * KIB, 640 * KIB},
	{"Memory", "bufferSize=67108864 operation=WRITE iterations=2", "llcRam", 0, 64 * MIB},
	{"Vector", "operation=COPY length=8192 iterations=2", "l1l2", 128 * KIB, 128 * KIB + 64 * KIB},
	{"Vector", "operation=DIFF1 length=1024 iterations=1", "llcRam", 8 * KIB, 8 * KIB},
	/* however often they are moved */
	{"Wht", "bufferSizeExp=13 algorithm=ITERATIVE", "l1l2", 65536, 65536 + 32 * KIB},
	{"Mmm", "matrixSize=100 algorithm=TRIPLE_LOOP", "l1l2", 240000, 320000 - 32 * KIB},
	/* 2 n^3 / sqrt(4096 words), but for three caches full */
	{"Product", "matrixSize=800", "l1l2", 8 * 2 * 512e6 / 64 - 96 * KIB, 8 * 2 * 512e6 / 64 + 512e4 - 128 * KIB},
	{"Stencil", "length=1000 rows=100", "l1l2", 8 * (100e3 - 4), 8 * (100e3 - 4) + 8 * 998 * 98 - 32 * KIB},
	{"MergeSort", "nrElements=102400", "l1l2", 819200, 1638400 - 32 * KIB},
	{"Product", "matrixSize=100 algorithm=BLOCKED", "l1l2", 240000, 320000 - 32 * KIB},
};

TEST_OF(compulsory_bytes_are_no_more, NR_ELEMENTS(compulsory))
{
	struct kernel_base *kernel = kernel_of(compulsory[_i].kernel, compulsory[_i].fields);
	double read, both, expected;

	ck_assert(kernel_compulsory_bytes(&kernels_rot, kernel, compulsory[_i].border, "read", &read, &why));
	ck_assert(kernel_compulsory_bytes(&kernels_rot, kernel, compulsory[_i].border, "both", &both, &why));
	ck_assert(kernel_expected_bytes(&kernels_rot, kernel, compulsory[_i].border, "both", &expected, &why));
	ck_assert_double_eq_tol(read, compulsory[_i].read, 1e-3);
	ck_assert_double_eq_tol(both, compulsory[_i].both, 1e-3);
	ck_assert_double_le(both, expected + 1e-3);
}

/* ---- operations ---- */

static const struct {
	const char *kernel, *fields, *operation;
	double count;
} works[] = {
	{"Triad", "bufferSize=12345", "doublePrecisionFlop", 24690},
	{"Triad", "bufferSize=12345", "flop", 24690},
	{"IntroductionExample", "variant=0", "doublePrecisionFlop", 4e6},
	{"IntroductionExample", "variant=1", "doublePrecisionFlop", 4e6},
	{"Memory", "", "flop", 0},
	{"Memory", "operation=TRIAD bufferSize=24576 iterations=10", "flop", 20480},
	{"Memory", "operation=COPY", "flop", 0},
	{"Dummy", "", "flop", 0},
	{"Arithmetic", "iterations=10 instructionSet=X87 dlp=7 unroll=3", "compInstr", 210},
	{"Arithmetic", "iterations=10 instructionSet=X87 dlp=7 unroll=3", "flop", 0},
	{"Arithmetic", "iterations=10 precision=FLOAT dlp=8 unroll=3", "singlePrecisionFlop", 960},
	{"Arithmetic", "iterations=10 precision=FLOAT dlp=8 unroll=3", "doublePrecisionFlop", 0},
	{"Arithmetic", "iterations=10 operation=FMA_ADD instructionSet=AVX512 dlp=12 unroll=2", "doublePrecisionFlop",
	 5760},
	{"Vector", "operation=AXPBYPCZ length=128 iterations=10", "doublePrecisionFlop", 6400},
	{"Vector", "operation=AXPBYPCZ length=128 iterations=10", "singlePrecisionFlop", 0},
	{"Vector", "operation=COPY length=128 iterations=10 precision=FLOAT", "flop", 0},
	{"Vector", "code=C operation=AXPBYPCZ length=125 iterations=10", "doublePrecisionFlop", 6250},
	{"Daxpy", "vectorSize=1000", "flop", 2000},
	{"Daxpy", "vectorSize=1000 numThreads=2", "flop", 2000},
	{"Dgemv", "matrixSize=100", "doublePrecisionFlop", 20200},
	{"Dgemm", "matrixSize=100", "doublePrecisionFlop", 2020000},
	{"Mmm", "matrixSize=100", "doublePrecisionFlop", 2000000},
	{"Product", "matrixSize=100 rows=8", "doublePrecisionFlop", 160000},
	{"Product", "matrixSize=100 rows=8 columns=3", "doublePrecisionFlop", 4800},
	{"Stencil", "length=12 rows=12", "doublePrecisionFlop", 600},
	{"Stencil", "dimensions=3 length=12 rows=12 planes=12", "doublePrecisionFlop", 8000},
	{"Fft", "bufferSize=1024", "doublePrecisionFlop", 51200 + 8184},
	{"Fft", "bufferSize=1024 implementation=FFTW", "doublePrecisionFlop", 51200},
	{"Wht", "bufferSizeExp=10", "doublePrecisionFlop", 10240},
	{"Arithmetic", "iterations=10 operation=FMA_FMA_ADD instructionSet=AVX512 dlp=12 unroll=2",
	 "doublePrecisionFlop", 4800},
	{"Arithmetic", "iterations=10 operation=MIX dlp=8 unroll=3", "doublePrecisionFlop", 960},
	{"Arithmetic", "iterations=10 operation=DIV dlp=8 unroll=3", "doublePrecisionFlop", 480},
	{"Arithmetic", "iterations=10 precision=INT32 dlp=8 unroll=3", "integerOperation", 960},
	{"Arithmetic", "iterations=10 precision=INT32 dlp=8 unroll=3 instructionSet=SCALAR", "integerOperation", 240},
	{"Arithmetic", "iterations=10 precision=INT64 dlp=8 unroll=3 instructionSet=AVX512", "integerOperation", 1920},
	{"Arithmetic", "iterations=10 precision=INT64 dlp=8 unroll=3 instructionSet=AVX512", "flop", 0},
};

TEST_OF(operations_are_expected, NR_ELEMENTS(works))
{
	struct kernel_base *kernel = kernel_of(works[_i].kernel, works[_i].fields);
	double count;

	ck_assert(kernel_expected_operations(&kernels_rot, kernel, works[_i].operation, &count, &why));
	ck_assert_double_eq(count, works[_i].count);
}

/* How much is computed until somebody stops it, nobody knows. */
TEST(nothing_is_expected_until_stopped)
{
	struct kernel_base *kernel = kernel_of("Arithmetic", "runUntilStopped=true");
	double count;

	ck_assert(!kernel_expected_operations(&kernels_rot, kernel, "doublePrecisionFlop", &count, &why));
	ck_assert_str_eq(why.text, "");
}

/* ---- refusals ---- */

static const struct {
	const char *kernel, *fields, *message;
} refusals[] = {
	{"Triad", "bufferSize=0", "bufferSize must be at least 1"},
	{"Triad", "bufferSize=-5", "bufferSize must be at least 1"},
	{"Triad", "bufferSize=1000000000000", "memory"},
	{"Memory", "bufferSize=0", "bufferSize must be at least 64 bytes"},
	{"Memory", "bufferSize=100", "multiple of 64"},
	{"Memory", "operation=COPY bufferSize=192", "multiple of 128"},
	{"Memory", "operation=TRIAD bufferSize=256", "multiple of 192"},
	{"Memory", "operation=LOAD2_STORE bufferSize=256", "multiple of 192"},
	{"Memory", "operation=TRIAD_NT bufferSize=192 instructionSet=SCALAR", "SSE or wider"},
	{"Memory", "operation=RANDOM_LOAD prefetchDistance=64", "cannot prefetch"},
	{"Memory", "iterations=0", "iterations must be at least 1"},
	{"Memory", "streams=9", "streams must be 1 to 8"},
	{"Memory", "unroll=0", "unroll must be 1 to 32"},
	{"Memory", "prefetchDistance=100", "multiple of 64"},
	{"Memory", "operation=RANDOM_READ prefetchDistance=64", "cannot prefetch"},
	{"CoreBuffer", "turns=0", "turns must be at least 1"},
	{"CoreBuffer", "entries=0", "entries must be 1 to 65536"},
	{"Chase", "chains=25", "chains must be 1 to 24"},
	{"Chase", "chains=4 bufferSize=256", "at least 128 for each chain"},
	{"Chase", "bufferSize=1000", "multiple of 64"},
	{"Chase", "accesses=12", "multiple of 8"},
	{"Handover", "bufferSize=100", "multiple of 64"},
	{"LiveRanges", "variables=25", "variables must be 3 to 24"},
	{"Operation", "chains=13", "chains must be 1 to 12"},
	{"Operation", "turns=0", "turns must be at least 1"},
	{"Operation", "precision=INT32 operation=SQRT", "only added, multiplied, divided, shifted"},
	{"Operation", "precision=FLOAT operation=SHIFT", "only integers are shifted"},
	{"Operation", "precision=DOUBLE operation=TO_DOUBLE", "conversions of INT32 and FLOAT to DOUBLE"},
	{"Operation", "precision=INT64 operation=TO_DOUBLE instructionSet=SSE", "conversions of INT32"},
	{"Operation", "precision=INT32 operation=MAX", "no chain of MAX"},
	{"Operation", "precision=INT32 operation=POPCNT instructionSet=SSE", "by AVX-512 only"},
	{"Operation", "operation=COMPARE instructionSet=AVX512", "compares into masks"},
	{"Operation", "operation=SHUFFLE", "are of vectors"},
	{"Operation", "operation=PERMUTE instructionSet=AVX2", "AVX2 with FLOAT"},
	{"Operation", "operation=GATHER instructionSet=SSE", "GATHER needs"},
	{"Operation", "precision=INT64 operation=MUL instructionSet=AVX2", "only AVX-512"},
	{"Operation", "precision=INT32 operation=DIV instructionSet=SSE", "are not divided"},
	{"Operation", "precision=INT32 operation=DIV chains=7", "at most 6"},
	{"Arithmetic", "iterations=0", "iterations must be at least 1"},
	{"Arithmetic", "unroll=33", "unroll must be 1 to 32"},
	{"Arithmetic", "dlp=0", "dlp must be at least 1"},
	{"Arithmetic", "dlp=15", "at most 14"},
	{"Arithmetic", "dlp=31 instructionSet=AVX512", "at most 30"},
	{"Arithmetic", "dlp=8 instructionSet=X87", "at most 7"},
	{"Arithmetic", "dlp=7 instructionSet=X87 operation=FMA", "x87 has no fused multiply-add"},
	{"Arithmetic", "dlp=7 operation=FMA_ADD", "even"},
	{"Arithmetic", "dlp=10 operation=FMA_ADD", "at most 8"},
	{"Arithmetic", "dlp=22 operation=FMA_ADD registers=32", "at most 20"},
	{"Arithmetic", "dlp=12 operation=FMA_FMA_ADD", "at most 8"},
	{"Arithmetic", "dlp=1 operation=MUL_ADD", "at least 2"},
	{"Arithmetic", "dlp=8 operation=MUL_MUL_ADD", "multiple of 3"},
	{"Arithmetic", "dlp=7 instructionSet=X87 operation=SQRT", "top register"},
	{"Arithmetic", "dlp=7 instructionSet=X87 precision=INT32", "choose FLOAT or DOUBLE"},
	{"Arithmetic", "precision=INT32 operation=FMA", "only added and multiplied"},
	{"Arithmetic", "precision=INT64 operation=MUL", "only AVX-512"},
	{"Arithmetic", "precision=INT64 instructionSet=SCALAR dlp=12", "at most 11"},
	{"Arithmetic", "registers=24", "registers must be 16 or 32"},
	{"Vector", "length=0", "length must be at least 1"},
	{"Vector", "length=1023", "multiple of unroll"},
	{"Vector", "length=1028 instructionSet=AVX512", "multiple of unroll"},
	{"Vector", "iterations=0", "iterations must be at least 1"},
	{"Vector", "unroll=17", "unroll must be 1 to 16"},
	{"Vector", "gap=8", "gap must be 0 or a multiple of 64"},
	{"IntroductionExample", "m=0", "m must be at least 1"},
	{"IntroductionExample", "n=0", "n must be at least 1"},
	{"IntroductionExample", "variant=2", "variant must be 0"},
	{"IntroductionExample", "m=100000 n=100000", "2^31"},
	{"IntroductionExample", "m=1 n=30000", "26754"},
	{"Daxpy", "vectorSize=0", "vectorSize must be 1 to"},
	{"Daxpy", "numThreads=0", "numThreads must be at least 1"},
	{"Dgemv", "implementation=REFERENCE numThreads=2", "one thread"},
	{"Dgemm", "matrixSize=50000", "matrixSize must be 1 to 46340"},
	{"Mmm", "matrixSize=120 algorithm=BLOCKED", "nb must divide matrixSize"},
	{"Mmm", "matrixSize=150 algorithm=BLOCKED mu=3", "must divide nb"},
	{"Mmm", "numThreads=2", "one thread"},
	{"Stencil", "dimensions=3", "planes must be 1 in two"},
	{"Stencil", "rows=2", "at least 3"},
	{"Transpose", "matrixSize=100 rowLength=99", "rowLength must be"},
	{"MergeSort", "ways=33", "ways must be 2 to 32"},
	{"Product", "matrixSize=100 rows=101", "rows must be 0 to matrixSize"},
	{"Product", "matrixSize=100 columns=101", "columns must be 0 to matrixSize"},
	{"Product", "matrixSize=100 rowLength=99", "rowLength must be"},
	{"Fft", "bufferSize=1000", "power of two"},
	{"Fft", "numThreads=2", "OWN has one thread"},
	{"Wht", "bufferSizeExp=41", "0 to 40"},
	{"Wht", "numThreads=2", "one thread"},
	{"DiskIo", "fileSize=1000", "multiple of 524288"},
	{"DiskIo", "iterations=0", "at least 1, or -1"},
	{"CpuMigrating", "targetCpu=-1", "targetCpu must be"},
	{"CpuMigrating", "sourceCpu=-2", "sourceCpu must be"},
	{"CpuMigrating", "bufferSize=100", "multiple of 64"},
};

TEST_OF(what_cannot_be_is_refused, NR_ELEMENTS(refusals))
{
	struct kernel_base *kernel = kernel_of(refusals[_i].kernel, refusals[_i].fields);

	ck_assert_int_eq(kernel_check(&kernels_rot, kernel, &why), -1);
	ck_assert_has(why.text, refusals[_i].message);
}

static const struct {
	const char *kernel, *fields;
	const char *flag; /* the flag that is missed first on a machine that has none; NULL: needs none */
} needs[] = {
	{"Triad", "", NULL},
	{"Memory", "", NULL},
	{"Memory", "instructionSet=AVX2", "avx"},
	{"Memory", "instructionSet=AVX512", "avx512f"},
	{"Memory", "operation=TRIAD bufferSize=192", NULL},
	{"Arithmetic", "", NULL},
	{"Arithmetic", "instructionSet=X87 dlp=7 registers=32", NULL},
	{"Arithmetic", "operation=FMA", "fma"},
	{"Arithmetic", "instructionSet=AVX2", "avx"},
	{"Arithmetic", "instructionSet=AVX512", "avx512f"},
	{"Arithmetic", "instructionSet=SCALAR registers=32", "avx512vl"},
	{"Vector", "", NULL},
	{"Vector", "multiplyAdd=FUSED", "fma"},
	{"Vector", "instructionSet=AVX2", "avx"},
	{"Vector", "instructionSet=AVX512", "avx512f"},
	{"Arithmetic", "instructionSet=SCALAR precision=INT64 operation=MUL", NULL},
	{"Arithmetic", "precision=INT32 operation=MUL", "sse4_1"},
};

TEST_OF(missing_instructions_are_refused, NR_ELEMENTS(needs))
{
	struct kernel_base *kernel = kernel_of(needs[_i].kernel, needs[_i].fields);
	struct machine *bare = at_end(machine_delete, machine_new());
	struct rot rot = kernels_rot;
	char quoted[32];

	rot.machine = bare;
	snprintf(quoted, sizeof quoted, "'%s'", needs[_i].flag ? needs[_i].flag : "");
	ck_assert_int_eq(kernel_check(&rot, kernel, &why), needs[_i].flag ? -1 : 0);
	ck_assert_msg(!needs[_i].flag || strstr(why.text, quoted), "%s", why.text);
	ck_assert_int_eq(kernel_check(&kernels_rot, kernel, &why), 0);
}

UNIT_TESTS(.is_in_one_process = true, .needs = {fixture_open}, .close = fixture_close);
