/** Arrays as NumPy writes them. */

/** NumPy's array in a file: doubles, floats, bytes, or whole numbers of 64 bits (as BigInt). */
export function npy(shape, numbers, type = "<f8") {
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`.padEnd(117) + "\n";
  const size = Number(type[2]);
  const bytes = Buffer.alloc(128 + size * numbers.length);
  bytes.write(`\x93NUMPY\x01\x00\x76\x00${header}`, "latin1");
  const put = { "<f8": "writeDoubleLE", "<f4": "writeFloatLE", "|u1": "writeUInt8", "<i8": "writeBigInt64LE" }[type];
  numbers.forEach((x, i) => void bytes[put](x, 128 + size * i));
  return bytes;
}
