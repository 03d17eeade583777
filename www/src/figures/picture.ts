/** A figure as a PNG, twice as many pixels as it measures. */

import type { Drawing, Figure } from "./figure";
import { sheetOf } from "./sheet";

const SCALE = 2;

export async function pngFile(figure: Figure, drawing: Drawing): Promise<Blob> {
  const { sheet, width, height } = sheetOf(figure, drawing);
  const text = new XMLSerializer().serializeToString(sheet);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = SCALE * width;
    canvas.height = SCALE * height;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser gives no canvas to draw on");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(address);
  }
}
