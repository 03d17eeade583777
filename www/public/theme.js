// A file of its own and no module: it runs before the first paint, or a dark page would flash light, and needs no exception from
// the page's Content-Security-Policy.
// In another page's frame: `?embed` leaves the stage alone.
if (new URLSearchParams(location.search).has("embed")) document.documentElement.dataset.embed = "";
try {
  const theme = localStorage.getItem("isoflat.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing has no choice to remember.
}
