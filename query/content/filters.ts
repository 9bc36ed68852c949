/** Filters of the listing. */

/** An undefined filter does not narrow the listing. An empty one matches no file. */
export interface Filters {
  runIds: readonly number[] | undefined
  resourceIds: readonly number[] | undefined
  /** Case-insensitive, as `foldCase` writes it. */
  featureTypes: readonly string[] | undefined
  moduleIds: readonly string[] | undefined
  units: readonly string[] | undefined
  platforms: readonly string[] | undefined
}

export interface Codes {
  units: ReadonlySet<string>
  platforms: ReadonlySet<string>
}

/** The first unknown code of each filter; undefined where all are known. */
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
