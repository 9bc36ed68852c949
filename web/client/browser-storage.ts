/** The call throws where storage is forbidden, and the storage may be full. */
export type BrowserStorage = () => Pick<Storage, 'getItem' | 'setItem'>

export const browserStorage: BrowserStorage = () => localStorage
