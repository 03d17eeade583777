/** Networks in the browser's own database, each under a stamp: a reload finds the last one again, and others can be brought back. */

import { transaction } from "../database";
import type { Entry } from "../shelf";
import type { ModelChoice, OpenChoice, TrainSummary } from "./protocol";
import type { Way } from "./way";

/** What training here has come to, and how it came to it. */
interface Reached {
  parameters: Float64Array;
  way?: Way;
  summary?: TrainSummary;
}

/** Files that were opened, or a network of the options with the weights it was trained to. */
export type Last =
  /** As the files have the weights, where nothing was reached from them. */
  | ({ kind: "files"; model: File[]; data: File[]; choice: OpenChoice } & Partial<Reached>)
  | ({ kind: "trained"; choice: ModelChoice } & Reached);

/** The network that was on the page last, in whichever tab. */
export const STAMP = "stamp";

/** So often it was begun to restore it, and not ended: what crashes the page must not stand in the way at every start. */
const TRIES = "tries";
const MOST_TRIES = 4;

/** What is known of a network as its weights are kept. */
export type About = Pick<Entry, "summary" | "parameterCount" | "data" | "training">;

/**
 * Keeps it beside what was kept, under a new stamp, as the last one; null where it cannot be kept. In one go with what it is: a page
 * that is left before it has noted that itself would come back to weights of which nobody knows that they were trained here, and let
 * them go unasked.
 */
export async function remember(last: Last, about: About): Promise<string | null> {
  const at = Date.now();
  const stamp = `${at} ${Math.random()}`;
  const { summary, parameterCount, data, training } = about;
  const way = last.way?.length ?? 0;
  const entry: Entry = { stamp, name: null, at, summary, parameterCount, way, data, training, testAccuracy: null };
  const done = await transaction("readwrite", (store) => {
    store("last").delete(TRIES);
    store("networks").put(last, stamp);
    store("shelf").put(entry, stamp);
    return store("last").put(stamp, STAMP);
  });
  return done === undefined ? null : stamp;
}

/**
 * What is kept under the stamp. `isStart`: nobody has asked for it but the page as it opens, which does not if that has failed too
 * often; `restored` is to be called when it is there.
 */
export async function recall(stamp: string, isStart: boolean): Promise<Last | undefined> {
  if (isStart && (await isTriedOut())) return undefined;
  return transaction("readonly", (store): IDBRequest<Last | undefined> => store("networks").get(stamp));
}

async function isTriedOut(): Promise<boolean> {
  let isOut = true;
  // One transaction, so that pages that start together count each for itself.
  await transaction("readwrite", (store) => {
    const tries: IDBRequest<number | undefined> = store("last").get(TRIES);
    tries.onsuccess = () => {
      isOut = (tries.result ?? 0) >= MOST_TRIES;
      if (!isOut) store("last").put((tries.result ?? 0) + 1, TRIES);
    };
    return tries;
  });
  return isOut;
}

/** The wanted stamp if its weights are kept, or else the last one's; undefined where neither's are. */
export async function stampOf(wanted: string | null): Promise<string | undefined> {
  let stamp: string | undefined;
  await transaction("readonly", (store) => {
    const last: IDBRequest<string | undefined> = store("last").get(STAMP);
    const networks = store("networks").getAllKeys();
    networks.onsuccess = () => {
      stamp =
        [wanted, last.result].find((one) => typeof one === "string" && networks.result.includes(one)) ?? undefined;
    };
    return networks;
  });
  return stamp;
}

/** Which is the last one: what a reload brings back. Null for what the page comes with. */
export const setLast = async (stamp: string | null): Promise<void> => {
  await transaction("readwrite", (store) => {
    if (stamp === null) store("last").delete(STAMP);
    else store("last").put(stamp, STAMP);
    return store("last").count();
  });
};

export const restored = async (): Promise<void> => {
  await transaction("readwrite", (store) => store("last").delete(TRIES));
};
