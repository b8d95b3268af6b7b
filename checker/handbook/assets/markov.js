// The Markov lab: two chains, stepped with exact fractions. It reads numbers as the command does, and says the same.
"use strict";
(() => {
  const lab = document.querySelector("[data-markov]");
  if (!lab) return;
  const SAID = JSON.parse(lab.querySelector("script").textContent);
  const STEPS = 100;

  const gcd = (a, b) => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b));
  const fraction = (n, d) => {
    const g = gcd(n, d) || 1n;
    return { n: n / g, d: d / g };
  };
  const plus = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
  const times = (a, b) => fraction(a.n * b.n, a.d * b.d);
  const rest = (a) => fraction(a.d - a.n, a.d);
  const text = (a) => (a.d === 1n ? `${a.n}` : `${a.n}/${a.d}`);
  const same = (a, b) => a.n === b.n && a.d === b.d;

  const misread = (written) => {
    if (!/^-?(?:[0-9]+(?:\/[0-9]+)?|[0-9]*\.[0-9]+)$/.test(written)) return "text";
    if (written.replace(/[^0-9]/g, "").length > SAID.digits) return "long";
    if (written.includes("/") && BigInt(written.split("/")[1]) === 0n) return "zero";
    const value = exact(written);
    return value.n < 0n || value.n > value.d ? "range" : null;
  };
  const exact = (written) => {
    if (written.includes("/")) return fraction(...written.split("/").map(BigInt));
    const [whole, part = ""] = written.split(".");
    const sign = whole.startsWith("-") ? -1n : 1n;
    return fraction(sign * BigInt(whole.replace("-", "") + part), 10n ** BigInt(part.length));
  };

  const start = (section) => {
    const out = (name) => section.querySelector(`[data-out="${name}"]`);
    const input = (name) => section.querySelector(`[data-field="${name}"]`);
    let run = [fraction(1n, 1n)];

    const read = (name) => {
      const field = input(name);
      const kind = misread(field.value.trim());
      const shown = kind === "text" ? `'${field.value}'` : field.value.trim();
      document.getElementById(field.getAttribute("aria-describedby")).textContent = kind ? SAID[kind].replace("{text}", shown) : "";
      field.setAttribute("aria-invalid", String(Boolean(kind)));
      return kind ? null : exact(field.value.trim());
    };
    const formula = (p, q) => {
      const leaves = plus(p, q);
      if (leaves.n === 0n) return "pending(n) = 1";
      const settled = times(q, { n: leaves.d, d: leaves.n });
      const factor = `(${text(plus(rest(p), { n: -q.n, d: q.d }))})^n`;
      return settled.n === 0n ? `pending(n) = ${factor}` : `pending(n) = ${text(fraction(settled.n, settled.d))} + ${text(rest(settled))} * ${factor}`;
    };
    const show = () => {
      const now = run[run.length - 1];
      out("n").textContent = run.length - 1;
      out("pending").textContent = text(now);
      out("terminal").textContent = text(rest(now));
      out("bar").style.width = `${(Number(now.n * 10000n / now.d) / 100).toFixed(2)}%`;
      out("history").replaceChildren(...run.map((x) => Object.assign(document.createElement("li"), { textContent: text(x) })));
    };
    const compare = () => {
      if (input("guess").value.trim() === "") {
        document.getElementById(input("guess").getAttribute("aria-describedby")).textContent = "";
        input("guess").setAttribute("aria-invalid", "false");
        out("compared").textContent = "";
        return;
      }
      const guess = read("guess");
      const now = run[run.length - 1];
      out("compared").textContent = guess === null ? "" : same(guess, now) ? `Your prediction ${text(guess)} is exactly right.` : `You predicted ${text(guess)}; it is ${text(now)}.`;
    };
    const settings = () => {
      const [p, q] = [read("p"), read("q")];
      const good = p !== null && q !== null;
      out("absorbing").textContent = good ? (q.n === 0n ? SAID.absorbing : SAID.left) : "";
      out("formula").textContent = good ? formula(p, q) : "";
      section.querySelector('[data-do="step"]').disabled = !good || run.length > STEPS;
      return good ? { p, q } : null;
    };
    const reset = () => {
      run = [fraction(1n, 1n)];
      show();
      settings();
      out("compared").textContent = "";
    };
    section.querySelector('[data-do="step"]').addEventListener("click", () => {
      const set = settings();
      if (!set) return;
      const now = run[run.length - 1];
      run.push(plus(times(now, rest(set.p)), times(rest(now), set.q)));
      show();
      settings();
      compare();
    });
    section.querySelector('[data-do="reset"]').addEventListener("click", reset);
    ["p", "q"].forEach((name) => input(name).addEventListener("input", reset));
    input("guess").addEventListener("input", () => (out("compared").textContent = ""));
    reset();
  };
  lab.querySelectorAll("[data-chain]").forEach(start);
})();
