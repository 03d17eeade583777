export const others = [];
