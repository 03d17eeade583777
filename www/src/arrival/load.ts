/** What the page begins with: what it showed last, or what the build has put beside it. */

import { arrivalStamp, isArrival, type Snapshot, snapshotOf } from "../kept";
import { shownHere } from "../other-tabs";
import { stampOf } from "../worker/last";
import { type Arrival, decoded } from "./arrival";

export type Beginning =
  /** The network that comes with the page, and how far one has gone with it. */
  | { kind: "arrival"; arrival: Arrival; stamp: string; snapshot: Snapshot | null }
  /** One's own, which the worker brings back; what was shown of it. */
  | { kind: "own"; stamp: string; snapshot: Snapshot | null }
  /** Nothing: then there are the options. */
  | { kind: "none" };

const fetched = async (name: string): Promise<Response> => {
  const response = await fetch(new URL(`arrival/${name}`, document.baseURI));
  if (!response.ok) throw new Error(`${name} could not be loaded: the server answered ${response.status}`);
  return response;
};

export async function fetchArrival(): Promise<{ arrival: Arrival; stamp: string }> {
  const arrival = decoded(await (await fetched("stage.json")).text());
  return { arrival, stamp: arrivalStamp(arrival.build) };
}

/** `isLinked`: the address says of which network the page is to be, which is none of one's own. */
export async function beginning(isLinked: boolean): Promise<Beginning> {
  try {
    const here = shownHere();
    // What comes with the page is not kept: it comes again.
    const own = isLinked || (here !== null && isArrival(here)) ? undefined : await stampOf(here);
    if (own !== undefined) return { kind: "own", stamp: own, snapshot: await snapshotOf(own) };
    const { arrival, stamp } = await fetchArrival();
    return { kind: "arrival", arrival, stamp, snapshot: isLinked ? null : await snapshotOf(stamp) };
  } catch {
    return { kind: "none" };
  }
}

export const weightsOf = async (): Promise<Float32Array> =>
  new Float32Array(await (await fetched("weights.f32")).arrayBuffer());
