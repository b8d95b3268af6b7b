// A counterexample to induction, repaired by hand: one property is chosen at a time, and what it says of the state is shown.
"use strict";
(() => {
  document.querySelectorAll("[data-induction]").forEach((section) => {
    const buttons = [...section.querySelectorAll(".choices button")];
    section.addEventListener("click", (event) => {
      const chosen = event.target.closest(".choices button");
      if (chosen) buttons.forEach((button) => button.setAttribute("aria-pressed", String(button === chosen)));
    });
  });
})();
