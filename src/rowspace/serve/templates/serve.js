"use strict";
// Forms are sent without leaving the page, and what comes back takes the place of what is there. Without this script the
// browser does the same by itself. A purchase keeps its key until an answer comes, so trying again pays nothing.
(() => {
  const parts = ["#result", "#known", "#history", "header"];
  const say = (words) => { document.querySelector("#said").textContent = words; };

  const show = (text, address) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!page.querySelector("#result") || !page.querySelector("#said")) { location.assign(address); return; }
    for (const part of parts) document.querySelector(part).replaceWith(page.querySelector(part));
    say(page.querySelector("#said").dataset.said);
    document.querySelector("#result").focus({ preventScroll: true });
    document.querySelector("#result").scrollIntoView({ block: "nearest" });
  };

  const send = async (form) => {
    const fields = new URLSearchParams(new FormData(form));
    const paying = form.method === "post";
    const address = paying ? form.action : `${location.pathname}?${fields}`;
    const button = form.querySelector("button");
    button.disabled = true;
    say(paying ? "Paying and measuring …" : "Looking …");
    try {
      const found = await fetch(address, paying ? { method: "POST", body: fields } : {});
      const text = await found.text();
      history.pushState(null, "", paying && !found.redirected ? location.href : found.url);
      show(text, found.url);
    } catch {
      say("No answer came. Try again: what was paid is not paid twice.");
      const result = document.querySelector("#result");
      if (!document.querySelector("#problem")) {
        const card = document.createElement("div");
        card.id = "problem";
        card.className = "card problem";
        const words = document.createElement("p");
        words.textContent = "No answer came. Try again: what was paid is not paid twice.";
        card.append(words);
        result.prepend(card);
      }
    } finally {
      button.disabled = false;
    }
  };

  document.addEventListener("submit", (event) => {
    if (!["ask-form", "buy-form"].includes(event.target.id)) return;
    event.preventDefault();
    if (!event.target.querySelector("button").disabled) send(event.target);
  });
  addEventListener("popstate", () => location.reload());
})();
