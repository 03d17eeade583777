import { begin } from "./begin";
import { QuickLab } from "./quick";

begin(() => new QuickLab());
