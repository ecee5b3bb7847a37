/* SPDX-License-Identifier: MIT */
/* Messages about XML controllers that are wrong. */
#include "base/files.h"
#include "experiments/xml_run.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"
#include "testing.h"
#include "xml_fixture.h"

#define DUMMY "<workload><kernel type='Dummy'/></workload>"

/* A ceiling on line 2. */
#define CEILING(children)                                                                                              \
	"<ceiling name='c' performance='flop' work='1'><workload><kernel type='Dummy'/></workload>\n" children         \
	"</ceiling>\n"

/* A rule in a program, on lines of its own: the predicate is on line 5, the action on line 6. */
#define RULE(predicate, action)                                                                                        \
	AXIS PROGRAM("executable='sh'", "<argument value='-c'/>\n<rule>\n" predicate "\n" action "</rule>")
#define RUN_START "<predicate type='MeasurementRunEventPredicate'/>"
#define IN_KERNEL(rule) AXIS "<point>" DUMMY "\n<rule>\n" rule "</rule></point>"
#define CREATE(set) "<action type='CreateMeasurerOnThreadAction'>\n" set "</action>"

/* The message is given as a whole, or its beginning with "..." at the end; the hint in part. */
struct refusal {
	const char *xml, *message, *hint;
};

static const struct refusal files[] = {
	{"", "c.xml:1: ...", ""},
	{HEAD "<axis", "c.xml:2: ...", ""},
	{HEAD AXIS POINT "</control>", "c.xml:4: ...", ""},
	{"<experiment/>", "c.xml:1: the root element is <experiment>", "expected: controller"},
	{"<controller comment=''>" POINT TAIL, "c.xml:1: <controller> lacks the attribute 'name'", ""},
	{"<controller name='c' comment='' disturbed='no'>" POINT TAIL, "c.xml:1: ...", "kept"},
};

