// Walks a state graph by hand: the enabled events are buttons, and each leads to the next state.
"use strict";
(() => {
  const make = (tag, props = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), props);
    made.append(...inside);
    return made;
  };
  const tokens = (...groups) => {
    const row = make("span", { className: "tokens" });
    groups.forEach(([kind, count]) => {
      for (let i = 0; i < count; i += 1) row.append(make("i", { className: kind }));
    });
    return row;
  };
  const start = (section) => {
    const graph = JSON.parse(section.querySelector("script").textContent);
    let way = [];
    let at = 0;
    const value = (cell, state = at) => {
      const place = graph.cells.indexOf(cell);
      return place < 0 ? "0" : graph.values[graph.states[state][0][place]];
    };
    const count = (cell) => Number(value(cell));
    const request = (r, n) => {
      const phase = value(`phase[${r}]`);
      const [computed, scheduled, planned] = ["computed", "scheduled", "planned"].map((f) => count(`${f}[${r}]`));
      const [committed, owed, delivered] = ["committed", "owed", "delivered"].map((f) => count(`${f}[${r}]`));
      const life = graph.prompt[n] + graph.limit[n] - 1;
      const notes = [
        value(`asked[${r}]`) === "True" ? "A cancel is asked." : "",
        phase === "FINISHED" ? `Reason: ${value(`reason[${r}]`).toLowerCase()}.` : "",
        count(`notified[${r}]`) ? "The terminal message is sent." : "",
      ];
      return make("div", { className: "box" },
        make("p", {}, make("b", { textContent: r }), ` ${phase.toLowerCase()}: ${graph.says[phase]}`),
        make("p", {}, "context ", tokens(["done", computed], ["flight", scheduled - computed], ["plan", planned], ["", Math.max(0, life - scheduled - planned)]),
          ` ${computed} computed, ${scheduled - computed} in flight, ${planned} planned`),
        make("p", {}, "output ", tokens(["out", committed], ["plan", owed], ["", Math.max(0, graph.limit[n] - committed - owed)]),
          ` ${committed} committed, ${delivered} delivered`),
        make("p", { textContent: notes.filter(Boolean).join(" ") }));
    };
    const block = (b) => {
      const holders = graph.requests.filter((r) => count(`table[${r}, ${b}]`) > 0);
      const cached = Number(value(`published[${b}]`)) ? ", cached" : "";
      return `${b}: ${holders.length ? holders.map((r) => `${r} (${value(`table[${r}, ${b}]`)})`).join(" and ") : "free"}${cached}`;
    };
    const slot = (i) => {
      const status = value(`status[${i}]`);
      const work = graph.requests.filter((r) => value(`entry[${i}, ${r}]`) !== "NONE")
        .map((r) => `${r} ${value(`entry[${i}, ${r}]`).toLowerCase()}, ${value(`tokens[${i}, ${r}]`)} token(s)${value(`samples[${i}, ${r}]`) === "True" ? ", samples" : ""}`);
      return `${i}: ${status.toLowerCase()}${work.length ? `; ${work.join("; ")}` : ""}`;
    };
    const show = (focus) => {
      const [, taken, refused] = graph.states[at];
      const events = Object.entries(taken).map(([k, target]) => make("button", {
        type: "button", textContent: graph.events[k], title: graph.actors[k],
        onclick: () => { way.push([at, Number(k)]); at = target; show(true); },
      }));
      const why = Object.entries(refused).map(([k, g]) => {
        const [name, says] = graph.guards[g];
        const [rule] = name.split(".");
        const card = graph.cards === null
          ? make("code", { textContent: name })
          : make("a", { href: `${graph.cards}${rule}.html#${name.replace(".", "-")}`, textContent: name });
        return make("li", {}, `${graph.events[k]}: `, card, `, which asks that ${says}`);
      });
      const here = make("p", { className: "here", textContent: `State ${at + 1} of ${graph.states.length.toLocaleString("en")}, after ${way.length} event${way.length === 1 ? "" : "s"}. ${events.length} may happen now.` });
      here.setAttribute("aria-live", "polite");
      here.tabIndex = -1;
      section.replaceChildren(
        section.querySelector("script"),
        make(graph.heading, { textContent: graph.title }),
        make("p", { className: "note", textContent: `${graph.dials}; ${graph.transitions.toLocaleString("en")} transitions` }),
        here,
        make("div", { className: "scene" }, ...graph.requests.map(request),
          make("div", { className: "box" }, make("p", {}, make("b", { textContent: "window" })), ...graph.slots.map((i) => make("p", { textContent: slot(i) }))),
          make("div", { className: "box" }, make("p", {}, make("b", { textContent: "blocks" })), ...graph.blocks.map((b) => make("p", { textContent: block(b) })))),
        make("p", { textContent: events.length ? "Choose what happens:" : "Nothing more can happen." }),
        make("div", { className: "events" }, ...events),
        make("details", { className: "refused" }, make("summary", { textContent: `${why.length} that one guard alone refuses` }), make("ul", {}, ...why)),
        make("p", { className: "buttons" },
          make("button", { type: "button", textContent: "Back", disabled: !way.length, onclick: () => { [at] = way.pop(); show(true); } }), " ",
          make("button", { type: "button", textContent: "Start again", disabled: !way.length, onclick: () => { way = []; at = 0; show(true); } })),
        make("ol", { className: "way" }, ...way.map(([, k], n) => make("li", { textContent: `${n + 1}. ${graph.events[k]}` }))),
      );
      section.dataset.state = at;
      if (focus) here.focus({ preventScroll: true });
    };
    show(false);
  };
  document.querySelectorAll("[data-walk]").forEach(start);
})();
