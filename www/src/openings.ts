/** Files that come one after the other, faster than they are opened: none may take another's place. */

export class Openings {
  #last: Promise<void> = Promise.resolve();

  /**
   * `open` begins, and may go on for long with what it has opened; `taken` says when the files are on the page, and others can come
   * on top of them.
   */
  constructor(
    private readonly open: (files: File[]) => Promise<void>,
    private readonly taken: () => Promise<void>,
  ) {}

  add(files: File[]): Promise<void> {
    this.#last = this.#last.then(() => Promise.race([this.taken(), this.open(files)])).catch(() => {});
    return this.#last;
  }
}

/** What is dropped, as the browser lists it. */
export interface Dropped {
  file: File | null;
  /** Browsers give folders as files that cannot be read. */
  folder: string | null;
}

export const filesOf = (dropped: Dropped[]): File[] =>
  dropped.flatMap(({ file, folder }) => (file && folder === null ? [file] : []));

export const foldersOf = (dropped: Dropped[]): string[] => dropped.flatMap(({ folder }) => folder ?? []);

export const notOpened = (folders: string[]): string =>
  folders.length === 1
    ? `“${folders[0]}” is a folder, and was not opened`
    : `${folders.map((name) => `“${name}”`).join(", ")} are folders, and were not opened`;
