// The theme that was chosen in the lab or here, before the first paint; a file of its own, since pages allow no script within them.
try {
  const theme = localStorage.getItem("isoflat.theme");
  document.documentElement.dataset.theme = theme === "light" || theme === "dark" ? theme : "os";
} catch {
  // A browser that keeps nothing has no choice to remember.
}
