/** How a file of readings is read that the service does not know as it is. */

import type { DecimalMark } from '../../ingest/formats/decimal-mark.ts'
import type { Precision } from '../../ingest/formats/line-protocol-time.ts'
import type { StatedUnits } from '../../store/metrics/stated-units.ts'
import { type Mapping, readMapping, readUnits } from './mapping.ts'
import { type Layout, ownLayout, type PresetName, presets } from './presets.ts'

export interface MappingOptions {
  preset: PresetName | undefined
  mapping: Mapping
  /** Units of metrics that the file does not state. */
  units: StatedUnits
  /** The zone of times without one. */
  zone: string | undefined
  /** Resolves a repeated hour if the order of the lines does not. */
  ambiguous: AmbiguousHour | undefined
  /** Without one, all cells of the file decide. */
  decimal: DecimalMark | undefined
  /** The unit of the times of line protocol. */
  precision: Precision
}

export const ambiguousHours = ['earlier', 'later'] as const
type AmbiguousHour = (typeof ambiguousHours)[number]

export interface MappingWords {
  preset?: PresetName
  map?: string[]
  unit?: string[]
  zone?: string
  ambiguous?: AmbiguousHour
  decimal?: DecimalMark
  precision?: Precision
}

/** Throws a CommandError. */
export function mappingOptions(words: MappingWords): MappingOptions {
  const { preset, map = [], unit = [], zone, ambiguous, decimal, precision = 'ns' } = words
  return { preset, mapping: readMapping(map), units: readUnits(unit), zone, ambiguous, decimal, precision }
}

export const noMapping = mappingOptions({})

/** Whether anything is said of the columns or the times of a table. */
export function isMapped({ preset, mapping, units, zone }: MappingOptions): boolean {
  return preset !== undefined || mapping.size > 0 || units.size > 0 || zone !== undefined
}

export function layoutOf({ preset }: MappingOptions): Layout {
  return preset === undefined ? ownLayout : presets[preset]
}
