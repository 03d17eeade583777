import { version } from "../../../package.json";

/** Of the package, when the page was built. */
export const VERSION: string = version;
