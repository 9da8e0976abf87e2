(() => {
  const HUGE = 1e300; // stands for infinity
  const ROW = 18; // height of a row of the grid
  const ROWS_AT_ONCE = 300;
  const PRINTED = 40;
  const KINDS = { tap: "layer", learning_rate: "learning rate", slot: "optimizer slot" };
  const STATUS = { pass: "good", fail: "bad", vacuous: "odd", "not run": "none" };

  const { root, fill, el, draw, plural, rich } = page;
  const code = (text) => el("code", {}, text);
  const kindOf = (kind) => KINDS[kind] || kind;
  const isNamed = (kind, name) => name.startsWith(kind) || name.startsWith(kindOf(kind)); // a loss is called loss

  /** A number to read. */
  function figure(value, digits = 3) {
    if (value === null || value === undefined) return "NaN";
    if (Math.abs(value) > HUGE) return value > 0 ? "infinite" : "-infinite";
    const size = Math.abs(value);
    if (size >= 1000 && size < 1e6 && digits <= 3) return Math.round(Number(value.toPrecision(digits))).toLocaleString("en-US");
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
    return String(Number(value.toPrecision(digits)));
  }

  const times = (excess) => (excess === null ? "cannot be compared" : `${figure(excess)} \u00d7 the tolerance`);

  let data;
  let onPaper = false; // whether this is drawn to be printed: dark on white, whatever the theme
  const redraws = []; // what depends on the width of the page or on its colours

  // The head.

  function top() {
    return el("header", {},
      page.brand([el("strong", {}, data.name), el("span", { class: "dim" }, ` \u00b7 policy ${data.policy}`)], () => redraw()),
      el("div", { class: `verdict ${data.status === 0 ? "good" : data.status === 3 ? "odd" : "bad"}` },
        el("h1", {}, headline()), culprit(), el("p", {}, summary()),
        data.status === 0 && data.omitted.length ? el("p", { class: "dim small" }, `Not compared: ${data.omitted.join("; ")}`) : null));
  }

  function headline() {
    if (data.status === 0) return "Both models compute the same";
    if (data.status === 4) return `The ${data.sides.filter((side) => side.cause).map((side) => side.side).join(" and the ")} side ended early`;
    if (data.status === 3) return data.problems.length ? "The two sides cannot be compared" : "This comparison shows nothing";
    const line = data.source.length ? data.source[1][1] : "";
    if (line && data.found.length) return ["The two models differ: change ", code(line)];
    if (line && data.lead) return ["The two models differ: look first at ", code(line)];
    if (!data.first) return "The two models differ";
    const { kind, tf1, tf2, operation } = data.first;
    if (operation && line) return ["The two models differ, first at ", code(line)];
    if (operation) return ["The two models differ, first at ", code(operation.text)];
    const name = tf1[0] || tf2[0];
    return ["The two models differ, first at ", isNamed(kind, name) ? "" : `${kindOf(kind)} `, code(name), data.first.when ? `, ${data.first.when}` : ""];
  }

  /** The line itself, where it is known which one. */
  function culprit() {
    if (data.status !== 1 || !data.source.length || !(data.found.length || data.lead || data.first.operation)) return null;
    const [, , line, start, rows] = data.source[1];
    if (rows[line - start] === undefined) return null;
    const whole = rows.slice(line - start, line - start + statement(rows, line - start)).map((text) => text.trim());
    return el("pre", { class: "culprit" }, whole.join(" ").replace(/([([{]) /g, "$1").replace(/,? ([)\]}])/g, "$1"));
  }

  /** How many lines a statement takes that begins at one of them, as far as its brackets tell. */
  function statement(rows, at) {
    let open = 0;
    for (let count = 1; at + count <= rows.length; count += 1) {
      for (const sign of rows[at + count - 1].replace(/"[^"]*"|'[^']*'|#.*/g, "")) open += "([{".includes(sign) ? 1 : ")]}".includes(sign) ? -1 : 0;
      if (open <= 0) return count;
    }
    return 1;
  }

  function summary() {
    if (data.status === 4) return data.sides.filter((side) => side.cause).map((side) => side.cause).join("; ");
    if (data.status !== 1 || !data.first) return data.verdict;
    if (data.found.length) return [el("strong", {}, "Found by trying: "), rich(data.found.map(sentence).join(" "))];
    if (data.lead) return because();
    return parting();
  }

  /** What speaks for the likeliest cause. */
  function because() {
    const { kind, evidence } = data.causes.find((one) => one.tried !== "refuted");
    const once = data.first && data.first.operation && (evidence[0] || "").startsWith(data.first.operation.text) ? 1 : 2; // the second says it again
    return [el("strong", {}, `Likeliest cause, ${kind}: `), rich(evidence.slice(0, once).map(sentence).join(" "))];
  }

  function parting() {
    const { before, text } = data.first;
    return [before && !text.includes(before) ? `Up to ${before} both agree. ` : "", sentence(text)];
  }

  const sentence = (text) => text && text[0].toUpperCase() + text.slice(1).replace(/\.?$/, ".");

  // Both source texts, with the lines to look at.

  function source() {
    const first = data.first, hint = "runs the TF2 program with changes, and names the line to change.";
    if (!data.source.length) return first && !data.tried ? el("p", { class: "hint" }, "No source line is known of this value. ", code("--find-cause"), ` ${hint}`) : null;
    const likely = data.found.length ? [] : data.causes.filter((one) => one.tried !== "refuted" && one.evidence.length).slice(data.lead ? 1 : 0, 2);
    const led = data.found.length || data.lead;
    const fact = !first ? "" : first.operation && first.operation.differences.length ? first.operation.differences.join("; ") : led ? "" : first.agreement;
    const others = likely.map(({ kind, place, evidence }, at) => [`${data.lead || at ? "Less likely" : "Likeliest cause"}, ${kind}${place ? ` (${place})` : ""}: `,
      rich(evidence.slice(0, data.lead || at ? 1 : 2).map(sentence).join(" "))]);
    const seen = first && led ? [["Seen first: ", parting()]] : [];
    return el("section", { class: "panel", "aria-labelledby": "source" },
      el("h2", { id: "source" }, data.found.length ? "The line to change" : data.lead ? "The line to look at first" : "Where it begins"),
      texts(data.source), [...seen, ...(fact ? [["Difference: ", sentence(fact)]] : []), ...others].map(explained),
      data.begins.length ? el("details", {}, el("summary", {}, "Where the values part: ", code(data.begins[1][1])), texts(data.begins)) : null);
  }

  const explained = ([title, words]) => el("p", { class: "small agreement" }, el("strong", {}, title), words);

  /** Some lines of both sides, with the one that is meant. */
  function texts(sources) {
    const meant = (rows, line, start, at) => at >= line - start && at < line - start + statement(rows, line - start);
    return el("div", { class: "sources" }, sources.map(([side, place, line, start, rows]) => el("figure", { class: side.toLowerCase() },
      el("figcaption", {}, el("strong", {}, side), " ", el("span", { class: "path" }, place || "no source line")),
      rows.length ? el("pre", { tabindex: "0", role: "group", "aria-label": `${side} ${place}` }, rows.map((text, at) =>
        el("span", { class: meant(rows, line, start, at) ? "row here" : "row" },
          el("span", { class: "at" }, `${start + at === line ? "\u25b6" : " "}${String(start + at).padStart(4)}`), ` ${text}\n`)))
        : place ? el("p", { class: "dim small" }, "The text of this file was not recorded: it was changed while it ran, or cannot be read, or is too long.") : null)));
  }

  /** A text to copy, which can be selected where a page may not write to the clipboard. */
  function copied(text) {
    const box = el("textarea", { readonly: true, rows: Math.min(8, Math.ceil(text.length / 45)), "aria-label": "Text to copy", spellcheck: "false" });
    box.value = text;
    const button = el("button", { type: "button", class: "action", onclick: async () => {
      box.select();
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      }
    } }, "Copy");
    return el("span", { class: "copy" }, box, button);
  }

  /** A line that a rung says; what is to be pasted into the pair stands in a box of its own. */
  function line(words) {
    const at = words.search(/(renames=\{|converters=\[)/);
    return at < 0 ? words : [words.slice(0, at), copied(words.slice(at))];
  }

  // The first divergence, in words.

  function divergence() {
    const first = data.first;
    if (!first) return null;
    const chain = data.chains.find((one) => one.chosen && one.first !== null);
    const side = (name, [path, place, value]) => [
      el("dt", { class: name.toLowerCase() }, name),
      el("dd", {}, code(path || "no counterpart"), el("br"),
        place ? el("span", { class: "path" }, place) : el("span", { class: "dim" }, "no source line"),
        value === null || first.problem ? "" : el("span", { class: "dim" }, ` \u00b7 value ${figure(value, 9)}`)),
    ];
    return el("section", { class: "panel", "aria-labelledby": "first" },
      el("h2", { id: "first" }, kindOf(first.kind) === "layer" ? "First layer that differs" : "First value that differs"),
      el("p", { class: "dim small" }, `Rung ${first.rung}${first.title ? `, ${first.title}` : ""}${first.context === first.title ? "" : ` (${first.context})`}`),
      chain ? neighbours(chain) : null,
      el("dl", { class: "pairs" }, side("TF1", first.tf1), side("TF2", first.tf2)),
      el("p", { class: "small agreement" }, sentence(first.agreement)),
      first.operation ? begins(first.operation) : null);
  }

  /** The operation that it begins with. */
  function begins({ tf1, tf2, agree, differences }) {
    const side = (name, one) => [
      el("dt", { class: name.toLowerCase() }, name),
      el("dd", {}, one ? [code(one[0]), one[3].length ? ` of ${one[3].join(", ")}` : "", el("br"),
        one[1] ? el("span", { class: "path" }, one[1]) : el("span", { class: "dim" }, "no source line")] : "no such operation"),
    ];
    return [
      el("h3", {}, "The operation that it begins with"),
      el("dl", { class: "pairs" }, side("TF1", tf1), side("TF2", tf2)),
      agree.length ? el("p", { class: "small" }, `The same on both sides: ${agree.join(", ")}.`) : null,
      differences.map((words) => el("p", { class: "small agreement" }, `Different: ${words}.`)),
    ];
  }

  /** What was computed just before and just after the first divergence. */
  function neighbours({ rows, first }) {
    const start = Math.max(0, first - 2);
    return el("ol", { class: "link-chain" }, rows.slice(start, first + 2).map((row, place) => {
      const here = start + place === first;
      const [kind, tf1, tf2, excess, , , , , , passed] = row;
      const vague = judged(row) === VAGUE && !here;
      return el("li", { class: `link ${passed ? "good" : vague ? "none" : "bad"}${here ? " here" : ""}` },
        el("span", { class: "mark", role: "img", "aria-label": judged(row) }, passed ? "\u2713" : vague ? "?" : "\u2717"),
        el("span", {}, kind === "tap" || isNamed(kind, tf1 || tf2) ? "" : `${kindOf(kind)} `, code(tf1 || tf2)),
        el("span", { class: "dim small num" },
          passed ? (excess === 0 ? "identical" : "agrees") : vague ? VAGUE : row[13] ? `${times(excess)}, ${INPUTS}` : times(excess)));
    }));
  }

  function causes() {
    if (!data.causes.length) return null;
    const one = ({ kind, weight, tried, evidence, findings }) => {
      const bar = el("span", {});
      bar.style.width = `${100 * Math.min(1, weight || 0)}%`;
      return el("div", { class: "cause" },
        el("p", { class: "name" }, el("span", { class: "weight", title: `weight ${figure(weight)}` }, bar),
          tried === "refuted" ? el("s", {}, kind) : kind, tried ? el("span", { class: "dim" }, ` ${tried === "found" ? "found by trying" : "tried and refuted"}`) : null),
        el("ul", {},
          evidence.map((words) => el("li", {}, rich(words))),
          findings.map(([place, number, slug, message]) =>
            el("li", { class: "finding" }, el("span", { class: "path" }, place), ": ", code(number), ` ${slug}: `, rich(message)))));
    };
    return el("section", { class: "panel", "aria-labelledby": "causes" },
      el("h2", { id: "causes" }, "What may cause it"),
      el("p", { class: "hint" }, "The likeliest first: evidence, not proof."),
      data.causes.map(one));
  }

  function tries() {
    return (data.tries || []).map(([title, lines], at) => el("section", { class: "panel", "aria-labelledby": `tries${at}` },
      el("h2", { id: `tries${at}` }, title),
      lines.length ? el("ul", {}, lines.map((words) => el("li", {}, rich(words)))) : null));
  }

  // The ladder.

  function ladder() {
    return el("section", { class: "panel long", "aria-labelledby": "ladder" },
      el("h2", { id: "ladder" }, "The ladder"),
      el("ol", { class: "rungs" }, data.rungs.map((rung) => el("li", {}, el("div", { class: "rung" },
        el("span", { class: "number" }, rung.number),
        el("span", {}, rung.title, said(rung).map((words) => el("span", { class: "detail" }, line(words)))),
        el("span", { class: `status ${STATUS[rung.status]}` }, rung.status),
        rung.failures.length ? failures(rung) : null)))),
      data.status !== 0 && data.omitted.length ? [el("h3", {}, "Not compared"), el("ul", { class: "small" }, data.omitted.map((words) => el("li", {}, words)))] : null);
  }

  function said(rung) {
    const words = [rung.detail, rung.status === "pass" && rung.worst ? `the farthest is ${rung.worst}` : ""];
    return [words.filter(Boolean).join(", "), ...rung.lines].filter(Boolean);
  }

  function failures(rung) {
    const made = el("details", {}, el("summary", {}, `${plural(rung.failed, "value")} failed`));
    made.addEventListener("toggle", () => {
      if (made.childElementCount > 1) return;
      made.append(
        table(["Value", "Where", "Error", "\u00d7 tolerance", "rtol that passes", "Lines"], rung.failures.map(
          ([subject, context, error, excess, passing, one, other, problem]) => el("tr", {},
            el("td", { class: "path" }, subject), el("td", {}, context),
            problem ? el("td", { colspan: 3 }, problem) : [el("td", { class: "num" }, figure(error)), el("td", { class: "num" }, figure(excess)), el("td", { class: "num" }, passing)],
            el("td", { class: "path" }, [one, other].filter(Boolean).join(" | "))))),
        rung.failed > rung.failures.length ? el("p", { class: "dim" }, `${plural(rung.failed - rung.failures.length, "further value")} in the JSON report.`) : "");
    });
    return made;
  }

  function table(titles, rows, kind = "") {
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": titles.filter(Boolean).join(", ") },
      el("table", { class: kind }, el("thead", {}, el("tr", {}, titles.map((one) => (one ? el("th", { scope: "col" }, one) : el("td", { class: "narrow" }))))), el("tbody", {}, rows)));
  }

  // Pictures share a frame: a title, what to choose, the drawing, and a line that tells what is under the cursor.

  function figurePanel(id, title, hint, tools, legend) {
    const canvas = el("div", {});
    const readout = el("p", { class: "readout", "aria-live": "polite" });
    const panel = el("section", { class: "panel", "aria-labelledby": id },
      el("div", { class: "head" }, el("h2", { id }, title), el("div", { class: "tools" }, tools)),
      el("p", { class: "hint" }, hint), canvas,
      el("p", { class: "legend" }, legend.map(([kind, words]) => el("span", { class: `swatch-${kind}` }, words))), readout);
    return { panel, canvas, readout };
  }

  const chooser = (words, options, change) => (options.length < 2 ? null : el("select", { "aria-label": words, onchange: (event) => change(event.target.value) },
    options.map(([value, text, selected]) => el("option", { value, selected }, text))));

  /** Calls back with the number of the column under the pointer, or that the arrow keys have come to. */
  function browse(svg, count, at, near, show, words) {
    fill(svg, { tabindex: "0", role: "slider", "aria-label": words, "aria-valuemin": 0, "aria-valuemax": count - 1 }, []);
    let place = at;
    const go = (to) => {
      place = Math.max(0, Math.min(count - 1, to));
      svg.setAttribute("aria-valuenow", place);
      svg.setAttribute("aria-valuetext", show(place));
    };
    svg.addEventListener("pointermove", (event) => go(near(event.clientX - svg.getBoundingClientRect().left)));
    svg.addEventListener("pointerdown", (event) => go(near(event.clientX - svg.getBoundingClientRect().left)));
    svg.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -count, End: count };
      if (!(event.key in moves)) return;
      event.preventDefault();
      go(place + moves[event.key]);
    });
    go(at);
  }

  const chart = (width, height, words) => draw("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, height, "aria-label": words });
  const VAGUE = "may be tapped elsewhere";
  const INPUTS = "its input already differs";
  const judged = (row) => (row[9] ? "agrees" : row[12] ? "differs" : VAGUE);
  const log = (value) => Math.log10(value);

  // Error by layer.

  function layers() {
    if (!data.chains.length) return null;
    let chosen = Math.max(0, data.chains.findIndex((one) => one.chosen));
    if (!data.chains[chosen].chosen) chosen = Math.max(0, data.chains.findIndex((one) => one.rows.some((row) => !row[9])));
    const { panel, canvas, readout } = figurePanel("layers", "Error by layer, in the order of execution",
      "Each stem is a value that both sides computed; above the dashed line it is farther apart than is tolerated. Point at one, or move with the arrow keys.",
      [chooser("Pass", data.chains.map((one, place) => [place, one.label, place === chosen]), (value) => { chosen = Number(value); show(); })],
      [["ok", "within the tolerance"], ["fail", "beyond it"], ...(data.chains.some((one) => one.rows.some((row) => judged(row) === VAGUE)) ? [["both", "beyond it, but perhaps tapped at another place"]] : []), ["limit", "tolerance"], ["noise", "noise of this model"]]);
    const show = () => drawLayers(data.chains[chosen], canvas, readout);
    redraws.push(show);
    return panel;
  }

  function drawLayers({ rows, first, label }, canvas, readout) {
    const width = Math.max(300, canvas.clientWidth), height = 320;
    const left = 56, right = 14, above = 50, below = 52, zero = 14;
    const sizes = rows.map((row) => row[3]).filter((value) => value !== null && value > 0 && value < HUGE);
    const noises = rows.map((row) => row[4]).filter((value) => value > 0 && value < HUGE);
    const low = Math.floor(Math.max(-8, Math.min(-1, ...[...sizes, ...noises].map(log))) - 0.2);
    const high = Math.ceil(Math.max(1, ...sizes.map(log)) + 0.2);
    const bottom = height - below, floor = bottom - zero; // what is identical stays in a lane of its own below
    const column = (width - left - right) / rows.length;
    const x = (place) => left + (place + 0.5) * column;
    const y = (value) => {
      if (value === null || value > HUGE) return above;
      if (value <= 0) return bottom;
      return above + ((high - Math.min(high, Math.max(low, log(value)))) / (high - low)) * (floor - above);
    };
    const svg = chart(width, height, `Error by layer: ${label}`);
    svg.append(draw("rect", { class: "over", x: left, y: above, width: width - left - right, height: y(1) - above }));
    band(svg, rows, x, y, bottom, column);
    const gap = Math.max(1, Math.ceil((high - low) / 6));
    for (let power = high; power >= low; power -= gap) {
      svg.append(draw("line", { class: "rule", x1: left, x2: width - right, y1: y(10 ** power), y2: y(10 ** power) }),
        draw("text", { x: left - 8, y: y(10 ** power) + 4, "text-anchor": "end" }, power > -4 && power < 5 ? Number((10 ** power).toPrecision(1)).toLocaleString("en-US") : `1e${power}`));
    }
    svg.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: bottom, y2: bottom }),
      draw("text", { x: left - 8, y: bottom + 4, "text-anchor": "end" }, "0"),
      draw("text", { x: 4, y: 14 }, "\u00d7 the tolerance (log scale)"),
      draw("line", { class: "limit", x1: left, x2: width - right, y1: y(1), y2: y(1) }));
    stems(svg, rows, x, y, bottom, column);
    if (first !== null) markFirst(svg, rows, first, x, above, bottom, width);
    axis(svg, rows, x, bottom, left, width - right);
    const cursor = draw("line", { class: "cursor", y1: above, y2: bottom, visibility: "hidden" });
    svg.append(cursor);
    const tell = (place) => {
      fill(cursor, { x1: x(place), x2: x(place), visibility: "visible" }, []);
      readout.replaceChildren(...describe(rows[place], place, rows.length));
      return readout.textContent;
    };
    const worst = rows.reduce((best, row, place) => (row[9] === false && best < 0 ? place : best), -1);
    canvas.replaceChildren(svg);
    browse(svg, rows.length, first !== null ? first : Math.max(0, worst), (place) => Math.floor((place - left) / column), tell, "Value under the cursor");
  }

  function band(svg, rows, x, y, bottom, column) {
    if (!rows.some((row) => row[4] > 0)) return;
    const edge = rows.map((row, place) => `H${x(place) - column / 2}V${row[4] > 0 ? y(row[4]) : bottom}H${x(place) + column / 2}`);
    svg.append(draw("path", { class: "noise", d: `M${x(0) - column / 2} ${bottom}${edge.join("")}V${bottom}Z` }));
  }

  function stems(svg, rows, x, y, bottom, column) {
    const thick = Math.max(1, Math.min(4, column * 0.4));
    const radius = Math.max(1.2, Math.min(5, column * 0.42));
    for (const [kind, line, dot] of [["agrees", "ok", "ok-dot"], ["differs", "fail", "fail-dot"], [VAGUE, "vague", "vague-dot"]]) {
      const places = rows.map((_, place) => place).filter((place) => judged(rows[place]) === kind);
      svg.append(draw("path", { class: line, "stroke-width": thick, d: places.map((place) => `M${x(place)} ${bottom}V${y(rows[place][3])}`).join("") }));
      const circle = (place) => `M${x(place) - radius} ${y(rows[place][3])}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`;
      svg.append(draw("path", { class: dot, d: places.map(circle).join("") }));
    }
  }

  function markFirst(svg, rows, first, x, above, bottom, width) {
    const [kind, tf1, tf2] = rows[first];
    const name = `${kind === "tap" || isNamed(kind, tf1 || tf2) ? "" : `${kindOf(kind)} `}${tf1 || tf2}`;
    const short = name.length > 48 ? `\u2026${name.slice(-46)}` : name;
    const place = x(first);
    const anchor = place > width * 0.72 ? "end" : place < width * 0.28 ? "start" : "middle";
    svg.append(draw("line", { class: "since", x1: place, x2: place, y1: above - 8, y2: bottom }),
      draw("text", { class: "bad-text", x: place, y: above - 13, "text-anchor": anchor }, `first: ${short}`));
  }

  /** Names where they fit, numbers where they do not. */
  function axis(svg, rows, x, bottom, start, end) {
    const room = (end - start) / rows.length;
    const last = ([kind, tf1, tf2]) => {
      const short = (tf1 || tf2).split("/").slice(-2).join("/");
      return kind === "tap" || kind === "output" || isNamed(kind, short) ? short : `${kindOf(kind)} ${short}`;
    };
    if (room >= 44) {
      rows.forEach((row, place) => {
        const words = last(row), most = Math.max(4, Math.floor(room / 6.2));
        svg.append(draw("text", { x: x(place), y: bottom + 18 + (place % 2) * 15, "text-anchor": "middle" }, words.length > most * 1.8 ? `\u2026${words.slice(-Math.floor(most * 1.8))}` : words));
      });
      return;
    }
    const step = Math.max(1, Math.ceil(60 / room / 5) * 5);
    for (let place = 0; place < rows.length; place += step) {
      svg.append(draw("text", { x: x(place), y: bottom + 18, "text-anchor": "middle" }, String(place + 1)));
    }
    svg.append(draw("text", { x: (start + end) / 2, y: bottom + 38, "text-anchor": "middle" }, `${rows.length.toLocaleString("en-US")} values in the order of execution`));
  }

  function describe(row, place, count) {
    const [kind, tf1, tf2, excess, noise, error, tolerance, one, other, passed, counts, problem] = row;
    const names = tf1 === tf2 || !tf2 ? [code(tf1)] : [code(tf1 || "none"), " | ", code(tf2)];
    const numbers = problem || `error ${figure(error)}, ${times(excess)} (${figure(tolerance)})${noise === null ? "" : `, noise ${times(noise)}`}`;
    return [el("strong", {}, `${place + 1} of ${count}: ${isNamed(kind, tf1 || tf2) ? "" : `${kindOf(kind)} `}`), ...names, " ",
      el("span", { class: `status ${passed ? "good" : row[12] ? "bad" : "none"}` }, judged(row)), row[13] ? `, ${INPUTS}` : "", counts ? "" : " (helps to find the place, fails nothing)",
      el("br"), `${numbers}. `, el("span", { class: "path dim" }, [one, other].filter(Boolean).join(" | "))];
  }

  // Loss, learning rate and other scalars over the steps.

  function scalars() {
    if (!data.series.length) return null;
    let chosen = 0;
    const words = (one) => (isNamed(one.kind, one.name) ? one.name : `${one.kind} ${one.name}`);
    const { panel, canvas, readout } = figurePanel("scalars", "Both sides over the training steps",
      "Above, both sides one over the other; below, how far they are apart.",
      [chooser("Scalar", data.series.map((one, place) => [place, words(one), place === 0]), (value) => { chosen = Number(value); show(); })],
      [["tf1", "TF1 (wide)"], ["tf2", "TF2 (narrow)"], ["fail", "difference"], ["limit", "tolerance"], ["noise", "noise"]]);
    const show = () => drawScalar(data.series[chosen], words(data.series[chosen]), canvas, readout);
    redraws.push(show);
    return panel;
  }

  const finite = (values) => values.filter((value) => value !== null && Math.abs(value) < HUGE);

  function drawScalar(series, words, canvas, readout) {
    const { steps, tf1, tf2, difference, tolerance, noise } = series;
    const width = Math.max(300, canvas.clientWidth), height = 400;
    const left = 64, right = 14, middle = 220, from = 30, bottom = height - 34, zero = 14;
    const both = finite([...tf1, ...tf2]);
    let least = Math.min(...both), most = Math.max(...both);
    if (!both.length) [least, most] = [0, 1];
    if (least === most) [least, most] = [least - Math.max(1e-9, Math.abs(least) * 0.1), most + Math.max(1e-9, Math.abs(most) * 0.1)];
    const x = (place) => (steps.length === 1 ? (left + width - right) / 2 : left + (place / (steps.length - 1)) * (width - left - right));
    const y = (value) => 26 + ((most - value) / (most - least)) * (middle - 44);
    const positive = finite([...difference, ...tolerance, ...noise]).filter((value) => value > 0).map(log);
    const low = Math.floor(Math.max(-12, Math.min(...positive, 0))), high = Math.ceil(Math.max(...(positive.length ? positive : [0])));
    const span = Math.max(1, high - low);
    const z = (value) => (value === null ? null : value <= 0 ? bottom : bottom - zero - ((Math.max(low, Math.min(high, log(value))) - low) / span) * (bottom - zero - middle - from));
    const svg = chart(width, height, `${words} of both sides`);
    for (const value of [least, (least + most) / 2, most]) {
      svg.append(draw("line", { class: "rule", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
        draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, figure(value)));
    }
    svg.append(draw("text", { class: "strong", x: 4, y: 14 }, words), draw("text", { class: "strong", x: 4, y: middle + 18 }, "difference (log scale)"));
    const path = (values, at) => {
      let begun = false;
      return values.map((value, place) => {
        if (value === null || Math.abs(value) > HUGE) { begun = false; return ""; }
        const made = `${begun ? "L" : "M"}${x(place).toFixed(1)} ${at(value).toFixed(1)}`;
        begun = true;
        return steps.length === 1 ? `${made}h0.1` : made;
      }).join("");
    };
    svg.append(draw("path", { class: "tf1", "stroke-linecap": "round", d: path(tf1, y) }), draw("path", { class: "tf2", "stroke-linecap": "round", d: path(tf2, y) }));
    if (noise.some((value) => value > 0)) {
      svg.append(draw("path", { class: "noise", d: `M${x(0)} ${bottom}${noise.map((value, place) => `L${x(place)} ${z(value || 0)}`).join("")}L${x(steps.length - 1)} ${bottom}Z` }));
    }
    for (const power of [...new Set([low, Math.round((low + high) / 2), high])]) {
      svg.append(draw("line", { class: "rule", x1: left, x2: width - right, y1: z(10 ** power), y2: z(10 ** power) }),
        draw("text", { x: left - 8, y: z(10 ** power) + 4, "text-anchor": "end" }, `1e${power}`));
    }
    svg.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: bottom, y2: bottom }),
      draw("text", { x: left - 8, y: bottom + 4, "text-anchor": "end" }, "0"),
      draw("path", { class: "limit", d: path(tolerance, z) }), draw("path", { class: "difference", "stroke-linecap": "round", d: path(difference, z) }));
    const every = Math.max(1, Math.ceil((steps.length * 46) / (width - left - right)));
    steps.forEach((step, place) => {
      if (place % every === 0) svg.append(draw("text", { x: x(place), y: bottom + 16, "text-anchor": "middle" }, String(step)));
    });
    svg.append(draw("text", { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }, "step"));
    const beyond = steps.findIndex((_, place) => tolerance[place] !== null && (difference[place] === null || difference[place] > tolerance[place]));
    if (beyond >= 0) {
      const late = x(beyond) > width / 2;
      svg.append(draw("line", { class: "since", x1: x(beyond), x2: x(beyond), y1: middle + from - 6, y2: bottom }),
        draw("text", { class: "bad-text", x: late ? x(beyond) : Math.max(x(beyond), 180), y: middle + 18, "text-anchor": late ? "end" : "start" }, `beyond the tolerance from step ${steps[beyond]} on`));
    }
    const cursor = draw("path", { class: "cursor" });
    svg.append(cursor);
    const tell = (place) => {
      fill(cursor, { d: `M${x(place)} 22V${middle - 12}M${x(place)} ${middle + from - 6}V${bottom}` }, []);
      readout.replaceChildren(el("strong", {}, `Step ${steps[place]}: `), `TF1 ${figure(tf1[place], 9)}, TF2 ${figure(tf2[place], 9)}, difference ${figure(difference[place])}`,
        tolerance[place] === null ? "" : `, tolerance ${figure(tolerance[place])}`, noise[place] === null ? "" : `, noise ${figure(noise[place])}`);
      return readout.textContent;
    };
    canvas.replaceChildren(svg);
    browse(svg, steps.length, Math.max(0, beyond), (place) => Math.round(((place - left) / (width - left - right)) * (steps.length - 1)), tell, "Step under the cursor");
  }

  // Variables by step: only the rows in sight are painted.

  function grids() {
    if (!data.grids.length) return null;
    let chosen = 0, sorted = "since", wanted = "", at = [0, 0], rows = [];
    const search = el("input", { type: "search", placeholder: "Filter names", "aria-label": "Filter names", spellcheck: "false", oninput: () => { wanted = search.value.toLowerCase(); arrange(); } });
    const { panel, canvas, readout } = figurePanel("grid", "Weights by step",
      "A row a variable, a column a step; red is beyond the tolerance. Point at a cell, or move with the arrow keys.",
      [chooser("What", data.grids.map((one, place) => [place, one.words, place === 0]), (value) => { chosen = Number(value); arrange(); }),
        chooser("Order", [["since", "earliest failure first", true], ["made", "in the order of creation", false]], (value) => { sorted = value; arrange(); }), search], []);
    const picture = el("canvas", { "aria-hidden": "true" });
    const height = el("div", { class: "height" });
    const frame = el("div", { class: "grid", tabindex: "0", role: "group", "aria-label": "Weights by step" }, picture, height);
    canvas.append(frame, ramp());
    const grid = () => data.grids[chosen];
    const isOver = (value) => value !== null && (value < 0 || value > 1);

    function arrange() {
      const { rows: all } = grid();
      rows = all.filter((row) => !wanted || row[0].toLowerCase().includes(wanted));
      if (sorted === "since") {
        const since = (row) => { const found = row.findIndex((value, place) => place && isOver(value)); return found < 0 ? Infinity : found; };
        const worst = (row) => row.reduce((most, value, place) => (place && value !== null ? Math.max(most, value < 0 ? HUGE : value) : most), 0);
        rows = rows.map((row) => [since(row), worst(row), row]).sort((a, b) => (a[0] === b[0] ? b[1] - a[1] : a[0] - b[0])).map((one) => one[2]);
      }
      at = [0, Math.max(0, rows.length ? rows[0].findIndex((value, place) => place && isOver(value)) - 1 : 0)];
      frame.scrollTop = 0;
      paint();
      tell();
    }

    const names = () => Math.min(300, Math.max(110, frame.clientWidth * 0.28));
    const cell = () => (frame.clientWidth - names()) / grid().steps.length;

    function paint() {
      const { steps } = grid();
      const count = onPaper ? Math.min(rows.length, PRINTED) : 0;
      const wide = frame.clientWidth, scale = window.devicePixelRatio || 1;
      const shown = count || Math.min(rows.length, Math.ceil(416 / ROW) - 1);
      const high = shown * ROW + 20;
      height.style.height = `${Math.max(0, (rows.length - shown) * ROW)}px`;
      picture.width = wide * scale;
      picture.height = high * scale;
      picture.style.width = `${wide}px`;
      picture.style.height = `${high}px`;
      const pen = picture.getContext("2d");
      const text = getComputedStyle(document.body);
      const ink = onPaper ? "#1b2026" : text.color;
      pen.scale(scale, scale);
      pen.font = `11.5px ${text.fontFamily}`;
      pen.textBaseline = "middle";
      const start = count ? 0 : Math.round(frame.scrollTop / ROW);
      const dark = isDark();
      for (let line = 0; line < shown && start + line < rows.length; line += 1) {
        const row = rows[start + line];
        pen.fillStyle = ink;
        pen.fillText(fit(pen, row[0], names() - 12), 6, line * ROW + ROW / 2);
        for (let place = 0; place < steps.length; place += 1) {
          pen.fillStyle = shade(row[place + 1], dark);
          pen.fillRect(names() + place * cell(), line * ROW + 1, Math.max(1, cell() - (cell() > 6 ? 1 : 0)), ROW - 2);
        }
        if (start + line === at[0]) {
          pen.strokeStyle = ink;
          pen.lineWidth = 1.5;
          pen.strokeRect(names() + at[1] * cell(), line * ROW + 0.75, Math.max(3, cell()), ROW - 1.5);
        }
      }
      pen.fillStyle = ink;
      const every = Math.max(1, Math.ceil(40 / cell()));
      pen.textAlign = "center";
      steps.forEach((step, place) => { if (place % every === 0) pen.fillText(String(step), names() + (place + 0.5) * cell(), high - 9); });
      pen.textAlign = "start";
      pen.fillText("step", 6, high - 9);
    }

    function tell() {
      if (!rows.length) { readout.textContent = "No name matches."; return; }
      const value = rows[at[0]][at[1] + 1];
      const words = value === null ? "not recorded at this step" : value < 0 ? "cannot be compared" : times(value);
      const failing = rows.filter((row) => row.some((one, place) => place && isOver(one))).length;
      readout.replaceChildren(code(rows[at[0]][0]), ` at step ${grid().steps[at[1]]}: ${words}.`, el("br"),
        el("span", { class: "dim" }, `${failing.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")} ${grid().words} are beyond the tolerance at some step.`));
    }

    frame.addEventListener("scroll", () => requestAnimationFrame(() => paint()));
    const point = (event) => {
      const box = frame.getBoundingClientRect();
      const line = Math.floor((event.clientY - box.top) / ROW) + Math.round(frame.scrollTop / ROW);
      const place = Math.floor((event.clientX - box.left - names()) / cell());
      if (line < 0 || line >= rows.length || place < 0 || place >= grid().steps.length) return;
      at = [line, place];
      paint();
      tell();
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    frame.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-20, 0], PageDown: [20, 0] };
      if (!(event.key in moves) || !rows.length) return;
      event.preventDefault();
      const [down, across] = moves[event.key];
      at = [Math.max(0, Math.min(rows.length - 1, at[0] + down)), Math.max(0, Math.min(grid().steps.length - 1, at[1] + across))];
      const top = at[0] * ROW;
      if (top < frame.scrollTop) frame.scrollTop = top;
      if (top > frame.scrollTop + frame.clientHeight - 3 * ROW) frame.scrollTop = top - frame.clientHeight + 3 * ROW;
      paint();
      tell();
    });
    redraws.push(() => (rows.length ? paint() : arrange()));
    return panel;
  }

  const isDark = () => !onPaper && (root.dataset.theme === "dark" || (root.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches));

  /** Pale blue within the tolerance, from yellow to dark red beyond it; in the dark the other way round. */
  function shade(value, dark) {
    if (value === null) return dark ? "#20252c" : "#f1f3f5";
    if (value < 0) return dark ? "#e879f9" : "#86198f";
    if (value <= 1) {
      const part = value <= 0 ? 0 : Math.max(0, Math.min(1, 1 + log(value) / 4));
      return dark ? `hsl(208 32% ${19 + 14 * part}%)` : `hsl(208 50% ${95 - 16 * part}%)`;
    }
    const part = Math.min(1, log(Math.min(value, HUGE)) / 4);
    return dark ? `hsl(${44 - 40 * part} 82% ${40 + 24 * part}%)` : `hsl(${44 - 42 * part} ${92 - 12 * part}% ${66 - 36 * part}%)`;
  }

  function ramp() {
    const picture = el("canvas", { width: 240, height: 12, role: "img", "aria-label": "From 0.0001 to 10,000 times the tolerance" });
    redraws.push(() => {
      const pen = picture.getContext("2d");
      for (let place = 0; place < 240; place += 1) {
        pen.fillStyle = shade(10 ** ((place / 240) * 8 - 4), isDark());
        pen.fillRect(place, 0, 1, 12);
      }
    });
    return el("p", { class: "legend" }, el("b", { class: "ramp" }, "0.0001", picture, "10,000"), "\u00d7 the tolerance; the colour changes at 1");
  }

  function fit(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    let kept = Math.floor(text.length * (room / pen.measureText(text).width)) - 1;
    while (kept > 1 && pen.measureText(`\u2026${text.slice(-kept)}`).width > room) kept -= 1;
    return `\u2026${text.slice(-kept)}`;
  }

  // Random operations.

  function random() {
    const shown = data.random.filter((one) => one.rows.length);
    if (!shown.length) return null;
    const isUneven = ([left, right]) => !left || !right;
    let chosen = Math.max(0, shown.findIndex((one) => one.first !== null));
    const { panel, canvas, readout } = figurePanel("random", "Random operations of both sides",
      "Initial values first, then what each step draws; an operation that only one side has shifts the seeds of all that follow.",
      [chooser("Scenario", shown.map((one, place) => [place, one.scenario, place === chosen]), (value) => { chosen = Number(value); show(); })],
      [["both", "on both sides"], ["tf1", "only in TF1"], ["tf2", "only in TF2"]]);
    const listed = el("div", {});
    panel.append(listed);
    const show = () => {
      const one = shown[chosen], first = one.first === null ? -1 : one.first;
      drawRandom(one, first, canvas);
      readout.replaceChildren(first >= 0 ? firstUneven(one, first) : one.rows.some(isUneven)
        ? "Only operations of initial values differ: these are compared by their values and their distribution."
        : `Both sides drew ${plural(one.tf1, "time")}, of the same shapes in the same order.`);
      listed.replaceChildren(randomTable(one, first));
    };
    redraws.push(show);
    return panel;
  }

  function firstUneven(one, first) {
    const [left, right] = one.rows[first];
    const [op, seed, shape, purpose, place] = left || right;
    return el("span", {}, el("strong", {}, `Only ${left ? "TF1" : "TF2"} draws ${op} `), `of shape ${shape} (${purpose}), number ${first + 1}, seed ${seed}: `,
      el("span", { class: "path" }, place || "no source line"), `. TF1 drew ${plural(one.tf1, "time")}, TF2 ${plural(one.tf2, "time")}.`);
  }

  function drawRandom({ rows, scenario }, first, canvas) {
    const width = Math.max(300, canvas.clientWidth), height = 96, left = 40;
    const column = Math.min(26, (width - left - 10) / rows.length), wide = Math.max(0.6, column * 0.75);
    const svg = fill(chart(width, height, `Random operations: ${scenario}`), { role: "img" }, []);
    [["TF1", 24, 0], ["TF2", 54, 1]].forEach(([words, top, side]) => {
      svg.append(draw("text", { class: "strong", x: 4, y: top + 14 }, words));
      for (const [kind, wanted] of [["both", true], [words.toLowerCase(), false]]) {
        const d = rows.map((row, place) => (row[side] && Boolean(row[1 - side]) === wanted ? `M${(left + place * column).toFixed(2)} ${top}h${wide.toFixed(2)}v20h${(-wide).toFixed(2)}z` : "")).join("");
        svg.append(draw("path", { class: `op-${kind}`, d }));
      }
    });
    if (first >= 0) {
      const x = left + (first + 0.38) * column;
      svg.append(draw("text", { class: "bad-text", x, y: 12, "text-anchor": x > width * 0.7 ? "end" : "start" }, `\u25be first ${rows[first][0] ? "missing" : "extra"} in TF2`));
    }
    const step = Math.max(1, Math.ceil(50 / column / 5) * 5);
    for (let place = 0; place < rows.length; place += step) svg.append(draw("text", { x: left + place * column, y: 90 }, String(place + 1)));
    canvas.replaceChildren(svg);
  }

  function randomTable({ rows }, first) {
    const made = el("details", { open: first >= 0 }, el("summary", {}, plural(rows.length, "operation")));
    const start = Math.max(0, Math.min(first - 4, rows.length - ROWS_AT_ONCE));
    const words = (op) => (op ? [el("td", { class: "path" }, `${op[0]} ${op[2]}`, el("span", { class: "facts" }, `seed ${op[1]}, ${op[3]} ${op[4]}`))] : [el("td", { class: "dim" }, "none")]);
    made.append(table(["", "TF1", "TF2"], rows.slice(start, start + ROWS_AT_ONCE).map(([left, right], place) =>
      el("tr", { class: `${left && right ? "" : (left || right)[3] === "step" ? "bad" : "odd"}${start + place === first ? " first" : ""}` }, el("td", { class: "num narrow" }, String(start + place + 1)), words(left), words(right))), "map"));
    if (rows.length > ROWS_AT_ONCE) made.append(el("p", { class: "dim" }, `${ROWS_AT_ONCE} of ${rows.length}; all are in the JSON report.`));
    return made;
  }

  // The two columns of variables.

  function variables() {
    if (!data.variables.length) return null;
    let wanted = "", odd = data.variables.some((row) => row[3]), limit = ROWS_AT_ONCE;
    const search = el("input", { type: "search", placeholder: "Filter names", "aria-label": "Filter variables", spellcheck: "false", oninput: () => { wanted = search.value.toLowerCase(); limit = ROWS_AT_ONCE; show(); } });
    const only = el("button", { type: "button", class: "toggle", onclick: () => { odd = !odd; show(); } }, "Only what differs");
    const body = el("div", {});
    const problems = data.variables.filter((row) => row[3]).length;
    const found = (row) => (!odd || row[3]) && (!wanted || [row[0], row[1]].some((side) => side && side[0].toLowerCase().includes(wanted)));
    const side = (one) => (one ? el("td", { class: "path" }, one[0], el("span", { class: "facts" }, `${one[1]}${one[2] ? ` \u00b7 ${one[2]}` : ""}`)) : el("td", { class: "dim" }, "none"));
    const show = () => {
      only.setAttribute("aria-pressed", odd);
      const rows = data.variables.filter(found);
      body.replaceChildren(
        table(["TF1", "TF2", "Matched by"], rows.slice(0, limit).map((row) =>
          el("tr", { class: row[3] ? "bad" : row[2] === "suggestion" ? "odd" : "" }, side(row[0]), side(row[1]), el("td", {}, row[2] || "nothing", row[3] ? el("span", { class: "facts" }, row[3]) : ""))), "map"),
        rows.length > limit ? el("button", { type: "button", class: "plain", onclick: () => { limit *= 4; show(); } }, `Show more: ${limit} of ${rows.length}`) : el("p", { class: "dim small" }, `${plural(rows.length, "row")} of ${data.variables.length.toLocaleString("en-US")}`));
    };
    show();
    return el("section", { class: "panel long", "aria-labelledby": "variables" },
      el("div", { class: "head" }, el("h2", { id: "variables" }, "Variables of both sides"), el("div", { class: "tools" }, problems ? only : null, search)),
      el("p", { class: "hint" }, problems ? `${plural(problems, "row")} of ${data.variables.length.toLocaleString("en-US")} differ.` : `All ${data.variables.length.toLocaleString("en-US")} agree.`), body);
  }

  // What each side was.

  function sides() {
    const list = (title, words) => (words.length ? [el("h3", {}, title), el("ul", {}, words.map((one) => el("li", {}, one)))] : null);
    const [rows, untraced] = data.timed;
    return el("section", { class: "panel", "aria-labelledby": "sides" }, el("h2", { id: "sides" }, "The two sides"),
      rows.length ? [el("p", { class: "hint" }, "Time and memory are shown, and not judged."), table(["", "TF1", "TF2"], rows.map((row) => el("tr", {}, row.map((one) => el("td", {}, one)))))] : null,
      untraced.length ? el("ul", {}, untraced.map((one) => el("li", {}, one))) : null,
      el("div", { class: "sides" }, data.sides.map((side) => el("div", { class: "side" },
        el("h3", { class: `one ${side.side.toLowerCase()}` }, side.side),
        el("p", {}, side.versions.map(([name, version]) => `${name} ${version}`).join(", ") || "versions unknown"),
        side.cause ? el("p", {}, el("span", { class: "status bad" }, "ended early"), ` ${side.cause}`) : null,
        el("p", { class: "dim small" }, `${figure(side.seconds)} s, at most ${Math.round(side.memory / 1048576).toLocaleString("en-US")} MiB of memory`),
        list("Adaptations", side.adaptations), list("Optimizers", side.optimizers), list("Notes", side.notes)))));
  }

  // All of it.

  let drawn = 0;

  function redraw(printing) {
    onPaper = printing === true;
    for (const one of redraws) one();
  }

  function start() {
    data = page.data();
    const left = [divergence(), ...tries(), causes()].filter(Boolean);
    document.getElementById("report").append(...[top(),
      el("main", {}, source(),
        el("div", { class: `top${left.length ? "" : " single"}` }, left.length ? el("div", {}, left) : null, ladder()),
        layers(), scalars(), grids(), random(), variables(), sides())]);
    redraw();
    drawn = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth === drawn) return; // a phone's address bar came or went
      drawn = innerWidth;
      requestAnimationFrame(redraw);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    addEventListener("beforeprint", () => redraw(true));
    addEventListener("afterprint", redraw);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
