/* SPDX-License-Identifier: MIT */
/* A library with a region, loaded by region_target while it runs, by the name libregions.so.7. */
void library_region(void (*work)(void));

void
library_region(void (*work)(void))
{
	work();
	__asm__ volatile("");
}
