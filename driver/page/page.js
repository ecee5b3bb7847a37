"use strict";
/* What the page can do beyond showing: tell of a point beside it, say where the pointer is, hide series. It works
   without. No less-than sign and no ampersand here: the page is read as HTML and as XML. */
(function () {
	const space = "http://www.w3.org/2000/svg";
	const tip = document.createElement("div");

	function scale(text) {
		const words = text.split(" ");
		const low = Number(words[1]), high = Number(words[2]), unit = words.slice(3).join(" ");
		const at = words[0] === "log" ? function (part) { return low * Math.pow(high / low, part); }
			: function (part) { return low + part * (high - low); };
		return function (part) { return Number(at(part).toPrecision(3)) + (unit ? " " + unit : ""); };
	}

	function element(parent, name, look) {
		const made = document.createElementNS(space, name);
		made.setAttribute("class", look);
		parent.appendChild(made);
		return made;
	}

	function place(line, x1, y1, x2, y2) {
		line.setAttribute("x1", x1);
		line.setAttribute("y1", y1);
		line.setAttribute("x2", x2);
		line.setAttribute("y2", y2);
	}

	function within(value, most) {
		return value >= 0 ? most >= value : false;
	}

	function addCross(plot) {
		const size = plot.dataset.size.split(" ").map(Number);
		const x = scale(plot.dataset.x), y = scale(plot.dataset.y);
		const group = element(plot, "g", "hidden");
		const across = element(group, "line", "cross"), up = element(group, "line", "cross");
		const where = element(group, "text", "where");
		where.setAttribute("x", size[0]);
		where.setAttribute("y", size[1] - 4);
		plot.addEventListener("pointermove", function (event) {
			const matrix = plot.getScreenCTM().inverse();
			const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
			const inside = within(at.x, size[0]) ? within(at.y, size[1]) : false;
			group.setAttribute("class", inside ? "" : "hidden");
			place(across, 0, at.y, size[0], at.y);
			place(up, at.x, 0, at.x, size[1]);
			where.textContent = "x " + x(at.x / size[0]) + ", y " + y(1 - at.y / size[1]);
		});
		plot.addEventListener("pointerleave", function () { group.setAttribute("class", "hidden"); });
	}

	function show(figure, mark, text) {
		const outer = figure.getBoundingClientRect(), inner = mark.getBoundingClientRect();
		tip.textContent = text;
		figure.appendChild(tip);
		tip.hidden = false;
		const right = inner.right - outer.left + 10;
		const fits = outer.width >= right + tip.offsetWidth;
		tip.style.left = Math.max(0, fits ? right : inner.left - outer.left - tip.offsetWidth - 10) + "px";
		tip.style.top = inner.bottom - outer.top + 8 + "px";
	}

	function addTip(point) {
		const title = point.querySelector("title"), figure = point.closest("figure");
		if (!title) { return; }
		const text = title.textContent, mark = point.querySelector(".mark");
		title.remove(); /* else the browser would show it as well */
		point.setAttribute("aria-label", text);
		["pointerenter", "focus"].forEach(function (name) {
			point.addEventListener(name, function () { show(figure, mark, text); });
		});
		["pointerleave", "blur"].forEach(function (name) {
			point.addEventListener(name, function () { tip.hidden = true; });
		});
	}

	/* One stop of the tab key, from which arrow keys go to the other points that are shown. */
	function addArrows(plot) {
		const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
		const all = Array.from(plot.querySelectorAll(".point[tabindex]"));
		function stopAt(stop) {
			all.forEach(function (point) { point.setAttribute("tabindex", point === stop ? "0" : "-1"); });
		}
		function shown() {
			return all.filter(function (point) { return point.getClientRects().length > 0; });
		}
		plot.addEventListener("keydown", function (event) {
			const points = shown(), at = points.indexOf(document.activeElement);
			const next = at >= 0 ? points[at + steps[event.key]] : undefined;
			if (!next) { return; }
			event.preventDefault();
			stopAt(next);
			next.focus();
		});
		plot.addEventListener("rot-hidden", function () { stopAt(shown()[0]); });
		stopAt(all[0]);
		if (all.length > 0) { plot.querySelector("desc").append(" Arrow keys go from point to point."); }
	}

	/* The series, and its labels, which are drawn above all series. */
	function hide(figure, entry, hides) {
		const series = entry.dataset.series;
		entry.querySelector("button").setAttribute("aria-pressed", String(!hides));
		document.getElementById(series).classList.toggle("hidden", hides);
		figure.querySelectorAll("[data-of='" + series + "']").forEach(function (labels) {
			labels.classList.toggle("hidden", hides);
		});
		figure.classList.toggle("partial", figure.querySelector("[aria-pressed='false']") !== null);
		figure.querySelector("svg.plot").dispatchEvent(new Event("rot-hidden"));
	}

	function isShown(entry) {
		return entry.querySelector("button").getAttribute("aria-pressed") === "true";
	}

	/* All others are hidden; if they are, all are shown. */
	function isolate(figure, entry) {
		const others = Array.from(figure.querySelectorAll(".legend li")).filter(function (li) { return li !== entry; });
		const hides = isShown(entry) ? others.some(isShown) : true;
		hide(figure, entry, false);
		others.forEach(function (other) { hide(figure, other, hides); });
	}

	function addSwitch(entry) {
		const button = document.createElement("button"), figure = entry.closest("figure");
		button.type = "button";
		button.title = "hide or show; with Shift, or a double click: this one alone, or all";
		button.setAttribute("aria-pressed", "true");
		button.append.apply(button, Array.from(entry.childNodes));
		entry.append(button);
		button.addEventListener("click", function (event) {
			if (event.shiftKey) { isolate(figure, entry); } else { hide(figure, entry, isShown(entry)); }
		});
		button.addEventListener("dblclick", function () { isolate(figure, entry); });
	}

	/* ---- tables ---- */

	/* Numbers as such, texts as such; what is not known stands at the end. */
	function keyOf(row, column) {
		const cell = row.cells[column];
		const text = cell ? cell.dataset.sort || cell.textContent : "-";
		const number = text.startsWith("no bytes") ? Infinity : parseFloat(text.replace("\u2264", ""));
		return text === "-" || text === "" ? undefined : isNaN(number) ? text.toLowerCase() : number;
	}

	function compare(a, b) {
		if (a === undefined || b === undefined) { return (a === undefined) - (b === undefined); }
		return typeof a === typeof b ? (a > b) - (b > a) : (typeof a === "string") - (typeof b === "string");
	}

	/* First the largest number, and the first text of the alphabet; then the other way round. */
	function sort(table, heading) {
		const column = heading.cellIndex, body = table.tBodies[0], rows = Array.from(body.rows);
		const isText = rows.some(function (row) { return typeof keyOf(row, column) === "string"; });
		const was = heading.getAttribute("aria-sort");
		const goes = was ? (was === "ascending" ? "descending" : "ascending") : isText ? "ascending" : "descending";
		table.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
		heading.setAttribute("aria-sort", goes);
		rows.sort(function (a, b) {
			const x = keyOf(a, column), y = keyOf(b, column), order = compare(x, y);
			return goes === "ascending" || x === undefined || y === undefined ? order : -order;
		});
		body.append.apply(body, rows);
	}

	function addSort(heading) {
		const button = document.createElement("button");
		button.type = "button";
		button.append.apply(button, Array.from(heading.childNodes));
		heading.append(button);
		button.addEventListener("click", function () { sort(heading.closest("table"), heading); });
	}

	tip.className = "tip";
	tip.hidden = true;
	document.querySelectorAll("svg.plot").forEach(addCross);
	document.querySelectorAll("svg.plot .point").forEach(addTip);
	document.querySelectorAll("svg.plot").forEach(addArrows);
	document.querySelectorAll(".legend li").forEach(addSwitch);
	document.querySelectorAll("table.sortable th").forEach(addSort);
	window.addEventListener("beforeprint", function () {
		document.querySelectorAll("details").forEach(function (details) { details.open = true; });
	});
}());
