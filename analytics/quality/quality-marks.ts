/** Which tests find a reading suspect: one bit each. */

export const rangeBit = 1
export const spikeBit = 2
export const rateBit = 4
export const flatBit = 8
/** A number that stands for an error. */
export const errorBit = 16
