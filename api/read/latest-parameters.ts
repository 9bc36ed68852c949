/** Reads how many hours of the latest readings are asked for. */

export const hoursMax = 72

/** A whole number from 1 to 72, in plain digits. */
export function readHours(text: string): number | undefined {
  if (!/^[1-9]\d?$/.test(text)) return undefined
  const hours = Number(text)
  return hours <= hoursMax ? hours : undefined
}
