// The only script: hides the claims that the form does not ask for.
const form = document.getElementById("filter"), shown = document.getElementById("shown");
const rows = [...document.querySelectorAll("[data-status]")];
form.hidden = false;
form.addEventListener("submit", e => e.preventDefault());
form.addEventListener("input", () => {
  const { status, verdict, expected, words } = form.elements;
  const wanted = words.value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const row of rows) {
    const d = row.dataset;
    const good = (!status.value || d.status === status.value) && (!verdict.value || d.verdict === verdict.value)
      && (!expected.checked || d.expected === "no") && wanted.every(w => (d.words + row.textContent).toLowerCase().includes(w));
    row.hidden = !good;
    count += good && row.tagName === "TR";
  }
  shown.textContent = `${count} of ${rows.length / 2} claims`;
});
