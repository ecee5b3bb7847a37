/* SPDX-License-Identifier: MIT */
/*
 * The instructions of an access. WIDTH: its bytes. T: register of what is loaded, V: of what is stored, or multiplied
 *by (TRIAD). LOAD, STORE and STORE_NT are accesses, the others compute:
 *
 *	ADD_V(from)		T = from + V, as integers
 *	MULTIPLY_ADD(b, c)	T = b + V * c, in double precision
 *	CHANGE			V = V + 1, as integers: what is stored changes; as a factor it changes by one unit in
 *the last place GET_V, KEEP_V		V from and to memory
 */
#if ROT_MEMORY_INSTRUCTION_SET__AVX512 || ROT_MEMORY_INSTRUCTION_SET__AVX2
#if ROT_MEMORY_INSTRUCTION_SET__AVX512
#define WIDTH 64
#define REGISTER "%%zmm"
#else
#define WIDTH 32
#define REGISTER "%%ymm"
#endif
#define KEEP "vmovq"
#define T REGISTER "0"
#define V REGISTER "1"
#define ONE REGISTER "2"
#define LOAD(from) "vmovaps " from ", " T "\n"
#define STORE(what, to) "vmovaps " what ", " to "\n"
#define STORE_NT(what, to) "vmovntps " what ", " to "\n"
#define ADD_V(from) "vpaddq " from ", " V ", " T "\n"
#define MULTIPLY_ADD(b, c) LOAD(c) "vfmadd213pd " b ", " V ", " T "\n"
#define CHANGE "vpaddq " ONE ", " V ", " V "\n"
#define GET_V(v, one) "vmovups " v ", " V "\nvmovups " one ", " ONE "\n"
#define KEEP_V(v) "vmovups " V ", " v "\nvzeroupper\n"

#elif ROT_MEMORY_INSTRUCTION_SET__SSE
#define WIDTH 16
#define KEEP "movq"
#define T "%%xmm0"
#define V "%%xmm1"
#define ONE "%%xmm2"
#define LOAD(from) "movaps " from ", " T "\n"
#define STORE(what, to) "movaps " what ", " to "\n"
#define STORE_NT(what, to) "movntps " what ", " to "\n"
#define ADD_V(from) LOAD(from) "paddq " V ", " T "\n"
#define MULTIPLY_ADD(b, c) LOAD(c) "mulpd " V ", " T "\naddpd " b ", " T "\n"
#define CHANGE "paddq " ONE ", " V "\n"
#define GET_V(v, one) "movups " v ", " V "\nmovups " one ", " ONE "\n"
#define KEEP_V(v) "movups " V ", " v "\n"

#elif ROT_MEMORY_OPERATION__TRIAD
#define WIDTH 8
#define KEEP "movq"
#define T "%%xmm0"
#define V "%%xmm1"
#define LOAD(from) "movsd " from ", " T "\n"
#define STORE(what, to) "movsd " what ", " to "\n"
#define MULTIPLY_ADD(b, c) LOAD(c) "mulsd " V ", " T "\naddsd " b ", " T "\n"
#define CHANGE "paddq %%xmm2, " V "\n"
#define GET_V(v, one) "movups " v ", " V "\nmovups " one ", %%xmm2\n"
#define KEEP_V(v) "movups " V ", " v "\n"

#else
#define WIDTH 8
#define KEEP "movq"
#define T "%%rax"
#define V "%%rbx"
#define LOAD(from) "movq " from ", " T "\n"
#define STORE(what, to) "movq " what ", " to "\n"
#define STORE_NT(what, to) "movnti " what ", " to "\n"
#define ADD_V(from) LOAD(from) "addq " V ", " T "\n"
#define CHANGE "addq $1, " V "\n"
#define GET_V(v, one) "movq " v ", " V "\n"
#define KEEP_V(v) "movq " V ", " v "\n"
#endif

/*
 * ACCESS(d, b, c): one step through the destination (or the only part) d and the sources b and c. NR_PARTS of the
 * buffer; PREFETCH_OF(X, d, b, c): X of the addresses that are loaded; CHANGES: once a turn.
 */
#if ROT_MEMORY_OPERATION__WRITE
#define NR_PARTS 1
#define ACCESS(d, b, c) STORE(V, d)
#define CHANGES CHANGE
#elif ROT_MEMORY_OPERATION__WRITE_NT
#define NR_PARTS 1
#define ACCESS(d, b, c) STORE_NT(V, d)
#define CHANGES CHANGE
#elif ROT_MEMORY_OPERATION__UPDATE
#define NR_PARTS 1
#define ACCESS(d, b, c) ADD_V(d) STORE(T, d)
#define CHANGES ""
#elif ROT_MEMORY_OPERATION__COPY
#define NR_PARTS 2
#define ACCESS(d, b, c) LOAD(b) STORE(T, d)
#define CHANGES ""
#elif ROT_MEMORY_OPERATION__COPY_NT
#define NR_PARTS 2
#define ACCESS(d, b, c) LOAD(b) STORE_NT(T, d)
#define CHANGES ""
#elif ROT_MEMORY_OPERATION__LOAD2_STORE
#define NR_PARTS 3
#define ACCESS(d, b, c) LOAD(b) LOAD(c) STORE(V, d)
#define CHANGES CHANGE
#elif ROT_MEMORY_OPERATION__TRIAD
#define NR_PARTS 3
#define ACCESS(d, b, c) MULTIPLY_ADD(b, c) STORE(T, d)
#define CHANGES CHANGE
#elif ROT_MEMORY_OPERATION__TRIAD_NT
#define NR_PARTS 3
#define ACCESS(d, b, c) MULTIPLY_ADD(b, c) STORE_NT(T, d)
#define CHANGES CHANGE
#else
#define NR_PARTS 1
#define ACCESS(d, b, c) LOAD(d)
#define CHANGES ""
#endif

#if NR_PARTS == 1
#define PREFETCH_OF(X, d, b, c) X(d)
#elif NR_PARTS == 2
#define PREFETCH_OF(X, d, b, c) X(b)
#else
#define PREFETCH_OF(X, d, b, c) X(b) X(c)
#endif
