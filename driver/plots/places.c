/* SPDX-License-Identifier: MIT */
/* See places.h. */
#include "plots/places.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "plots/roofline_text.h"
#include "support/terminal.h"

/* Of what is no terminal, as a pipe or a file. */
#define COLUMNS_OTHERWISE 100

bool
plots_go_to(const struct configuration *configuration, enum plot_place place)
{
	static const char *const words[] = {[PLOTS_IN_FILES] = "files", [PLOTS_ON_TERMINAL] = "terminal"};
	const char *places = configuration_string(configuration, "plots");

	return strcmp(places, "both") == 0 || strcmp(places, words[place]) == 0;
}

int
roofline_plot_show(const struct roofline_plot *plot, const struct configuration *configuration, const char *output_name,
		   struct rot_error *err)
{
	if (plots_go_to(configuration, PLOTS_ON_TERMINAL)) {
		const struct roofline_text_options options = {terminal_columns(STDOUT_FILENO, COLUMNS_OTHERWISE),
							      terminal_is_utf8()};

		fputc('\n', stdout);
		roofline_text_print(plot, &options, stdout);
		fflush(stdout);
	}
	return plots_go_to(configuration, PLOTS_IN_FILES) ? roofline_plot_write(plot, output_name, err) : 0;
}
