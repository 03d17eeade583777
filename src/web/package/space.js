/** `ParameterSpace`: other coordinates for the same functions. */

import { Handle, of } from "./handle.js";
import { numbers } from "./read.js";

const vector = (value, what) => numbers(value, what, "invalid_parameters");

export class ParameterSpace extends Handle {
  // Messages say it; a minifier would take another.
  static name = "ParameterSpace";

  get name() {
    return of(this, ParameterSpace, "name", (raw) => raw.name);
  }

  get dimension() {
    return of(this, ParameterSpace, "dimension", (raw) => raw.dimension);
  }

  get parameters() {
    return of(this, ParameterSpace, "parameters", (raw) => raw.parameters);
  }

  get keepsFunction() {
    return of(this, ParameterSpace, "keepsFunction", (raw) => raw.keepsFunction);
  }

  get warning() {
    return of(this, ParameterSpace, "warning", (raw) => raw.warning);
  }

  toCoordinates(parameters) {
    const given = vector(parameters, "parameters");
    return of(this, ParameterSpace, "toCoordinates", (raw) => raw.toCoordinates(given));
  }

  toParameters(coordinates) {
    const given = vector(coordinates, "coordinates");
    return of(this, ParameterSpace, "toParameters", (raw) => raw.toParameters(given));
  }

  pullBack(coordinates, gradient) {
    const given = [vector(coordinates, "coordinates"), vector(gradient, "gradient")];
    return of(this, ParameterSpace, "pullBack", (raw) => raw.pullBack(...given));
  }
}
