(() => {
  const SEVERITIES = ["error", "warning", "info"];
  const CONSEQUENCES = ["breaks", "changes", "legacy"];
  const EFFORTS = ["mechanical", "local", "thought"];
  const VERDICTS = ["confirmed", "failed", "unreached", "refuted", "static-only"];
  const MEANINGS = { breaks: "it raises", changes: "it silently computes something else", legacy: "it works, through compat.v1" };
  const FAMILIES = { tf1_api: "TF1 API" };
  const MENDS = ["safe", "unsafe", "person"];
  const MENDED = { safe: "--fix", unsafe: "--unsafe-fixes", person: "a person" };
  const UNOWNED = "unowned";
  const REPORTED = "named";
  const FACETS = ["consequence", "severity", "effort", "mends", "verdict", "verify", "family", "rule", "owner", "path", "q"];
  const MANY = new Set(["consequence", "severity", "effort", "mends", "verdict", "verify"]);
  const FILES_AT_ONCE = 30;
  const FINDINGS_AT_ONCE = 30;
  const OPEN_AT_FIRST = 8;
  const BARS_AT_ONCE = 12;
  const PRINTED = 500;
  const { root, el, number, plural, rich } = page;

  /** A text with its addresses as links. */
  function linked(text) {
    return text.split(/(https?:\/\/[^\s<>"'`]+)/).map((part, position) =>
      position % 2 ? el("a", { href: part, rel: "noopener noreferrer", target: "_blank" }, part) : rich(part)
    ).flat();
  }

  const badge = (kind, word) => el("span", { class: `badge ${kind}` }, word || kind);

  // What the page holds.

  let data, findings, base;
  const state = { sort: "path" };
  for (const facet of FACETS) state[facet] = MANY.has(facet) ? new Set() : "";
  let view = { rows: [], counts: {} };
  const folded = new Map(); // by file: whether a reader opened or closed it
  let allOpen = null; // what "open all" or "close all" said last
  const parts = {}; // the elements that change

  function load() {
    data = page.data();
    for (const rule of data.rules) rule.name = `${rule.code} ${rule.slug}`;
    findings = data.findings.map((row) => {
      const [file, rule, severity, consequence, verdict, cell, line, column, message, runtime, excerpt, evidence, fix, effort, mends, href, reports] = row;
      const known = data.rules[rule];
      return {
        file, cell, line, column, message, runtime, excerpt, evidence, fix, href, reports,
        rule: known,
        code: known.code,
        family: known.family,
        path: data.files[file].path,
        severity: SEVERITIES[severity],
        consequence: CONSEQUENCES[consequence],
        effort: EFFORTS[effort],
        mends: MENDS[mends],
        owner: data.files[file].owners?.length ? data.files[file].owners : [UNOWNED],
        verify: reports.length ? REPORTED : "",
        verdict: verdict < 0 ? "" : VERDICTS[verdict],
        text: null,
      };
    });
    base = commonFolder(data.files.map((file) => file.path));
  }

  function haystack(finding) {
    finding.text ??= `${finding.path} ${finding.rule.name} ${finding.message}`.toLowerCase();
    return finding.text;
  }

  function commonFolder(paths) {
    if (!paths.length) return "";
    let common = paths[0].split("/").slice(0, -1);
    for (const path of paths) {
      const folders = path.split("/");
      let same = 0;
      while (same < common.length && same < folders.length - 1 && common[same] === folders[same]) same += 1;
      common = common.slice(0, same);
    }
    return common.join("/");
  }

  const within = (path, folder) => !folder || path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);

  // The state, which the address holds after its #.

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const known = {
      consequence: new Set(CONSEQUENCES),
      severity: new Set(SEVERITIES),
      effort: new Set(EFFORTS),
      mends: new Set(MENDS),
      verify: new Set([REPORTED]),
      owner: new Set(findings.flatMap((finding) => finding.owner)),
      verdict: new Set(VERDICTS),
      family: new Set(data.rules.map((rule) => rule.family)),
      rule: new Set(data.rules.map((rule) => rule.code)),
    };
    for (const facet of FACETS) {
      const value = given.get(facet) || "";
      if (MANY.has(facet)) state[facet] = new Set(value.split(",").filter((one) => known[facet].has(one)));
      else state[facet] = !known[facet] || known[facet].has(value) ? value : "";
    }
    if (!data.files.some((file) => within(file.path, state.path))) state.path = "";
    state.sort = given.get("sort") === "count" ? "count" : "path";
  }

  const chosenFilters = () => FACETS.map((facet) => [facet, [...state[facet]].join(MANY.has(facet) ? "," : "")])
    .filter(([, value]) => value);

  function writeAddress(isStep) {
    const told = new URLSearchParams(chosenFilters());
    if (state.sort !== "path") told.set("sort", state.sort);
    const hash = told.toString();
    if (hash === location.hash.slice(1)) return;
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", `#${hash}`);
    } catch {
      location.hash = hash; // a sandboxed frame may not use its history
    }
  }

  function change(changes, isStep = true) {
    Object.assign(state, changes);
    writeAddress(isStep);
    refresh();
  }

  function toggle(facet, value) {
    const chosen = new Set(state[facet]);
    if (!chosen.delete(value)) chosen.add(value);
    change({ [facet]: chosen });
  }

  const isFiltered = () => chosenFilters().length > 0;

  function reset() {
    const empty = {};
    for (const facet of FACETS) empty[facet] = MANY.has(facet) ? new Set() : "";
    parts.search.value = "";
    change(empty);
  }

  // Filtering: each facet counts what all the others let through.

  function failing(finding, words) {
    const failed = [];
    if (state.consequence.size && !state.consequence.has(finding.consequence)) failed.push("consequence");
    if (state.severity.size && !state.severity.has(finding.severity)) failed.push("severity");
    if (state.effort.size && !state.effort.has(finding.effort)) failed.push("effort");
    if (state.mends.size && !state.mends.has(finding.mends)) failed.push("mends");
    if (state.verify.size && !state.verify.has(finding.verify)) failed.push("verify");
    if (state.owner && !finding.owner.includes(state.owner)) failed.push("owner");
    if (state.verdict.size && !state.verdict.has(finding.verdict)) failed.push("verdict");
    if (state.family && state.family !== finding.family) failed.push("family");
    if (state.rule && state.rule !== finding.code) failed.push("rule");
    if (!within(finding.path, state.path)) failed.push("path");
    if (words.length && !words.every((word) => haystack(finding).includes(word))) failed.push("q");
    return failed;
  }

  function filter() {
    const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const counts = {};
    for (const facet of FACETS) counts[facet] = {};
    const rows = [], places = [], byRule = [], byOwner = [], byMends = [];
    const count = (facet, finding) => {
      if (facet === "path") places.push(finding);
      else if (facet === "rule") byRule.push(finding);
      else if (facet === "owner") byOwner.push(finding);
      else if (facet === "mends") byMends.push(finding);
      if (facet === "q" || facet === "path") return;
      for (const value of [facet === "rule" ? finding.code : finding[facet]].flat()) {
        counts[facet][value] = (counts[facet][value] || 0) + 1;
      }
    };
    for (const finding of findings) {
      const failed = failing(finding, words);
      if (!failed.length) {
        rows.push(finding);
        for (const facet of FACETS) count(facet, finding);
      } else if (failed.length === 1) count(failed[0], finding);
    }
    return { rows, counts, places, byRule, byOwner, byMends };
  }

  /** How many there are of each consequence: errors and warnings, infos, and all. */
  function tally(rows) {
    const found = {};
    for (const one of CONSEQUENCES) found[one] = { pressing: 0, info: 0, all: 0 };
    for (const { consequence, severity } of rows) {
      found[consequence].all += 1;
      found[consequence][severity === "info" ? "info" : "pressing"] += 1;
    }
    return found;
  }

  const spoken = (found) => CONSEQUENCES.filter((one) => found[one].all).map((one) => {
    const { all, info } = found[one];
    return `${number(all)} ${one}${info ? ` (${number(info)} info)` : ""}`;
  }).join(", ");

  // Bars.

  /** A bar whose length says how many, whose colours say of which consequence, and whose faint part is infos. */
  function bar(found, most) {
    const made = el("span", { class: "bar", "aria-hidden": "true" });
    for (const weight of ["pressing", "info"]) {
      for (const one of CONSEQUENCES) {
        if (!found[one][weight]) continue;
        const piece = el("span", { class: `${one} ${weight}` });
        piece.style.width = `${(100 * found[one][weight]) / most}%`;
        made.append(piece);
      }
    }
    return made;
  }

  // The head.

  function head() {
    const several = new Set(data.projects.map((project) => project.name)).size > 1;
    const places = data.projects.map((project) => {
      const name = several ? `${project.name}: ` : "";
      return el("li", {}, `${name}${project.target} `, el("span", { class: "dim" }, `(${project.reason})`));
    });
    const words = findings.length
      ? `${plural(findings.length, "finding")} in ${number(data.files.length)} of ${plural(data.checked, "file")}`
      : data.passed;
    return el("header", { class: "head" },
      el("a", { class: "skip", href: "#findings", onclick: skip }, "Skip to the findings"),
      page.brand(el("span", { class: "dim" }, data.tool)),
      el("h1", {}, data.title || "migrate-lint"),
      el("p", { class: "lead" }, words),
      el("ul", { class: "targets" }, places, data.empty.map((one) => el("li", { class: "dim" }, `${one}: no files in this folder`))));
  }

  function skip(event) {
    event.preventDefault();
    parts.findings.focus();
    parts.findings.scrollIntoView();
  }

  function tiles() {
    parts.tiles = {};
    const made = CONSEQUENCES.map((one) => {
      const value = el("strong", {});
      const split = el("span", { class: "split" });
      const tile = el("button", { type: "button", class: `tile ${one}`, onclick: () => toggle("consequence", one) },
        el("span", { class: "name" }, one), value, el("span", { class: "dim" }, MEANINGS[one]), split);
      parts.tiles[one] = { tile, value, split };
      return tile;
    });
    return el("div", { class: "tiles", role: "group", "aria-label": "Findings by consequence" }, made);
  }

  function showTiles() {
    const bySeverity = {};
    for (const finding of view.rows) {
      const found = (bySeverity[finding.consequence] ??= {});
      found[finding.severity] = (found[finding.severity] || 0) + 1;
    }
    for (const one of CONSEQUENCES) {
      const { tile, value, split } = parts.tiles[one];
      const found = bySeverity[one] || {};
      value.textContent = number(view.counts.consequence[one] || 0);
      tile.setAttribute("aria-pressed", state.consequence.has(one));
      const words = SEVERITIES.filter((severity) => found[severity]).map((severity) => plural(found[severity], severity));
      split.textContent = words.join(" \u00b7 ") || "none";
    }
  }

  // What is done since the findings were first written down.

  const baselinePanel = () => document.getElementById("fixed").content.cloneNode(true).firstElementChild;

  // What verify said of the programs.

  const STATUSES = { 0: ["refuted", "equal"], 1: ["confirmed", "differs"], 3: ["unreached", "not compared"], 4: ["failed", "ended early"] };

  const reportLink = ({ href, name }) => el("a", { href, rel: "noopener noreferrer" }, name);

  function reportsPanel() {
    if (!data.reports.length) return null;
    const rows = data.reports.map((report) => el("li", {},
      badge(...(STATUSES[report.status] || ["unreached", String(report.status)])), " ", reportLink(report), ` ${report.verdict} `,
      el("span", { class: "dim" }, `It names ${report.findings ? number(report.findings) : "none"} of the findings on this page.`)));
    return el("section", { class: "panel", "aria-labelledby": "reports" },
      el("h2", { id: "reports" }, "What verify showed"), el("ul", { class: "reports" }, rows));
  }

  // What runs of the model said.

  function runtimePanel() {
    if (!data.runtime) return null;
    const { verdicts, added, trusted, runs } = data.runtime;
    const left = trusted && verdicts.refuted ? " (left out of this page)" : "";
    const words = VERDICTS.filter((one) => verdicts[one]).map((one) =>
      el("li", {}, badge(one), ` ${number(verdicts[one])}${one === "refuted" ? left : ""}`));
    if (added) words.push(el("li", {}, badge("runtime", "found at run time only"), ` ${number(added)}`));
    return el("section", { class: "panel", "aria-labelledby": "runs" },
      el("h2", { id: "runs" }, "What the run showed"),
      el("ul", { class: "verdicts" }, words),
      runs.map(runDetails));
  }

  function runDetails(run) {
    const outcomes = {};
    for (const [, outcome] of run.phases) outcomes[outcome] = (outcomes[outcome] || 0) + 1;
    const ran = Object.entries(outcomes).map(([outcome, times]) => `${plural(times, "phase")} ${outcome}`).join(", ");
    const versions = run.versions.map(([name, version]) => `${name} ${version}`).join(", ");
    const said = run.scopes.filter(([, words]) => words).map(([name, words]) => el("li", {}, el("code", {}, name), " ", rich(words)));
    const notes = run.notes.map((note) => el("li", {}, rich(note)));
    return el("details", { class: "run", open: Boolean(run.cause) || Boolean(outcomes.failed) },
      el("summary", {}, el("strong", {}, `${run.target} on ${run.device}`), ` ${versions} `, el("span", { class: "dim" }, ran)),
      run.cause ? el("p", {}, badge("confirmed", "ended early"), " ", rich(run.cause)) : null,
      failures(run),
      said.length ? [el("h3", {}, "Scopes"), el("ul", { class: "plain" }, said)] : null,
      notes.length ? [el("h3", {}, "Notes"), el("ul", { class: "plain" }, notes)] : null,
      run.phases.length ? phaseTable(run) : null,
      el("p", { class: "dim" }, `${run.seconds.toFixed(1)} s, at most ${number(Math.round(run.memory / 1048576))} MiB of memory`));
  }

  /** What went wrong, once, with the phases in which it did. */
  function failures(run) {
    const names = new Map();
    for (const [name, outcome, , detail] of run.phases) {
      if (outcome === "failed") names.set(detail, [...(names.get(detail) || []), name]);
    }
    return [...names].map(([detail, phases]) => el("p", { class: "failure" },
      badge("confirmed", "failed"), el("span", { class: "dim" }, ` ${phases.join(", ")} `), el("span", { class: "said" }, detail)));
  }

  function phaseTable(run) {
    const rows = run.phases.map(([name, outcome, seconds, detail]) => el("tr", {},
      el("th", { scope: "row" }, name),
      el("td", {}, badge(outcome === "ok" ? "refuted" : outcome === "failed" ? "confirmed" : "unreached", outcome)),
      el("td", { class: "num" }, `${seconds.toFixed(2)} s`),
      el("td", { class: "said" }, detail)));
    return el("details", { class: "phases" },
      el("summary", {}, plural(rows.length, "phase")),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Phases" }, el("table", {},
        el("thead", {}, el("tr", {}, ["Phase", "Outcome", "Time", "Detail"].map((one) => el("th", { scope: "col" }, one)))),
        el("tbody", {}, rows))));
  }

  // Filters.

  function choice(facet) {
    const select = el("select", { "aria-label": facet, onchange: () => change({ [facet]: select.value }) });
    parts[facet] = select;
    return select;
  }

  function fillChoice(facet, all, options) {
    const counts = view.counts[facet];
    const known = options.filter(([value]) => counts[value] || state[facet] === value);
    parts[facet].replaceChildren(el("option", { value: "" }, all),
      ...known.map(([value, words]) => el("option", { value }, `${words} (${number(counts[value] || 0)})`)));
    parts[facet].value = state[facet];
  }

  function toggles(facet, values, name = facet, words = {}) {
    parts[facet] = {};
    const made = values.map((value) => {
      const count = el("span", { class: "count" });
      const button = el("button", { type: "button", class: `toggle ${value}`, onclick: () => toggle(facet, value) },
        `${words[value] || value} `, count);
      parts[facet][value] = { button, count };
      return button;
    });
    return el("div", { class: "toggles", role: "group", "aria-label": name }, el("span", { class: "dim" }, name), made);
  }

  function showToggles(facet) {
    for (const [value, { button, count }] of Object.entries(parts[facet])) {
      count.textContent = number(view.counts[facet][value] || 0);
      button.setAttribute("aria-pressed", state[facet].has(value));
    }
  }

  function toolbar() {
    let waiting = 0;
    parts.search = el("input", {
      type: "search", id: "search", autocomplete: "off", spellcheck: "false", placeholder: "Search",
      "aria-label": "Search in paths, rules and messages", title: "Press / to search",
      oninput: () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => change({ q: parts.search.value }, false), 80);
      },
    });
    parts.status = el("p", { class: "status", role: "status" });
    parts.reset = el("button", { type: "button", class: "plain", onclick: reset }, "Show all");
    parts.path = el("button", { type: "button", class: "chip", onclick: () => change({ path: "" }) });
    const judged = data.runtime || findings.some((finding) => finding.verdict);
    parts.filters = el("details", { class: "filters", open: matchMedia("(min-width: 48rem)").matches },
      el("summary", {}, "Filters"),
      el("div", { class: "facets" },
        toggles("severity", SEVERITIES),
        toggles("consequence", CONSEQUENCES),
        toggles("effort", EFFORTS),
        toggles("mends", MENDS, "mended by", MENDED),
        judged ? toggles("verdict", VERDICTS) : null,
        data.reports.length ? toggles("verify", [REPORTED]) : null,
        choice("family"), choice("rule"), data.owners === null ? null : choice("owner")));
    return el("section", { class: "toolbar", role: "search", "aria-label": "Filters" },
      el("div", { class: "find" }, parts.search, parts.status, parts.path, parts.reset), parts.filters);
  }

  function showToolbar() {
    const all = findings.length, some = view.rows.length;
    parts.status.textContent = some === all ? `${plural(all, "finding")}` : `${number(some)} of ${plural(all, "finding")}`;
    parts.reset.hidden = !isFiltered();
    parts.path.hidden = !state.path;
    parts.path.textContent = state.path;
    parts.path.setAttribute("aria-label", `No longer only ${state.path}`);
    if (document.activeElement !== parts.search) parts.search.value = state.q;
    for (const facet of ["severity", "consequence", "effort", "mends", "verdict", "verify"]) if (parts[facet]) showToggles(facet);
    const families = [...new Set(data.rules.map((rule) => rule.family))].sort();
    fillChoice("family", "every family", families.map((one) => [one, FAMILIES[one] || one.replaceAll("_", " ")]));
    const rules = [...data.rules].sort((one, other) => (one.code < other.code ? -1 : 1));
    fillChoice("rule", "every rule", rules.map((rule) => [rule.code, rule.name]));
    if (parts.owner) {
      const owners = [...new Set(findings.flatMap((finding) => finding.owner))].sort();
      fillChoice("owner", "every owner", owners.map((one) => [one, one]));
    }
  }

  // Where the work is.

  function work() {
    parts.crumbs = el("nav", { class: "crumbs", "aria-label": "Folder" });
    parts.places = el("ul", { class: "bars" });
    return el("section", { class: "panel", "aria-labelledby": "work" },
      el("h2", { id: "work" }, "Where the work is"), parts.crumbs, parts.places,
      el("p", { class: "legend dim" }, CONSEQUENCES.map((one) => el("span", { class: `tag ${one}` }, one)), "faint: info only"));
  }

  function showWork() {
    const isFile = data.files.some((file) => file.path === state.path);
    let level = isFile ? state.path.slice(0, Math.max(state.path.lastIndexOf("/"), 0)) : state.path || base;
    if (!within(level, base)) level = base;
    showCrumbs(level);
    const start = level ? (level.endsWith("/") ? level.length : level.length + 1) : 0;
    const groups = new Map();
    for (const finding of view.places) {
      if (!within(finding.path, level)) continue;
      const end = finding.path.indexOf("/", start);
      const path = end < 0 ? finding.path : finding.path.slice(0, end);
      if (!groups.has(path)) groups.set(path, []);
      groups.get(path).push(finding);
    }
    const bars = [...groups].map(([path, rows]) => {
      const common = rows[0].path === path ? path : commonFolder(rows.map((finding) => finding.path));
      return { path: common, words: common.slice(start) + (rows[0].path === path ? "" : "/"), found: tally(rows), total: rows.length };
    });
    const choose = (path) => change({ path: path === state.path ? "" : path });
    fillBars(parts.places, mostFirst(bars), (path) => path === state.path, choose);
  }

  function showCrumbs(level) {
    const crumb = (path, words) => (path === (state.path || base)
      ? el("span", { "aria-current": "location" }, words)
      : el("button", { type: "button", class: "plain", onclick: () => change({ path: path === base ? "" : path }) }, words));
    const made = [crumb(base, base || "all files")];
    let path = base;
    for (const folder of level.slice(base.length).split("/").filter(Boolean)) {
      path = path ? (path.endsWith("/") ? path + folder : `${path}/${folder}`) : folder;
      made.push(" / ", crumb(path, folder));
    }
    parts.crumbs.replaceChildren(...made);
  }

  const mostFirst = (bars) => bars.sort((one, other) => other.total - one.total || (one.path < other.path ? -1 : 1));

  function fillBars(list, bars, isChosen, choose, all = false) {
    const most = Math.max(1, ...bars.map((one) => one.total));
    const shown = all ? bars : bars.slice(0, BARS_AT_ONCE);
    const rows = shown.map(({ path, words, found, total }) => el("li", {},
      el("button", {
        type: "button", class: "row", "aria-pressed": String(isChosen(path)), title: `${path}: ${spoken(found)}`,
        onclick: () => choose(path),
      }, el("span", { class: "words" }, words), bar(found, most), el("span", { class: "num" }, number(total)))));
    const rest = bars.slice(shown.length);
    if (rest.length) {
      const left = rest.reduce((total, one) => total + one.total, 0);
      rows.push(el("li", {}, el("button", { type: "button", class: "plain more", onclick: () => fillBars(list, bars, isChosen, choose, true) },
        `${number(rest.length)} more, with ${plural(left, "finding")}`)));
    }
    if (!rows.length) rows.push(el("li", { class: "dim" }, "Nothing here."));
    list.replaceChildren(...rows);
  }

  // Whose work it is, and what of it is mechanical.

  function shares() {
    parts.menders = el("ul", { class: "bars" });
    const mending = el("section", { class: "panel", "aria-labelledby": "menders" },
      el("h2", { id: "menders" }, "What mends them"), parts.menders);
    if (data.owners === null) return [mending];
    parts.owners = el("ul", { class: "bars" });
    return [mending, el("section", { class: "panel", "aria-labelledby": "owners" },
      el("h2", { id: "owners" }, "By owner"), parts.owners, el("p", { class: "legend dim" }, `As ${data.owners} says`))];
  }

  /** A bar for each value of a facet; a finding with several values counts for each of them. */
  function sharesOf(facet, rows, words) {
    const groups = new Map();
    for (const finding of rows) {
      for (const value of [finding[facet]].flat()) {
        if (!groups.has(value)) groups.set(value, []);
        groups.get(value).push(finding);
      }
    }
    return [...groups].map(([path, own]) => ({ path, words: words[path] || path, found: tally(own), total: own.length }));
  }

  function showShares() {
    const order = (one) => MENDS.indexOf(one.path);
    const mended = sharesOf("mends", view.byMends, { ...MENDED, unsafe: "--fix --unsafe-fixes" });
    mended.sort((one, other) => order(one) - order(other));
    fillBars(parts.menders, mended, (value) => state.mends.has(value), (value) => toggle("mends", value));
    if (!parts.owners) return;
    const choose = (owner) => change({ owner: owner === state.owner ? "" : owner });
    fillBars(parts.owners, mostFirst(sharesOf("owner", view.byOwner, {})), (owner) => owner === state.owner, choose);
  }

  // By rule.

  function rules() {
    parts.rules = el("div", { class: "rules" });
    parts.ruleRows = new Map();
    return el("section", { class: "panel", "aria-labelledby": "rules" }, el("h2", { id: "rules" }, "By rule"), parts.rules);
  }

  function ruleRow(rule) {
    const length = el("span", { class: "barbox" }), count = el("span", { class: "num" });
    const body = el("div", { class: "explained" });
    const row = el("details", { class: "rule", ontoggle: () => explain(rule, body) },
      el("summary", {}, el("span", { class: "words" }, el("code", {}, rule.code), ` ${rule.slug}`), length, count), body);
    const made = { row, length, count };
    parts.ruleRows.set(rule, made);
    return made;
  }

  function showRules() {
    const found = new Map();
    for (const finding of view.byRule) {
      if (!found.has(finding.rule)) found.set(finding.rule, []);
      found.get(finding.rule).push(finding);
    }
    const ordered = [...found].sort(([one, a], [other, b]) => b.length - a.length || (one.code < other.code ? -1 : 1));
    const most = Math.max(1, ...ordered.map(([, rows]) => rows.length));
    const rows = ordered.map(([rule, ofRule]) => {
      const { row, length, count } = parts.ruleRows.get(rule) || ruleRow(rule);
      length.replaceChildren(bar(tally(ofRule), most));
      count.textContent = number(ofRule.length);
      row.classList.toggle("chosen", state.rule === rule.code);
      return row;
    });
    parts.rules.replaceChildren(...(rows.length ? rows : [el("p", { class: "dim" }, "Nothing here.")]));
  }

  function explain(rule, body) {
    if (body.childNodes.length) return;
    const facts = [rule.severity, rule.consequence].filter(Boolean).map((one) => badge(one));
    const only = el("button", {
      type: "button", class: "action",
      onclick: () => {
        change({ rule: rule.code });
        parts.findings.scrollIntoView();
      },
    }, "Show only its findings");
    body.append(el("p", { class: "facts" }, facts, only), el("p", {}, rich(rule.summary)));
    for (const [title, words] of rule.words) body.append(el("h3", {}, title), ...words.map(block));
  }

  function block([kind, text]) {
    if (kind === "code") return el("pre", { tabindex: "0" }, el("code", {}, text));
    return el("p", { class: kind === "li" ? "item" : "" }, linked(text));
  }

  // The findings, file by file: what is folded is not built, and a long list is built as it is reached.

  function findingsPanel() {
    parts.list = el("div", { class: "files" });
    parts.open = el("button", { type: "button", class: "plain", onclick: () => openAll(true) }, "Open all");
    parts.close = el("button", { type: "button", class: "plain", onclick: () => openAll(false) }, "Close all");
    parts.sort = el("select", { onchange: () => change({ sort: parts.sort.value }) },
      el("option", { value: "path" }, "by path"), el("option", { value: "count" }, "most findings first"));
    parts.findings = el("section", { id: "findings", tabindex: "-1", "aria-labelledby": "findings-title" },
      el("div", { class: "title" }, el("h2", { id: "findings-title" }, "Findings"),
        el("div", { class: "actions" }, parts.open, parts.close,
          el("label", { class: "choice" }, el("span", {}, "order"), parts.sort))),
      el("p", { class: "printed", hidden: true }), parts.list);
    return parts.findings;
  }

  function openAll(isOpen) {
    allOpen = isOpen;
    folded.clear();
    showFindings();
  }

  function groups() {
    const byFile = new Map();
    for (const finding of view.rows) {
      if (!byFile.has(finding.file)) byFile.set(finding.file, []);
      byFile.get(finding.file).push(finding);
    }
    const made = [...byFile];
    if (state.sort === "count") made.sort(([, one], [, other]) => other.length - one.length);
    return made;
  }

  function showFindings() {
    const made = groups();
    parts.sort.value = state.sort;
    let left = OPEN_AT_FIRST;
    const isOpen = (file, rows) => {
      const fits = left > 0;
      left -= rows.length;
      return folded.get(file) ?? allOpen ?? fits;
    };
    parts.list.replaceChildren();
    if (!made.length) parts.list.append(el("p", { class: "none" }, findings.length ? "No finding matches." : "There is nothing to do."));
    inParts(parts.list, made, FILES_AT_ONCE, ([file, rows]) => fileGroup(file, rows, isOpen(file, rows)), "file");
  }

  /** Append the first of many, then the next whenever the end comes into sight or is asked for. */
  function inParts(list, items, atOnce, build, noun) {
    let done = 0;
    const more = () => {
      list.append(...items.slice(done, done + atOnce).map(build));
      done += atOnce;
      if (done >= items.length) return;
      const left = items.length - done;
      const button = el("button", { type: "button", class: "plain more" }, `${plural(left, `more ${noun}`)}`);
      const next = () => {
        watcher.disconnect();
        const hadFocus = document.activeElement === button;
        const before = list.children.length - 1;
        button.remove();
        more();
        if (hadFocus) list.children[before]?.querySelector("summary, a, button")?.focus();
      };
      const watcher = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && next(), { rootMargin: "600px" });
      button.addEventListener("click", next);
      list.append(button);
      watcher.observe(button);
    };
    more();
  }

  function fileGroup(file, rows, isOpen) {
    const path = data.files[file].path, cut = path.lastIndexOf("/") + 1;
    const found = tally(rows);
    const body = el("div", { class: "body" });
    const owners = data.files[file].owners;
    const fill = () => {
      if (body.childNodes.length) return;
      if (owners) body.append(el("p", { class: "owned dim" }, owners.join(" ") || UNOWNED));
      inParts(body, rows, FINDINGS_AT_ONCE, findingCard, "finding");
    };
    const counts = CONSEQUENCES.filter((one) => found[one].all).map((one) =>
      el("span", { class: `tag ${one}`, title: one }, number(found[one].all), el("span", { class: "hidden" }, ` ${one} `)));
    const summary = el("summary", { onclick: () => folded.set(file, !made.open) },
      el("span", { class: "path" }, el("span", { class: "dim" }, path.slice(0, cut)), el("strong", {}, path.slice(cut))),
      el("span", { class: "tags" }, counts));
    const made = el("details", { class: "file", open: isOpen, ontoggle: () => made.open && fill() }, summary, body);
    if (isOpen) fill();
    return made;
  }

  function findingCard(finding) {
    const place = `${finding.cell === null ? "" : `cell ${finding.cell}, `}${finding.line}:${finding.column}`;
    return el("article", { class: `finding ${finding.consequence}` },
      el("p", { class: "facts" },
        finding.href === null ? el("span", { class: "place" }, place)
          : el("a", { class: "place", href: finding.href, rel: "noopener noreferrer", title: "Open this line" }, place),
        el("button", { type: "button", class: "plain code", title: "Show only this rule", onclick: () => change({ rule: finding.code }) },
          el("code", {}, finding.code), ` ${finding.rule.slug}`),
        badge(finding.severity), badge(finding.consequence),
        finding.verdict ? badge(finding.verdict) : null,
        finding.runtime ? badge("runtime", "found at run time only") : null),
      el("p", { class: "message" }, rich(finding.message)),
      excerpt(finding), evidenceList(finding), reportNotes(finding), fixNote(finding));
  }

  function excerpt(finding) {
    if (!finding.excerpt) return null;
    const [first, last, start, endLine, end, long] = finding.excerpt;
    const lines = data.files[finding.file].lines;
    const prefix = finding.cell === null ? "" : `${finding.cell}:`;
    const code = el("code", {});
    for (let line = first; line <= last; line += 1) {
      const text = line === finding.line && long !== undefined ? long : lines[prefix + line] ?? "";
      const isMarked = line >= finding.line && line <= endLine;
      const from = line === finding.line ? start : text.length - text.trimStart().length;
      const to = line === endLine ? Math.max(end, from) : text.length;
      code.append(el("span", { class: isMarked ? "line marked" : "line" },
        el("span", { class: "number", "data-number": line }),
        isMarked ? [text.slice(0, from), el("mark", {}, text.slice(from, to) || " "), text.slice(to)] : text, "\n"));
    }
    return el("pre", { class: "excerpt", tabindex: "0", "aria-label": `Lines ${first} to ${last}` }, code);
  }

  function evidenceList(finding) {
    if (!finding.evidence.length) {
      return finding.verdict === "static-only" ? el("p", { class: "evidence dim" }, "No probe decides this rule.") : null;
    }
    return el("ul", { class: "evidence" }, finding.evidence.map(([verdict, place, detail]) =>
      el("li", {}, badge(verdict), el("span", { class: "dim" }, ` ${place} `), el("span", { class: "said" }, rich(detail)))));
  }

  function reportNotes(finding) {
    return finding.reports.map(([which, words]) => el("p", { class: "reported" },
      badge("verify"), " ", reportLink(data.reports[which]), ` ${words}`));
  }

  function fixNote(finding) {
    if (!finding.fix) return null;
    const [applicability, edits] = finding.fix;
    const by = finding.mends === "person" ? "which is left to a person" : `by ${MENDED[finding.mends]}`;
    return el("div", { class: "fix" }, el("p", {}, `A fix is known (${applicability}), ${by}:`),
      edits.map(([line, column, endLine, endColumn, text]) => {
        const place = `${line}:${column} to ${endLine}:${endColumn}`;
        return text ? el("p", {}, el("span", { class: "dim" }, `${place} becomes `), el("code", {}, text))
          : el("p", { class: "dim" }, `${place} goes`);
      }));
  }

  // On paper everything that fits is open.

  function beforePrint() {
    const note = parts.findings.querySelector(".printed");
    const rows = view.rows.length;
    const chosen = chosenFilters().map(([facet, value]) => `${facet} ${value.replaceAll(",", " or ")}`).join(", ");
    note.textContent = [
      isFiltered() ? `${number(rows)} of ${plural(findings.length, "finding")}: ${chosen}.` : "",
      rows > PRINTED ? `The first ${number(PRINTED)} of them are printed; a filter chooses others.` : "",
    ].join(" ").trim();
    note.hidden = !note.textContent;
    let left = PRINTED;
    const made = groups().map(([file, ofFile]) => {
      const printed = ofFile.slice(0, Math.max(left, 0));
      left -= printed.length;
      if (!printed.length) return null;
      const group = fileGroup(file, ofFile, false);
      group.open = true;
      group.querySelector(".body").append(...printed.map(findingCard));
      return group;
    });
    parts.list.replaceChildren(...made.filter(Boolean));
  }

  function afterPrint() {
    parts.findings.querySelector(".printed").hidden = true;
    showFindings();
  }

  // The page.

  function refresh() {
    view = filter();
    showTiles();
    showToolbar();
    showShares();
    showWork();
    showRules();
    showFindings();
  }

  function shortcuts(event) {
    const typing = event.target.closest?.("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      parts.search.focus();
      parts.search.select();
    }
  }

  function start() {
    load();
    readAddress();
    const report = document.getElementById("report");
    report.append(head());
    if (findings.length) {
      report.append(el("main", {}, ...[tiles(), baselinePanel(), runtimePanel(), reportsPanel(), toolbar(),
        el("div", { class: "two" }, el("div", { class: "column" }, work(), shares()), rules()), findingsPanel()].filter(Boolean)));
      refresh();
      addEventListener("popstate", () => {
        readAddress();
        parts.search.value = state.q;
        refresh();
      });
      addEventListener("beforeprint", beforePrint);
      addEventListener("afterprint", afterPrint);
      addEventListener("keydown", shortcuts);
    } else report.append(el("main", {}, ...[baselinePanel(), runtimePanel(), reportsPanel()].filter(Boolean)));
    root.dataset.ready = "";
  }

  document.addEventListener("DOMContentLoaded", start);
})();
