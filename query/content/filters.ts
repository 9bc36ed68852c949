/** What narrows the listing. */

/** Each is undefined where the listing is not narrowed by it; one that no file can meet is empty. */
export interface Filters {
  runIds: readonly number[] | undefined
  resourceIds: readonly number[] | undefined
  /** Without regard to case, as `foldCase` writes it. */
  featureTypes: readonly string[] | undefined
  moduleIds: readonly string[] | undefined
  units: readonly string[] | undefined
  platforms: readonly string[] | undefined
}

/** Which codes there are. */
export interface Codes {
  units: ReadonlySet<string>
  platforms: ReadonlySet<string>
}

/** The first code of each filter that there is none of; undefined where all are known. */
export interface UnknownCodes {
  unit: string | undefined
  platform: string | undefined
}

export function unknownCodes({ units, platforms }: Filters, known: Codes): UnknownCodes {
  return {
    unit: units?.find(code => !known.units.has(code)),
    platform: platforms?.find(code => !known.platforms.has(code)),
  }
}

export function areAllKnown({ unit, platform }: UnknownCodes): boolean {
  return unit === undefined && platform === undefined
}
