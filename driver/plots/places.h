/* SPDX-License-Identifier: MIT */
/* Where plots go, and how large their texts are: the configuration keys "plots" and "plotTheme". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "plots/plot.h"

struct configuration;

enum plot_place {
	PLOTS_IN_FILES,    /* drawn by gnuplot */
	PLOTS_AS_PNG,      /* the files are also PNG */
	PLOTS_ON_PAGE,     /* OUTPUT.html, with all plots of a result (plots/page.h) */
	PLOTS_ON_TERMINAL, /* rooflines as text on standard output; other plots have no such form */
};

/* For all pictures of the process. */
void plots_set_up(const struct configuration *configuration);

bool plots_go_to(const struct configuration *configuration, enum plot_place place);

/* Says of plots that are no result's that there is no page of them, where one is asked for. */
void plots_warn_of_page(const struct configuration *configuration);

/* Notes, where only the terminal is asked for, that so many plots are not drawn as they are no rooflines. */
void plots_note_undrawn(const struct configuration *configuration, size_t nr);

/* Files as roofline_plot_write, or text, or both. */
int roofline_plot_show(const struct roofline_plot *plot, const struct configuration *configuration,
		       const char *output_name, struct rot_error *err);
