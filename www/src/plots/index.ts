/** `isoflat/plots`: the lab's drawings as elements for any page. What draws is loaded when an element has something to draw. */

import { defineElements } from "./elements";

defineElements();

export { IsoflatInvariance } from "./invariance";
export { IsoflatLandscape } from "./landscape";
export { IsoflatSpectrum } from "./spectrum";
