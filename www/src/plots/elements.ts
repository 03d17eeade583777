/** The elements by their names. */

import { IsoflatInvariance } from "./invariance";
import { IsoflatLandscape } from "./landscape";
import { IsoflatSpectrum } from "./spectrum";

/** Once a page, and only where there are elements: in Node there are none. */
export function defineElements(): void {
  const elements = {
    "isoflat-landscape": IsoflatLandscape,
    "isoflat-spectrum": IsoflatSpectrum,
    "isoflat-invariance": IsoflatInvariance,
  };
  for (const [name, element] of Object.entries(elements)) {
    if (globalThis.customElements && !customElements.get(name)) customElements.define(name, element);
  }
}
