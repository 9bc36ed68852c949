/** Selects the shown metrics of a page with many. */

/** The default number of shown metrics where more exist. */
export const shownMax = 12

/** `chosen`: names of an address with commas between them. Those that are not among `names` count for nothing. */
export function chooseMetrics(names: readonly string[], chosen: string | null): string[] {
  const wanted = new Set(chosen?.split(','))
  const found = names.filter(name => wanted.has(name))
  return found.length > 0 ? found : names.slice(0, shownMax)
}
