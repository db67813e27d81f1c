"use strict";
const ROWS_AT_ONCE = 500, CELLS_AT_ONCE = 5000;
const byId = id => document.getElementById(id);

/** The data in an element: JSON, deflated, in base64. */
async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), sign => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** An element with properties and children; strings become text, never markup. */
function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Numbers by size, words by the alphabet, where each part that is a number counts as one. */
const compareCells = (x, y) => typeof x === "number" && typeof y === "number" ? x - y
  : String(x).localeCompare(String(y), "en", { numeric: true });
const spoken = verdict => verdict.replaceAll("_", " ").toLowerCase();
const mark = (verdict, sign) => make("span", { className: `mark ${verdict}` }, `${sign} ${spoken(verdict)}`);
const small = text => make("div", { className: "small" }, text);
const reasons = (reason, ...more) => make("td", { className: "reason" }, reason, ...more.map(small));

function makeTable(header, lines, className = "") {
  const head = make("thead", {}, make("tr", {}, ...header.map(name => make("th", {}, name))));
  return make("table", { className }, head, make("tbody", {}, ...lines.map(cells => make("tr", {}, ...cells))));
}

function start(data) {
  const { columns, legends, statements, members, verdicts, marks, texts } = data;
  const cases = data.cases.map(([name, title, cells]) => ({ name, title, cells }));
  const rows = data.rows.map(([which, statement, verdict, reason, witness, seconds]) =>
    ({ about: cases[which], statement, verdict, reason, witness, seconds }));
  const indices = new Map(cases.map(({ name }, i) => [name, i]));
  const sortKeys = [...columns.map((_, i) => row => row.about.cells[i]), row => row.statement, row => row.verdict,
    row => row.reason, row => row.seconds ?? -1];
  const heads = [...byId("rows").tHead.rows[0].cells];
  let chosen = rows, limit = ROWS_AT_ONCE;

  /** Whether a row has a word: `d=3` is about that number, everything else is searched in all texts. */
  function test(word) {
    const [name, value] = word.split("=");
    const i = columns.indexOf(name);
    if (i >= 0 && value) return row => String(row.about.cells[i]) === value;
    const found = list => list.map(text => text.toLowerCase().includes(word));
    const [statement, verdict, text] = [statements, verdicts.map(spoken), texts].map(found);
    return row => statement[row.statement] || verdict[row.verdict] || text[row.reason] || text[row.witness];
  }

  function choose() {
    const tests = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean).map(test);
    const statement = byId("statement").value, verdict = verdicts.indexOf(byId("verdict").value);
    if (statement) tests.push(row => members[row.statement].includes(statement));
    if (verdict >= 0) tests.push(row => row.verdict === verdict);
    chosen = rows.filter(row => tests.every(test => test(row)));
    limit = ROWS_AT_ONCE;
    showRows();
    showGrids();
  }

  function showRows() {
    byId("rows").tBodies[0].replaceChildren(...chosen.slice(0, limit).map(rowElement));
    byId("more").hidden = chosen.length <= limit;
    byId("shown").textContent = `${chosen.length} of ${rows.length} rows`
      + (chosen.length > limit ? `; the first ${limit} are in the table` : "");
  }

  function rowElement(row) {
    const number = text => make("td", { className: "number" }, text);
    const link = make("a", { href: `#${row.about.name}` }, statements[row.statement]);
    return make("tr", {}, ...row.about.cells.map(number), make("td", { className: "name" }, link),
      make("td", {}, mark(verdicts[row.verdict], marks[row.verdict])),
      reasons(texts[row.reason], texts[row.witness]), number(row.seconds?.toFixed(3) ?? "–"));
  }

  /** A grid over the first two columns for each of the others; verdicts are numbered as they take precedence. */
  function showGrids() {
    const grids = new Map();
    for (const { about, verdict } of columns.length < 2 ? [] : chosen) {
      const [first, second, ...others] = about.cells, id = others.join(" "), cell = `${first} ${second}`;
      if (!grids.has(id)) grids.set(id, { others, cells: new Map() });
      const cells = grids.get(id).cells, there = cells.get(cell);
      if (!there || verdict < there.verdict) cells.set(cell, { about, verdict });
    }
    const ordered = [...grids.values()].sort((x, y) => compareAll(x.others.toReversed(), y.others.toReversed()));
    const cells = ordered.reduce((sum, grid) => sum + grid.cells.size, 0);
    byId("grids").classList.toggle("many", cells > CELLS_AT_ONCE);
    byId("grids").replaceChildren(...ordered.map(gridElement));
  }

  function compareAll(x, y) {
    return x.map((value, i) => compareCells(value, y[i])).find(order => order) ?? 0;
  }

  function gridElement({ others, cells }) {
    const values = i => [...new Set([...cells.values()].map(cell => cell.about.cells[i]))].sort(compareCells);
    const [all, across] = [values(0), values(1)];
    const lines = all.map(value => [make("th", { scope: "row" }, value),
      ...across.map(other => cellElement(cells.get(`${value} ${other}`)))]);
    const made = makeTable([`${columns[0]} \\ ${columns[1]}`, ...across], lines);
    made.prepend(make("caption", {}, others.map((value, i) => `${columns[i + 2]} = ${value}`).join(", ")));
    return make("div", {}, made);
  }

  function cellElement(cell) {
    if (!cell) return make("td");
    const verdict = verdicts[cell.verdict], said = `${cell.about.title}: ${spoken(verdict)}`;
    const link = make("a", { className: verdict, href: `#${cell.about.name}`, title: said }, marks[cell.verdict]);
    link.setAttribute("aria-label", said);
    return make("td", {}, link);
  }

  function sort(i) {
    const sign = heads[i].getAttribute("aria-sort") === "ascending" ? -1 : 1, by = sortKeys[i];
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[i].setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const compare = (x, y) => sign * compareCells(by(x), by(y));
    rows.sort(compare);
    chosen.sort(compare);
    showRows();
  }

  /** The case that the address names after `#`, in a dialog; any other address closes it. */
  async function openCase() {
    const index = indices.get(location.hash.slice(1)), dialog = byId("case");
    if (index === undefined) return dialog.close();
    const part = await unpack(`part-${Math.floor(index / CASES_IN_A_PART)}`);
    byId("title").textContent = cases[index].title;
    byId("sheet").replaceChildren(...sheetElements(part[index % CASES_IN_A_PART]));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  function sheetElements({ verdicts: said, family, orbits, scripts, trusted }) {
    const scroll = table => make("div", { className: "scroll" }, table);
    const lines = said.map(([statement, verdict, reason, witness, file]) =>
      [make("td", { className: "name" }, statement), make("td", {}, mark(verdict, marks[verdicts.indexOf(verdict)])),
        reasons(reason, witness, file)]);
    const trust = trusted.map(lemma => make("li", {}, lemma));
    return [
      makeTable(["statement", "verdict", "reason, witness and file"], lines, "stacked"),
      ...orbits.flatMap(([questions, header, facts]) => [
        make("h3", {}, legends[family] ? `Orbits (${legends[family]})` : "Orbits"),
        make("div", { className: "soft" }, `for ${questions.join(", ")}`),
        scroll(makeTable(header, facts.map(line => line.map(text => make("td", {}, text)))))]),
      ...scripts.map(([questions, text]) =>
        make("details", {}, make("summary", {}, `Script for ${questions.join(", ")}`), make("pre", {}, text))),
      ...(trust.length ? [make("details", {}, make("summary", {}, "Taken on trust"), make("ul", {}, ...trust))] : []),
    ];
  }

  byId("words").addEventListener("input", choose);
  for (const id of ["statement", "verdict"]) byId(id).addEventListener("change", choose);
  heads.forEach((head, i) => head.firstElementChild.addEventListener("click", () => sort(i)));
  byId("more").addEventListener("click", () => { limit += ROWS_AT_ONCE; showRows(); });
  byId("case").addEventListener("close", () => {
    if (location.hash) history.replaceState(null, "", location.href.split("#")[0]);
  });
  addEventListener("hashchange", openCase);
  addEventListener("beforeprint", () => {
    byId("case").scrollTop = 0;
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  choose();
  return openCase();
}

unpack("table").then(start).catch(reason => {
  byId("shown").textContent = `This browser cannot show the report: ${reason}`;
});
