/* SPDX-License-Identifier: MIT */
/* A MeasurementCommand: checked, then carried out. */
#pragma once

#include "child/failure.h"
#include "child/notifier.h"
#include "entities.h"

/*
 * Performs runCount runs of every measurement, interleaved: the first run of each in their order, the second of each,
 * and so on, so that slow changes of the machine meet all measurements alike. Nothing is run if any part of the command
 * is wrong.
 *
 * The configurators' hooks around a measurement are called before the first run of all, and after the last.
 * The output with all it reaches (rot_graph_delete), or NULL and the failure recorded.
 */
struct measurement_command_output *
command_perform(const struct measurement_command *command, struct notifier *notifier, struct failure *failure);
