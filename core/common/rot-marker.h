/* SPDX-License-Identifier: MIT */
/*
 * Marks a region of a program for "rot run --region NAME". The program needs nothing but this header, in C or C++:
 *
 *	#include <rot-marker.h>
 *
 *	ROT_REGION_BEGIN(solve);
 *	... what is to be measured ...
 *	ROT_REGION_END(solve);
 *
 * The name is that of a C identifier, without quotes. A thread that passes a begin is in the region until it passes an
 * end of it, which may stand elsewhere; a region may have several of both, in functions that are inlined as well.
 *
 * A marker is one byte of code, a nop, and a note that is not loaded. It moves no value and no register; the compiler
 * does not move accesses to memory across it, so that what stands inside is measured inside. What needs no memory (a
 * computation in registers) it may still move.
 *
 * The note has the format of SystemTap's static probes (section .note.stapsdt: provider "rot", name NAME_begin or
 * NAME_end, no arguments), so that perf, bpftrace and gdb find the places too. It survives strip. Source: "User Space
 * Probe Implementation", SystemTap wiki. Elsewhere than on Linux for x86-64 the macros are nothing.
 */
#pragma once

#define ROT_REGION_BEGIN(name) ROT_MARKER_PLACE_(#name "_begin")
#define ROT_REGION_END(name) ROT_MARKER_PLACE_(#name "_end")

#if defined __GNUC__ && defined __linux__ && defined __x86_64__
/*
 * The note belongs to the section group of the code around it ("?"), so that both are dropped together. The base is
 * one byte that tells how far later steps moved the program.
 */
#define ROT_MARKER_PLACE_(name)                                                                                        \
	__asm__ __volatile__("990:	nop\n"                                                                              \
			     "	.pushsection .note.stapsdt, \"?\", \"note\"\n"                                          \
			     "	.balign 4\n"                                                                            \
			     "	.4byte 992f-991f, 994f-993f, 3\n"                                                       \
			     "991:	.asciz \"stapsdt\"\n"                                                               \
			     "992:	.balign 4\n"                                                                        \
			     "993:	.8byte 990b\n"                                                                      \
			     "	.8byte _.stapsdt.base\n"                                                                \
			     "	.8byte 0\n"                                                                             \
			     "	.asciz \"rot\"\n"                                                                       \
			     "	.asciz \"" name "\"\n"                                                                 \
			     "	.asciz \"\"\n"                                                                          \
			     "994:	.balign 4\n"                                                                        \
			     "	.popsection\n"                                                                          \
			     "	.ifndef _.stapsdt.base\n"                                                               \
			     "	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"              \
			     "	.weak _.stapsdt.base\n"                                                                 \
			     "	.hidden _.stapsdt.base\n"                                                               \
			     "_.stapsdt.base:	.space 1\n"                                                              \
			     "	.size _.stapsdt.base, 1\n"                                                              \
			     "	.popsection\n"                                                                          \
			     "	.endif\n"                                                                               \
			     :                                                                                         \
			     :                                                                                         \
			     : "memory")
#else
#define ROT_MARKER_PLACE_(name) ((void)0)
#endif
