/* SPDX-License-Identifier: MIT */
/* A library, loaded by region_target while it runs, of which it is not known which function library_region is. */
void library_region(void (*work)(void));

static void
do_nothing(void (*work)(void))
{
	(void)work;
}

static void (*volatile chosen)(void (*)(void)) = do_nothing;

__attribute__((used)) static void (*choose(void))(void (*)(void))
{
	return chosen;
}

void library_region(void (*work)(void)) __attribute__((ifunc("choose")));
