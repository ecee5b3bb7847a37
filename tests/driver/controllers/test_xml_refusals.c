/* SPDX-License-Identifier: MIT */
/* What is said about XML controllers that are wrong. */
#include "controllers/xml_run.h"
#include "planning/controller_file.h"
#include "planning/xml_controller.h"
#include "support/files.h"
#include "testing.h"
#include "xml_fixture.h"

/* A ceiling on line 2. */
#define CEILING(children)                                                                                              \
	"<ceiling name='c' performance='flop' work='1'><workload><kernel type='Dummy'/></workload>\n" children         \
	"</ceiling>\n"

/* A rule in a program, on lines of its own: the predicate is on line 5, the action on line 6. */
#define RULE(predicate, action)                                                                                        \
	HEAD AXIS PROGRAM("executable='sh'", "<argument value='-c'/>\n<rule>\n" predicate "\n" action "</rule>") TAIL
#define RUN_START "<predicate type='MeasurementRunEventPredicate'/>"
#define IN_KERNEL(rule)                                                                                                \
	HEAD AXIS "<point><workload><kernel type='Dummy'/></workload>\n<rule>\n" rule "</rule></point>" TAIL
#define CREATE(set) "<action type='CreateMeasurerOnThreadAction'>\n" set "</action>"

static const struct {
	int line;
	const char *xml, *message, *hint; /* message: all of it, or its beginning with "..." at the end; hint: a part */
} refusals[] = {
	{__LINE__, "", "c.xml:1: ...", ""},
	{__LINE__, HEAD "<axis", "c.xml:2: ...", ""},
	{__LINE__, HEAD AXIS POINT "</control>", "c.xml:4: ...", ""},
	{__LINE__, "<experiment/>", "c.xml:1: the root element is <experiment>", "expected: controller"},
	{__LINE__, "<controller comment=''>" POINT TAIL, "c.xml:1: <controller> lacks the attribute 'name'", ""},
	{__LINE__, HEAD "<axes name='n'/>" TAIL, "c.xml:2: <axes> is not expected in <controller>",
	 "did you mean 'axis'?"},
	{__LINE__, HEAD "<axis nam='n'/>" TAIL, "c.xml:2: <axis> has no attribute 'nam'", "did you mean 'name'?"},
	{__LINE__, HEAD "<axis name='n'/>" POINT TAIL, "c.xml:2: <axis> has no values", "range"},
	{__LINE__, HEAD "<axis name='n'>1 2</axis>" TAIL, "c.xml:2: <axis> holds text, which means nothing there", ""},
	{__LINE__, HEAD "<axis name='a b'><list values='1'/></axis>" POINT TAIL,
	 "c.xml:2: an axis cannot be called 'a b'", "letters"},
	{__LINE__, HEAD "<axis name='llcBytes'><list values='1'/></axis>" POINT TAIL,
	 "c.xml:2: an axis cannot be called 'llcBytes'", ""},
	{__LINE__, HEAD AXIS AXIS POINT TAIL, "c.xml:3: axis 'n' is there twice", ""},
	{__LINE__, HEAD "<axis name='n'><range from='1' to='5' step='0'/></axis>" POINT TAIL,
	 "c.xml:2: axis 'n': step is 0...", ""},
	{__LINE__, HEAD "<axis name='n'>\n<list values='{$m}'/></axis>" POINT TAIL, "c.xml:3: axis 'n': ...", ""},
	{__LINE__, HEAD AXIS "<skip if='$nn = 1'/>" POINT TAIL, "c.xml:3: skip: ...", "$n"},
	{__LINE__, HEAD AXIS "<skip if='$n > 0'/>" POINT TAIL, "c.xml:1: no point to measure is left", "conditions"},
	{__LINE__, HEAD AXIS TAIL, "c.xml:1: <controller> has nothing to measure", "rot help CONTROLLERS.md"},
	{__LINE__, HEAD AXIS "<point/>" TAIL, "c.xml:3: <point> lacks a <workload> or a <program> (at n=1)", ""},
	{__LINE__, HEAD AXIS "<point><workload/></point>" TAIL, "c.xml:3: <workload> has no <kernel> (at n=1)", ""},
	{__LINE__,
	 HEAD "<point><workload>\n<kernel type='Dummy'/><measurerSet><mainMeasurer type='TscMeasurer'/></measurerSet>"
	      "</workload></point>" TAIL,
	 "c.xml:3: the <measurerSet> of a <workload> has measurers, which nobody would read", "load"},
	{__LINE__, HEAD "<point><workload><kernel type='Dummy'/><measurerSet/></workload></point>" TAIL,
	 "c.xml:2: each <workload> is a load, with a <measurerSet/>: there is nothing to measure", ""},
	{__LINE__, "<controller name='c' comment='' disturbed='no'>" POINT TAIL, "c.xml:1: ...", "kept"},
	{__LINE__, HEAD "<point>\n<workload>\n<kernel type='Traid'/></workload></point>" TAIL,
	 "c.xml:4: <kernel type=\"Traid\">: no such class", "did you mean 'Triad'?"},
	{__LINE__, HEAD "<point><workload><kernel/></workload></point>" TAIL,
	 "c.xml:2: <kernel> must say its type, as there are several", "Triad"},
	{__LINE__, HEAD "<point><workload><kernel type='Machine'/></workload></point>" TAIL,
	 "c.xml:2: <kernel type=\"Machine\">: not a possible KernelBase", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' buffersize='1'/></workload></point>" TAIL,
	 "c.xml:3: ...", "bufferSize"},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='many'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='{$n}'/></workload></point>" TAIL,
	 "c.xml:3: <kernel bufferSize>: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='{1 div 0}'/></workload></point>" TAIL,
	 "c.xml:3: <kernel bufferSize>: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='0'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='-5'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='1e30'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='1000000000000'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Memory' operation='SWAP'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload cpus='1'><kernel type='Dummy'/></workload></point>" TAIL, "c.xml:2: ...",
	 "cpu"},
	{__LINE__, HEAD "<point><workload><kernel type='Dummy'/><kernels/></workload></point>" TAIL,
	 "c.xml:2: Workload has no field for <kernels>", "did you mean 'kernel'?"},
	{__LINE__, HEAD "<point><workload><cpu/><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:2: 'cpu' of Workload is a plain value", "cpu="},
	{__LINE__,
	 HEAD
	 "<point><workload id='a'><kernel type='Dummy'/></workload><rule><predicate type='WorkloadEventPredicate'>\n"
	 "<workload ref='b'/></predicate></rule></point>" TAIL,
	 "c.xml:3: <workload ref=\"b\">: no entity has this id", "a"},
	{__LINE__,
	 HEAD
	 "<point><workload><kernel id='a' type='Dummy'/></workload><rule><predicate type='WorkloadEventPredicate'>\n"
	 "<workload ref='a'/></predicate></rule></point>" TAIL,
	 "c.xml:3: <workload ref=\"a\">: that is a Dummy, not a Workload", ""},
	{__LINE__, HEAD AXIS "<point runs='0'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: runs is 0: ...", ""},
	{__LINE__, HEAD AXIS "<point runs='1.5'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: runs is 1.5: ...", ""},
	{__LINE__, HEAD AXIS "<point runs='x'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <point runs>: 'x' is no number (at n=1)", ""},
	{__LINE__, HEAD AXIS POINT "<quantity is='performence:flop'/>" TAIL, "c.xml:4: ...", "performance"},
	{__LINE__, HEAD AXIS POINT "<quantity is='performance:flops'/>" TAIL, "c.xml:4: ...", "flop"},
	{__LINE__, HEAD AXIS POINT "<quantity is='throughput:llcRam' bytes='-1'/>" TAIL,
	 "c.xml:4: <quantity>: given ...", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='rofline' x='n' y='time'/>" TAIL,
	 "c.xml:4: <plot type=\"rofline\">: not a possible value", "did you mean 'roofline'?"},
	{__LINE__, HEAD AXIS POINT "<look series='s' colour='gren'/>" TAIL, "c.xml:4: <look>: 'gren' is no colour",
	 "did you mean 'green'?"},
	{__LINE__, HEAD AXIS POINT "<look series='t' colour='green'/>" TAIL,
	 "c.xml:4: <look series=\"t\">: no series is called that", "did you mean 's'?"},
	{__LINE__, HEAD AXIS POINT "<look series='s' marker='cross'/>" TAIL, "c.xml:4: <look>: 'cross' is no marker",
	 "one of circle, square"},
	{__LINE__, HEAD AXIS POINT "<look series='s' order='first'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='m' y='time'/>" TAIL,
	 "c.xml:4: <plot x=\"m\">: neither an axis nor a quantity nor a derived value", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' show='ratio'/>" TAIL,
	 "c.xml:4: <plot>: show is of distribution, histogram, runs and threads", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='distribution' x='n' y='time' relativeTo='minimum'/>" TAIL,
	 "c.xml:4: <plot>: relativeTo is of what shows a ratio or an error", ""},
	{__LINE__,
	 HEAD AXIS POINT "<plot type='distribution' x='n' y='time' show='samples' relativeTo='expected'/>" TAIL,
	 "c.xml:4: <plot>: relativeTo is of what shows a ratio or an error", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='distribution' x='n' y='time' minimumOf='10'/>" TAIL,
	 "c.xml:4: <plot>: minimumOf is of what shows samples, a ratio or an error of each run", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='threads' y='time' minimumOf='10'/>" TAIL,
	 "c.xml:4: <plot>: minimumOf is of what shows samples, a ratio or an error of each run", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='threads' y='time' show='ratio' relativeTo='minimum'/>" TAIL,
	 "c.xml:4: <plot>: relativeTo=\"minimum\" is of runs: threads are held against what is expected", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='runs' y='time' minimumOf='1.5'/>" TAIL,
	 "c.xml:4: minimumOf is 1.5: expected a whole number of runs", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='runs' x='n' y='time'/>" TAIL,
	 "c.xml:4: <plot>: histogram, runs and threads have no x", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='distribution' y='time'/>" TAIL,
	 "c.xml:4: <plot>: roofline, distribution and series lack an x", ""},
	{__LINE__, HEAD AXIS POINT "<accuracy of='tim'/>" TAIL, "c.xml:4: accuracy: of: ...", "time"},
	{__LINE__, HEAD AXIS POINT "<accuracy of='time' by='m'/>" TAIL,
	 "c.xml:4: <accuracy by=\"m\">: no axis is called that", ""},
	{__LINE__, HEAD AXIS POINT "<accuracy of='time' if='$m'/>" TAIL, "c.xml:4: <accuracy if>: ...", "$n"},
	{__LINE__, HEAD AXIS "<point until='$m > 1'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <point until>: ...", "$n"},
	{__LINE__, HEAD AXIS "<point threads='many'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <point threads=\"many\">: expected 'all' or a number from 1 to ...", "a CPU of its own"},
	{__LINE__, HEAD AXIS "<point threads='0'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <point threads=\"0\">: expected 'all' or a number from 1 to ...", ""},
	{__LINE__,
	 HEAD AXIS "<point threads='1'><workload><kernel type='Dummy'/></workload><workload><kernel "
		   "type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <point threads>: there are 2 workloads, and it is about the only one (at n=1)", ""},
	{__LINE__, HEAD AXIS "<point threads='1'><program executable='sh'/></point>" TAIL,
	 "c.xml:3: <point threads>: that is of points with kernels (at n=1)", ""},
	{__LINE__,
	 HEAD AXIS POINT "<each><axis name='a'><list values='1'/></axis>\n<plot type='series' x='n' "
			 "y='time' title='{$b}'/></each>" TAIL,
	 "c.xml:5: <plot title>: ...", "$a"},
	{__LINE__,
	 HEAD AXIS POINT "<each><axis name='a'><list values='1 2'/></axis>\n<plot type='series' x='n' "
			 "y='time'/></each>" TAIL,
	 "c.xml:5: two plots with the name ''", ""},
	{__LINE__, HEAD AXIS POINT "<each if='$b'><axis name='a'><list values='1 2'/></axis></each>" TAIL,
	 "c.xml:4: <each if>: ...", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='tim'/>" TAIL, "c.xml:4: plot: y: ...", "time"},
	{__LINE__, HEAD AXIS POINT "<plot type='roofline' x='time' y='performance:flop'/>" TAIL,
	 "c.xml:4: a roofline of 'performance' over 'time'", "operationalIntensity"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'/>\n<plot type='series' x='n' y='time'/>" TAIL,
	 "c.xml:5: two plots with the name ''", "OUTPUT-NAME"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' pointLabel='{$nn}'/>" TAIL,
	 "c.xml:4: <plot>: pointLabel: ...", "$n"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'>\n<scale axis='x' from='5' to='2'/></plot>" TAIL,
	 "c.xml:5: <scale> from 5 to 2: from must be below to", ""},
	{__LINE__,
	 HEAD "<axis name='n'><list values='1 2'/></axis><axis name='t'><list values='x y'/></axis>\n" POINT
	      "<plot type='series' x='t' y='time'/>" TAIL,
	 "c.xml:4: <plot x=\"t\">: the axis has values that are no numbers", ""},
	{__LINE__,
	 HEAD AXIS POINT
	 "<plot type='roofline' x='operationalIntensity:flop:llcRam' y='performance:flop'>\n<marker at='1' "
	 "label='a'/></plot>" TAIL,
	 "c.xml:5: <marker>: a roofline has none", ""},
	{__LINE__,
	 HEAD AXIS POINT
	 "<plot type='roofline' x='operationalIntensity:flop:llcRam' y='performance:flop'>\n<cacheMarkers "
	 "at='1'/></plot>" TAIL,
	 "c.xml:5: <cacheMarkers>: a roofline has none", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'>\n<marker at='{$m}' label='a'/></plot>" TAIL,
	 "c.xml:5: ...", "$m"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'>\n<cacheMarkers at='{$byte}'/></plot>" TAIL,
	 "c.xml:5: ...", "$bytes"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'>\n<model of='m' name='a'/></plot>" TAIL,
	 "c.xml:5: <model of=\"m\">: no derived value has that name", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='distribution' x='n' y='time' differenceFrom='s'/>" TAIL,
	 "c.xml:4: <plot differenceFrom>: only a plot of type series shows differences", ""},
	{__LINE__, HEAD AXIS POINT "<table><column of='m'/></table>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<table best='tim'><column of='n'/></table>" TAIL, "c.xml:4: table: best: ...",
	 "time"},
	{__LINE__, HEAD AXIS POINT "<table if='$m > 1'><column of='n'/></table>" TAIL, "c.xml:4: <table if>: ...",
	 "$n"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' best='tim'/>" TAIL, "c.xml:4: plot: best: ...",
	 "time"},
	{__LINE__,
	 HEAD AXIS POINT
	 "<choice name='c' best='tim' otherwise='1'><axis name='k'><list values='1'/></axis><workload><kernel "
	 "type='Triad'/></workload></choice>" TAIL,
	 "c.xml:4: ...", "time"},
	{__LINE__,
	 HEAD AXIS POINT "<choice name='c' best='time' otherwise='1'><axis name='k'><list "
			 "values='1'/></axis><workload><kernel type='Triad'/></workload></choice>" TAIL,
	 "c.xml:4: <choice best=\"time\">: expected a performance or a throughput", ""},
	{__LINE__,
	 HEAD AXIS POINT "<choice name='quick' best='performance:flop' otherwise='1'><axis name='k'><list "
			 "values='1'/></axis><workload><kernel type='Triad'/></workload></choice>" TAIL,
	 "c.xml:4: a choice cannot be called 'quick'", "a meaning of its own"},
	{__LINE__,
	 HEAD AXIS POINT
	 "<choice name='c' best='performance:flop' otherwise='1'><axis name='k'><list "
	 "values='1'/></axis><workload><kernel type='Triad' bufferSize='{$n}'/></workload></choice>" TAIL,
	 "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1' text='b'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' peak='load'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' peak='load' border='cpuL1' clock='hour'/>" TAIL, "c.xml:4: ...",
	 ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' peak='FMA' operation='{$m}'/>" TAIL,
	 "c.xml:4: <derived>: operation: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='$b + 1'/>\n<derived name='b' is='1'/>" TAIL, "c.xml:4: ...",
	 "$b"},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1'/>\n<derived name='b' text='{$c}' if='$a > 0'/>" TAIL,
	 "c.xml:5: <derived>: text: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1' if='$m'/>" TAIL, "c.xml:4: <derived if>: ...", "$n"},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='2 * ) 3'/>" TAIL,
	 "c.xml:4: <derived is>: expression '2 * ) 3': not understood, at ') 3'", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' if='$m = 1'/>" TAIL,
	 "c.xml:4: <plot if>: expression '$m = 1': there is no variable '$m'", "$n"},
	{__LINE__, HEAD AXIS POINT "<quantity is='time' name='t'/>\n<derived name='a' is='$t div $base.t'/>" TAIL,
	 "c.xml:5: ...", "$t"},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1' base='{$m}'/>" TAIL, "c.xml:4: <derived>: base: ...",
	 "$n"},
	{__LINE__, HEAD AXIS "<ceiling name='c'><workload><kernel type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:3: <ceiling> needs either a performance or a throughput or a latency (at n=1)", "performance="},
	{__LINE__,
	 HEAD AXIS "<ceiling name='c' throughput='l1l2' latency='l1l2'><workload><kernel "
		   "type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:3: <ceiling> needs either a performance or a throughput or a latency (at n=1)", "performance="},
	{__LINE__,
	 HEAD "<ceiling name='c' performance='flop' rare='maybe' work='1'><workload><kernel "
	      "type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:2: <ceiling rare=\"maybe\">: expected true or false", ""},
	{__LINE__,
	 HEAD "<ceiling name='c' performance='flop' threads='2' work='1'><workload><kernel "
	      "type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:2: <ceiling threads=\"2\">: expected 1 or all", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1 2.5'/></axis>") TAIL,
	 "c.xml:3: the axis 'a' of a <ceiling> needs whole numbers", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1 b'/></axis>") TAIL,
	 "c.xml:3: the axis 'a' of a <ceiling> needs whole numbers", ""},
	{__LINE__,
	 HEAD CEILING("<axis name='a'><list values='1'/></axis>\n<axis name='a'><list values='1'/></axis>") TAIL,
	 "c.xml:4: two axes are called 'a'", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1'/></axis>\n<seed/>") TAIL,
	 "c.xml:4: <seed> of 'c' lacks a whole number for the axis 'a'", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1'/></axis>\n<seed a='1' b='2'/>") TAIL,
	 "c.xml:4: <seed> of 'c': there is no axis 'b'", ""},
	{__LINE__,
	 HEAD "<ceilings><axis name='m'><list values='1 2'/></axis>\n"
	      "<ceiling name='c' performance='flop' work='{$m - 1}'><workload><kernel "
	      "type='Dummy'/></workload></ceiling></ceilings>" TAIL,
	 "c.xml:3: the work of 'c' is 0 per run: ...", ""},
	{__LINE__,
	 HEAD AXIS
	 "<ceiling name='c' performance='flop' work='0'><workload><kernel type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:3: the work of 'c' is 0 per run: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Dummy'/>\n<kernel type='Triad'/></workload></point>" TAIL,
	 "c.xml:4: <kernel> is there twice in <workload>", ""},
	{__LINE__, HEAD "<point><workload id='a'>\n<kernel id='a' type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <kernel id=\"a\">: another entity has this id", ""},
	{__LINE__, HEAD AXIS POINT "<quantity is='throughput:llcRam' bytes='0'/>" TAIL,
	 "c.xml:4: <quantity>: given operations and bytes must be above 0 (at n=1)", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' keyPosition='middle'/>" TAIL,
	 "c.xml:4: a plot's keyPosition cannot be 'middle'", "topLeft"},
	{__LINE__,
	 HEAD AXIS POINT
	 "<plot type='series' x='n' y='time'>\n<scale axis='x' from='0' logarithmic='true'/></plot>" TAIL,
	 "c.xml:5: <scale>: from and to of a logarithmic axis must be above 0", ""},
	{__LINE__,
	 HEAD "<axis name='n'><list values='1'/></axis><axis name='t'><list values='x'/></axis>\n"
	      "<point><workload><kernel type='Triad' bufferSize='{$t}'/></workload></point>" TAIL,
	 "c.xml:3: class Triad, field bufferSize: 'x' is not a whole number (at n=1, t=x)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "") "<point><program/></point>" TAIL,
	 "c.xml:4: <program> lacks the attribute 'executable'", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' cpu='1'", "") TAIL, "c.xml:3: <program> has no attribute 'cpu'",
	 ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<pass/>") TAIL, "c.xml:3: <pass> is not expected in <program>",
	 "argument"},
	{__LINE__, RULE(RUN_START, "<action type='StopKernelAction'/>"),
	 "c.xml:6: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='FlushKernelBuffersAction'/>"),
	 "c.xml:6: FlushKernelBuffersAction: a program has no kernel, and its buffers are not known (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='WaitForWorkloadAction'/>"),
	 "c.xml:6: WaitForWorkloadAction: a program has no workloads to wait for (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='WaitForPressureBarrierAction'/>"),
	 "c.xml:6: WaitForPressureBarrierAction: a thread of a program that waited there could hold a lock that the "
	 "others need, and the program would hang (at n=1)",
	 ""},
	{__LINE__, RULE(RUN_START, "<action type='StartMeasurerSetAction'/>"),
	 "c.xml:6: StartMeasurerSetAction: no measurer set is named (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='StartMeasurerSetAction' tid='7'><measurerSet/></action>"),
	 "c.xml:6: StartMeasurerSetAction: the ids of a program's threads are not known before it runs (at n=1)",
	 "ThreadEventPredicate"},
	{__LINE__, RULE(RUN_START, "<action type='DisposeMeasurerSetAction'><measurerSet/><workload/></action>"),
	 "c.xml:6: DisposeMeasurerSetAction: it names a workload, and a program has none (at n=1)", ""},
	{__LINE__, RULE(RUN_START, CREATE("<measurerSet>\n<mainMeasurer type='ResourceUsageMeasurer'/></measurerSet>")),
	 "c.xml:8: ResourceUsageMeasurer: what a thread used cannot be read from outside (at n=1)",
	 "PerfEventMeasurer"},
	{__LINE__, RULE(RUN_START, CREATE("<measurerSet>\n<additionalMeasurer type='FileMeasurer'/></measurerSet>")),
	 "c.xml:8: FileMeasurer: a file is none of a thread's (at n=1)", ""},
	{__LINE__, RULE(RUN_START, CREATE("<measurerSet/>\n<stopPredicate type='WorkloadEventPredicate'/>")),
	 "c.xml:8: WorkloadEventPredicate: workloads run kernels, a program has none (at n=1)",
	 "ProgramEventPredicate"},
	{__LINE__, RULE("<predicate type='WorkloadEventPredicate'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: WorkloadEventPredicate: workloads run kernels, a program has none (at n=1)",
	 "ProgramEventPredicate"},
	{__LINE__, RULE("<predicate type='BreakpointEventPredicate'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: no place is named (at n=1)", "FUNCTION"},
	{__LINE__,
	 RULE("<predicate type='BreakpointEventPredicate' place='main' firstHit='3' lastHit='2'/>",
	      CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: hits 3 to 2 are none: the first is 1, lastHit 0 means all (at n=1)", ""},
	{__LINE__,
	 RULE("<predicate type='BreakpointEventPredicate' place='main' firstHit='0'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: hits 0 to 0 are none: the first is 1, lastHit 0 means all (at n=1)", ""},
	{__LINE__, RULE(RUN_START, ""), "c.xml:4: a rule has no action (at n=1)", ""},
	{__LINE__, RULE("", CREATE("<measurerSet/>")), "c.xml:4: a rule has no predicate (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='MeasureActionExecution'><measurerSet/></action>"),
	 "c.xml:6: MeasureActionExecution: no action to be measured is named (at n=1)", ""},
	{__LINE__,
	 RULE(RUN_START,
	      "<action type='MeasureActionExecution'><measurerSet/>\n<action type='StopKernelAction'/></action>"),
	 "c.xml:7: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='AddRuleAction'/>"),
	 "c.xml:6: AddRuleAction: no rule is named (at n=1)", ""},
	{__LINE__,
	 RULE(RUN_START,
	      "<action type='AddRuleAction'><rule>" RUN_START "\n<action type='StopKernelAction'/></rule></action>"),
	 "c.xml:7: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{__LINE__,
	 RULE(RUN_START, "<action type='AddRuleAction'><rule id='r'>" RUN_START
			 "<action type='AddRuleAction'><rule ref='r'/></action></rule></action>"),
	 "c.xml:6: actions are nested more than 16 deep (at n=1)", ""},
	{__LINE__, IN_KERNEL(RUN_START "\n<action type='StopKernelAction'/>"),
	 "c.xml:6: StopKernelAction: no kernel is named (at n=1)", ""},
	{__LINE__, IN_KERNEL("<predicate type='ProgramEventPredicate'/>\n" CREATE("<measurerSet/>")),
	 "c.xml:5: ProgramEventPredicate: it is of programs, and this is a measurement of kernels (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='no-such-program'", "") TAIL,
	 "c.xml:3: cannot run 'no-such-program': no such program in PATH (at n=1)", "./NAME"},
	{__LINE__, HEAD AXIS PROGRAM("executable='./no-such-program'", "") TAIL,
	 "c.xml:3: cannot run './no-such-program': No such file or directory (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='/'", "") TAIL, "c.xml:3: cannot run '/': Is a directory (at n=1)",
	 ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' folder='/no/{$n}'", "") TAIL,
	 "c.xml:3: cannot run in folder '/no/1': No such file or directory (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<input file='no-such-file'/>") TAIL,
	 "c.xml:3: cannot read the input '...", "a file"},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' passes='{$n - 1}'", "") TAIL,
	 "c.xml:3: passes is 0: expected a whole number from 1 to 1000 (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' followForks='maybe'", "") TAIL, "c.xml:3: ...", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<environment value='A'/>") TAIL,
	 "c.xml:3: <environment value=\"A\">: not NAME=value (at n=1)", ""},
	{__LINE__,
	 HEAD AXIS PROGRAM("executable='sh'", "<region name='a' begin='f'/><region name='a' begin='g'/>") TAIL,
	 "c.xml:3: <region name=\"a\">: each region needs a name of its own...", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<region name='a'/>") TAIL,
	 "c.xml:3: <region> lacks the attribute 'begin'", ""},
	{__LINE__, HEAD "<axis name='region'><list values='1'/></axis>" POINT TAIL,
	 "c.xml:2: an axis cannot be called 'region'", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "") "<quantity is='time:tsc'/>" TAIL,
	 "c.xml:3: the time stamp counter is not read for a program (at n=1)", "microSeconds"},
	{__LINE__,
	 HEAD AXIS
	 "<point><program executable='sh'/><workload><kernel type='Triad' bufferSize='8'/></workload></point>" TAIL,
	 "c.xml:3: <workload> beside <program>: a program is measured alone (at n=1)", ""},
};

