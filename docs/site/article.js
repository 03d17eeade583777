/** Gives the elements of a guide what was computed when the site was made. */

import "./plots/plots.js";

const response = await fetch(new URL("./article.json", import.meta.url));
const { landscape, ends, density, table, descriptions } = await response.json();

for (const element of document.querySelectorAll("isoflat-landscape")) element.landscape = landscape;
for (const element of document.querySelectorAll("isoflat-spectrum")) {
  element.eigenvalues = ends;
  element.density = density;
}
for (const element of document.querySelectorAll("isoflat-invariance")) {
  element.descriptions = descriptions;
  element.table = table;
}
