/* Appended to a page: what it does in a browser, told in the attribute data-told of the body, or of that of the page
   around its frame: a line each. */
(function () {
	const told = [], wanted = new Set(["narrow", "dark"].filter(function (word) { return location.hash.includes(word); }));
	const figures = Array.from(document.querySelectorAll("figure")), figure = figures.find(isSeen);
	const plot = figure.querySelector("svg.plot"), table = document.querySelector(".wide");
	const entries = Array.from(figure.querySelectorAll(".legend li"));

	function tell(what, holds) {
		told.push((holds ? "ok: " : "FAILED: ") + what);
	}

	function isSeen(element) {
		return element.getClientRects().length !== 0;
	}

	function seriesOf(entry) {
		return document.getElementById(entry.dataset.series);
	}

	function press(entry, shift) {
		const button = entry.querySelector("button");
		button.focus();
		tell("the tab key reaches the series", document.activeElement === button);
		button.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: shift }));
		return button.getAttribute("aria-pressed");
	}

	function brightness(colour) {
		return colour.match(/[0-9]+/g).slice(0, 3).map(Number).reduce(function (a, b) { return a + b; }) / 3;
	}

	/* ---- sizes ---- */
	const isNarrow = window.innerWidth === 400;
	tell("the window is as wide as asked for", isNarrow === wanted.has("narrow"));
	tell("the page is as wide as the window", document.documentElement.scrollWidth <= window.innerWidth);
	tell("texts in the picture have 9 pixels at least",
		plot.getScreenCTM().a * parseFloat(getComputedStyle(plot).fontSize) >= 9);
	tell("of the two pictures one is shown", figures.length === 2 && figures.filter(isSeen).length === 1);
	tell("it is within the window", plot.getBoundingClientRect().left >= 0 &&
		plot.getBoundingClientRect().right <= window.innerWidth);
	tell("and all texts are in it", Array.from(plot.querySelectorAll("text")).filter(isSeen).every(function (text) {
		const inner = text.getBoundingClientRect(), outer = plot.getBoundingClientRect();
		return inner.left > outer.left - 1 && outer.right + 1 > inner.right;
	}));
	tell("its lines have names", figure.textContent.includes("FMA <wide> (2 Gflop/s)") &&
		figure.textContent.includes("memory & load (3 GB/s)"));
	if (isNarrow) {
		const first = table.querySelector("td.stays");
		table.scrollLeft = 200;
		tell("the table is wider than the page", table.scrollLeft > 0);
		tell("its first column stays",
			Math.abs(first.getBoundingClientRect().left - table.getBoundingClientRect().left) < 2);
		tell("and is not seen through", !/, 0\)$/.test(getComputedStyle(first).backgroundColor));
	}
	tell("light or dark", (brightness(getComputedStyle(document.body).backgroundColor) < 128) === wanted.has("dark"));
	tell("texts stand out", Math.abs(brightness(getComputedStyle(document.body).color) -
		brightness(getComputedStyle(document.body).backgroundColor)) > 128);

	/* ---- series ---- */
	tell("there are two series", entries.length === 2);
	tell("a series is hidden", press(entries[0], false) === "false" && !isSeen(seriesOf(entries[0])));
	tell("with its labels", Array.from(figure.querySelectorAll("[data-of='" + entries[0].dataset.series + "']"))
		.every(function (label) { return !isSeen(label); }));
	tell("and shown again", press(entries[0], false) === "true" && isSeen(seriesOf(entries[0])));
	tell("one is shown alone", press(entries[1], true) === "true" && isSeen(seriesOf(entries[1])) &&
		!isSeen(seriesOf(entries[0])));
	tell("then all", press(entries[1], true) === "true" && isSeen(seriesOf(entries[0])));

	/* ---- points ---- */
	const stops = figure.querySelectorAll(".point[tabindex='0']"), tip = ".tip:not([hidden])";
	tell("points are one stop of the tab key", stops.length === 1);
	stops[0].focus();
	stops[0].dispatchEvent(new FocusEvent("focus")); /* the browser sends none while its window has not got the focus */
	tell("a point tells its share of the roof", figure.querySelector(tip).textContent.includes(" % of the roof"));
	tell("to who hears it as well", stops[0].getAttribute("aria-label") === figure.querySelector(tip).textContent);
	tell("and within the picture's frame", figure.querySelector(tip).getBoundingClientRect().right <= window.innerWidth);
	stops[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
	tell("an arrow goes to another one", document.activeElement !== stops[0] &&
		document.activeElement.classList.contains("point"));

	/* ---- tables ---- */
	const values = document.querySelector("table.sortable"), rates = values.querySelectorAll("th.number")[0];
	function column() {
		return Array.from(values.tBodies[0].rows).map(function (row) {
			return parseFloat(row.cells[rates.cellIndex].textContent);
		});
	}
	const before = column();
	tell("the rows are in no order of values", before.some(function (value, i) { return i > 0 && value > before[i - 1]; }));
	rates.querySelector("button").click();
	tell("a click on a heading puts the largest value first", rates.getAttribute("aria-sort") === "descending" &&
		column().every(function (value, i, all) { return i === 0 || all[i - 1] >= value; }));
	rates.querySelector("button").click();
	tell("another one the least", rates.getAttribute("aria-sort") === "ascending" &&
		column().every(function (value, i, all) { return i === 0 || value >= all[i - 1]; }));

	/* ---- paper ---- */
	document.querySelectorAll("details").forEach(function (details) { details.open = false; });
	window.dispatchEvent(new Event("beforeprint"));
	tell("all is open on paper", Array.from(document.querySelectorAll("details")).every(function (one) { return one.open; }));

	(window.frameElement ? parent.document : document).body.setAttribute("data-told", told.join("|"));
}());
