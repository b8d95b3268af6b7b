// Steps through pictures of traces. Without it a picture shows the whole run, and every step in words.
"use strict";
(() => {
  const figures = [];
  const start = (figure) => {
    const svg = figure.querySelector("svg.sp[data-x]");
    const x = svg.dataset.x.split(",").map(Number);
    const items = [...figure.querySelectorAll("ol.steps > li")];
    const scroll = figure.querySelector(".scroll");
    const output = figure.querySelector("output");
    const last = items.length - 1;
    const loop = figure.dataset.loop === undefined ? null : Number(figure.dataset.loop); // the state that the last one is again
    let now = -1;
    let stepped = false; // until somebody steps, the whole run is in sight

    const place = (rect, from, to) => {
      rect.setAttribute("x", from);
      rect.setAttribute("width", Math.max(0, to - from));
    };
    const show = (step) => {
      const next = Math.min(last, Math.max(0, step));
      if (next === now) return;
      now = next;
      items.forEach((item, n) => (n === now ? item.setAttribute("aria-current", "step") : item.removeAttribute("aria-current")));
      place(svg.querySelector(".cursor"), x[now], x[now + 1]);
      place(svg.querySelector(".veil"), x[now + 1], stepped ? x[x.length - 1] : 0);
      output.textContent = `step ${now} of ${last}`;
      figure.querySelectorAll("[data-go]").forEach((button) => {
        button.disabled = ["first", "back"].includes(button.dataset.go) ? now === 0 : now === last && (loop === null || button.dataset.go === "last");
      });
      const right = x[now + 1] + 40 - scroll.clientWidth;
      if (scroll.scrollLeft < right) scroll.scrollLeft = right;
      if (scroll.scrollLeft > x[now] - 90) scroll.scrollLeft = Math.max(0, x[now] - 90);
      figure.dataset.step = now;
    };
    const step = (to) => {
      stepped = true;
      show(to);
    };
    const go = { first: () => step(0), back: () => step(now - 1), next: () => step(now === last && loop !== null ? loop + 1 : now + 1), last: () => step(last) };
    const keys = { ArrowLeft: go.back, ArrowRight: go.next, Home: go.first, End: go.last };
    figure.addEventListener("click", (event) => {
      const button = event.target.closest("[data-go]");
      if (button) go[button.dataset.go]();
    });
    figure.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || !keys[event.key] || event.target.closest("a, summary")) return;
      event.preventDefault();
      keys[event.key]();
    });
    svg.addEventListener("click", (event) => {
      const at = (event.clientX - svg.getBoundingClientRect().left) * (x[x.length - 1] / svg.getBoundingClientRect().width);
      if (at >= x[0]) step(x.findIndex((_, n) => at < x[n + 1]));
    });
    const labels = svg.querySelector(".labels");
    scroll.addEventListener("scroll", () => labels.setAttribute("transform", `translate(${scroll.scrollLeft} 0)`));
    figures.push({ figure, back: go.back, next: go.next });
    figure.classList.add("stepping");
    figure.querySelector(".controls").hidden = false;
    show(figure.dataset.trace === "last" ? last : 0);
  };
  document.querySelectorAll("figure[data-trace]").forEach(start);

  // Where nothing is focused, the arrows step the picture of which most is in sight.
  const inSight = ({ figure }) => {
    const { top, bottom } = figure.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0);
  };
  document.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: "back", ArrowRight: "next" }[event.key];
    if (!way || event.target !== document.body || event.altKey || event.ctrlKey || event.metaKey) return;
    const seen = figures.filter((one) => inSight(one) > 0).sort((a, b) => inSight(b) - inSight(a));
    if (seen.length) seen[0][way]();
  });
})();
