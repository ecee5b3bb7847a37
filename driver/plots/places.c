/* SPDX-License-Identifier: MIT */
#include "plots/places.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "plots/layout.h"
#include "plots/roofline_text.h"
#include "plots/script.h"
#include "rot.h"

/* The width of a pipe, a file or anything else that is no terminal. */
#define COLUMNS_OTHERWISE 80

/* By so much texts and lines are larger that are read from far away. */
#define ZOOM_OF_SLIDES 1.4

/* The words of the key, and the places that they stand for: bits. */
static const struct {
	const char *word;
	unsigned places;
} places[] = {
	{"gnuplot", 1u << PLOTS_IN_FILES},     {"files", 1u << PLOTS_IN_FILES},
	{"terminal", 1u << PLOTS_ON_TERMINAL}, {"both", 1u << PLOTS_IN_FILES | 1u << PLOTS_ON_TERMINAL},
	{"html", 1u << PLOTS_ON_PAGE},         {"png", 1u << PLOTS_IN_FILES | 1u << PLOTS_AS_PNG},
};

bool
plots_go_to(const struct configuration *configuration, enum plot_place place)
{
	const char *text = configuration_string(configuration, "plots");

	for (const char *w = text; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL)
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			if (strlen(places[i].word) == strcspn(w, ",") &&
			    strncmp(w, places[i].word, strcspn(w, ",")) == 0 && (places[i].places & 1u << place))
				return true;
	return false;
}

void
plots_set_up(const struct configuration *configuration)
{
	script_has_png = plots_go_to(configuration, PLOTS_AS_PNG);
	layout_zoom = strcmp(configuration_string(configuration, "plotTheme"), "slides") == 0 ? ZOOM_OF_SLIDES : 1;
}

void
plots_warn_of_page(const struct configuration *configuration)
{
	if (plots_go_to(configuration, PLOTS_ON_PAGE))
		rot_warning("there is no page of these plots: gnuplot draws them (-plots=gnuplot)");
}

void
plots_note_undrawn(const struct configuration *configuration, size_t nr)
{
	if (nr > 0 && plots_go_to(configuration, PLOTS_ON_TERMINAL) && !plots_go_to(configuration, PLOTS_IN_FILES))
		rot_note("%zu plot%s not drawn: of rooflines alone there is a text (-plots=gnuplot,terminal draws all)",
			 nr, nr == 1 ? " is" : "s are");
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
