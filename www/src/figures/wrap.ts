/** Text in lines no wider than there is room: SVG has no paragraphs. */

export function wrapped(text: string, room: number, widthOf: (text: string) => number): string[] {
  const lines: string[] = [];
  let line = "";
  // A space that does not break keeps a number and its power of ten together.
  for (const word of text.split(/[ \n]+/).filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === "" ? lines : [...lines, line];
}
