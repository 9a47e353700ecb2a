"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  let token = "", schema = null, about = null, columns = [], rows = null;

  // -- small helpers ---------------------------------------------------------------------------
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value == null) continue;
      if (name === "text") element.textContent = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };
  const money = (value) => {
    const digits = Math.abs(value) < 10000 ? 2 : 0;
    const text = Math.abs(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return (value < 0 && /[1-9]/.test(text) ? "−" : "") + text;
  };
  const signed = (value) => (value > 0 && /[1-9]/.test(money(value)) ? "+" : "") + money(value);
  const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.001 ? 3 : 1) + " %";
  const brief = (text) => asNumber(text) !== null && text.length > 10 ? String(Number(Number(text).toPrecision(6))) : text;
  const complain = (message) => { $("problem").textContent = message; $("problem").hidden = !message; };

  async function call(path, body) {
    const headers = token ? { Authorization: "Bearer " + token } : {};
    const request = body === undefined ? { headers } :
      { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let response;
    try { response = await fetch(path, request); } catch { throw new Error("The service does not answer."); }
    let content;
    try { content = await response.json(); } catch { throw new Error(`The service answered with status ${response.status}.`); }
    if (response.ok) return content;
    const found = new Error(content.error ? content.error.message : `Status ${response.status}.`);
    found.status = response.status;
    found.field = content.error && content.error.field;
    throw found;
  }

  // -- the model -------------------------------------------------------------------------------
  async function begin() {
    try {
      schema = await call("/schema");
    } catch (error) {
      if (error.status === 401) {
        $("token-form").hidden = false;
        $("lead").textContent = token ? "The token is wrong." : "Enter the token to see the model.";
        $("token").focus();
      } else complain(error.message);
      return;
    }
    $("token-form").hidden = true;
    complain("");
    about = schema["x-costboost"];
    columns = Object.entries(schema.properties).map(([name, rule]) => ({
      name, isNumber: /^A number/.test(rule.description || ""), hint: rule.description || "",
      values: rule.examples || [], isRequired: schema.required.includes(name),
    }));
    $("model-name").textContent = "· " + about.title;
    $("title").textContent = "Decide: " + about.decisions.join(", ").replace(/, ([^,]*)$/, " or $1");
    document.title = "Decide: " + about.title;
    $("lead").textContent = "The service weighs what each decision is expected to cost, and takes the cheapest.";
    $("cost-words").textContent = about.costs || "The costs depend on the row.";
    buildFields();
    $("content").hidden = false;
  }

  function buildFields() {
    $("fields").replaceChildren(...columns.filter((c) => c.isRequired).map((column, place) => {
      const id = "field-" + place;
      let input;
      if (column.values.length && column.values.length <= 50) {
        input = make("select", { id }, make("option", { value: "", text: "(missing)" }),
          ...column.values.map((value, i) => make("option", { value: i, text: String(value) })));
      } else if (column.values.length) {
        const list = make("datalist", { id: id + "-list" }, ...column.values.map((value) => make("option", { value })));
        input = make("input", { id, list: id + "-list", autocomplete: "off" });
        input.after(list);
        document.body.append(list);
      } else {
        input = make("input", { id, inputmode: column.isNumber ? "decimal" : null, title: column.hint, autocomplete: "off" });
      }
      column.input = input;
      return make("div", {}, make("label", { for: id, text: column.name }), input);
    }));
    const cells = about.short_costs
      ? [["fn", "a miss"], ["fp", "a false alarm"], ["tp", "a hit (optional)"], ["tn", "a correct pass (optional)"]]
      : about.classes.flatMap((truth) => about.decisions.map((decision) => [[truth, decision], `${decision}, truth ${truth}`]));
    about.cells = cells.map(([key, label], place) => {
      const input = make("input", { id: "cost-" + place, inputmode: "decimal", autocomplete: "off" });
      return { key, label, input };
    });
    $("cost-fields").replaceChildren(make("div", { class: "fields" }, ...about.cells.map(({ label, input }) =>
      make("div", {}, make("label", { for: input.id, text: "Cost of " + label }), input))));
    $("own-costs").hidden = !about.probabilities;
    $("limits").hidden = !about.probabilities;
    about.limits = about.decisions.map((decision, place) => {
      const input = make("input", { id: "limit-" + place, inputmode: "numeric", autocomplete: "off" });
      return { decision, input };
    });
    $("limit-fields").replaceChildren(...about.limits.map(({ decision, input }) =>
      make("div", {}, make("label", { for: input.id, text: String(decision) }), input)));
  }

  // -- values ----------------------------------------------------------------------------------
  const asNumber = (text) => {
    const value = Number(text);
    return text.trim() !== "" && Number.isFinite(value) ? value : null;
  };
  // The service reads texts as training did: numbers, dates, missing values.
  const asValue = (text) => (text.trim() === "" ? null : text);
  function valueOf(column) {
    const { input } = column;
    if (input.tagName !== "SELECT") return asValue(input.value);
    return input.value === "" ? null : column.values[Number(input.value)];
  }
  function ownCosts() {
    const given = about.cells.filter(({ input }) => input.value.trim() !== "");
    if (!given.length) return undefined;
    const costs = {};
    for (const { key, label, input } of about.cells) {
      const value = asNumber(input.value);
      if (value === null) {
        if (input.value.trim() === "" && (key === "tp" || key === "tn")) continue;
        input.setAttribute("aria-invalid", "true");
        throw Object.assign(new Error(`The cost of ${label} must be a number.`), { input });
      }
      if (typeof key === "string") costs[key] = value;
      else (costs[key[0]] ||= {})[key[1]] = value;
    }
    return costs;
  }

  // -- one row ---------------------------------------------------------------------------------
  $("row-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    complain("");
    for (const input of $("row-form").querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    const record = {};
    for (const column of columns) if (column.input) record[column.name] = valueOf(column);
    try {
      const costs = ownCosts();
      const answer = await call("/decide", { records: [record], ...(costs ? { costs } : {}), ...(about.explains ? { explain: true } : {}) });
      showRow(answer.rows[0], record, answer.unseen_categories);
    } catch (error) {
      let { input } = error;
      for (const column of columns) {
        if (error.field && column.input && error.field.endsWith("]." + column.name)) input = column.input;
      }
      if (input) { input.setAttribute("aria-invalid", "true"); input.focus(); }
      $("row-result").replaceChildren(make("p", { class: "warning", text: error.message }));
    }
  });
  $("row-form").addEventListener("reset", () => {
    for (const input of $("row-form").querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    $("row-result").replaceChildren(make("p", { class: "fine", text: "Fill in a row and choose “Decide”. An empty field is a missing value." }));
  });

  function bar(share, isSigned, isMinus) {
    const fill = make("i", { class: isMinus ? "minus" : null });
    const width = Math.max(0, Math.min(1, share)) * (isSigned ? 50 : 100);
    fill.style.width = width + "%";
    fill.style.left = (isSigned ? (isMinus ? 50 - width : 50) : 0) + "%";
    return make("td", { class: "bar" + (isSigned ? " signed" : ""), "aria-hidden": "true" }, make("div", {}, fill));
  }
  function table(caption, heads, body) {
    return make("table", {}, make("caption", { text: caption }),
      make("thead", {}, make("tr", {}, ...heads.map((text, i) => make("th", { scope: "col", class: i && text ? "number" : null, text })))),
      make("tbody", {}, ...body));
  }

  function showRow(row, record, unseen) {
    const parts = [make("p", { class: "over", text: "Decision" }), make("p", { class: "decision", text: String(row.decision) })];
    if (row.saving !== undefined) {
      parts.push(make("p", { text: row.saving >= 0
        ? `Expected to save ${money(row.saving)} against “${row.runner_up}”.`
        : `Expected to cost ${money(-row.saving)} more than “${row.runner_up}”.` }));
    }
    if (unseen) {
      for (const [name, values] of Object.entries(unseen)) {
        parts.push(make("p", { class: "warning", text: `Training has not seen ${name} = ${values.join(", ")}; it counts as missing.` }));
      }
    }
    if (row.expected_costs) {
      const entries = Object.entries(row.expected_costs);
      const most = Math.max(...entries.map(([, cost]) => Math.abs(cost)), 1e-300);
      parts.push(table("Expected cost of each decision", ["Decision", "Cost", ""], entries.map(([name, cost]) =>
        make("tr", { class: name === String(row.decision) ? "chosen" : null }, make("th", { scope: "row", text: name }),
          make("td", { class: "number", text: money(cost) }), bar(Math.abs(cost) / most, false, cost < 0)))));
      parts.push(table("Probability of each truth", ["Truth", "Probability", ""], Object.entries(row.probabilities).map(([name, share]) =>
        make("tr", {}, make("th", { scope: "row", text: name }), make("td", { class: "number", text: percent(share) }), bar(share)))));
    }
    if (row.explanation) {
      const found = Object.entries(row.explanation.parts).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
      const shown = found.slice(0, 10), rest = found.slice(10).reduce((sum, [, part]) => sum + part, 0);
      const lines = [["At the base rate", row.explanation.base], ...shown.map(([name, part]) => {
        const value = record[name];
        return [`${name} = ${value === null || value === undefined ? "missing" : value}`, part];
      })];
      if (found.length > 10) lines.push([`${found.length - 10} other columns`, rest]);
      lines.push(["Saving", row.saving]);
      // Base and saving have no bar: theirs would dwarf those of the columns.
      const most = Math.max(...lines.slice(1, -1).map(([, part]) => Math.abs(part)), 1e-300);
      const isColumn = (i) => i > 0 && i < lines.length - 1;
      parts.push(table(`Why “${row.decision}” rather than “${row.runner_up}”, in money`, ["Reason", "Adds", ""], lines.map(([name, part], i) =>
        make("tr", { class: i === lines.length - 1 ? "chosen" : null }, make("th", { scope: "row", text: name }),
          make("td", { class: "number", text: signed(part) }), isColumn(i) ? bar(Math.abs(part) / most, true, part < 0) : make("td")))));
    }
    $("row-result").replaceChildren(...parts);
  }

  // -- a file ----------------------------------------------------------------------------------
  function parseCsv(text) {
    const first = text.slice(0, text.search(/\r|\n|$/));
    const comma = [",", ";", "\t"].map((mark) => [first.split(mark).length, mark]).sort((a, b) => b[0] - a[0])[0][1];
    const lines = [];
    let line = [], cell = "", quoted = false, any = false;
    for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
      const c = text[i];
      if (quoted) {
        if (c !== '"') cell += c;
        else if (text[i + 1] === '"') { cell += '"'; i++; }
        else quoted = false;
      } else if (c === '"' && cell === "") { quoted = true; any = true; }
      else if (c === comma) { line.push(cell); cell = ""; any = true; }
      else if (c === "\n" || c === "\r") {
        if (c === "\r" && text[i + 1] === "\n") i++;
        if (any || cell !== "") { line.push(cell); lines.push(line); }
        line = []; cell = ""; any = false;
      } else { cell += c; any = true; }
    }
    if (any || cell !== "") { line.push(cell); lines.push(line); }
    return lines;
  }

  async function take(file) {
    complain("");
    $("file-result").replaceChildren();
    rows = null;
    $("decide-file").disabled = true;
    $("file-name").textContent = "";
    if (!file) return;
    const lines = parseCsv(await file.text());
    const head = (lines.shift() || []).map((name) => name.trim());
    const absent = columns.filter((c) => c.isRequired && !head.includes(c.name)).map((c) => c.name);
    const ragged = lines.findIndex((line) => line.length !== head.length);
    if (absent.length) return complain(`The file lacks the columns ${absent.join(", ")}.`);
    if (!lines.length) return complain("The file has no rows.");
    if (ragged >= 0) return complain(`Line ${ragged + 2} of the file has ${lines[ragged].length} cells, the first line ${head.length}.`);
    const used = columns.filter((c) => head.includes(c.name));
    const ignored = head.filter((name) => !used.some((c) => c.name === name));
    rows = { head, lines, used, places: used.map((c) => head.indexOf(c.name)) };
    $("decide-file").disabled = false;
    $("file-name").textContent = `${file.name}: ${lines.length.toLocaleString("en")} rows` +
      (ignored.length ? `; not used: ${ignored.join(", ")}` : "");
  }
  $("csv").addEventListener("change", () => take($("csv").files[0]));
  for (const name of ["dragover", "dragleave", "drop"]) {
    $("drop").addEventListener(name, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("over", name === "dragover");
      if (name === "drop") take(event.dataTransfer.files[0]);
    });
  }

  $("decide-file").addEventListener("click", async () => {
    complain("");
    const capacity = {};
    for (const { decision, input } of about.limits) {
      if (input.value.trim() === "") continue;
      const limit = asNumber(input.value);
      if (limit === null || limit < 0 || !Number.isInteger(limit)) return complain(`The limit of “${decision}” must be a whole number of rows.`);
      capacity[decision] = limit;
    }
    const isLimited = Object.keys(capacity).length > 0;
    if (isLimited && rows.lines.length > about.max_rows) return complain(`With limits a file may have ${about.max_rows} rows.`);
    $("decide-file").disabled = true;
    try {
      const step = Math.min(about.max_rows, isLimited ? Infinity : Math.ceil(100000 / rows.used.length)), answers = [];
      let limits = null;
      for (let begin = 0; begin < rows.lines.length; begin += step) {
        $("file-name").textContent = `Deciding row ${(begin + 1).toLocaleString("en")} of ${rows.lines.length.toLocaleString("en")} …`;
        const part = rows.lines.slice(begin, begin + step).map((line) => Object.fromEntries(rows.used.map((c, i) => [c.name, asValue(line[rows.places[i]])])));
        try {
          const answer = await call("/decide", { records: part, ...(isLimited ? { capacity } : {}) });
          answers.push(...answer.rows);
          limits = answer.limits || limits;
        } catch (error) {
          const found = /^records\[(\d+)\]\.?(.*)$/.exec(error.field || "");
          throw found ? new Error(`Line ${begin + Number(found[1]) + 2}: ${error.message}`) : error;
        }
      }
      $("file-name").textContent = `${answers.length.toLocaleString("en")} rows decided.`;
      showFile(answers, limits);
    } catch (error) {
      $("file-name").textContent = "";
      complain(error.message);
    }
    $("decide-file").disabled = false;
  });

  function tile(label, value, fine) {
    return make("div", { class: "card" }, make("p", { class: "fine", text: label }), make("p", { class: "big", text: value }),
      make("p", { class: "fine", text: fine || "" }));
  }
  function showFile(answers, limits) {
    const hasCosts = answers[0].expected_costs !== undefined;
    const tiles = [];
    if (hasCosts) {
      const total = answers.reduce((sum, row) => sum + row.expected_costs[String(row.decision)], 0);
      const constant = about.decisions.map((d) => [answers.reduce((sum, row) => sum + row.expected_costs[String(d)], 0), d])
        .sort((a, b) => a[0] - b[0])[0];
      tiles.push(tile("Expected cost", money(total), `of ${answers.length.toLocaleString("en")} decisions`));
      tiles.push(tile("Expected saving", money(constant[0] - total), `against “${constant[1]}” for every row`));
    }
    for (const decision of about.decisions) {
      const count = answers.filter((row) => row.decision === decision).length;
      const limit = (limits || []).find((one) => one.decision === decision);
      tiles.push(tile(String(decision), count.toLocaleString("en"),
        percent(count / answers.length) + " of the rows" + (limit ? `; one more would save ${money(Math.max(0, limit.price))}` : "")));
    }
    const decided = ["decision", ...(hasCosts ? ["expected_cost", "saving"] : [])];
    const cells = (row) => [String(row.decision), ...(hasCosts ? [row.expected_costs[String(row.decision)], row.saving] : [])];
    const shown = answers.slice(0, 20);
    const body = shown.map((row, i) => make("tr", {}, make("th", { scope: "row", text: i + 1 }),
      ...cells(row).map((cell) => make("td", { class: typeof cell === "number" ? "number" : null, text: typeof cell === "number" ? money(cell) : cell })),
      ...rows.lines[i].map((cell) => make("td", { text: brief(cell) }))));
    const preview = table(`The first ${shown.length} rows`, [], body);
    preview.tHead.replaceChildren(make("tr", {}, make("th", { scope: "col", text: "Row" }),
      ...["Decision", ...(hasCosts ? ["Expected cost", "Saving"] : [])].map((text, i) => make("th", { scope: "col", class: i ? "number" : null, text })),
      ...rows.head.map((text) => make("th", { scope: "col", text }))));
    const save = make("button", { type: "button", text: "Download all rows as CSV" });
    save.addEventListener("click", () => {
      const quote = (cell) => /[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell);
      const lines = [[...rows.head, ...decided], ...answers.map((row, i) => [...rows.lines[i], ...cells(row)])];
      const link = make("a", { download: "decisions.csv", href: URL.createObjectURL(new Blob([lines.map((line) => line.map(quote).join(",")).join("\r\n") + "\r\n"], { type: "text/csv" })) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    $("file-result").replaceChildren(make("div", { class: "tiles" }, ...tiles),
      make("div", { class: "card" }, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Decided rows" }, preview),
        make("div", { class: "line" }, save)));
  }

  $("token-form").addEventListener("submit", (event) => { event.preventDefault(); token = $("token").value; begin(); });
  begin();
})();
