/** Declares the wall clock that all parts of the service get. */

/** Epoch milliseconds. */
export type Clock = () => number

export const systemClock: Clock = Date.now
