/** How a file of readings is read that the service does not know as it is. */

import type { Precision } from '../../ingest/formats/line-protocol-time.ts'
import { type Mapping, readMapping } from './mapping.ts'
import { type Layout, ownLayout, type PresetName, presets } from './presets.ts'

export interface MappingOptions {
  preset: PresetName | undefined
  mapping: Mapping
  /** Of times that name none. */
  zone: string | undefined
  /** The unit of the times of line protocol. */
  precision: Precision
}

export const noMapping: MappingOptions = { preset: undefined, mapping: new Map(), zone: undefined, precision: 'ns' }

export interface MappingWords {
  preset?: PresetName
  map?: string[]
  zone?: string
  precision?: Precision
}

/** Throws a CommandError. */
export function mappingOptions({ preset, map = [], zone, precision = 'ns' }: MappingWords): MappingOptions {
  return { preset, mapping: readMapping(map), zone, precision }
}

/** Whether anything is said of the columns or the times of a table. */
export function isMapped({ preset, mapping, zone }: MappingOptions): boolean {
  return preset !== undefined || mapping.size > 0 || zone !== undefined
}

export function layoutOf({ preset }: MappingOptions): Layout {
  return preset === undefined ? ownLayout : presets[preset]
}
