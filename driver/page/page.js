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

	function addSwitch(entry) {
		const series = document.getElementById(entry.dataset.series);
		function turn() {
			const hides = entry.getAttribute("aria-pressed") === "true";
			entry.setAttribute("aria-pressed", String(!hides));
			series.classList.toggle("hidden", hides);
		}
		entry.setAttribute("role", "button");
		entry.setAttribute("tabindex", "0");
		entry.setAttribute("aria-pressed", "true");
		entry.title = "click: hide or show";
		entry.addEventListener("click", turn);
		entry.addEventListener("keydown", function (event) { if (event.key === "Enter") { turn(); } });
	}

	tip.className = "tip";
	tip.hidden = true;
	document.querySelectorAll("svg.plot").forEach(addCross);
	document.querySelectorAll("svg.plot .point").forEach(addTip);
	document.querySelectorAll(".legend li").forEach(addSwitch);
}());
