/** One bit for each test that finds a reading suspect. */

export const rangeBit = 1
export const spikeBit = 2
export const rateBit = 4
export const flatBit = 8
/** The number is an error code. */
export const errorBit = 16
