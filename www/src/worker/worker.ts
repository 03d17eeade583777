import { begin } from "./begin";
import { Lab } from "./lab";

begin(() => new Lab());
