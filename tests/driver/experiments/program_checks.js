/* Like page_checks.js, for the page of a program that has a dot for its function product, and the code of it. */
(function () {
	const told = [], figure = Array.from(document.querySelectorAll("figure")).find(isSeen);
	const functions = document.querySelector("[aria-label='functions'] table"), loops = document.querySelector("[aria-label='loops'] table");
	const dot = figure.querySelector(".point[data-place]"), row = document.getElementById(dot.dataset.place);
	const code = document.getElementById(row.querySelector("a").hash.slice(1));
	const isNarrow = location.hash.includes("narrow");

	function tell(what, holds) {
		told.push((holds ? "ok: " : "FAILED: ") + what);
	}

	function isSeen(element) {
		return element.getClientRects().length !== 0;
	}

	function isWithin(element) {
		return element.getBoundingClientRect().right <= window.innerWidth;
	}

	function choose(share) {
		const choice = document.querySelector(".filter select");
		choice.value = share;
		choice.dispatchEvent(new Event("change"));
	}

	/* ---- sizes ---- */
	tell("the page is as wide as the window", document.documentElement.scrollWidth <= window.innerWidth);
	if (isNarrow) {
		document.querySelectorAll(".cards").forEach(function (table) {
			const box = table.closest(".wide");
			tell(box.getAttribute("aria-label") + " are not moved sideways", box.scrollWidth <= box.clientWidth);
			tell("their cells are within the page", Array.from(table.querySelectorAll("td")).filter(isSeen).every(isWithin));
		});
		tell("a cell has its heading beside it", getComputedStyle(row.cells[1], "::before").content.includes("CPU time"));
	}

	/* ---- code ---- */
	tell("code is closed at first", code.closest("details").open === false);
	row.querySelector("a").click();
	tell("a click on a name opens it", code.closest("details").open);
	tell("with instructions", code.textContent.includes("mulsd") && isSeen(code.querySelector("td")));
	code.closest("details").open = false;
	dot.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
	tell("so does Enter at a dot", code.closest("details").open);
	code.closest("details").open = false;
	dot.dispatchEvent(new MouseEvent("click", { bubbles: true }));
	tell("and a click on it", code.closest("details").open && row.classList.contains("selected"));
	tell("it is in the window", code.getBoundingClientRect().top < window.innerHeight && code.getBoundingClientRect().top > -5);
	const inner = loops.tBodies[0].querySelector("a");
	tell("a loop leads to its own code", document.getElementById(inner.hash.slice(1)).textContent.startsWith("loop at +0x"));

	/* ---- the filter ---- */
	choose(20);
	tell("a function with more of the time stays", isSeen(row) && isSeen(dot));
	row.cells[1].dataset.sort = "10";
	choose(20);
	tell("one with less is hidden", !isSeen(row) && !isSeen(dot));
	tell("with its label", Array.from(figure.querySelectorAll("[data-place='" + row.id + "']")).every(function (part) { return !isSeen(part); }));
	choose(0);
	tell("and shown again", isSeen(row) && isSeen(dot));

	/* ---- views ---- */
	const views = Array.from(document.querySelectorAll(".views select")), precision = views[1];
	function look(select, value) {
		select.value = value;
		select.dispatchEvent(new Event("change", { bubbles: true }));
		return Array.from(document.querySelectorAll("figure")).filter(isSeen);
	}
	tell("borders can be chosen", isSeen(views[0]) && views[0].length > 2 && views[0].tabIndex === 0);
	/* Samples of a busy machine may hit a function of the other precision, too. */
	tell("there is a choice of precisions where there are two", isSeen(precision) === precision.length > 1);
	const other = look(views[0], "CPU-L1");
	tell("one picture is shown", other.length === 1 && other[0] !== figure);
	tell("of that border", other[0].querySelector(".name.x").textContent.includes("CPU-L1"));
	tell("with the dot", isSeen(other[0].querySelector("[data-place='" + row.id + "'] .mark")));
	const joined = look(views[0], "all");
	tell("all borders of a function are joined", joined.length === 1 && joined[0].querySelector(".join") !== null);
	tell("the page is still as wide as the window", document.documentElement.scrollWidth <= window.innerWidth);
	tell("and back", look(views[0], views[0].options[0].value)[0] === figure);

	/* ---- files ---- */
	const blobs = [], create = URL.createObjectURL;
	URL.createObjectURL = function (blob) { blobs.push(blob); return create.call(URL, blob); };
	HTMLAnchorElement.prototype.dispatchEvent = function () { return true; }; /* nothing is saved here */
	figure.querySelector(".files button").click();
	tell("the picture can be saved", blobs.length === 1 && blobs[0].type === "image/svg+xml" && blobs[0].size > 1000);

	(window.frameElement ? parent.document : document).body.setAttribute("data-told", told.join("|"));
}());
