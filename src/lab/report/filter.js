// The only script: groups the claims by topic or by paper, hides those that the form does not ask for, and opens the one that a link leads to.
const form = document.getElementById("filter"), shown = document.getElementById("shown");
const claims = [...document.querySelectorAll("details.claim")], homes = claims.map(c => c.parentElement);
const links = [...document.querySelectorAll("#by-paper .index")], groups = [...document.querySelectorAll("section.group, details.paper")];
const papers = document.getElementById("by-paper"), topics = document.getElementById("by-topic");
form.hidden = false;
form.addEventListener("submit", e => e.preventDefault());
const apply = () => {
  const { group, status, verdict, expected, words } = form.elements;
  const papered = group.value === papers.id, wanted = words.value.toLowerCase().split(/\s+/);
  papers.hidden = !papered;
  topics.hidden = papered;
  links.forEach(l => { l.hidden = true; });
  let count = 0;
  claims.forEach((claim, k) => {
    const d = claim.dataset, home = papered ? document.getElementById(d.paper) : homes[k];
    const good = (!status.value || d.status === status.value) && (!verdict.value || d.verdict === verdict.value)
      && (!expected.checked || d.expected === "no") && wanted.every(w => (d.words + claim.textContent).toLowerCase().includes(w));
    if (claim.parentElement !== home) home.append(claim);
    claim.hidden = !good;
    count += good;
  });
  for (const g of groups) {
    if (papered && g.matches("details")) g.open = true;
    g.hidden = !g.querySelector("details.claim:not([hidden])");
  }
  shown.textContent = `${count} of ${claims.length} claims`;
};
form.addEventListener("input", apply);
// A browser that goes back to a page keeps what was chosen.
apply();
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
