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

	/* ---- functions ---- */

	function partsOf(place) {
		return document.querySelectorAll("[data-place='" + place + "']");
	}

	function mark(look, row, holds) {
		row.classList.toggle(look, holds);
		partsOf(row.id).forEach(function (part) { part.classList.toggle(look, holds); });
	}

	/* Its row, its dots, and its code, which is opened. */
	function select(row, target) {
		document.querySelectorAll("tr.selected").forEach(function (other) { mark("selected", other, false); });
		mark("selected", row, true);
		const closed = target.closest("details");
		if (closed) { closed.open = true; }
		target.scrollIntoView({ block: "start" });
	}

	function codeOf(row) {
		const link = row.querySelector("a");
		return link ? document.getElementById(link.hash.slice(1)) : null;
	}

	function addRow(row) {
		const code = codeOf(row);
		["pointerenter", "focusin"].forEach(function (name) {
			row.addEventListener(name, function () { mark("pointed", row, true); });
		});
		["pointerleave", "focusout"].forEach(function (name) {
			row.addEventListener(name, function () { mark("pointed", row, false); });
		});
		if (code) {
			row.querySelector("a").addEventListener("click", function () { select(row, code); });
		}
	}

	/* A click or Enter goes to its code; where there is none to its row. */
	function addGoing(point) {
		const row = document.getElementById(point.dataset.place);
		if (!row) { return; }
		function go() { select(row, codeOf(row) || row); }
		point.setAttribute("role", "button");
		point.addEventListener("click", go);
		point.addEventListener("keydown", function (event) {
			if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); }
		});
	}

	function shareOf(row) {
		return row.cells[1].dataset.sort ? Number(row.cells[1].dataset.sort) : 0;
	}

	/* Rows and dots with less of the time are hidden; what is in no function stays. */
	function filter(rows, least) {
		rows.forEach(function (row) {
			const hides = least > shareOf(row);
			row.hidden = hides;
			if (row.id) { mark("filtered", row, hides); }
		});
		document.querySelectorAll("svg.plot").forEach(function (plot) { plot.dispatchEvent(new Event("rot-hidden")); });
	}

	function addFilter(tables) {
		const label = document.createElement("label"), choice = document.createElement("select");
		const rows = tables.flatMap(function (table) {
			return Array.from(table.tBodies[0].rows).filter(function (row) { return row.querySelector("[colspan]") === null; });
		});
		[0, 1, 2, 5, 10, 20].forEach(function (share) { choice.add(new Option(share ? share + " %" : "any share", share)); });
		choice.addEventListener("change", function () { filter(rows, Number(choice.value)); });
		if (matchMedia("(max-width: 40rem)").matches) {
			choice.value = 1; /* a card takes much of a narrow page */
			filter(rows, 1);
		}
		label.className = "filter";
		label.append("functions and loops with at least ", choice, " of the CPU time");
		const first = document.querySelector("figure") || tables[0].closest(".wide");
		first.before(label);
	}

	/* ---- views ---- */

	/* Of each kind of choice one is made, and the roofline of all of them is shown. */
	function addViews(figures) {
		const choices = document.createElement("p"), kinds = [["border", "bytes across the border "], ["precision", "precision "], ["dots", "dots of "]];
		const selects = kinds.map(function (kind) {
			const label = document.createElement("label"), select = document.createElement("select");
			Array.from(new Set(figures.map(function (figure) { return figure.dataset[kind[0]]; }))).forEach(function (value) {
				select.add(new Option(value, value));
			});
			label.append(kind[1], select);
			label.hidden = select.length === 1;
			choices.append(label);
			return select;
		});
		choices.className = "views";
		choices.addEventListener("change", function () {
			figures.forEach(function (figure) {
				const is = kinds.every(function (kind, i) { return figure.dataset[kind[0]] === selects[i].value; });
				figure.classList.toggle("unchosen", !is);
			});
		});
		figures[0].before(choices);
	}

	/* ---- files ---- */

	const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity",
		"vector-effect", "text-anchor", "dominant-baseline", "display", "font-family", "font-size", "font-weight"];

	/* The picture as it is shown, with its looks in itself. */
	function drawn(plot) {
		const copy = plot.cloneNode(true), from = plot.querySelectorAll("*"), box = plot.viewBox.baseVal;
		copy.querySelectorAll("*").forEach(function (part, i) {
			const style = getComputedStyle(from[i]);
			part.setAttribute("style", looks.map(function (look) { return look + ":" + style.getPropertyValue(look); }).join(";"));
		});
		const ground = document.createElementNS(space, "rect");
		[["x", box.x], ["y", box.y], ["width", box.width], ["height", box.height],
			["fill", getComputedStyle(document.body).backgroundColor]].forEach(function (pair) {
			ground.setAttribute(pair[0], pair[1]);
		});
		copy.prepend(ground);
		copy.setAttribute("width", 3 * box.width);
		copy.setAttribute("height", 3 * box.height);
		copy.setAttribute("style", "font-size:" + getComputedStyle(plot).fontSize + ";font-family:" + getComputedStyle(plot).fontFamily);
		return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
	}

	function save(blob, ending) {
		const link = document.createElement("a");
		link.href = URL.createObjectURL(blob);
		link.download = document.title.replace(/[^\w.-]+/g, "-") + ending;
		link.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
	}

	function savePixels(plot) {
		const image = new Image(), canvas = document.createElement("canvas"), url = URL.createObjectURL(drawn(plot));
		image.addEventListener("load", function () {
			canvas.width = image.width;
			canvas.height = image.height;
			canvas.getContext("2d").drawImage(image, 0, 0);
			URL.revokeObjectURL(url);
			canvas.toBlob(function (blob) { save(blob, ".png"); });
		});
		image.src = url;
	}

	function addFiles(figure) {
		const plot = figure.querySelector("svg.plot"), tools = document.createElement("p");
		[["SVG", function () { save(drawn(plot), ".svg"); }], ["PNG", function () { savePixels(plot); }]].forEach(function (pair) {
			const button = document.createElement("button");
			button.type = "button";
			button.append("save as " + pair[0]);
			button.addEventListener("click", pair[1]);
			tools.append(button);
		});
		tools.className = "files";
		figure.append(tools);
	}

	tip.className = "tip";
	tip.hidden = true;
	document.querySelectorAll("svg.plot").forEach(addCross);
	document.querySelectorAll("svg.plot .point").forEach(addTip);
	document.querySelectorAll("svg.plot").forEach(addArrows);
	document.querySelectorAll(".legend li").forEach(addSwitch);
	document.querySelectorAll("table.sortable th").forEach(addSort);
	document.querySelectorAll(".cards tr").forEach(addRow);
	document.querySelectorAll(".point[data-place]").forEach(addGoing);
	document.querySelectorAll("figure").forEach(addFiles);
	const timed = Array.from(document.querySelectorAll("[aria-label='functions'] table, [aria-label='loops'] table"));
	if (timed.length > 0) { addFilter(timed); }
	const views = Array.from(document.querySelectorAll("figure[data-border]"));
	if (views.length > 0) { addViews(views); }
	window.addEventListener("beforeprint", function () {
		document.querySelectorAll("details:not(.code-of)").forEach(function (details) { details.open = true; });
	});
}());
