/* SPDX-License-Identifier: MIT */
/* Words that stand for caches and a TLB, in the keys caches and tlb. */
#pragma once

/* Name, caches, TLB, and what it is: machines of "Applying the Roofline Model" (R. Steinmann, 2012). */
#define CACHE_PRESETS(X)                                                                                               \
	X("yonah", "32K:8,2M:8:shared", "128", "the Core Duo of the thesis")                                           \
	X("core2", "32K:8,4M:16:shared", "256:4", "its Core 2")
#define CACHE_PRESET_ROW(name, caches, tlb, about) {name, caches, tlb},
#define CACHE_PRESET_TEXT(name, caches, tlb, about) "; " name ": " about ", " caches ", TLB " tlb
