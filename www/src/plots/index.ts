/** `isoflat/plots`: the lab's drawings as elements for any page. What draws is loaded when an element has something to draw. */

import { define } from "./element";
import { IsoflatInvariance } from "./invariance";
import { IsoflatLandscape } from "./landscape";
import { IsoflatSpectrum } from "./spectrum";

define("isoflat-landscape", IsoflatLandscape);
define("isoflat-spectrum", IsoflatSpectrum);
define("isoflat-invariance", IsoflatInvariance);

export { IsoflatInvariance, IsoflatLandscape, IsoflatSpectrum };