/* Between HEAD and TAIL: from line 2 on. */
static const struct refusal refusals[] = {
	{"<axes name='n'/>", "c.xml:2: <axes> is not expected in <controller>", "did you mean 'axis'?"},
	{"<axis nam='n'/>", "c.xml:2: <axis> has no attribute 'nam'", "did you mean 'name'?"},
	{"<axis name='n'/>" POINT, "c.xml:2: <axis> has no values", "range"},
	{"<axis name='n'>1 2</axis>", "c.xml:2: <axis> holds text, which means nothing there", ""},
	{"<axis name='a b'><list values='1'/></axis>" POINT, "c.xml:2: an axis cannot be called 'a b'", "letters"},
	{"<axis name='llcBytes'><list values='1'/></axis>" POINT, "c.xml:2: an axis cannot be called 'llcBytes'", ""},
	{AXIS AXIS POINT, "c.xml:3: axis 'n' is there twice", ""},
	{"<axis name='n'><range from='1' to='5' step='0'/></axis>" POINT, "c.xml:2: axis 'n': step is 0...", ""},
	{"<axis name='n'>\n<list values='{$m}'/></axis>" POINT, "c.xml:3: axis 'n': ...", ""},
	{AXIS "<skip if='$nn = 1'/>" POINT, "c.xml:3: skip: ...", "$n"},
	{AXIS "<skip if='$n > 0'/>" POINT, "c.xml:1: no point to measure is left", "conditions"},
	{AXIS, "c.xml:1: <controller> has nothing to measure", "rot help CONTROLLERS.md"},
	{AXIS "<point/>", "c.xml:3: <point> lacks a <workload> or a <program> (at n=1)", ""},
	{AXIS "<point><workload/></point>", "c.xml:3: <workload> has no <kernel> (at n=1)", ""},
	{"<point><workload>\n<kernel type='Dummy'/><measurerSet><mainMeasurer "
	 "type='TscMeasurer'/></measurerSet></workload></point>",
	 "c.xml:3: the <measurerSet> of a <workload> has measurers, which nobody would read", "load"},
	{"<point><workload><kernel type='Dummy'/><measurerSet/></workload></point>",
	 "c.xml:2: each <workload> is a load, with a <measurerSet/>: there is nothing to measure", ""},
	{"<point>\n<workload>\n<kernel type='Traid'/></workload></point>",
	 "c.xml:4: <kernel type=\"Traid\">: no such class", "did you mean 'Triad'?"},
	{"<point><workload><kernel/></workload></point>", "c.xml:2: <kernel> must say its type, as there are several",
	 "Triad"},
	{"<point><workload><kernel type='Machine'/></workload></point>",
	 "c.xml:2: <kernel type=\"Machine\">: not a possible KernelBase", ""},
	{"<point><workload>\n<kernel type='Triad' buffersize='1'/></workload></point>", "c.xml:3: ...", "bufferSize"},
	{"<point><workload>\n<kernel type='Triad' bufferSize='many'/></workload></point>", "c.xml:3: ...", ""},
	{"<point><workload>\n<kernel type='Triad' bufferSize='{$n}'/></workload></point>",
	 "c.xml:3: <kernel bufferSize>: ...", ""},
	{"<point><workload>\n<kernel type='Triad' bufferSize='{1 div 0}'/></workload></point>",
	 "c.xml:3: <kernel bufferSize>: ...", ""},
	{"<point><workload>\n<kernel type='Triad' bufferSize='0'/></workload></point>", "c.xml:3: ...", ""},
	{"<point><workload>\n<kernel type='Triad' bufferSize='-5'/></workload></point>", "c.xml:3: ...", ""},
	{"<point><workload>\n<kernel type='Triad' bufferSize='1e30'/></workload></point>", "c.xml:3: ...", ""},
	{"<point><workload>\n<kernel type='Triad' bufferSize='1000000000000'/></workload></point>", "c.xml:3: ...", ""},
	{"<point><workload>\n<kernel type='Memory' operation='SWAP'/></workload></point>", "c.xml:3: ...", ""},
	{"<point><workload cpus='1'><kernel type='Dummy'/></workload></point>", "c.xml:2: ...", "cpu"},
	{"<point><workload><kernel type='Dummy'/><kernels/></workload></point>",
	 "c.xml:2: Workload has no field for <kernels>", "did you mean 'kernel'?"},
	{"<point><workload><cpu/><kernel type='Dummy'/></workload></point>",
	 "c.xml:2: 'cpu' of Workload is a plain value", "cpu="},
	{"<point><workload id='a'><kernel type='Dummy'/></workload><rule><predicate "
	 "type='WorkloadEventPredicate'>\n<workload ref='b'/></predicate></rule></point>",
	 "c.xml:3: <workload ref=\"b\">: no entity has this id", "a"},
	{"<point><workload><kernel id='a' type='Dummy'/></workload><rule><predicate "
	 "type='WorkloadEventPredicate'>\n<workload ref='a'/></predicate></rule></point>",
	 "c.xml:3: <workload ref=\"a\">: that is a Dummy, not a Workload", ""},
	{AXIS "<point runs='0'>" DUMMY "</point>", "c.xml:3: runs is 0: ...", ""},
	{AXIS "<point runs='1.5'>" DUMMY "</point>", "c.xml:3: runs is 1.5: ...", ""},
	{AXIS "<point runs='x'>" DUMMY "</point>", "c.xml:3: <point runs>: 'x' is no number (at n=1)", ""},
	{AXIS POINT "<quantity is='performence:flop'/>", "c.xml:4: ...", "performance"},
	{AXIS POINT "<quantity is='performance:flops'/>", "c.xml:4: ...", "flop"},
	{AXIS POINT "<quantity is='throughput:llcRam' bytes='-1'/>", "c.xml:4: <quantity>: given ...", ""},
	{AXIS POINT "<plot type='rofline' x='n' y='time'/>", "c.xml:4: <plot type=\"rofline\">: not a possible value",
	 "did you mean 'roofline'?"},
	{AXIS POINT "<look series='s' colour='gren'/>", "c.xml:4: <look>: 'gren' is no colour",
	 "did you mean 'green'?"},
	{AXIS POINT "<look series='t' colour='green'/>", "c.xml:4: <look series=\"t\">: no series is called that",
	 "did you mean 's'?"},
	{AXIS POINT "<look series='s' marker='cross'/>", "c.xml:4: <look>: 'cross' is no marker",
	 "one of circle, square"},
	{AXIS POINT "<look series='s' order='first'/>", "c.xml:4: ...", ""},
	{AXIS POINT "<plot type='series' x='m' y='time'/>",
	 "c.xml:4: <plot x=\"m\">: neither an axis nor a quantity nor a derived value", ""},
	{AXIS POINT "<plot type='series' x='n' y='time' show='ratio'/>",
	 "c.xml:4: <plot>: show is of distribution, histogram, runs and threads", ""},
	{AXIS POINT "<plot type='distribution' x='n' y='time' relativeTo='minimum'/>",
	 "c.xml:4: <plot>: relativeTo is of what shows a ratio or an error", ""},
	{AXIS POINT "<plot type='distribution' x='n' y='time' show='samples' relativeTo='expected'/>",
	 "c.xml:4: <plot>: relativeTo is of what shows a ratio or an error", ""},
	{AXIS POINT "<plot type='distribution' x='n' y='time' minimumOf='10'/>",
	 "c.xml:4: <plot>: minimumOf is of what shows samples, a ratio or an error of each run", ""},
	{AXIS POINT "<plot type='threads' y='time' minimumOf='10'/>",
	 "c.xml:4: <plot>: minimumOf is of what shows samples, a ratio or an error of each run", ""},
	{AXIS POINT "<plot type='threads' y='time' show='ratio' relativeTo='minimum'/>",
	 "c.xml:4: <plot>: relativeTo=\"minimum\" is of runs: threads are held against what is expected", ""},
	{AXIS POINT "<plot type='runs' y='time' minimumOf='1.5'/>",
	 "c.xml:4: minimumOf is 1.5: expected a whole number of runs", ""},
	{AXIS POINT "<plot type='runs' x='n' y='time'/>", "c.xml:4: <plot>: histogram, runs and threads have no x", ""},
	{AXIS POINT "<plot type='distribution' y='time'/>",
	 "c.xml:4: <plot>: roofline, distribution and series lack an x", ""},
	{AXIS POINT "<accuracy of='tim'/>", "c.xml:4: accuracy: of: ...", "time"},
	{AXIS POINT "<accuracy of='time' by='m'/>", "c.xml:4: <accuracy by=\"m\">: no axis is called that", ""},
	{AXIS POINT "<accuracy of='time' if='$m'/>", "c.xml:4: <accuracy if>: ...", "$n"},
	{AXIS "<point until='$m > 1'>" DUMMY "</point>", "c.xml:3: <point until>: ...", "$n"},
	{AXIS "<point threads='many'>" DUMMY "</point>",
	 "c.xml:3: <point threads=\"many\">: expected 'all' or a number from 1 to ...", "a CPU of its own"},
	{AXIS "<point threads='0'>" DUMMY "</point>",
	 "c.xml:3: <point threads=\"0\">: expected 'all' or a number from 1 to ...", ""},
	{AXIS "<point threads='1'>" DUMMY DUMMY "</point>",
	 "c.xml:3: <point threads>: there are 2 workloads, and it is about the only one (at n=1)", ""},
	{AXIS "<point threads='1'><program executable='sh'/></point>",
	 "c.xml:3: <point threads>: that is of points with kernels (at n=1)", ""},
	{AXIS POINT
	 "<each><axis name='a'><list values='1'/></axis>\n<plot type='series' x='n' y='time' title='{$b}'/></each>",
	 "c.xml:5: <plot title>: ...", "$a"},
	{AXIS POINT "<each><axis name='a'><list values='1 2'/></axis>\n<plot type='series' x='n' y='time'/></each>",
	 "c.xml:5: two plots with the name ''", ""},
	{AXIS POINT "<each if='$b'><axis name='a'><list values='1 2'/></axis></each>", "c.xml:4: <each if>: ...", ""},
	{AXIS POINT "<plot type='series' x='n' y='tim'/>", "c.xml:4: plot: y: ...", "time"},
	{AXIS POINT "<plot type='roofline' x='time' y='performance:flop'/>",
	 "c.xml:4: a roofline of 'performance' over 'time'", "operationalIntensity"},
	{AXIS POINT "<plot type='series' x='n' y='time'/>\n<plot type='series' x='n' y='time'/>",
	 "c.xml:5: two plots with the name ''", "OUTPUT-NAME"},
	{AXIS POINT "<plot type='series' x='n' y='time' pointLabel='{$nn}'/>", "c.xml:4: <plot>: pointLabel: ...",
	 "$n"},
	{AXIS POINT "<plot type='series' x='n' y='time'>\n<scale axis='x' from='5' to='2'/></plot>",
	 "c.xml:5: <scale> from 5 to 2: from must be below to", ""},
	{"<axis name='n'><list values='1 2'/></axis><axis name='t'><list values='x y'/></axis>\n" POINT
	 "<plot type='series' x='t' y='time'/>",
	 "c.xml:4: <plot x=\"t\">: the axis has values that are no numbers", ""},
	{AXIS POINT "<plot type='roofline' x='operationalIntensity:flop:llcRam' y='performance:flop'>\n<marker at='1' "
		    "label='a'/></plot>",
	 "c.xml:5: <marker>: a roofline has none", ""},
	{AXIS POINT "<plot type='roofline' x='operationalIntensity:flop:llcRam' y='performance:flop'>\n<cacheMarkers "
		    "at='1'/></plot>",
	 "c.xml:5: <cacheMarkers>: a roofline has none", ""},
	{AXIS POINT "<plot type='series' x='n' y='time'>\n<marker at='{$m}' label='a'/></plot>", "c.xml:5: ...", "$m"},
	{AXIS POINT "<plot type='series' x='n' y='time'>\n<cacheMarkers at='{$byte}'/></plot>", "c.xml:5: ...",
	 "$bytes"},
	{AXIS POINT "<plot type='series' x='n' y='time'>\n<model of='m' name='a'/></plot>",
	 "c.xml:5: <model of=\"m\">: no derived value has that name", ""},
	{AXIS POINT "<plot type='distribution' x='n' y='time' differenceFrom='s'/>",
	 "c.xml:4: <plot differenceFrom>: only a plot of type series shows differences", ""},
	{AXIS POINT "<table><column of='m'/></table>", "c.xml:4: ...", ""},
	{AXIS POINT "<table best='tim'><column of='n'/></table>", "c.xml:4: table: best: ...", "time"},
	{AXIS POINT "<table if='$m > 1'><column of='n'/></table>", "c.xml:4: <table if>: ...", "$n"},
	{AXIS POINT "<plot type='series' x='n' y='time' best='tim'/>", "c.xml:4: plot: best: ...", "time"},
	{AXIS POINT "<choice name='c' best='tim' otherwise='1'><axis name='k'><list "
		    "values='1'/></axis><workload><kernel type='Triad'/></workload></choice>",
	 "c.xml:4: ...", "time"},
	{AXIS POINT "<choice name='c' best='time' otherwise='1'><axis name='k'><list "
		    "values='1'/></axis><workload><kernel type='Triad'/></workload></choice>",
	 "c.xml:4: <choice best=\"time\">: expected a performance or a throughput", ""},
	{AXIS POINT "<choice name='quick' best='performance:flop' otherwise='1'><axis name='k'><list "
		    "values='1'/></axis><workload><kernel type='Triad'/></workload></choice>",
	 "c.xml:4: a choice cannot be called 'quick'", "a meaning of its own"},
	{AXIS POINT "<choice name='c' best='performance:flop' otherwise='1'><axis name='k'><list "
		    "values='1'/></axis><workload><kernel type='Triad' bufferSize='{$n}'/></workload></choice>",
	 "c.xml:4: ...", ""},
	{AXIS POINT "<derived name='a'/>", "c.xml:4: ...", ""},
	{AXIS POINT "<derived name='a' is='1' text='b'/>", "c.xml:4: ...", ""},
	{AXIS POINT "<derived name='a' peak='load'/>", "c.xml:4: ...", ""},
	{AXIS POINT "<derived name='a' peak='load' border='cpuL1' clock='hour'/>", "c.xml:4: ...", ""},
	{AXIS POINT "<derived name='a' peak='FMA' operation='{$m}'/>", "c.xml:4: <derived>: operation: ...", ""},
	{AXIS POINT "<derived name='a' is='$b + 1'/>\n<derived name='b' is='1'/>", "c.xml:4: ...", "$b"},
	{AXIS POINT "<derived name='a' is='1'/>\n<derived name='b' text='{$c}' if='$a > 0'/>",
	 "c.xml:5: <derived>: text: ...", ""},
	{AXIS POINT "<derived name='a' is='1' if='$m'/>", "c.xml:4: <derived if>: ...", "$n"},
	{AXIS POINT "<derived name='a' is='2 * ) 3'/>",
	 "c.xml:4: <derived is>: expression '2 * ) 3': not understood, at ') 3'", ""},
	{AXIS POINT "<plot type='series' x='n' y='time' if='$m = 1'/>",
	 "c.xml:4: <plot if>: expression '$m = 1': there is no variable '$m'", "$n"},
	{AXIS POINT "<quantity is='time' name='t'/>\n<derived name='a' is='$t div $base.t'/>", "c.xml:5: ...", "$t"},
	{AXIS POINT "<derived name='a' is='1' base='{$m}'/>", "c.xml:4: <derived>: base: ...", "$n"},
	{AXIS "<ceiling name='c'>" DUMMY "</ceiling>",
	 "c.xml:3: <ceiling> needs either a performance or a throughput or a latency (at n=1)", "performance="},
	{AXIS "<ceiling name='c' throughput='l1l2' latency='l1l2'>" DUMMY "</ceiling>",
	 "c.xml:3: <ceiling> needs either a performance or a throughput or a latency (at n=1)", "performance="},
	{"<ceiling name='c' performance='flop' rare='maybe' work='1'>" DUMMY "</ceiling>",
	 "c.xml:2: <ceiling rare=\"maybe\">: expected true or false", ""},
	{"<ceiling name='c' performance='flop' threads='2' work='1'>" DUMMY "</ceiling>",
	 "c.xml:2: <ceiling threads=\"2\">: expected 1 or all", ""},
	{CEILING("<axis name='a'><list values='1 2.5'/></axis>"),
	 "c.xml:3: the axis 'a' of a <ceiling> needs whole numbers", ""},
	{CEILING("<axis name='a'><list values='1 b'/></axis>"),
	 "c.xml:3: the axis 'a' of a <ceiling> needs whole numbers", ""},
	{CEILING("<axis name='a'><list values='1'/></axis>\n<axis name='a'><list values='1'/></axis>"),
	 "c.xml:4: two axes are called 'a'", ""},
	{CEILING("<axis name='a'><list values='1'/></axis>\n<seed/>"),
	 "c.xml:4: <seed> of 'c' lacks a whole number for the axis 'a'", ""},
	{CEILING("<axis name='a'><list values='1'/></axis>\n<seed a='1' b='2'/>"),
	 "c.xml:4: <seed> of 'c': there is no axis 'b'", ""},
	{"<ceilings><axis name='m'><list values='1 2'/></axis>\n<ceiling name='c' performance='flop' work='{$m - "
	 "1}'>" DUMMY "</ceiling></ceilings>",
	 "c.xml:3: the work of 'c' is 0 per run: ...", ""},
	{AXIS "<ceiling name='c' performance='flop' work='0'>" DUMMY "</ceiling>",
	 "c.xml:3: the work of 'c' is 0 per run: ...", ""},
	{"<point><workload>\n<kernel type='Dummy'/>\n<kernel type='Triad'/></workload></point>",
	 "c.xml:4: <kernel> is there twice in <workload>", ""},
	{"<point><workload id='a'>\n<kernel id='a' type='Dummy'/></workload></point>",
	 "c.xml:3: <kernel id=\"a\">: another entity has this id", ""},
	{AXIS POINT "<quantity is='throughput:llcRam' bytes='0'/>",
	 "c.xml:4: <quantity>: given operations and bytes must be above 0 (at n=1)", ""},
	{AXIS POINT "<plot type='series' x='n' y='time' keyPosition='middle'/>",
	 "c.xml:4: a plot's keyPosition cannot be 'middle'", "topLeft"},
	{AXIS POINT "<plot type='series' x='n' y='time'>\n<scale axis='x' from='0' logarithmic='true'/></plot>",
	 "c.xml:5: <scale>: from and to of a logarithmic axis must be above 0", ""},
	{"<axis name='n'><list values='1'/></axis><axis name='t'><list values='x'/></axis>\n<point><workload><kernel "
	 "type='Triad' bufferSize='{$t}'/></workload></point>",
	 "c.xml:3: class Triad, field bufferSize: 'x' is not a whole number (at n=1, t=x)", ""},
	{AXIS PROGRAM("executable='sh'", "") "<point><program/></point>",
	 "c.xml:4: <program> lacks the attribute 'executable'", ""},
	{AXIS PROGRAM("executable='sh' cpu='1'", ""), "c.xml:3: <program> has no attribute 'cpu'", ""},
	{AXIS PROGRAM("executable='sh'", "<pass/>"), "c.xml:3: <pass> is not expected in <program>", "argument"},
	{RULE(RUN_START, "<action type='StopKernelAction'/>"),
	 "c.xml:6: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{RULE(RUN_START, "<action type='FlushKernelBuffersAction'/>"),
	 "c.xml:6: FlushKernelBuffersAction: a program has no kernel, and its buffers are not known (at n=1)", ""},
	{RULE(RUN_START, "<action type='WaitForWorkloadAction'/>"),
	 "c.xml:6: WaitForWorkloadAction: a program has no workloads to wait for (at n=1)", ""},
	{RULE(RUN_START, "<action type='WaitForPressureBarrierAction'/>"),
	 "c.xml:6: WaitForPressureBarrierAction: a thread of a program that waited there could hold a lock that the "
	 "others need, and the program would hang (at n=1)",
	 ""},
	{RULE(RUN_START, "<action type='StartMeasurerSetAction'/>"),
	 "c.xml:6: StartMeasurerSetAction: no measurer set is named (at n=1)", ""},
	{RULE(RUN_START, "<action type='StartMeasurerSetAction' tid='7'><measurerSet/></action>"),
	 "c.xml:6: StartMeasurerSetAction: the ids of a program's threads are not known before it runs (at n=1)",
	 "ThreadEventPredicate"},
	{RULE(RUN_START, "<action type='DisposeMeasurerSetAction'><measurerSet/><workload/></action>"),
	 "c.xml:6: DisposeMeasurerSetAction: it names a workload, and a program has none (at n=1)", ""},
	{RULE(RUN_START, CREATE("<measurerSet>\n<mainMeasurer type='ResourceUsageMeasurer'/></measurerSet>")),
	 "c.xml:8: ResourceUsageMeasurer: what a thread used cannot be read from outside (at n=1)",
	 "PerfEventMeasurer"},
	{RULE(RUN_START, CREATE("<measurerSet>\n<additionalMeasurer type='FileMeasurer'/></measurerSet>")),
	 "c.xml:8: FileMeasurer: a file is none of a thread's (at n=1)", ""},
	{RULE(RUN_START, CREATE("<measurerSet/>\n<stopPredicate type='WorkloadEventPredicate'/>")),
	 "c.xml:8: WorkloadEventPredicate: workloads run kernels, a program has none (at n=1)",
	 "ProgramEventPredicate"},
	{RULE("<predicate type='WorkloadEventPredicate'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: WorkloadEventPredicate: workloads run kernels, a program has none (at n=1)",
	 "ProgramEventPredicate"},
	{RULE("<predicate type='BreakpointEventPredicate'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: no place is named (at n=1)", "FUNCTION"},
	{RULE("<predicate type='BreakpointEventPredicate' place='main' firstHit='3' lastHit='2'/>",
	      CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: hits 3 to 2 are none: the first is 1, lastHit 0 means all (at n=1)", ""},
	{RULE("<predicate type='BreakpointEventPredicate' place='main' firstHit='0'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: hits 0 to 0 are none: the first is 1, lastHit 0 means all (at n=1)", ""},
	{RULE(RUN_START, ""), "c.xml:4: a rule has no action (at n=1)", ""},
	{RULE("", CREATE("<measurerSet/>")), "c.xml:4: a rule has no predicate (at n=1)", ""},
	{RULE(RUN_START, "<action type='MeasureActionExecution'><measurerSet/></action>"),
	 "c.xml:6: MeasureActionExecution: no action to be measured is named (at n=1)", ""},
	{RULE(RUN_START,
	      "<action type='MeasureActionExecution'><measurerSet/>\n<action type='StopKernelAction'/></action>"),
	 "c.xml:7: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{RULE(RUN_START, "<action type='AddRuleAction'/>"), "c.xml:6: AddRuleAction: no rule is named (at n=1)", ""},
	{RULE(RUN_START,
	      "<action type='AddRuleAction'><rule>" RUN_START "\n<action type='StopKernelAction'/></rule></action>"),
	 "c.xml:7: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{RULE(RUN_START, "<action type='AddRuleAction'><rule id='r'>" RUN_START
			 "<action type='AddRuleAction'><rule ref='r'/></action></rule></action>"),
	 "c.xml:6: actions are nested more than 16 deep (at n=1)", ""},
	{IN_KERNEL(RUN_START "\n<action type='StopKernelAction'/>"),
	 "c.xml:6: StopKernelAction: no kernel is named (at n=1)", ""},
	{IN_KERNEL("<predicate type='ProgramEventPredicate'/>\n" CREATE("<measurerSet/>")),
	 "c.xml:5: ProgramEventPredicate: it is of programs, and this is a measurement of kernels (at n=1)", ""},
	{AXIS PROGRAM("executable='no-such-program'", ""),
	 "c.xml:3: cannot run 'no-such-program': no such program in PATH (at n=1)", "./NAME"},
	{AXIS PROGRAM("executable='./no-such-program'", ""),
	 "c.xml:3: cannot run './no-such-program': No such file or directory (at n=1)", ""},
	{AXIS PROGRAM("executable='/'", ""), "c.xml:3: cannot run '/': Is a directory (at n=1)", ""},
	{AXIS PROGRAM("executable='sh' folder='/no/{$n}'", ""),
	 "c.xml:3: cannot run in folder '/no/1': No such file or directory (at n=1)", ""},
	{AXIS PROGRAM("executable='sh'", "<input file='no-such-file'/>"), "c.xml:3: cannot read the input '...",
	 "a file"},
	{AXIS PROGRAM("executable='sh' passes='{$n - 1}'", ""),
	 "c.xml:3: passes is 0: expected a whole number from 1 to 1000 (at n=1)", ""},
	{AXIS PROGRAM("executable='sh' followForks='maybe'", ""), "c.xml:3: ...", ""},
	{AXIS PROGRAM("executable='sh'", "<environment value='A'/>"),
	 "c.xml:3: <environment value=\"A\">: not NAME=value (at n=1)", ""},
	{AXIS PROGRAM("executable='sh'", "<region name='a' begin='f'/><region name='a' begin='g'/>"),
	 "c.xml:3: <region name=\"a\">: each region needs a name of its own...", ""},
	{AXIS PROGRAM("executable='sh'", "<region name='a'/>"), "c.xml:3: <region> lacks the attribute 'begin'", ""},
	{"<axis name='region'><list values='1'/></axis>" POINT, "c.xml:2: an axis cannot be called 'region'", ""},
	{AXIS PROGRAM("executable='sh'", "") "<quantity is='time:tsc'/>",
	 "c.xml:3: the time stamp counter is not read for a program (at n=1)", "microSeconds"},
	{AXIS "<point><program executable='sh'/><workload><kernel type='Triad' bufferSize='8'/></workload></point>",
	 "c.xml:3: <workload> beside <program>: a program is measured alone (at n=1)", ""},
};

static void
check_refusal(const char *xml, const struct refusal *expected)
{
	struct xml_controller *controller = open_text(xml);
	const size_t length = strlen(expected->message);
	const bool is_beginning = length > 3 && strcmp(expected->message + length - 3, "...") == 0;

	if (controller) { /* what is shown is checked when it runs */
		ck_assert_msg(xml_controller_run(controller, "out", &why) < 0, "accepted: %s", xml);
		ck_assert_uint_eq(fake_nr_calls, 0);
		ck_assert_int_ne(access("out.json", F_OK), 0);
	}
	ck_assert_msg(strncmp(why.text, expected->message, is_beginning ? length - 3 : length + 1) == 0,
		      "'%s' instead of '%s'", why.text, expected->message);
	ck_assert_msg(strstr(why.hint, expected->hint) || strstr(why.text, expected->hint), "%s: hint '%s'", why.text,
		      why.hint);
}

TEST_OF(files_are_refused, NR_ELEMENTS(files))
{
	check_refusal(files[_i].xml, &files[_i]);
}

TEST_OF(refused, NR_ELEMENTS(refusals))
{
	autofree char *xml = rot_format(HEAD "%s" TAIL, refusals[_i].xml);

	check_refusal(xml, &refusals[_i]);
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
