/** What a browser keeps for the pages. */

/** Where storage is forbidden, the call throws; what is stored there may be full, too. */
export type BrowserStorage = () => Pick<Storage, 'getItem' | 'setItem'>

export const browserStorage: BrowserStorage = () => localStorage
