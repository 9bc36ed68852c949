/** The wall clock of the service, from which all its parts are handed theirs. */

/** Epoch milliseconds. */
export type Clock = () => number

export const systemClock: Clock = Date.now