TEST_OF(refused, NR_ELEMENTS(refusals))
{
	struct xml_controller *controller = open_text(refusals[_i].xml);
	const char *message = refusals[_i].message;
	size_t length = strlen(message);
	bool is_beginning = length > 3 && strcmp(message + length - 3, "...") == 0;

	if (controller) { /* what is shown is checked when it runs */
		ck_assert_msg(xml_controller_run(controller, "out", &why) < 0, "row of line %d is accepted",
			      refusals[_i].line);
		ck_assert_uint_eq(fake_nr_calls, 0);
		ck_assert_int_ne(access("out.json", F_OK), 0);
	}
	ck_assert_msg(strncmp(why.text, message, is_beginning ? length - 3 : length + 1) == 0,
		      "row of line %d: '%s' instead of '%s'", refusals[_i].line, why.text, message);
	ck_assert_msg(strstr(why.hint, refusals[_i].hint) || strstr(why.text, refusals[_i].hint),
		      "row of line %d: hint '%s'", refusals[_i].line, why.hint);
}

/* A file cut anywhere or with a byte changed is refused or means something else; it never crashes. */
TEST(damaged_files)
{
	autofree char *path = controller_find_file(rot.paths, "intro"), *text = file_read(path, NULL, NULL);
	size_t length = strlen(text);
	static const char bytes[] = "<>\"'{}$&0/ \xff";

	for (size_t i = 0; i < length; i += 29) {
		autofree char *damaged = rot_strndup(text, i);
		struct xml_controller *controller = open_text(damaged);

		ck_assert_msg(!controller && why.text[0], "cut at %zu", i);
	}
	for (size_t i = 0; i < length; i += 7) {
		autofree char *damaged = rot_strdup(text);
		struct xml_controller *controller;

		damaged[i] = bytes[i / 7 % (sizeof(bytes) - 1)];
		controller = open_text(damaged);
		ck_assert_msg(controller || why.text[0], "changed at %zu", i);
	}
}

UNIT_TESTS(.set_up = setup);
