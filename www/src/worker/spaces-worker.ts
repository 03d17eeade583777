import { begin } from "./begin";
import { SpacesLab } from "./spaces";

begin(() => new SpacesLab());
